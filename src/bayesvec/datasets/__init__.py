"""Example data: Python's own documentation, and the paper's two data sets."""

from bayesvec.datasets.congress import Speeches, congress, congress_speeches
from bayesvec.datasets.movielens import movielens
from bayesvec.datasets.python_docs import python_docs

__all__ = ["Speeches", "congress", "congress_speeches", "movielens", "python_docs"]
