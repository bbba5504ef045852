"""`fit`: settings from what is given, what short runs learn, and all chains run to their end."""

from bayesvec.fitting.running import Interrupted
from bayesvec.fitting.settings import make_settings, wanted_lengths
from bayesvec.fitting.start import fit, resume_run
from bayesvec.inference.used import GIBBS_OPTIONS

__all__ = ["GIBBS_OPTIONS", "Interrupted", "fit", "make_settings", "resume_run", "wanted_lengths"]
