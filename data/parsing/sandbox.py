"""Restrict this process permanently, so that it cannot use the network, write files or start programs or processes.

The restriction is a seccomp filter (Linux, seccomp(2)), a classic BPF program that the kernel runs before every system
call and that cannot be removed. Denied calls fail with EPERM. The process can still read files and write to open pipes.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

# System call numbers of x86-64 (arch/x86/entry/syscalls/syscall_64.tbl).
_DENIED = {
    "socket": 41, "connect": 42, "sendto": 44, "sendmsg": 46, "bind": 49, "socketpair": 53, "sendmmsg": 307,
    "fork": 57, "vfork": 58, "execve": 59, "execveat": 322, "kill": 62, "tkill": 200, "pidfd_send_signal": 424,
    "pidfd_open": 434, "pidfd_getfd": 438, "ptrace": 101, "process_vm_readv": 310, "process_vm_writev": 311,
    "truncate": 76, "ftruncate": 77, "rename": 82, "mkdir": 83, "rmdir": 84, "creat": 85, "link": 86, "unlink": 87,
    "symlink": 88, "chmod": 90, "fchmod": 91, "chown": 92, "fchown": 93, "lchown": 94, "utime": 132, "mknod": 133,
    "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198, "fremovexattr": 199,
    "utimes": 235, "mkdirat": 258, "mknodat": 259, "fchownat": 260, "futimesat": 261, "unlinkat": 263, "renameat": 264,
    "linkat": 265, "symlinkat": 266, "fchmodat": 268, "utimensat": 280, "open_by_handle_at": 304, "renameat2": 316,
    "openat2": 437, "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "shmget": 29, "semget": 64, "msgget": 68,
    "mq_open": 240, "io_uring_setup": 425, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "add_key": 248,
    "request_key": 249, "keyctl": 250, "chroot": 161, "mount": 165, "umount2": 166, "unshare": 272, "setns": 308,
    "open_tree": 428, "move_mount": 429, "fsopen": 430, "mount_setattr": 442,
}  # fmt: skip
_OPEN, _OPENAT, _CLONE, _CLONE3, _TGKILL = 2, 257, 56, 435, 234
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | 0o20000000  # last: O_TMPFILE
_CLONE_THREAD = 0x10000
_ARCH_X86_64 = 0xC000003E
_X32 = 0x40000000
_EPERM, _ENOSYS = 1, 38

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = (
    0x20,
    0x15,
    0x35,
    0x45,
    0x06,
)  # BPF: ld [k], jeq, jge, jset, ret
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_NUMBER, _ARCH = 0, 4  # offsets in struct seccomp_data
_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _MODE_FILTER = 38, 22, 2


def confine() -> bool:
    """Restrict this process and the threads that it starts from now on. Return whether that succeeded.

    Only x86-64 Linux is supported. On other systems, or if seccomp is forbidden, nothing changes.
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    program = _program(os.getpid())
    code = ctypes.create_string_buffer(program, len(program))

    class _Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_void_p))

    filled = _Program(len(program) // 8, ctypes.addressof(code))
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        return False
    return bool(library.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(filled), 0, 0) == 0)


def _program(pid: int) -> bytes:
    """Return the filter program. Each test is followed by its result, so that every jump is short."""
    denied = _ERRNO | _EPERM
    steps = [
        _step(_LOAD, _ARCH),
        _step(_EQUAL, _ARCH_X86_64, met=1),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
        _step(_AT_LEAST, _X32, unmet=1),
        _step(_RETURN, denied),
    ]
    for number in sorted(_DENIED.values()):
        steps += [_step(_EQUAL, number, unmet=1), _step(_RETURN, denied)]
    steps += [
        _step(_EQUAL, _CLONE3, unmet=1),
        _step(_RETURN, _ERRNO | _ENOSYS),
    ]  # the C library falls back to clone
    steps += _argument(_OPEN, 1, _step(_ANY_BIT, _WRITING, met=0, unmet=1), denied)
    steps += _argument(_OPENAT, 2, _step(_ANY_BIT, _WRITING, met=0, unmet=1), denied)
    steps += _argument(_CLONE, 0, _step(_ANY_BIT, _CLONE_THREAD, met=1, unmet=0), denied)
    steps += _argument(_TGKILL, 0, _step(_EQUAL, pid, met=1, unmet=0), denied)
    return b"".join([*steps, _step(_RETURN, _ALLOW)])


def _argument(number: int, index: int, test: bytes, verdict: int) -> list[bytes]:
    """Return steps that test the low 32 bits of an argument of a system call.

    number: number of the call. index: index of the argument. test: a step that skips the next step, the return of
    ``verdict``, to allow the call.
    """
    return [
        _step(_EQUAL, number, unmet=4),
        _step(_LOAD, 16 + 8 * index),
        test,
        _step(_RETURN, verdict),
        _step(_RETURN, _ALLOW),
    ]


def _step(code: int, value: int, met: int = 0, unmet: int = 0) -> bytes:
    return struct.pack("=HBBI", code, met, unmet, value)
