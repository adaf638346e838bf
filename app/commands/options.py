"""Arguments that several commands share, and functions that read their values."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from app.commands.choices import ENCODER_PRECISIONS, FUSIONS, MODES, PRECISIONS, mode
from app.commands.parser import rare
from app.errors import UsageError
from app.runs.decoding_grid import SEVERAL, temperature_for
from app.settings import Settings
from generation.decoding.params import SamplingParams
from generation.errors import GenerationError

if TYPE_CHECKING:
    from app.pipeline import Pipeline

_LEAST_CONTEXT = 16


def add_model(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Declare --model (also --generator), --model-context, --prompt, --precision, and the options of ``add_encoder``.

    several: whether --model may be repeated. Its value is then a list.
    """
    group = parser.add_argument_group("models")
    group.add_argument(
        "--model",
        "--generator",
        action="append" if several else "store",
        default=[] if several else None,
        help="model that answers: reader (default, embedded), smollm2 (fetched by plumbline model add smollm2), "
        "decoder (a small shipped one, to try the engine), FOLDER (a reader or a Hugging Face decoder), FILE.gguf, "
        "transformers:FOLDER, openai:URL#MODEL or openai-completions:URL#MODEL (API key: PLUMBLINE_MODEL_KEY)"
        + ("; given twice, the two models are compared" if several else ""),
    )
    group.add_argument(
        "--model-context",
        type=int,
        default=None,
        metavar="N",
        help="context length of a server's model, in tokens (default 4096)",
    )
    group.add_argument(
        "--prompt",
        default=None,
        metavar="FILE",
        help="prompt template of a language model (see plumbline prompts)",
    )
    group.add_argument(
        "--precision",
        choices=PRECISIONS,
        default=None,
        help="precision of a decoder's weights (default fp32, on a GPU bf16). int8 and int4 also round weights that a "
        "GGUF file stores with more bits. auto: the GGUF file's own blocks if this CPU supports them, otherwise bf16 "
        "if the CPU supports that",
    )
    rare(group, "--model-context", "--precision")
    add_encoder(group)


def add_encoder(group: argparse._ActionsContainer) -> None:
    """Declare --encoder, --encoder-precision and --device."""
    group.add_argument(
        "--encoder", default=None, help="sentence-transformers folder or hub ID (default MiniLM, which is included)"
    )
    group.add_argument(
        "--encoder-precision",
        choices=ENCODER_PRECISIONS,
        default=None,
        help="precision of passage embeddings. auto (default): the precision of the collection; for a new collection "
        "bf16 if the CPU supports it",
    )
    add_device(group)
    rare(group, "--encoder", "--encoder-precision")


def add_device(group: argparse._ActionsContainer) -> None:
    """Declare --device. Without it the setting PLUMBLINE_DEVICE applies, by default auto."""
    group.add_argument("--device", default=None, help="auto (default; a GPU if any), cpu, cuda or cuda:N")


def device_name(arguments: argparse.Namespace) -> str:
    """Return the device of --device or of the settings. Raises ModelError for a device that does not exist."""
    from model.hardware.device import pick_device

    return str(pick_device(arguments.device or Settings().device))


def add_collection(parser: argparse._ActionsContainer, what: str) -> None:
    """Declare --collection. what: what the collection is used for."""
    parser.add_argument("--collection", metavar="NAME", help=f"{what} (default: the only existing collection)")


def add_limit(parser: argparse._ActionsContainer, what: str) -> None:
    """Declare --limit. what: the objects that are counted."""
    parser.add_argument("--limit", type=int, default=None, metavar="N", help=f"use only the first N {what}")


def add_report(parser: argparse._ActionsContainer, where: str) -> None:
    """Declare --report. where: the default path."""
    parser.add_argument("--report", type=Path, default=None, metavar="OUT.html", help=f"HTML report ({where})")


def add_answers_csv(parser: argparse._ActionsContainer) -> None:
    """Declare --answers-csv."""
    parser.add_argument(
        "--answers-csv", type=Path, default=None, metavar="OUT.csv", help="write every answer as a CSV row"
    )


def check_writable(path: Path | None, flag: str) -> None:
    """Raise UsageError if the folder of a file does not exist. flag: option that names the file."""
    if path is not None and not path.absolute().parent.is_dir():
        raise UsageError(f"{flag} {path}: the folder {path.parent} does not exist")


def add_skip_bad(parser: argparse._ActionsContainer) -> None:
    """Declare --skip-bad."""
    parser.add_argument("--skip-bad", action="store_true", help="skip items that cannot be read, and count them")


def add_seed(parser: argparse._ActionsContainer, what: str = "seed of all random numbers") -> None:
    """Declare --seed. what: description of the seed."""
    parser.add_argument("--seed", type=int, default=0, help=f"{what} (default 0)")


