"""Time per token and memory by position, with and without the KV cache: python -m benchmarks.engine_kv_cache.

At each position, one decoding step with the cache is interleaved with recomputing the complete sequence without it. The
model is a random 135M Llama in fp32. With --write it writes docs/experiments/kv_cache.svg and the table in kv_cache.md
between its two markers; otherwise both are only printed. With the cache, time is bound by reading the weights once, and
beyond some position by reading the keys and values. The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import torch

from benchmarks.engine_peers import SMOL_135M, TINY, random_pair, random_prompt, seconds
from model.decoder.decoder import Decoder
from model.engine_state.arena import KeyValueArena, bytes_per_position
from model.engine_state.decode_state import DecodeState
from model.engine_state.reads import RowGroup
from model.hardware.freed_memory import keep_freed_memory

DOCS = Path(__file__).resolve().parent.parent / "docs" / "experiments"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"


@dataclass(frozen=True, slots=True)
class Point:
    """Figures at one position: milliseconds per token with and without the cache, and the size of the cache."""

    position: int
    cached_ms: float
    uncached_ms: float
    cache_bytes: int


def main() -> None:
    parser = argparse.ArgumentParser(description="time per token and memory against position")
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--write", action="store_true", help="write kv_cache.svg and the table of kv_cache.md in docs/experiments"
    )
    given = parser.parse_args()
    keep_freed_memory()
    positions = (16, 32, 64, 128) if given.tiny else (32, 64, 128, 256, 512, 1024, 2000)
    model = random_pair(TINY if given.tiny else SMOL_135M, torch.float32).ours
    points = measure(model, positions, given.repeats)
    rows = table(points)
    print(rows)
    if given.write:
        (DOCS / "kv_cache.svg").write_text(plot(points), "utf-8")
        page = (DOCS / "kv_cache.md").read_text("utf-8")
        before, rest = page.split(BEGIN)
        (DOCS / "kv_cache.md").write_text(f"{before}{BEGIN}\n{rows}\n{END}{rest.split(END)[1]}", "utf-8")
    print(json.dumps({"benchmark": "engine_kv_cache", "points": [asdict(point) for point in points]}))


def measure(model: Decoder, positions: Sequence[int], repeats: int) -> list[Point]:
    """Return the medians over interleaved repeats."""
    each = bytes_per_position(model.config, model.dtype)
    arena = KeyValueArena(model.config, each * (max(positions) + 1), dtype=model.dtype)
    arena.keys.normal_()
    arena.values.normal_()
    points = []
    with torch.inference_mode():
        for position in positions:
            ids = torch.tensor([random_prompt(position, model.config.vocab_size, position)])

            def cached(position: int = position, ids: torch.Tensor = ids) -> None:
                state = DecodeState(arena, [RowGroup(1, (), 0, 0, position)], model.config.max_positions)
                model.next_token(model(ids[:, -1:], state)[:, -1])

            def uncached(ids: torch.Tensor = ids) -> None:
                model.next_token(model(ids)[:, -1])

            cached(), uncached()
            with_cache, without = [], []
            for _ in range(repeats):
                with_cache.append(seconds(cached))
                without.append(seconds(uncached))
            point = Point(
                position,
                round(1000 * statistics.median(with_cache), 3),
                round(1000 * statistics.median(without), 3),
                each * position,
            )
            print(point, flush=True)
            points.append(point)
    return points


def table(points: Sequence[Point]) -> str:
    """Return the results as Markdown."""
    lines = [
        "| position | with the cache, ms a token | without, ms a token | ratio | cache, MB |",
        "| ---: | ---: | ---: | ---: | ---: |",
    ]
    for p in points:
        ratio = p.uncached_ms / p.cached_ms
        size = p.cache_bytes / 1e6
        lines.append(f"| {p.position} | {p.cached_ms:.1f} | {p.uncached_ms:.1f} | {ratio:.1f} | {size:.1f} |")
    return "\n".join(lines)


def plot(points: Sequence[Point]) -> str:
    """Return two panels on logarithmic axes as SVG. A power law is a straight line with its exponent as slope."""
    times = [p.cached_ms for p in points] + [p.uncached_ms for p in points]
    sizes = [p.cache_bytes / 1e6 for p in points]
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 330" font-family="sans-serif" font-size="12">',
        '<rect width="720" height="330" fill="white"/>',
        *panel(
            points,
            60,
            "milliseconds a token",
            times,
            [
                ("with the cache", "#1f6f8b", [p.cached_ms for p in points]),
                ("without", "#b4532a", [p.uncached_ms for p in points]),
            ],
        ),
        *panel(points, 430, "cache, MB", sizes, [("keys and values", "#1f6f8b", sizes)]),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def panel(
    points: Sequence[Point],
    left: int,
    title: str,
    values: Sequence[float],
    lines: Sequence[tuple[str, str, Sequence[float]]],
) -> list[str]:
    """Return a panel of 270 by 230 units. Grid lines are at the measured positions and at every power of ten of the
    values.
    """
    top, width, height = 40, 270, 230
    first, last = math.log(points[0].position), math.log(points[-1].position)
    low = math.floor(math.log10(min(values)))
    high = max(math.ceil(math.log10(max(values))), low + 1)

    def x(position: float) -> float:
        return round(left + width * (math.log(position) - first) / (last - first), 1)

    def y(value: float) -> float:
        return round(top + height * (1 - (math.log10(value) - low) / (high - low)), 1)

    out = [f'<text x="{left}" y="{top - 16}" font-weight="bold">{title}</text>']
    for power in range(low, high + 1):
        pixel = y(10.0**power)
        out.append(f'<line x1="{left}" x2="{left + width}" y1="{pixel}" y2="{pixel}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 6}" y="{pixel + 4}" text-anchor="end">{10.0**power:g}</text>')
    for point in points:
        pixel = x(point.position)
        out.append(f'<line x1="{pixel}" x2="{pixel}" y1="{top}" y2="{top + height}" stroke="#eee"/>')
        out.append(f'<text x="{pixel}" y="{top + height + 16}" text-anchor="middle">{point.position}</text>')
    out.append(f'<text x="{left + width / 2}" y="{top + height + 36}" text-anchor="middle">position</text>')
    for number, (name, colour, line) in enumerate(lines):
        path = " ".join(f"{x(p.position)},{y(v)}" for p, v in zip(points, line, strict=True))
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{left + 8}" y="{top + 16 + 16 * number}" fill="{colour}">{name}</text>')
    return out


if __name__ == "__main__":
    main()
