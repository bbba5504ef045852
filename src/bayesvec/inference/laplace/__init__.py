"""The Laplace approximation."""