def add_mode(group: argparse._ActionsContainer) -> None:
    """Declare --mode and --fusion. Without them the collection's saved settings apply."""
    group.add_argument("--mode", type=mode, choices=MODES, default=None, help="retrievers to use")
    group.add_argument(
        "--fusion", choices=FUSIONS, default=None, help="how hybrid search combines them; implies --mode hybrid"
    )


def add_retrieval(parser: argparse.ArgumentParser) -> None:
    """Declare --k, --mode, --fusion. Without the last two the collection's saved settings apply."""
    group = parser.add_argument_group("retrieval (default: settings saved by tune --save, else a min-max hybrid)")
    group.add_argument("-k", "--k", type=int, default=4, help="number of chunks to retrieve (default 4)")
    add_mode(group)


def add_sampling(parser: argparse.ArgumentParser) -> None:
    """Declare --temperature, --top-k, --top-p, --min-p, --repetition-penalty, --max-tokens, --stop, --n, --seed.

    All commands use the same defaults, greedy and one sample, so that evaluation measures what is served.
    """
    group = parser.add_argument_group("sampling")
    group.add_argument(
        "--temperature",
        type=float,
        default=None,
        help=f"sampling temperature; 0 is greedy (default 0; {SEVERAL} if --n requests several samples)",
    )
    group.add_argument("--top-k", type=int, default=None, help="keep the k most likely tokens (default all)")
    group.add_argument(
        "--top-p",
        type=float,
        default=1.0,
        help="keep the most likely tokens up to this cumulative probability (default 1)",
    )
    group.add_argument(
        "--min-p",
        type=float,
        default=0.0,
        help="keep tokens with at least this share of the top probability (default 0)",
    )
    group.add_argument(
        "--repetition-penalty", type=float, default=1.0, help="values above 1 reduce repetition (default 1)"
    )
    group.add_argument(
        "--max-tokens", type=int, default=32, metavar="N", help="maximum length of an answer, in tokens (default 32)"
    )
    group.add_argument("--stop", action="append", default=[], help="stop sequence; repeatable")
    group.add_argument("--n", type=int, default=1, help="number of samples per question (default 1)")
    add_seed(group)
    rare(group, "--top-k", "--min-p", "--repetition-penalty", "--stop")


def add_analysis(parser: argparse.ArgumentParser) -> None:
    """Declare --signals, --faithfulness, --gold-evidence and --citations."""
    group = parser.add_argument_group("further analysis (needs more verification)")
    group.add_argument(
        "--signals",
        nargs="?",
        const="auto",
        default=None,
        metavar="MODEL",
        help="evaluate signals that detect wrong answers without references; MODEL: an entailment model that did not "
        "judge the run (default: the shipped one)",
    )
    group.add_argument(
        "--faithfulness",
        action="store_true",
        help="also judge answers by the chunks in their prompts (loads an entailment model)",
    )
    group.add_argument(
        "--gold-evidence",
        action="store_true",
        help="also judge claims by retrieved evidence and by the question's gold passages, and compare",
    )
    group.add_argument(
        "--citations",
        action="store_true",
        help="measure citation precision and recall (ALCE)",
    )


def sampling(arguments: argparse.Namespace) -> SamplingParams:
    """Return the sampling parameters. Raises UsageError, which names the invalid value."""
    try:
        return SamplingParams(
            temperature=temperature_for(arguments.temperature, arguments.n),
            top_k=arguments.top_k,
            top_p=arguments.top_p,
            max_tokens=arguments.max_tokens,
            stop=tuple(arguments.stop),
            n=arguments.n,
            seed=arguments.seed,
            min_p=arguments.min_p,
            repetition_penalty=arguments.repetition_penalty,
            top_logprobs=getattr(arguments, "logprobs", 0),
        )
    except GenerationError as error:
        raise UsageError(str(error)) from error


def checked_k(arguments: argparse.Namespace) -> int:
    """Return the value of --k. Raises UsageError if it is below 1."""
    if arguments.k < 1:
        raise UsageError(
            f"--k is {arguments.k}: it must be at least 1 (--no-retrieval queries the model without passages)"
        )
    return int(arguments.k)


def open_pipeline(arguments: argparse.Namespace) -> Pipeline:
    """Open a pipeline with the settings of the environment, overridden by the given arguments."""
    # Imported here because it loads FAISS, numba and SQLAlchemy, which --help does not need.
    from app.pipeline import Pipeline

    models = ("model", "model_context", "precision", "prompt", "encoder", "encoder_precision", "device")
    names = ("home", *models, "audit_rate")
    given = {name: getattr(arguments, name, None) for name in names}
    try:
        return Pipeline(Settings(**{name: value for name, value in given.items() if value is not None}))
    except ValidationError:
        if given["model_context"] is None or given["model_context"] >= _LEAST_CONTEXT:
            raise  # An invalid environment variable. The command line reports its name.
        raise UsageError(
            f"--model-context is {given['model_context']}: it must be at least {_LEAST_CONTEXT} tokens"
        ) from None
