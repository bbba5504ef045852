"""`bayesvec questions`."""
