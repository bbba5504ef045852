"""`bayesvec simulate`."""
