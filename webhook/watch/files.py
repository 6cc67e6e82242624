"""The same objects from a folder of YAML and JSON files, read again when they change.

Knows files; knows no cluster. A broken file, and a folder that is gone, keep the objects they last
held and say so. A field that we do not know is said too, and its object counts. Imports
nothing heavy, so that offline verbs can use :class:`Folder` too.
"""

import asyncio
import logging
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from policies import names
from policies.changes import Everything
from policies.network import RDMANetwork
from policies.parse import unknown_fields
from policies.partition import RDMAPartition
from policies.policy import RDMAPolicy
from webhook.apiserver.kinds import BY_NAME
from webhook.apiserver.pace import Pace
from webhook.watch.cache import Cache
from webhook.watch.documents import Document, parse
from webhook.watch.errors import UnreadableFile

SUFFIXES = frozenset({".yaml", ".yml", ".json"})
LOOK_SECONDS = 0.3
DEFAULT_NAMESPACE = "default"
"""Where kubectl puts an object that names no namespace."""
READ_KINDS = (*BY_NAME, names.NODE)
"""Those of a cluster, and the nodes, which replicas in a cluster do not watch."""
MODELS = {names.NETWORK: RDMANetwork, names.POLICY: RDMAPolicy, names.PARTITION: RDMAPartition}
"""The kinds whose every field is ours; the API server warns of others by itself."""

log = logging.getLogger(__name__)


Mark: TypeAlias = tuple[int, int, int]
"""Inode, size and time of change; zeros where the file cannot even be looked at."""


@dataclass(frozen=True, slots=True)
class _File:
    """What was last read of one file."""

    mark: Mark
    documents: tuple[Document, ...]
    problem: str


class Folder:
    """The objects in the files of a folder, at any depth; names with a dot in front are skipped.

    A file that changed, came or went counts once it looks the same twice: who writes a file
    empties it first, and half a file can be valid YAML. A folder that cannot be listed has not
    lost its files: what they held stays until it can.
    """

    def __init__(self, root: Path) -> None:
        """Remember the folder; nothing is read yet."""
        self._root = root
        self._files: dict[str, _File] | None = None
        self._marks: dict[str, Mark] = {}
        self._lost: dict[str, str] = {}
        self._objects: dict[str, list[Mapping[str, Any]]] = {}
        self._problems: tuple[str, ...] = ()

    def look(self) -> bool:
        """Read what is new, and tell whether anything was."""
        before, seen, lost_before = self._files, self._marks, self._lost
        paths, self._lost = _walk(self._root)
        self._marks = {name: mark for name, mark in seen.items() if _is_below(name, self._lost)}
        self._marks |= {name: _mark(path) for name, path in paths.items()}
        found: dict[str, _File] = {}
        for name in sorted({*paths, *(before or {})}):
            known = before.get(name) if before else None
            mark = self._marks.get(name)
            is_settled = before is None or seen.get(name) == mark
            is_lost = name not in paths and _is_below(name, self._lost)
            if known and (known.mark == mark or not is_settled or is_lost):
                found[name] = known
            elif is_settled and name in paths:
                found[name] = _read(paths[name], name, self._marks[name], known)
        if (found, self._lost) == (before, lost_before):
            return False
        self._files = found
        self._objects, problems = _merge(found)
        self._problems = (*self._unlisted(found), *problems)
        return True

    def _unlisted(self, files: Mapping[str, _File]) -> Iterator[str]:
        """Yield a sentence for each folder that cannot be listed."""
        for name, reason in self._lost.items():
            kept = [file for path, file in files.items() if _is_below(path, (name,))]
            still = _still(tuple(one for file in kept for one in file.documents))
            yield f"{self._root / name}: cannot be listed: {reason}{still}"

    def objects(self) -> Mapping[str, list[Mapping[str, Any]]]:
        """Return the objects by kind. Of one that is there twice the last file's counts."""
        return self._objects

    def problems(self) -> tuple[str, ...]:
        """Return a sentence for each file or object that cannot be used."""
        return self._problems


class FileSource:
    """Keeps a cache equal to a folder."""

    def __init__(self, root: Path, cache: Cache, pace: Pace) -> None:
        """Join the parts; nothing is read yet."""
        self._folder = Folder(root)
        self._cache = cache
        self._pace = pace
        self._said: tuple[str, ...] = ()

    async def run(self) -> None:
        """Read the folder again whenever it changed, for ever."""
        while True:
            await self.read()
            await self._pace.sleep(LOOK_SECONDS)

    async def read(self) -> None:
        """Bring the cache up to date once."""
        is_changed = await asyncio.to_thread(self._folder.look)
        objects = self._folder.objects()
        if is_changed:
            self._say()
            self._cache.offer([Everything(kind, objects.get(kind, [])) for kind in READ_KINDS])
        for kind in BY_NAME:
            self._cache.synced(kind, len(objects.get(kind, [])))

    def _say(self) -> None:
        problems = self._folder.problems()
        for problem in problems:
            if problem not in self._said:
                log.warning("file_problem", extra={"fields": {"error": problem}})
        counts = {kind: len(found) for kind, found in self._folder.objects().items()}
        log.info("files_read", extra={"fields": {"objects": counts, "problems": len(problems)}})
        self._said = problems
        self._cache.note("files", problems)


