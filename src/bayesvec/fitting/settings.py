"""The settings of a run from what `fit` was given: defaults, the prior, and what a resumed run may change."""

import hashlib
from collections.abc import Mapping, Sequence, Set
from dataclasses import asdict, replace
from typing import Any

from bayesvec._checksums import array_parts
from bayesvec._pipeline import check_threads
from bayesvec._validate import size_in_bytes
from bayesvec.chains.given import check_start
from bayesvec.diagnostics.length import planned
from bayesvec.errors import OptionError
from bayesvec.inference.gibbs import Options as GibbsOptions
from bayesvec.inference.methods import Method, find
from bayesvec.inference.used import GIBBS_OPTIONS, ONE_DRAW
from bayesvec.priors import Prior, covariance
from bayesvec.priors.arrays import to_arrays
from bayesvec.storage.kinds import SWEEPS
from bayesvec.storage.settings import ANCHORS, AUTO, MAX_DRAWS, MAX_SIZE, Settings


def make_settings(
    *,
    method: str = Settings.method,
    anchors: str | Sequence[int] = Settings.anchors,
    prior: Prior | None = None,
    prior_precision: float | str | None = None,
    threads: int | None = None,
    weight: float | str = AUTO,
    options: Mapping[str, Any] | None = None,
    **others: Any,
) -> Settings:
    """Return the settings that the arguments of `fit` make; raise an `OptionError` if one is wrong."""
    check_threads(threads)
    named = {name: others.pop(name) for name in GIBBS_OPTIONS if name in others}
    asked = {name: value for name, value in named.items() if value != getattr(GibbsOptions, name)}
    chosen = find(method)
    identify = others.get("identify", Settings.identify)
    dim, init = others.get("dim", Settings.dim), others.get("init", Settings.init)
    prior, prior_precision = choose_prior(prior, prior_precision, dim=dim, identify=identify, method=method)
    anchored = not isinstance(anchors, str) or (anchors in ANCHORS and anchors != Settings.anchors)
    if anchored and identify != "fixed":
        raise OptionError(
            f"anchors are given, which only --identify fixed (identify='fixed') keeps; identify is {identify!r}"
        )
    sweeping = chosen.kind == SWEEPS
    others |= _lengths(chosen, others)
    others["init"] = check_start(init, dim=dim, method=method, sweeping=sweeping)
    return Settings(
        method=method,
        anchors=anchors if isinstance(anchors, str) else list(anchors),
        prior_precision=prior_precision,
        prior=None if prior is None else prior_fingerprint(prior),
        prior_recipe={} if prior is None else dict(prior.recipe),
        options=chosen.make_options(asked | dict(options or {})),
        sweeping=sweeping,
        weight=Settings.weight if weight == AUTO else weight,  # type: ignore[arg-type]
        **others,
    )


def _lengths(method: Method, others: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of the run's length, of which methods other than samplers by sweeps choose nothing."""
    limits = {"max_draws": others.pop("max_draws", MAX_DRAWS), "max_size": others.pop("max_size", MAX_SIZE)}
    if method.is_point:  # an estimate, not a distribution: there is one draw to take
        return dict(ONE_DRAW)
    usual = {name: others.get(name, AUTO) for name in ("draws", "warmup", "thin")}
    if method.kind != SWEEPS:
        fixed = {name: getattr(Settings, name) for name, value in usual.items() if value == AUTO}
        return usual | fixed
    return planned(**usual, **limits, chains=others.get("chains", Settings.chains))


def choose_prior(
    prior: Prior | None, prior_precision: float | str | None, *, dim: int, identify: str, method: str
) -> tuple[Prior | None, float | str | None]:
    """Return the prior of a run, or the precision of the spherical one: as given, or the default."""
    if prior is None:
        if prior_precision is None and identify == "fixed":
            return None, "learn"
        return (covariance(dim), None) if prior_precision is None else (None, prior_precision)
    if not isinstance(prior, Prior):
        raise OptionError(
            f"prior is {prior!r}; it must be a Prior, such as bayesvec.priors.grouped(counts) makes"
        )
    if prior.rho.tails is not None and method != "gibbs":
        raise OptionError(
            f"tails are for method gibbs, and the method is {method}; leave them out, or use --method gibbs"
        )
    if prior.shared is not None and identify == "fixed":
        raise OptionError(
            "identify is 'fixed', but a learned covariance rotates all vectors, so that no contexts can be fixed; "
            "use identify='procrustes' (--identify procrustes)"
        )
    return prior, None


def prior_fingerprint(prior: Prior) -> str:
    """Return a hash of a prior: equal for equal priors."""
    return hashlib.sha256(b"".join(array_parts(to_arrays(prior)))).hexdigest()[:16]


def wanted_lengths(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings wanted of a run that is resumed, with what it shall choose by itself under ``auto``."""
    wanted = dict(given)
    limits = {name: wanted.pop(name) for name in ("max_draws", "max_size") if name in wanted}
    if "max_size" in limits:
        limits["max_size"] = size_in_bytes("max_size", limits["max_size"])
    chosen = {name: True for name in ("draws", "warmup", "thin") if wanted.get(name) == AUTO}
    wanted = {name: value for name, value in wanted.items() if name not in chosen}
    if limits and "draws" not in wanted:
        chosen["draws"] = True
    return wanted | ({"auto": chosen | limits} if chosen else {})


def wanted_settings(settings: Settings, lengths: Mapping[str, Any], left_open: Set[str]) -> dict[str, Any]:
    """Return what is wanted of a run that is resumed: of its length, what is given and not a default."""
    usual = {"draws": AUTO, "warmup": AUTO, "thin": AUTO, "max_draws": MAX_DRAWS, "max_size": MAX_SIZE}
    wanted = {
        name: value for name, value in settings.as_dict().items() if name not in {*usual, "auto", *left_open}
    }
    given = {name: getattr(settings, name, value) for name, value in lengths.items() if value != usual[name]}
    return wanted | wanted_lengths(given)


def lengthened(settings: Settings, wanted: Mapping[str, Any]) -> Settings:
    """Return the settings of a run that is resumed: with the number of draws, or the limits, that are ``wanted``."""
    rules, auto = settings.rules, wanted.get("auto", {})
    if auto.get("draws"):
        if find(settings.method).kind != SWEEPS:
            raise OptionError(f"a run of {settings.method} does not choose its own length; give --draws N")
        limits = {name: auto[name] for name in ("max_draws", "max_size") if name in auto}
        return replace(settings, auto=asdict(replace(rules, draws=True, ended=False, **limits)))
    if "draws" not in wanted:
        return settings
    if settings.auto:
        settings = replace(
            settings, auto=asdict(replace(rules, draws=False, thin=False)) if rules.warming else {}
        )
    return replace(settings, draws=max(settings.draws, wanted["draws"]))
