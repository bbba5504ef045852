"""The posteriors: one module for each method."""
