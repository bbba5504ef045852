"""`bayesvec fit`."""
