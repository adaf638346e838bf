"""Find the files in given paths: every file once, in an order that depends on names only."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from data.jsonl import JSONL_SUFFIXES
from data.parsing.file_kinds import SHOWN_KINDS, kind_of_file
from data.refused import Refused, shown


@dataclass(frozen=True, slots=True)
class FolderFile:
    """A file to read. root: the given folder, or the folder of a given file. inside: path below it, with ``/``."""

    root: Path
    inside: str

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self.root / self.inside


def find_files(paths: Sequence[Path], *, follow_links: bool = False) -> Iterator[FolderFile | Refused]:
    """Yield the files of supported kinds (data/parsing/file_kinds.py) in the paths, and a Refused for other items.

    paths: existing folders, files, and BEIR folders. follow_links: whether to follow links out of a given folder. By
    default they are refused, since anyone who can write to the folder could otherwise expose any file that this process
    can read.

    Folders are walked depth first in the order of names, without names that start with a dot. Symbolic links are
    followed last, so that a link never replaces the location of a real file. Content that was already read, because of
    loops or overlapping folders, is refused.
    """
    walk = _Walk(follow_links)
    for path in paths:
        yield from walk.expand(path)
    yield from walk.links()


@dataclass(frozen=True, slots=True)
class _FolderId:
    device: int
    inode: int


class _Walk:
    """A walk over all given paths, which remembers visited folders."""

    def __init__(self, follow_links: bool) -> None:
        self._follow_links = follow_links
        self._folders: set[_FolderId] = set()
        # Real paths of files that were given or linked. Files in walked folders need not be stored, because a folder is
        # walked only once.
        self._single: set[str] = set()
        self._links: list[FolderFile] = []

    def expand(self, path: Path) -> Iterator[FolderFile | Refused]:
        if not path.is_dir():
            if kind_of_file(path):
                yield self._single_file(FolderFile(path.parent, path.name))
            else:
                yield Refused(shown(path), _OTHER_KIND)
            return
        corpora = [path / f"corpus{suffix}" for suffix in JSONL_SUFFIXES]
        corpora = [corpus for corpus in corpora if corpus.is_file()]
        if corpora:
            yield self._single_file(FolderFile(path, corpora[0].name))
            for other in corpora[1:]:
                yield Refused(shown(other), f"{corpora[0].name} in the same folder was read instead")
            for other in sorted(path.glob("[!.]*")):
                if kind_of_file(other) and not other.name.startswith(_BEIR_FILES):
                    yield Refused(shown(other), f"its folder was read as a BEIR folder, by {corpora[0].name} only")
            return
        is_empty = True
        links_before = len(self._links)
        for found in self._folder(path, ""):
            is_empty = False
            yield found
        if is_empty and len(self._links) == links_before:
            yield Refused(shown(path), f"this folder has no file of a supported kind ({SHOWN_KINDS})")

    def links(self) -> Iterator[FolderFile | Refused]:
        for link in self._links:  # grows during iteration: a linked folder may contain further links
            if not self._follow_links and _leaves_root(link):
                yield Refused(shown(link.path), _LEADS_OUT)
            elif link.path.is_dir():
                yield from self._folder(link.root, link.inside)
            elif not link.path.exists():
                yield Refused(shown(link.path), "a broken symbolic link")
            elif kind_of_file(link.path):
                yield self._single_file(link)
            else:
                yield Refused(shown(link.path), _OTHER_KIND)

    def _single_file(self, found: FolderFile) -> FolderFile | Refused:
        real = Path(os.path.realpath(found.path))
        try:
            walked = _id_of(real.parent) in self._folders and kind_of_file(real) and not real.name.startswith(".")
        except OSError as error:
            return Refused(shown(found.path), f"cannot be read ({error.strerror})")
        if walked or str(real) in self._single:
            return Refused(shown(found.path), f"the same file was already read, as {shown(real)}")
        self._single.add(str(real))
        return found

    def _folder(self, root: Path, inside: str) -> Iterator[FolderFile | Refused]:
        """Yield every real file below root/inside, and defer links.

        A stack is used instead of recursion, so that the depth of folders is not limited.
        """
        stack = [_Entry(FolderFile(root, inside), is_folder=True)]
        while stack:
            entry = stack.pop()
            if entry.is_folder:
                inner = self._entries(entry.found)
                if isinstance(inner, Refused):
                    yield inner
                else:
                    stack.extend(reversed(inner))
            elif not kind_of_file(entry.found.path):
                yield Refused(shown(entry.found.path), _OTHER_KIND)
            elif self._single and (real := os.path.realpath(entry.found.path)) in self._single:
                yield Refused(shown(entry.found.path), f"the same file was already read, as {shown(Path(real))}")
            else:
                yield entry.found

    def _entries(self, folder: FolderFile) -> list[_Entry] | Refused:
        """Return a folder's entries by name, without hidden names and links; a Refused if it was visited before."""
        try:
            identity = _id_of(folder.path)
            if identity in self._folders:
                return Refused(shown(folder.path), "this folder was already read (it is linked, or given twice)")
            self._folders.add(identity)
            with os.scandir(folder.path) as entries:
                named = sorted((entry for entry in entries if not entry.name.startswith(".")), key=lambda e: e.name)
        except OSError as error:
            return Refused(shown(folder.path), f"this folder cannot be read ({error.strerror})")
        found: list[_Entry] = []
        for entry in named:
            inside = f"{folder.inside}/{entry.name}" if folder.inside else entry.name
            below = FolderFile(folder.root, inside)
            if entry.is_symlink():
                self._links.append(below)
            else:
                found.append(_Entry(below, entry.is_dir()))
        return found


@dataclass(frozen=True, slots=True)
class _Entry:
    """A file or folder that is not visited yet."""

    found: FolderFile
    is_folder: bool


def _leaves_root(link: FolderFile) -> bool:
    """Return whether a symbolic link leads out of the given folder."""
    root, real = Path(os.path.realpath(link.root)), Path(os.path.realpath(link.path))
    return not real.is_relative_to(root)


def _id_of(folder: Path) -> _FolderId:
    status = folder.stat()
    return _FolderId(status.st_dev, status.st_ino)


_OTHER_KIND = f"files of this kind are not read, only {SHOWN_KINDS}"
_LEADS_OUT = "a symbolic link that leads out of the folder: it is read only if links are followed"
_BEIR_FILES = ("corpus", "queries", "qrels")
