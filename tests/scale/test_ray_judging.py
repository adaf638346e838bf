"""Verification on a two-worker cluster: the verdicts of the local engine, scores to 1e-5, resumed by either."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.scale.ray_clusters import clean_environment

pytestmark = pytest.mark.scale

PLUMBLINE = [sys.executable, "-m", "app.cli"]
ROOT = Path(__file__).resolve().parents[2]
COLOURS = ("red", "blue", "green")
RAY = ("--engine", "ray", "--ray-workers", "2")


def rows(count: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"a{n}",
            "question": f"What is Heron {n}?",
            "answer": f"Heron {n} is a {COLOURS[n % 3]} boat of {n + 5} metres. It was built in {1900 + n % 90}.",
            "contexts": [
                f"Heron {n} is a {COLOURS[n % 2]} boat. It is {n + 5} metres long, and was built in {1900 + n % 80}."
            ],
        }
        for n in range(count)
    ]


def written(path: Path, items: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


def command(home: Path, *arguments: str) -> dict[str, Any]:
    return {
        "args": [*PLUMBLINE, *arguments], "cwd": ROOT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
        "text": True, "env": clean_environment(HOME=str(home), PLUMBLINE_HOME=str(home)),
    }  # fmt: skip


def plumbline(home: Path, *arguments: str) -> str:
    done = subprocess.run(**command(home, *arguments), timeout=300)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def same(here: Any, there: Any) -> None:
    """Equal, numbers to 1e-5."""
    if isinstance(here, dict):
        assert here.keys() == there.keys()
        for key in here:
            same(here[key], there[key])
    elif isinstance(here, list):
        assert len(here) == len(there)
        for a, b in zip(here, there, strict=True):
            same(a, b)
    elif isinstance(here, float):
        assert there == pytest.approx(here, abs=1e-5)
    else:
        assert there == here


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_score_and_verify_give_the_verdicts_of_the_local_engine(tmp_path: Path) -> None:
    given = rows(150)
    answers = written(tmp_path / "answers.jsonl", given)
    found = {}
    for engine, options in (("local", ()), ("ray", RAY)):
        out = tmp_path / f"{engine}.jsonl"
        report = json.loads(plumbline(tmp_path, "score", str(answers), "--answers", str(out), "--json", *options))
        found[engine] = report, lines(out.read_text())
    same(found["local"][1], found["ray"][1])
    labels = [line["outcome"] for line in found["ray"][1]]
    assert {"supported", "hallucinated"} <= set(labels)
    same(*({k: v for k, v in found[e][0].items() if k != "first_screen"} for e in ("local", "ray")))
    claims = [{"id": r["id"], "claim": r["answer"], "evidence": r["contexts"]} for r in given] * 4
    pairs = written(tmp_path / "pairs.jsonl", claims)
    verify = ("verify", "--pairs", str(pairs), "--json")
    same(lines(plumbline(tmp_path, *verify)), lines(plumbline(tmp_path, *verify, *RAY)))


def test_a_killed_worker_costs_its_block_and_a_killed_command_resumes_here(tmp_path: Path) -> None:
    answers, out = written(tmp_path / "answers.jsonl", rows(700)), tmp_path / "out.jsonl"
    score = ("score", str(answers), "--answers", str(out), "--json")
    process = subprocess.Popen(**command(tmp_path, *score, *RAY), start_new_session=True)
    killed = False
    while process.poll() is None:
        done = out.read_text().count("\n") if out.exists() else 0
        if done >= 24 and not killed:
            runners = [p for p in psutil.Process(process.pid).children(recursive=True) if _runs(p)]
            assert len(runners) == 2
            runners[0].kill()
            killed = True
        if done >= 300:
            os.killpg(process.pid, signal.SIGINT)
            break
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
    process.communicate(timeout=120)
    assert process.returncode == 130 and killed
    kept = out.read_text().count("\n")
    assert 300 <= kept < 700
    plumbline(tmp_path, *score)
    whole = lines(out.read_text())
    assert len({line["id"] for line in whole}) == len(whole) == 700
    assert [line["outcome"] for line in whole].count("unscored") == 0


def _runs(process: psutil.Process) -> bool:
    try:
        return process.cmdline()[:1] == ["ray::BlockRunner.run"] or "BlockRunner" in " ".join(process.cmdline())
    except psutil.Error:
        return False
