"""The questions that users ask of a posterior, one module each; `bayesvec.posterior.table` finds them here."""
