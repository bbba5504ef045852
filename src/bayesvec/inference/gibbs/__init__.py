"""The Gibbs sampler with Polya-Gamma variables."""

from dataclasses import dataclass

from bayesvec._validate import one_of
from bayesvec.errors import OptionError
from bayesvec.inference.methods import Method
from bayesvec.storage.kinds import SWEEPS

OVERRELAX = 0.7  # measured: benchmarks/overrelax.py
PATH_OVERRELAX = 0.98  # of the posterior itself, which can be overrelaxed more
LEAST_DIM = 16  # axes from which on Hamiltonian dynamics is worth its passes over the pairs
AUGMENT_EVERY = 16  # sweeps of which one is by Polya-Gamma variables: no row can be rejected there


@dataclass(frozen=True)
class Options:
    """How to sweep.

    Attributes
    ----------
    inner_steps : int
        Polya-Gamma steps per row and sweep (the paper's S).
    restart : bool
        Restart each row from N(0, 1/K), as the paper's Algorithm 1 does; biased, and without the orbit move. Contexts
        are then fixed (``identify="fixed"``) even if they span fewer than K directions.
    orbit : bool
        Move along the orbit after each sweep, unless contexts are fixed; by shears alone under a prior that does not
        have its symmetry, such as one with a mean, and not where such a prior couples rows.
    joint : str
        When to redraw all slices of a word together, where the prior couples them as a tree: ``always``, ``never``
        or ``auto``, which is always unless it would take more than a quarter of a sweep's time, and then in some
        sweeps.
    overrelax : float
        Overrelaxation, from 0 (the standard Gibbs update) to below 1, of a row whose precision is due to the data
        alone; others are overrelaxed less, in proportion to the fraction due to the data, and rows with fewer pairs
        than axes not at all (unless their tree is redrawn as a whole). What words and contexts can only do together
        then takes fewer sweeps; what is even around the means, such as the log posterior, takes a few more. No effect
        on rows that are restarted.
    hamiltonian : str
        When to move rows of at least K pairs by Hamiltonian dynamics instead of Polya-Gamma variables, in 15 of 16
        sweeps, unless chains start at random (``init="random"``): ``always``, ``never`` or
        ``auto``, which is with 16 axes or more, as Polya-Gamma variables are cheap with fewer. Never with ``restart``
        or several ``inner_steps``.
    path_overrelax : float
        What ``overrelax`` is, for rows that are moved by Hamiltonian dynamics.
    """

    inner_steps: int = 1
    restart: bool = False
    orbit: bool = True
    joint: str = "auto"
    overrelax: float = OVERRELAX
    hamiltonian: str = "auto"
    path_overrelax: float = PATH_OVERRELAX

    def __post_init__(self) -> None:
        from bayesvec.kernels.rows import MOST_INNER_STEPS

        one_of("joint", self.joint, ("auto", "always", "never"))
        one_of("hamiltonian", self.hamiltonian, ("auto", "always", "never"))
        if not 1 <= self.inner_steps <= MOST_INNER_STEPS:
            raise OptionError(f"inner_steps is {self.inner_steps}; it must be from 1 to {MOST_INNER_STEPS}")
        for name in ("overrelax", "path_overrelax"):
            value = getattr(self, name)
            if not 0.0 <= value < 1.0:
                raise OptionError(f"{name} is {value:g}; it must be at least 0 and below 1, such as 0.5")

    @property
    def overrelaxation(self) -> float:
        """What the kernels take for ``overrelax``."""
        return 0.0 if self.restart else float(self.overrelax)

    def moves(self, dim: int) -> bool:
        """Whether rows of K = ``dim`` axes are moved by Hamiltonian dynamics."""
        wanted = self.hamiltonian == "always" or (self.hamiltonian == "auto" and dim >= LEAST_DIM)
        return wanted and not self.restart and self.inner_steps == 1


METHOD = Method(
    name="gibbs",
    kind=SWEEPS,
    sentence="Draws from the posterior by Gibbs sampling with Polya-Gamma variables. It is exact as "
    "the number of draws grows.",
    use="The default, for any size.",
    code="bayesvec.inference.gibbs.sampler:prepare",
    options=Options,
    before={"hamiltonian": "never", "path_overrelax": PATH_OVERRELAX},
    learns=True,
    distributed=True,
)
