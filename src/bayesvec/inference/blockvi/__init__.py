"""Variational inference with a full covariance per row."""
