"""Small problems under every kind of prior, and the bytes of their draws."""

import numpy as np

import bayesvec as bv
from bayesvec.simulation.slices import simulate_slices
from bayesvec.vectors.read import Vectors

SETTINGS = {"dim": 4, "draws": 3, "warmup": 5, "chains": 1, "seed": 5, "progress": False}


def spherical():
    return bv.simulate(vocab=60, dim=4, pairs=9000, zipf=True, seed=3)[0], {"prior_precision": 4.0}


def learned():
    return spherical()[0], {"prior_precision": "learn"}


def covariance():
    return spherical()[0], {"prior": bv.priors.covariance(4)}


def weighted():
    return spherical()[0], {"prior": bv.priors.covariance(4), "weight": 0.45}


def fixed():
    return spherical()[0], {"prior_precision": 4.0, "identify": "fixed"}


def graph():
    counts = spherical()[0]
    ring = [(f"w{i}", f"w{(i + 1) % 60}") for i in range(60)]
    return counts, {"prior": bv.priors.graph(counts, ring, precision="learn")}


def dynamic():
    counts, _ = simulate_slices(vocab=20, dim=4, slices=3, kind="dynamic", pairs=6000, seed=2)
    return counts, {"prior": bv.priors.dynamic(counts)}


def colours():
    """Walks whose rows are redrawn colour by colour, not as whole trees."""
    counts, given = dynamic()
    return counts, given | {"options": {"joint": "never"}}


def moved():
    """Rows that are moved by Hamiltonian dynamics."""
    counts, given = covariance()
    return counts, given | {"options": {"hamiltonian": "always"}}


def tails():
    """Rows with heavy tails, whose scales and lengths have updates of their own."""
    return spherical()[0], {"prior": bv.priors.covariance(4, tails="learn")}


def moved_tails():
    counts, given = tails()
    return counts, given | {"options": {"hamiltonian": "always"}}


def moved_colours():
    counts, given = colours()
    return counts, given | {"options": {"joint": "never", "hamiltonian": "always"}}


def moved_graph():
    """Contexts of several colours, each moved given the others."""
    counts = spherical()[0]
    ring = [(f"w{i}", f"w{(i + 1) % 60}") for i in range(60)]
    prior = bv.priors.graph(counts, ring, precision="learn", contexts=True)
    return counts, {"prior": prior, "options": {"hamiltonian": "always"}}


def grouped():
    counts, _ = simulate_slices(vocab=20, dim=4, slices=3, kind="grouped", pairs=6000, seed=2)
    return counts, {"prior": bv.priors.grouped(counts)}


def informative():
    """Axes that the prior tells apart, of which only the others are rotated."""
    counts = spherical()[0]
    return counts, {"prior": bv.priors.informative(counts, 4, {0: (["w3"], ["w7"])})}


def vectors():
    """Words with prior means, under which the orbit is sheared."""
    counts = spherical()[0]
    normals = np.random.default_rng(1).normal(size=(30, 4))
    given = Vectors(tuple(f"w{i}" for i in range(30)), normals)
    return counts, {"prior": bv.priors.from_vectors(counts, given)}


_MOVED = moved, moved_tails, moved_colours, moved_graph
_PLAIN = spherical, learned, covariance, tails, weighted, fixed, graph, informative, vectors
_SLICES = dynamic, colours, grouped
PROBLEMS = {each.__name__: each for each in (*_PLAIN, *_SLICES, *_MOVED)}


def fitted(name, **more):
    """Fit a problem; return the posterior."""
    counts, given = PROBLEMS[name]()
    return bv.fit(counts, **SETTINGS | given | more)


def drawn(post):
    """Return the bytes of all that a posterior has drawn."""
    return [post.rho[:].tobytes(), post.alpha[:].tobytes(), post.draws.stats("lp").tobytes()]
