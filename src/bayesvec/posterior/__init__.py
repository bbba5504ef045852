"""The questions that users ask of a posterior, one module for each kind; `Posterior` has them as methods."""
