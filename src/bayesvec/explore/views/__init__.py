"""What the page shows: one function for each view, from a run and the parameters in the address to plain values.

The answers are those of `bayesvec QUESTION --json`; what a picture needs in addition stands beside them.
"""
