"""Free memory of the machine, or of its control group if that is less."""

from __future__ import annotations

from pathlib import Path

_PROC, _GROUP = Path("/proc"), Path("/sys/fs/cgroup")


def memory_left(proc: Path = _PROC, group: Path = _GROUP) -> int | None:
    """Return the free bytes; None if the system does not report them.

    The file cache of the control group counts as free, since it is evictable.
    """
    known = [left for left in (_machine(proc), _group(group)) if left is not None]
    return min(known, default=None)


def _machine(proc: Path) -> int | None:
    try:
        lines = (proc / "meminfo").read_text("ascii").splitlines()
        kibibytes = next(line.split()[1] for line in lines if line.startswith("MemAvailable:"))
        return 1024 * int(kibibytes)
    except (OSError, ValueError, IndexError, StopIteration):
        return None


def _group(group: Path) -> int | None:
    try:
        most = (group / "memory.max").read_text("ascii").strip()
        if most == "max":
            return None
        used = int((group / "memory.current").read_text("ascii"))
        facts = dict(line.split() for line in (group / "memory.stat").read_text("ascii").splitlines())
        cached = int(facts.get("inactive_file", 0)) + int(facts.get("active_file", 0))
        return max(0, int(most) - used + cached)
    except (OSError, ValueError):
        return None
