"""Is it right, and is it good: convergence, calibration, hold-out scores, comparison."""
