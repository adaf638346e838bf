"""Restrictions of a parser process. Each attempt runs in its own confined process."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

import data
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Origin
from data.parsing.process import ParserProcess

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64", reason="the filter is for x86-64 Linux"
)

PROGRAM = """
import ctypes, json, os, signal, socket, subprocess, sys, threading, mmap
from pathlib import Path
sys.path.append(sys.argv[2])
from data.parsing.sandbox import confine
folder = Path(sys.argv[1])
(folder / "old").write_text("old")
victim = int(sys.argv[3])
writable = os.open(folder / "old", os.O_RDWR)
done = confine()
libc = ctypes.CDLL(None, use_errno=True)

def call(*arguments):
    if libc.syscall(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "")

def in_thread(work):
    found = []
    def run():
        try:
            work()
        except OSError as error:
            found.append(error)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if found:
        raise found[0]

attempts = {
    "tcp": lambda: socket.socket(),
    "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    "unix": lambda: socket.socket(socket.AF_UNIX),
    "pair": lambda: socket.socketpair(),
    "create": lambda: open(folder / "new", "x"),
    "append": lambda: open(folder / "old", "a"),
    "plain open": lambda: call(2, str(folder / "new").encode(), 0o101, 0o600),
    "temporary": lambda: os.open(folder, os.O_TMPFILE | os.O_RDWR),
    "openat2": lambda: call(437, -100, b"x", b"0" * 24, 24),
    "x32": lambda: call(0x40000000 + 41, 2, 1, 0),
    "remove": lambda: os.unlink(folder / "old"),
    "rename": lambda: os.rename(folder / "old", folder / "other"),
    "folder": lambda: os.mkdir(folder / "d"),
    "link": lambda: os.link(folder / "old", folder / "l"),
    "symlink": lambda: os.symlink("old", folder / "l"),
    "mode": lambda: os.chmod(folder / "old", 0o777),
    "truncate": lambda: os.truncate(folder / "old", 0),
    "times": lambda: os.utime(folder / "old"),
    "fork": lambda: os.fork() or os._exit(0),
    "program": lambda: os.execv("/bin/true", ["true"]),
    "child": lambda: subprocess.run(["/bin/true"]),
    "signal": lambda: os.kill(victim, signal.SIGTERM),
    "thread's signal": lambda: call(234, victim, victim, 15),
    "memory of others": lambda: open(f"/proc/{victim}/mem", "r+b"),
    "ring": lambda: call(425, 1, 0),
    "in a thread": lambda: in_thread(lambda: socket.socket()),
}
failed = {}
for name, attempt in attempts.items():
    try:
        attempt()
        failed[name] = "done"
    except OSError as error:
        failed[name] = error.errno
allowed = [(folder / "old").read_text(), sum(1 for _ in folder.iterdir()), os.getpid() > 0]
in_thread(lambda: None)
print(json.dumps([done, failed, allowed]))
"""


def test_nothing_of_this_is_possible_any_more(tmp_path: Path) -> None:
    with subprocess.Popen(["/bin/sleep", "60"]) as victim:
        try:
            root = str(Path(data.__path__[0]).parent)
            ran = subprocess.run(
                [sys.executable, "-c", PROGRAM, tmp_path, root, str(victim.pid)],
                capture_output=True,
                text=True,
                timeout=60,
            )
            assert ran.returncode == 0, ran.stderr
            done, failed, allowed = json.loads(ran.stdout)
            if not done:
                pytest.skip("seccomp is forbidden here")
            assert victim.poll() is None
        finally:
            victim.kill()
    assert set(failed.values()) <= {1, 38}, failed
    assert [name for name, code in failed.items() if code == 38] == []
    assert allowed == ["old", 1, True]
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_the_parsers_process_is_confined_and_still_parses(tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_text("A text.")
    child = ParserProcess(ParsingLimits())
    try:
        child.send_file(file, Origin("a.txt", "a.txt"))
        (item,) = child.items(Origin("a.txt", "a.txt"))
        status = Path(f"/proc/{child.pid}/status").read_text()
    finally:
        child.close()
    assert "A text." in str(item)
    assert "Seccomp:\t2" in status
    assert "NoNewPrivs:\t1" in status
