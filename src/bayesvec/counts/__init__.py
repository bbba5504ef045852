"""Pair counts: the data of the model. Nothing after this package sees text."""
