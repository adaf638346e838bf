"""Arguments that select where models run: on this machine, or on a Ray cluster."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.commands.parser import rare
from app.console import Output
from app.errors import UsageError

if TYPE_CHECKING:
    from app.runs.evaluate import EvaluationPlan
    from data.block_work import BlockExecutor

_RAY_ONLY = ("address", "ray_workers", "gpus_per_worker")


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Declare --engine, --address, --ray-workers, --gpus-per-worker."""
    group = parser.add_argument_group("engine")
    group.add_argument(
        "--engine",
        choices=("local", "ray"),
        default="local",
        help="where models run: local (default), or ray for a Ray cluster (needs the extra ray); results are the same",
    )
    group.add_argument(
        "--address",
        metavar="HOST:PORT",
        default=None,
        help="head node of a running Ray cluster (default: a cluster on this machine that ends with the command)",
    )
    group.add_argument(
        "--ray-workers",
        type=int,
        default=None,
        metavar="N",
        help="number of copies of the model (default: one per four processors, or one per share of a GPU)",
    )
    group.add_argument(
        "--gpus-per-worker",
        type=float,
        default=None,
        metavar="SHARE",
        help="GPUs per copy of the model, such as 0.25 or 1 (default 0: no GPU)",
    )
    rare(group, "--address", "--ray-workers", "--gpus-per-worker")


def check_distributable(arguments: argparse.Namespace, choice: str) -> None:
    """Raise UsageError if --engine ray was given for a verifier without a local model. choice: the verifier."""
    if arguments.engine == "ray" and choice not in ("auto", "entailment"):
        raise UsageError(f"--engine ray distributes the entailment verifier, not {choice}: omit one of the two")


def check_run(arguments: argparse.Namespace, plan: EvaluationPlan, model: str) -> None:
    """Raise UsageError if --engine ray was given for a run with a part that cannot be distributed.

    model: the setting ``model`` of the pipeline.
    """
    from app.models.generators import is_server
    from app.runs.evaluate import has_policies

    if getattr(arguments, "engine", "local") == "local":
        return
    reason = ""
    if is_server(model):
        reason = (
            "distributes local models, but the model is a server, which already works on several requests at once "
            "(PLUMBLINE_MODEL_PARALLEL)"
        )
    elif plan.judging.choice == "judge":
        reason = "distributes the entailment verifier, not a language model that judges (--judge)"
    elif arguments.forced_drift:
        reason = "does not draw the continuations of --forced-drift"
    elif plan.arms is not None and has_policies(plan):
        reason = "does not draw answers under policies, which depend on earlier verdicts"
    if reason:
        raise UsageError(f"--engine ray {reason}: omit one of the two")


def judging_device(arguments: argparse.Namespace) -> str:
    """Return the device of --device or of the settings.

    It may be "auto" for the workers of a cluster, which resolve it. Raises ModelError as ``device_name`` does.
    """
    from app.commands.options import device_name
    from app.settings import Settings

    return device_name(arguments) if arguments.engine == "local" else str(arguments.device or Settings().device)


@contextmanager
def block_executor(arguments: argparse.Namespace, output: Output) -> Iterator[BlockExecutor | None]:
    """Yield the executor of a Ray cluster, or None for the local engine, and close it at the end.

    Raises UsageError for Ray options without --engine ray, WorkerError if the cluster cannot be used.
    """
    used = [name for name in _RAY_ONLY if getattr(arguments, name) is not None]
    if arguments.engine == "local":
        if used:
            raise UsageError(f"--{used[0].replace('_', '-')} applies only to --engine ray: add that, or omit it")
        yield None
        return
    from app.cluster.executor import ClusterOptions, RayExecutor

    options = ClusterOptions(arguments.address, arguments.ray_workers, arguments.gpus_per_worker or 0.0)
    with RayExecutor(options, output.info) as executor:
        yield executor
