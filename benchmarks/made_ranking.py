"""Agreement of generated and written questions on the ranking of three systems, by Kendall's tau.

    plumbline index data/samples/corpus --collection handbook
    plumbline questions make handbook --n 200 --seed 4 --output made.jsonl
    python -m benchmarks.made_ranking made.jsonl data/samples/questions_company.jsonl --limit 40

The systems are the reader and SmolLM2, both with the default search, and the first sentence of the first passage that
BM25 finds. A server on the loopback interface returns that sentence, so that `evaluate` measures it like a model.
Questions are drawn at random from both files. An answer is right if it is supported and responsive, or rightly
abstained. Tau-b (Kendall 1945) of three systems takes few values; it is undefined if all systems have equal rates on a
file. Runs are stored in the home and resume.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from scipy.stats import kendalltau

from benchmarks.real_answers import interval

MEASURES = ("hallucinated", "supported", "right")
_FIRST = re.compile(
    r"^\[1\] (?:[^\n:]{1,120}: )?(?P<text>.+?)(?=\n\n\[2\] |\n\nQuestion: |\Z)", re.MULTILINE | re.DOTALL
)
_SENTENCE = re.compile(r".+?[.!?](?=\s|$)", re.DOTALL)


def first_sentence(prompt: str) -> str:
    """Return the first sentence of a prompt's passage 1, with a citation. Without a passage, return the decline of the
    default prompt.
    """
    match = _FIRST.search(prompt)
    if match is None:
        return "The documents do not answer this."
    lines = [line.strip() for line in match["text"].splitlines()]
    text = " ".join(line for line in lines if line and not line.startswith("#")) or match["text"].strip(" #\n")
    sentence = _SENTENCE.match(text)
    return f"{(sentence[0] if sentence else text).strip()} [1]"


class _Server(BaseHTTPRequestHandler):
    """A server of OpenAI's chat interface, without streams."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        answer = first_sentence(body["messages"][-1]["content"])
        message = {"role": "assistant", "content": answer}
        self._reply({"id": "1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    def do_GET(self) -> None:
        self._reply({"data": [{"id": "first-sentence"}]})

    def _reply(self, document: Mapping[str, Any]) -> None:
        content = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@contextmanager
def first_sentence_server(port: int) -> Iterator[str]:
    """Serve first sentences and yield the model's name. port: 0 for any free port, or a fixed port so that runs
    resume.
    """
    server = ThreadingHTTPServer(("127.0.0.1", port), _Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"openai:http://127.0.0.1:{server.server_port}/v1#first-sentence"
    finally:
        server.shutdown()


def drawn(path: Path, limit: int, seed: int, target: Path) -> Path:
    """Write a random part of a question file to ``target``, and return its path."""
    lines = path.read_text("utf-8").splitlines()
    chosen = random.Random(seed).sample(lines, min(limit, len(lines)))
    target.write_text("\n".join(chosen) + "\n", "utf-8")
    return target


def counts(questions: Path, name: str, options: list[str]) -> dict[str, int]:
    """Run `plumbline evaluate` in the arm rag and return the counts of outcomes."""
    command = [sys.executable, "-m", "app.cli", "evaluate", str(questions), "--arms", "rag", "--json", "--name", name]
    done = subprocess.run([*command, *options], check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 4):
        sys.exit(f"plumbline evaluate ended with {done.returncode}: see its message above")
    document = json.loads(done.stdout)
    (arm,) = document["abstentions"]
    rate = document["summary"]["arms"][0]["hallucinated"]["default"]["rate"]
    print(f"{name}: run {document['run']}", file=sys.stderr)
    return {
        "n": arm["responses"],
        "hallucinated": round(rate * arm["responses"]),
        "supported": arm["supported"],
        "right": arm["supported"] - arm["unresponsive"] + arm["rightly"],
    }


def tau(made: list[int], written: list[int]) -> float | None:
    """Return Kendall's tau-b of the systems' counts; None if it is undefined."""
    value = float(kendalltau(made, written).statistic)
    return None if value != value else value


def main() -> None:
    """Measure and print the tables; the last line is JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("made", type=Path)
    parser.add_argument("written", type=Path)
    parser.add_argument("--limit", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--collection", default="handbook")
    parser.add_argument("--port", type=int, default=8197)
    arguments = parser.parse_args()
    results: dict[str, dict[str, dict[str, int]]] = {}
    with TemporaryDirectory() as folder, first_sentence_server(arguments.port) as server:
        systems = {
            "reader": [],
            "SmolLM2-135M": ["--model", "smollm2"],
            "BM25, first sentence": ["--model", server, "--mode", "bm25"],
        }
        for system, options in systems.items():
            for kind in ("made", "written"):
                part = drawn(getattr(arguments, kind), arguments.limit, arguments.seed, Path(folder) / f"{kind}.jsonl")
                name = f"ranking {system} {kind}"
                results.setdefault(system, {})[kind] = counts(
                    part, name, [*options, "--collection", arguments.collection]
                )
    print("| system | questions | n | hallucinated | supported | right |\n|---|---|---|---|---|---|")
    for system, kinds in results.items():
        for kind, c in kinds.items():
            shares = " | ".join(interval(c[measure], c["n"]) for measure in MEASURES)
            print(f"| {system} | {kind} | {c['n']} | {shares} |")
    taus = {
        m: tau([c["made"][m] for c in results.values()], [c["written"][m] for c in results.values()]) for m in MEASURES
    }
    print("\n| measure | tau-b |\n|---|---|")
    for measure, value in taus.items():
        print(f"| {measure} | {'undefined' if value is None else f'{value:.2f}'} |")
    print(json.dumps({"counts": results, "tau": taus}))


if __name__ == "__main__":
    main()
