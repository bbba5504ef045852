"""A prior as named arrays, and back, for storage in a run."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayesvec._checksums import read_arrays
from bayesvec._types import Array
from bayesvec.priors.coupling import Sparse
from bayesvec.priors.gaussian import Prior, RowPrior
from bayesvec.priors.learned import Learned, Part, Wishart
from bayesvec.priors.spherical import spherical
from bayesvec.storage.folder import Folder

Arrays = dict[str, Array]

_SIDES = ("rho", "alpha")


def to_arrays(prior: Prior) -> Arrays:
    """Return a prior as named arrays; equal priors give equal arrays."""
    arrays: Arrays = {}
    for name in _SIDES:
        side: RowPrior = getattr(prior, name)
        arrays |= {f"{name}_precision": side.precision, f"{name}_mean": side.mean}
    for name in _SIDES:
        side = getattr(prior, name)
        arrays |= _coupling_arrays(f"{name}_", side.coupling)
        for number, part in enumerate(side.parts):
            arrays |= _part_arrays(f"{name}_part{number}_", part)
    if prior.shared is not None:
        arrays["shared"] = np.array([prior.shared.shape, prior.shared.rate])
    return arrays


def load_prior(run: Folder) -> Prior:
    """Return the prior of a run."""
    settings = run.settings
    if settings.prior_precision is not None:
        return spherical(settings.prior_precision)
    return from_arrays(read_arrays(run.state_file("prior")), settings.prior_recipe)


def from_arrays(arrays: Mapping[str, Array], recipe: Mapping[str, Any] | None = None) -> Prior:
    """Return the prior of which `to_arrays` made the arrays."""
    sides = []
    for name in _SIDES:
        mean = arrays[f"{name}_mean"]
        parts: list[Part] = []
        while f"{name}_part{len(parts)}_name" in arrays:
            parts.append(_part(f"{name}_part{len(parts)}_", arrays))
        coupling = _coupling(f"{name}_", arrays)
        own = RowPrior(arrays[f"{name}_precision"], mean, coupling) if not parts else None
        sides.append(own or RowPrior.of_parts(parts, mean))
    shared = Wishart(*arrays["shared"].tolist()) if "shared" in arrays else None
    return Prior(sides[0], sides[1], recipe or {}, shared=shared)


def _part_arrays(start: str, part: Part) -> Arrays:
    arrays = {
        f"{start}name": np.frombuffer(part.name.encode(), np.uint8),
        f"{start}scale": np.array(part.scale),
        f"{start}precision": part.precision,
    }
    if part.rank is not None:
        arrays[f"{start}rank"] = np.array(part.rank)
    if part.learned is not None:
        gamma = part.learned
        arrays[f"{start}learned"] = np.array([gamma.shape, gamma.rate, gamma.start])
    return arrays | _coupling_arrays(start, part.coupling)


def _part(start: str, arrays: Mapping[str, Array]) -> Part:
    learned, rank = arrays.get(f"{start}learned"), arrays.get(f"{start}rank")
    return Part(
        arrays[f"{start}name"].tobytes().decode(),
        float(arrays[f"{start}scale"]),
        arrays[f"{start}precision"],
        _coupling(start, arrays),
        None if rank is None else int(rank),
        None if learned is None else Learned(*learned.tolist()),
    )


def _coupling_arrays(start: str, coupling: Sparse | None) -> Arrays:
    if coupling is None:
        return {}
    return {
        f"{start}coupling_weight": coupling.data,
        f"{start}coupling_row": coupling.indices.astype(np.int64),
        f"{start}coupling_indptr": coupling.indptr.astype(np.int64),
    }


def _coupling(start: str, arrays: Mapping[str, Array]) -> Sparse | None:
    from scipy.sparse import csr_array

    if f"{start}coupling_weight" not in arrays:
        return None
    indptr = arrays[f"{start}coupling_indptr"]
    rows = len(indptr) - 1
    entries = arrays[f"{start}coupling_weight"], arrays[f"{start}coupling_row"], indptr
    return csr_array(entries, shape=(rows, rows))
