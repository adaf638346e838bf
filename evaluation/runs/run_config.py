"""Define RunConfig, the settings that determine a run's samples and verdicts. The run's ID is their hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from data.question_json import question_to_fields
from data.questions import Question
from evaluation.errors import EvaluationError
from generation.decoding.params import SamplingParams


@dataclass(frozen=True, slots=True)
class Decoding:
    """Sampling settings. The fields are those of SamplingParams, which validates them (GenerationError)."""

    temperature: float = 0.7
    top_k: int | None = None
    top_p: float = 1.0
    max_tokens: int = 64
    stop: tuple[str, ...] = ()
    min_p: float = 0.0
    repetition_penalty: float = 1.0

    def __post_init__(self) -> None:
        self.params(1)

    @property
    def greedy(self) -> bool:
        """Whether decoding is greedy. All samples are then equal."""
        return self.temperature == 0

    @property
    def label(self) -> str:
        """Name of the settings in seeds and rows, e.g. ``t=0.7 p=1 k=all m=64``; at most 64 characters."""
        label = f"t={self.temperature!r} p={self.top_p!r} k={self.top_k or 'all'} m={self.max_tokens}"
        if self.stop:
            label += " s=" + hashlib.sha256("\0".join(self.stop).encode()).hexdigest()[:8]
        if self.min_p:
            label += f" mp={self.min_p!r}"
        if self.repetition_penalty != 1.0:
            label += f" rp={self.repetition_penalty!r}"
        return label if len(label) <= 64 else hashlib.sha256(label.encode()).hexdigest()

    def params(self, n: int) -> SamplingParams:
        """Return the SamplingParams for n samples. The seeds are passed separately."""
        return SamplingParams(
            self.temperature,
            self.top_k,
            self.top_p,
            self.max_tokens,
            self.stop,
            n,
            min_p=self.min_p,
            repetition_penalty=self.repetition_penalty,
        )


@dataclass(frozen=True, slots=True)
class ArmSpec:
    """An arm of a run. settings: everything that determines its chunks except question and collection (k, mode)."""

    name: str
    settings: str


@dataclass(frozen=True, slots=True)
class RunConfig:
    """Everything that determines a run. Equal configs give equal samples and verdicts.

    questions_sha256: hash of the question set (``hash_questions``).
    samples: number of samples per question and arm.
    decoding: sampling settings of the headline rates.
    seed: base of all seeds.
    generator: fingerprint of the generator.
    verifier: name of the verifier, with version and thresholds.
    version: version of Plumbline.
    generation: hash of the searched index; "" without retrieval.
    encoder: fingerprint of the encoder; "" without retrieval.
    grid: further sampling settings, drawn from the same prompts.
    owner: tenant of the run, so that equal runs of two tenants differ; "" for local runs.

    Raises EvaluationError, with the offending value, if a value is invalid.
    """

    questions_sha256: str
    arms: tuple[ArmSpec, ...]
    samples: int
    decoding: Decoding
    seed: int
    generator: str
    verifier: str
    version: str
    generation: str = ""
    encoder: str = ""
    grid: tuple[Decoding, ...] = ()
    owner: str = ""

    def __post_init__(self) -> None:
        names = [arm.name for arm in self.arms]
        if not names:
            raise EvaluationError("a run needs at least one arm, such as closed_book, rag or oracle")
        for name in names:
            if not 0 < len(name) <= 64:
                raise EvaluationError(f"the arm's name {name!r} must have 1 to 64 characters")
        repeated = sorted({n for n in names if names.count(n) > 1})
        if repeated:
            raise EvaluationError(f"the arm {repeated[0]!r} is named twice: give each arm a different name")
        if self.samples < 1:
            raise EvaluationError(f"{self.samples} samples per question: at least one must be drawn")
        if not 0 <= self.seed < 2**63:
            raise EvaluationError(f"the seed is {self.seed}: it must be in [0, 2**63)")
        if not self.verifier or len(self.verifier) > 255:
            raise EvaluationError(f"the verifier's name {self.verifier!r} must have 1 to 255 characters")
        labels = [d.label for d in self.decodings]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            raise EvaluationError(f"the decoding {twice[0]!r} is in the grid twice: name each setting once")

    @property
    def decodings(self) -> tuple[Decoding, ...]:
        """All sampling settings drawn from each prompt, those of the headline rates first."""
        return (self.decoding, *self.grid)

    def samples_of(self, decoding: Decoding) -> int:
        """Return the number of samples per question and arm.

        A greedy setting of a grid has one, because all its samples are equal.
        """
        return 1 if self.grid and decoding.greedy else self.samples

    @property
    def samples_per_cell(self) -> int:
        """Number of samples per question and arm, over all sampling settings."""
        return sum(self.samples_of(d) for d in self.decodings)

    @property
    def run_id(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of all fields."""
        return hashlib.sha256(_canonical(config_to_json(self)).encode()).hexdigest()[:16]


def hash_questions(questions: Sequence[Question]) -> str:
    """Return the SHA-256 (hex) of a question set: all fields of all questions in order, except the reviewers."""
    plain = [question_to_fields(replace(q, reviewed_by=())) for q in questions]
    return hashlib.sha256(_canonical(plain).encode()).hexdigest()


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def config_to_json(config: RunConfig) -> dict[str, object]:
    """Return the config as JSON values. ``config_from_json`` is the inverse."""
    fields = asdict(config) | {
        "arms": [asdict(arm) for arm in config.arms],
        "decoding": _decoding_to_json(config.decoding),
        "grid": [_decoding_to_json(d) for d in config.grid],
    }
    # Runs without a grid or an owner keep the IDs that they had before these fields existed.
    return {name: value for name, value in fields.items() if name not in ("grid", "owner") or value}


def _decoding_to_json(decoding: Decoding) -> dict[str, object]:
    # Newer fields are left out at their defaults, so that the IDs of earlier runs stay the same.
    later = {"min_p": 0.0, "repetition_penalty": 1.0}
    fields = asdict(decoding) | {"stop": list(decoding.stop)}
    return {name: value for name, value in fields.items() if name not in later or value != later[name]}


def config_from_json(fields: dict[str, object], where: str) -> RunConfig:
    """Read the result of ``config_to_json``. Raises EvaluationError for invalid fields.

    where: name of the run, for the error message.
    """
    try:
        arms, decoding, grid = fields["arms"], fields["decoding"], fields.get("grid", [])
        if not isinstance(arms, list) or not isinstance(decoding, dict) or not isinstance(grid, list):
            raise TypeError("arms, decoding or grid")
        rest = {k: v for k, v in fields.items() if k not in ("arms", "decoding", "grid")}
        specs = tuple(ArmSpec(**arm) for arm in arms)
        decodings = (_decoding_from_json(decoding), tuple(_decoding_from_json(d) for d in grid))
        return RunConfig(arms=specs, decoding=decodings[0], grid=decodings[1], **rest)  # type: ignore[arg-type]
    except (KeyError, TypeError) as error:
        raise EvaluationError(
            f"the stored settings of run {where} cannot be read ({error}): another version of Plumbline wrote it"
        ) from error


def _decoding_from_json(fields: dict[str, Any]) -> Decoding:
    return Decoding(**(fields | {"stop": tuple(fields["stop"])}))
