"""A report on a run: one self-contained HTML page, for the readers and reviewers of a paper."""

from bayesvec.report.content import Content
from bayesvec.report.gather import gather
from bayesvec.report.write import default_place, page, write_report

__all__ = ["Content", "default_place", "gather", "page", "write_report"]
