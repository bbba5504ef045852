"""Estimates: the draws of a quantity with its interval, R-hat and effective sample size."""
