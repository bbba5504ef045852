"""The explorer: a local page that asks a run the questions of the command line and shows every interval.

Starlette and uvicorn are imported when a server is started; the export to one file needs neither.
"""

from bayesvec.explore.export import write_page
from bayesvec.explore.server import Explorer, open_page

__all__ = ["Explorer", "open_page", "write_page"]
