"""Whether a run fits in memory: checked before anything is written."""

from bayesvec._machine import memory_bytes
from bayesvec.counts.pairs import PairCounts
from bayesvec.errors import OptionError
from bayesvec.kernels.hamiltonian import root_size
from bayesvec.storage.settings import Settings
from bayesvec.storage.zarr3 import MOST_DRAWS, SHARD_BYTES

MAP_VECTORS = 30  # of float64, which L-BFGS holds: ten pairs of steps and work space
BLOCK_BYTES = (
    10**9
)  # of one set of blocks of the Hessian, at most: the search for the MAP goes without larger ones
CURVATURE_BYTES = 512 << 20  # of the rows of a side, at most
BLOCK_SETS = 3  # that it holds at a time


def needed_bytes(
    settings: Settings, num_words: int, num_contexts: int, threads: int, *, chains_here: bool = True
) -> int:
    """Return about how many bytes a run holds at once beside its counts.

    These are the chains' states, means and variances and the draws that wait to be written; the scratch of
    each thread; and the search for a start, which has ended when the chains start. If other machines hold the chains,
    what is here is the start of all with its spread, the reference, and the start of each while it is made.
    """
    dim, at_once = settings.dim, min(settings.chains, threads)
    vectors = (num_words + num_contexts) * dim
    kept = {"both": (num_words, num_contexts), "rho": (num_words,), "summary": ()}[settings.store]
    drawn = sum(max(4 * rows * dim, min(SHARD_BYTES, 4 * rows * dim * MOST_DRAWS)) for rows in kept)
    chains = at_once * (2 * 4 * vectors + 2 * 8 * vectors + drawn)
    if settings.identify == "procrustes":
        chains += at_once * 3 * 8 * dim**2  # a singular value decomposition
    if settings.method == "gibbs":
        chains += threads * 12 * dim**2  # a row's precision in float64, and in float32
        curvature = 4 * root_size(dim)  # of a row
        chains += sum(min(CURVATURE_BYTES, rows * curvature) for rows in (num_words, num_contexts))
    if not chains_here:
        chains = 3 * 8 * vectors * (1 + settings.chains)
    converged = settings.identify == "fixed" or settings.method in ("map", "laplace")
    start = 8 * vectors * MAP_VECTORS if settings.init == "map" or converged else 0
    blocks = 8 * vectors * dim
    if converged and blocks <= BLOCK_BYTES:
        start += BLOCK_SETS * blocks
    return max(chains, start)


def check_memory(settings: Settings, counts: PairCounts, *, threads: int, chains_here: bool = True) -> None:
    """Raise an `OptionError` with the figures if a run needs more memory than the machine has."""
    there = memory_bytes()
    rows = counts.num_words, counts.num_contexts
    needed = needed_bytes(settings, *rows, threads, chains_here=chains_here)
    if there is not None and needed > there:
        raise OptionError(
            f"dim is {settings.dim}: with {counts.num_words} words, {counts.num_contexts} contexts and "
            f"{threads} threads that needs about {needed / 1e9:.1f} GB of memory, and this machine has "
            f"{there / 1e9:.1f} GB; use a smaller dim or fewer words"
        )
