"""The Gibbs sampler."""
