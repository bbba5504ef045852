"""Word vectors from elsewhere."""
