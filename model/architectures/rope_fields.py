"""Read the rotary settings of a config.json: rope_parameters (transformers 5), or rope_theta and rope_scaling."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from model.architectures.fields import Fields, refuse
from model.decoder.rope_scaling import DynamicScaling, LinearScaling, Llama3Scaling, RopeScaling, YarnScaling

_SHARED = frozenset(("rope_type", "type", "rope_theta", "partial_rotary_factor", "factor"))
_ORIGINAL = "original_max_position_embeddings"


@dataclass(frozen=True, slots=True)
class RopeSettings:
    """Rotary settings. theta: base of the frequencies. scaling: their scaling; None without one."""

    theta: float
    scaling: RopeScaling | None


def rope_settings(fields: Fields, max_positions: int, default_theta: float = 10000.0) -> RopeSettings:
    """Return the rotary settings of a config, resolved as transformers does.

    rope_scaling takes precedence over rope_parameters. rope_theta applies if neither sets it. Raises ModelError, naming
    the field, for an unsupported kind or key.
    """
    fields.require_value("partial_rotary_factor", (1, None), absent=1)
    theta = fields.number("rope_theta", default_theta)
    for name in ("rope_scaling", "rope_parameters"):
        nested = fields.source.get(name)
        if nested is None or nested == {}:
            continue
        if not isinstance(nested, dict):
            refuse(name, nested, "it must be an object or null")
        inner = Fields(nested, f"{name}.")
        inner.require_value("partial_rotary_factor", (1, None), absent=1)
        return RopeSettings(inner.number("rope_theta", theta), _scaling(inner, fields, max_positions))
    return RopeSettings(theta, None)


def _scaling(inner: Fields, outer: Fields, max_positions: int) -> RopeScaling | None:
    named = "rope_type" if inner.source.get("rope_type") is not None else "type"
    kind = inner.source.get(named)
    if kind is None or kind == "default":
        return None
    if not isinstance(kind, str) or kind not in _KINDS:
        refuse(inner.prefix + named, kind, f"only {', '.join(map(repr, ('default', *_KINDS)))} are supported")
    make, keys = _KINDS[kind]
    for key, value in inner.source.items():
        if key not in _SHARED | keys and value is not None:
            refuse(inner.prefix + key, value, f"a scaling of kind {kind!r} with it is not supported")
    # As in transformers: a field outside the scaling takes precedence over the one inside it.
    original = outer.integer(_ORIGINAL, inner.integer(_ORIGINAL, max_positions))
    return make(inner, original, max_positions)


def _linear(inner: Fields, original: int, positions: int) -> RopeScaling:
    return LinearScaling(inner.number("factor"))


def _dynamic(inner: Fields, original: int, positions: int) -> RopeScaling:
    return DynamicScaling(inner.number("factor"))


def _llama3(inner: Fields, original: int, positions: int) -> RopeScaling:
    return Llama3Scaling(
        inner.number("factor"), inner.number("low_freq_factor"), inner.number("high_freq_factor"), original
    )


def _yarn(inner: Fields, original: int, positions: int) -> RopeScaling:
    return YarnScaling(
        factor=inner.number("factor", positions / original if "factor" in inner.source else None),
        original_positions=original,
        attention_factor=inner.nullable_number("attention_factor"),
        mscale=inner.nullable_number("mscale"),
        mscale_all_dim=inner.nullable_number("mscale_all_dim"),
        # transformers treats 0 as absent.
        beta_fast=inner.number("beta_fast", 32.0) or 32.0,
        beta_slow=inner.number("beta_slow", 1.0) or 1.0,
        truncate=inner.flag("truncate", True),
    )


_YARN = ("attention_factor", "mscale", "mscale_all_dim", "beta_fast", "beta_slow", "truncate", _ORIGINAL)
# Kind of scaling -> its constructor, and its keys in addition to the shared ones.
_KINDS: Mapping[str, tuple[Callable[[Fields, int, int], RopeScaling], frozenset[str]]] = {
    "linear": (_linear, frozenset((_ORIGINAL,))),
    "dynamic": (_dynamic, frozenset((_ORIGINAL,))),
    "llama3": (_llama3, frozenset(("low_freq_factor", "high_freq_factor", _ORIGINAL))),
    "yarn": (_yarn, frozenset(_YARN)),
}
