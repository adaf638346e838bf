"""Control a parser child process: start it, send files, read their items with a time limit, and end it."""

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

_START_TIMEOUT_S = 120.0
_END_TIMEOUT_S = 5.0
_BLOCK_BYTES = 1 << 18
# The path is appended, so that files in the package's folder do not shadow standard modules.
_PROGRAM = (
    "import sys; sys.path.append(sys.argv[3]); "
    "from data.parsing.worker import main; main(int(sys.argv[1]), sys.argv[2], int(sys.argv[4]))"
)


class ParserProcess:
    """A child process that parses one file at a time.

    usable: whether it can parse another file. False once it has died, hangs, or has parsed enough files.
    """

    def __init__(self, limits: ParsingLimits) -> None:
        """Start the child. Raises DataError if it cannot be started."""
        self._limits = limits
        self._parsed = 0
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed by close()
        self._buffer = bytearray()
        self._deadline = 0.0
        self._ready = False
        self.usable = True
        # Only this process has the writing end, so the system notifies the child when this process ends.
        child_end, self._parent_pipe = os.pipe()
        command = [sys.executable, "-I", "-c", _PROGRAM]
        command += [str(os.getpid()), json.dumps(asdict(limits)), str(Path(data.__path__[0]).parent), str(child_end)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                pass_fds=(child_end,),
                env={},  # hides secrets in the environment from the child
                start_new_session=True,  # only this process handles interrupts from the terminal
            )
        except OSError as error:
            self._errors.close()
            os.close(self._parent_pipe)
            raise DataError(f"the parser process cannot be started ({error.strerror})") from error
        finally:
            os.close(child_end)

    @property
    def pid(self) -> int:
        """Process ID of the child."""
        return self._process.pid

    def send_file(self, path: Path, origin: Origin) -> None:
        """Send a file to the child. ``items`` returns the result, or reports that the child has died."""
        request = {"path": os.fsencode(path).hex(), "where": origin.where, "document_id": origin.document_id}
        self._parsed += 1
        try:
            _require_pipe(self._process.stdin).write(packed(request))
            _require_pipe(self._process.stdin).flush()
        except OSError:
            self.usable = False

    def items(self, origin: Origin) -> Iterator[Item]:
        """Yield the items of the file. If the child dies or hangs, the last item is a Refused with the reason.

        Raises DataError if the child could not start.
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
            yield Refused(
                origin.where, f"parsing produced nothing for {self._limits.wall_seconds:g} seconds and was stopped"
            )
        except FrameError as error:
            with suppress(subprocess.TimeoutExpired):  # A child that has ended has an exit code.
                self._process.wait(timeout=_END_TIMEOUT_S if error.ended else 0)
            self.close()
            yield Refused(origin.where, self._failure_reason(error))

    def close(self) -> None:
        """Kill the child. Further calls have no effect."""
        self.usable = False
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        if self._parent_pipe >= 0:
            os.close(self._parent_pipe)
            self._parent_pipe = -1
        for pipe in (self._process.stdin, self._process.stdout):
            # Closing fails if there is unsent data, because the child has ended.
            with suppress(OSError):
                _require_pipe(pipe).close()
        self._errors.close()

    def await_ready(self) -> None:
        """Wait until the child is ready. Raises DataError if it does not start."""
        self._deadline = time.monotonic() + _START_TIMEOUT_S
        try:
            frame = read_frame(self._read)
        except (FrameError, TimeoutError):
            frame = None
        if frame != {"ready": True}:
            self._process.kill()
            self._process.wait()
            self._errors.seek(0)
            output = self._errors.read()[-2000:].decode("utf-8", "replace").strip()
            self.close()
            raise DataError(
                f"the parser process did not start (exit code {self._process.returncode}): "
                f"{output.rpartition(chr(10))[2] or 'no output'}"
            )
        self._ready = True

    def _read(self, size: int) -> bytes:
        """Read ``size`` bytes, or fewer at the end of the stream. Raises TimeoutError after the deadline."""
        descriptor = _require_pipe(self._process.stdout).fileno()
        while len(self._buffer) < size:
            remaining = self._deadline - time.monotonic()
            poller = select.poll()  # select() fails for descriptors above 1023
            poller.register(descriptor, select.POLLIN | select.POLLHUP)
            if remaining <= 0 or not poller.poll(remaining * 1000):
                raise TimeoutError
            block = os.read(descriptor, max(_BLOCK_BYTES, size - len(self._buffer)))
            if not block:
                break
            self._buffer += block
        result = bytes(memoryview(self._buffer)[:size])
        del self._buffer[:size]
        return result

    def _failure_reason(self, error: FrameError) -> str:
        """Return why the child was stopped or died, for a message."""
        code = self._process.returncode
        if code == -signal.SIGXCPU:
            return f"parsing took more than {self._limits.cpu_seconds} seconds of CPU time and was stopped"
        if not error.ended:
            return f"its parser sent invalid output ({error}) and was stopped"
        if code is not None and code < 0:
            return f"its parser crashed ({signal.Signals(-code).name})"
        return f"its parser ended early (exit code {code})"


def _require_pipe(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise RuntimeError("the child was started without pipes")
    return pipe
