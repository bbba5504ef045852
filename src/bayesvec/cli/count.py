"""`bayesvec count`."""
