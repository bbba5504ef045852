"""List the words that differ most between two groups, or compare quantities between groups; as drift over time."""

from dataclasses import replace

from bayesvec.posterior.questions import drift

QUESTION = replace(drift.QUESTION)
