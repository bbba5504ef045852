"""A report on a run: one HTML page that needs nothing beside it, for the reader of a paper or its reviewer."""

from bayesvec.report.content import Content, gather
from bayesvec.report.page import page
from bayesvec.report.writing import write_report

__all__ = ["Content", "gather", "page", "write_report"]
