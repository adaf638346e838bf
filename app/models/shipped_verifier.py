"""Load the shipped verifier, which consists of a network and the shipped reader for short answers."""

from __future__ import annotations

from app.models.cache import ModelCache, model_key, process_models
from app.models.support_scorers import open_support_scorer
from evaluation.errors import EvaluationError
from evaluation.verifiers.contrast_scorer import ContrastScorer
from evaluation.verifiers.short_answer_scorer import ReadingUse, ShortAnswerScorer
from generation.engine.options import EngineOptions
from generation.reader.reader import EmbeddedReader
from model.checkpoints.shipped import shipped_reader, shipped_verifier
from model.errors import ModelError
from model.pairs.scoring import PairScorer
from model.reader.prefix_decoder import prefix_decoder_fingerprint
from model.verifier.files import CONFIG, support_facts


def load_shipped_verifier(device: str = "cpu", models: ModelCache | None = None) -> PairScorer:
    """Load the shipped verifier. The reader is loaded at the first short answer.

    models: cache of both models, by default that of the process. Raises ModelError if the network cannot be loaded, or
    if the network or the reader differs from that of the calibration.
    """
    cache = process_models() if models is None else models
    network = open_support_scorer(device=device, models=cache)
    path = shipped_verifier() / CONFIG
    try:
        reading = support_facts(shipped_verifier())["reading"]
        use = ReadingUse(*(float(reading[name]) for name in ("slope", "intercept", "floor", "network")))
        expected_reader, expected_verifier = str(reading["reader"]), str(reading["verifier"])
    except (KeyError, TypeError, ValueError, EvaluationError) as error:
        raise ModelError(f"{path} does not describe how short answers are read ({error!r}): restore it") from error
    found = prefix_decoder_fingerprint(shipped_reader())
    if found != expected_reader:
        raise ModelError(
            f"{path} reads short answers with the reader {expected_reader[:16]}, but {shipped_reader()} is "
            f"{found[:16]}: the calibration does not fit its probabilities, restore both"
        )
    if network.name != expected_verifier:
        raise ModelError(
            f"{path} reads short answers with the network {expected_verifier}, but this is {network.name}: the "
            "calibration does not fit its support, restore the file or calibrate again (python -m "
            "benchmarks.short_answers --fit SOURCE)"
        )
    return ContrastScorer(ShortAnswerScorer(network, lambda: _reader(device, cache), found, use))


def _reader(device: str, models: ModelCache) -> EmbeddedReader:
    """Return the reader that all scorers share. It gets prompts one by one, so it needs little memory."""
    options = EngineOptions(memory_bytes=1 << 22, cache_bytes=0)
    key = model_key("answer reader", shipped_reader(), device)
    return models.get(key, lambda: EmbeddedReader(device=device, options=options))