def unknown_in(kind: str, found: Mapping[str, Any]) -> tuple[str, ...]:
    """Return a sentence for each field of an object that its kind does not have."""
    model = MODELS.get(kind)
    return unknown_fields(model, found) if model else ()


def _walk(root: Path) -> tuple[dict[str, Path], dict[str, str]]:
    """Return every file to read by its path below the folder, and folders that cannot be listed.

    The second are paths below the folder too, ``.`` being itself, each with the reason. A folder
    further down that is gone is no trouble: it was deleted.
    """
    paths: dict[str, Path] = {}
    lost: dict[str, str] = {}

    def note(err: OSError) -> None:
        name = Path(err.filename).relative_to(root).as_posix()
        if name == "." or not isinstance(err, FileNotFoundError):
            lost[name] = err.strerror or str(err)

    for folder, below, found in os.walk(root, onerror=note):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(found):
            path = Path(folder, name)
            if not name.startswith(".") and path.suffix.lower() in SUFFIXES:
                paths[path.relative_to(root).as_posix()] = path
    return paths, lost


def _is_below(name: str, folders: Iterable[str]) -> bool:
    return any(folder == "." or name.startswith(f"{folder}/") for folder in folders)


def _mark(path: Path) -> Mark:
    try:
        found = path.stat()
    except OSError:
        return (0, 0, 0)
    return (found.st_ino, found.st_size, found.st_mtime_ns)


def _read(path: Path, name: str, mark: Mark, known: _File | None) -> _File:
    """Return the file as it is now; of a broken one what it last held."""
    kept = known.documents if known else ()
    try:
        text = path.read_text(encoding="utf-8-sig")
        documents = parse(text, is_json=path.suffix.lower() == ".json")
    except OSError as err:
        problem = f"cannot be read: {err.strerror}"
    except UnicodeDecodeError as err:
        problem = f"not UTF-8 at byte {err.start}"
    except UnreadableFile as err:
        problem = str(err)
    else:
        return _File(mark, tuple(documents), "")
    return _File(mark, kept, f"{name}: {problem}{_still(kept)}")


def _still(kept: tuple[Document, ...]) -> str:
    return "; what it held before still counts" if kept else ""


def _merge(
    files: Mapping[str, _File],
) -> tuple[dict[str, list[Mapping[str, Any]]], tuple[str, ...]]:
    """Return all files' objects by kind, and what is wrong with files and objects."""
    problems = [file.problem for file in files.values() if file.problem]
    found: dict[str, dict[tuple[str, str], Mapping[str, Any]]] = {}
    origins: dict[tuple[str, str, str], str] = {}
    for name, file in files.items():
        for document in file.documents:
            kind = str(document.object["kind"])
            if kind not in READ_KINDS:
                continue
            wrong = _wrong_version(kind, document.object)
            if wrong:
                problems.append(f"{name}: {document.place}: {wrong}")
                continue
            placed, key = _placed(kind, document.object)
            problems += [f"{name}: {document.place}: {one}" for one in unknown_in(kind, placed)]
            first = origins.get((kind, *key))
            if first:
                problems.append(
                    f"{name}: {document.place}: {kind} {'/'.join(filter(None, key))}: is in "
                    f"{first} already; this one counts"
                )
            origins[(kind, *key)] = name
            found.setdefault(kind, {})[key] = placed
    return {kind: list(objects.values()) for kind, objects in found.items()}, tuple(problems)


def _wrong_version(kind: str, found: Mapping[str, Any]) -> str:
    known = BY_NAME.get(kind)
    if known is None or found["apiVersion"] == known.api_version:
        return ""
    got = found["apiVersion"]
    return (
        f"{kind} {found['metadata'].get('name')}: apiVersion: got {got}, want {known.api_version}"
    )


def _placed(kind: str, found: Mapping[str, Any]) -> tuple[Mapping[str, Any], tuple[str, str]]:
    """Return the object with the namespace it lives in, and its namespace and name."""
    metadata = found["metadata"]
    name = str(metadata.get("name", ""))
    known = BY_NAME.get(kind)
    if known is None or not known.is_namespaced:
        return found, ("", name)
    namespace = str(metadata.get("namespace") or DEFAULT_NAMESPACE)
    return {**found, "metadata": {**metadata, "namespace": namespace}}, (namespace, name)
