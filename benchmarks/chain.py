"""A Gibbs chain that a benchmark sweeps by hand."""

from bayesvec.counts.rows import with_rows
from bayesvec.inference.contract import Problem, Start
from bayesvec.inference.gibbs import sampler as gibbs


def make_sampler(counts, prior, dim, **options):
    """Return the sampler of a model, with some options of the method."""
    rows = with_rows(counts, prior.added)
    return gibbs.prepare(Problem(rows, prior, dim, options=gibbs.Options(**options)))


class Chain:
    """One chain; ``start`` has the first rho and alpha, if they are not to be random."""

    def __init__(self, sampler, threads, chain=0, **start):
        self.sampler, self.threads, self.chain, self.number = sampler, threads, chain, 0
        self.state = sampler.init(Start(seed=1, chain=chain, **start))
        self.info = None

    def sweep(self, count=1):
        for _ in range(count):
            self.state, self.info = self.sampler.step(
                self.state, seed=1, chain=self.chain, number=self.number, threads=self.threads
            )
            self.number += 1
