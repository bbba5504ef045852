"""The kinds of draws that a method gives, as run folders name them."""

SWEEPS = "sweeps"  # chains, draw by draw
WHOLE_CHAINS = "whole chains"  # chains that are drawn to their end in one go
APPROXIMATION = "approximation"  # independent draws of a distribution that is not the posterior
POINT = "point"  # one estimate
