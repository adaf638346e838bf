"""One parser child as seen from here: started, asked, read with a time limit, and ended."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import IO

import data
from data.errors import DataError
from data.parsing.frames import FrameError, item_from_json, packed, read_frame
from data.parsing.limits import ParsingLimits
from data.parsing.origin import Item, Origin
from data.refused import Refused

_START_SECONDS = 120.0
_END_SECONDS = 5.0
_PIECE = 1 << 18
# The path is added behind all others, so that no file beside the package takes the place of a standard module.
_PROGRAM = (
    "import sys; sys.path.append(sys.argv[3]); "
    "from data.parsing.worker import main; main(int(sys.argv[1]), sys.argv[2], int(sys.argv[4]))"
)


class ParserProcess:
    """A child that parses one file at a time. ``usable`` turns false when it died, hung, or has parsed enough."""

    def __init__(self, limits: ParsingLimits) -> None:
        """Start it. Raises DataError when the child cannot be started at all."""
        self._limits = limits
        self._parsed = 0
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._buffer = bytearray()
        self._deadline = 0.0
        self._ready = False
        self.usable = True
        # Only we hold the writing end: when we are gone, however that happens, the system tells the child.
        watched, self._life = os.pipe()
        command = [sys.executable, "-I", "-c", _PROGRAM]
        command += [str(os.getpid()), json.dumps(asdict(limits)), str(Path(data.__path__[0]).parent), str(watched)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                pass_fds=(watched,),
                env={},  # secrets in our environment are none of its business
                start_new_session=True,  # an interrupt at the terminal is ours to handle
            )
        except OSError as error:
            self._errors.close()
            os.close(self._life)
            raise DataError(f"a process to parse documents in cannot be started ({error.strerror})") from error
        finally:
            os.close(watched)

    @property
    def pid(self) -> int:
        """The child's process id."""
        return self._process.pid

    def ask(self, path: Path, origin: Origin) -> None:
        """Let it begin with a file; ``items`` gives the answer. A child that is gone is noticed there."""
        request = {"path": os.fsencode(path).hex(), "where": origin.where, "document_id": origin.document_id}
        self._parsed += 1
        try:
            _piped(self._process.stdin).write(packed(request))
            _piped(self._process.stdin).flush()
        except OSError:
            self.usable = False

    def items(self, origin: Origin) -> Iterator[Item]:
        """What the file gives. If the child dies or hangs, the last item is a Refused that says so, and why.

        Raises DataError when the child never came up: then no file can be parsed, and none should be called bad.
        """
        try:
            if not self._ready:
                self.await_ready()
            while True:
                self._deadline = time.monotonic() + self._limits.wall_seconds
                frame = read_frame(self._read)
                if frame is None:
                    raise FrameError("it ended", ended=True)
                if "end" in frame:
                    self.usable &= not frame.get("leaving") and self._parsed < self._limits.files_per_process
                    return
                yield item_from_json(frame)
        except TimeoutError:
            self.close()
            yield Refused(origin.where, f"parsing gave nothing for {self._limits.wall_seconds:g} seconds: stopped")
        except FrameError as error:
            with suppress(subprocess.TimeoutExpired):  # a child that ended has an exit code worth waiting for
                self._process.wait(timeout=_END_SECONDS if error.ended else 0)
            self.close()
            yield Refused(origin.where, self._why(error))

    def close(self) -> None:
        """End it at once. May be called again."""
        self.usable = False
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._life >= 0:
            os.close(self._life)
            self._life = -1
        for pipe in (self._process.stdin, self._process.stdout):
            # What was still to be written has nobody to read it.
            with suppress(OSError):
                _piped(pipe).close()
        self._errors.close()

    def await_ready(self) -> None:
        """Wait until it can be asked. Raises DataError when it never comes up."""
        self._deadline = time.monotonic() + _START_SECONDS
        try:
            frame = read_frame(self._read)
        except (FrameError, TimeoutError):
            frame = None
        if frame != {"ready": True}:
            self._process.kill()
            self._process.wait()
            self._errors.seek(0)
            said = self._errors.read()[-2000:].decode("utf-8", "replace").strip()
            self.close()
            raise DataError(
                f"the process to parse documents in did not start (exit code {self._process.returncode}): "
                f"{said.rpartition(chr(10))[2] or 'it said nothing'}"
            )
        self._ready = True

    def _read(self, size: int) -> bytes:
        """``size`` bytes, fewer at the end. Raises TimeoutError when too long nothing comes."""
        descriptor = _piped(self._process.stdout).fileno()
        while len(self._buffer) < size:
            left = self._deadline - time.monotonic()
            poller = select.poll()  # not select(): it fails for descriptors above 1023
            poller.register(descriptor, select.POLLIN | select.POLLHUP)
            if left <= 0 or not poller.poll(left * 1000):
                raise TimeoutError
            piece = os.read(descriptor, max(_PIECE, size - len(self._buffer)))
            if not piece:
                break
            self._buffer += piece
        taken = bytes(memoryview(self._buffer)[:size])
        del self._buffer[:size]
        return taken

    def _why(self, error: FrameError) -> str:
        """What a dead child died of."""
        code = self._process.returncode
        if code == -signal.SIGXCPU:
            return f"parsing took more than {self._limits.cpu_seconds} seconds of processor time: stopped"
        if not error.ended:
            return f"its parser answered nonsense ({error}): stopped"
        if code is not None and code < 0:
            return f"its parser crashed ({signal.Signals(-code).name})"
        return f"its parser ended before it was done (exit code {code})"


def _piped(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise RuntimeError("the child was started without its pipes")
    return pipe
