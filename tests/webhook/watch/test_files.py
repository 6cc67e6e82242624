"""Objects from a folder, and what becomes of broken files."""

import asyncio
import contextlib
import errno
import os
from pathlib import Path

import pytest

from tests.fakes.eventually import eventually
from tests.fakes.pace import FakePace
from webhook.watch.cache import Cache
from webhook.watch.files import FileSource, Folder

NAD = "NetworkAttachmentDefinition"


def nad(name: str, namespace: str = "team") -> str:
    """Return the YAML of a NAD."""
    return f"""---
apiVersion: k8s.cni.cncf.io/v1
kind: {NAD}
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{config: "{{}}"}}
"""


def settled(folder: Folder) -> bool:
    """Look until every file looks the same twice; tell whether anything was new."""
    return any([folder.look(), folder.look()])


def names(folder: Folder) -> list[str]:
    """Return the names of the folder's NADs."""
    return [one["metadata"]["name"] for one in folder.objects().get(NAD, [])]


def test_yaml_and_json_at_any_depth_are_read(tmp_path: Path) -> None:
    """Every .yaml, .yml and .json file counts; other files and hidden ones do not."""
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.yaml").write_text(nad("a") + nad("b"))
    (tmp_path / "deep" / "er" / "c.yml").write_text(nad("c"))
    (tmp_path / "d.json").write_text(
        f'{{"apiVersion": "k8s.cni.cncf.io/v1", "kind": "{NAD}", "metadata": {{"name": "d"}}}}'
    )
    (tmp_path / "readme.txt").write_text("none")
    (tmp_path / ".git" / "x.yaml").write_text(nad("hidden"))
    folder = Folder(tmp_path)
    assert folder.look()
    assert sorted(names(folder)) == ["a", "b", "c", "d"]
    assert folder.problems() == ()


def test_nothing_new_is_nothing_new(tmp_path: Path) -> None:
    """A folder that did not change is not handed over again, empty ones included."""
    folder = Folder(tmp_path)
    assert folder.look()
    assert not settled(folder)
    (tmp_path / "a.yaml").write_text(nad("a"))
    assert settled(folder)
    assert not settled(folder)


def test_a_changed_file_is_read_again_and_a_deleted_one_forgotten(tmp_path: Path) -> None:
    """The folder is the truth."""
    path = tmp_path / "a.yaml"
    path.write_text(nad("a"))
    folder = Folder(tmp_path)
    folder.look()
    path.write_text(nad("a") + nad("b"))
    assert settled(folder)
    assert names(folder) == ["a", "b"]
    path.unlink()
    assert settled(folder)
    assert names(folder) == []


def test_a_broken_file_keeps_its_last_good_objects(tmp_path: Path) -> None:
    """The sentence names file, document and line; the objects stay until the file is good."""
    path = tmp_path / "a.yaml"
    path.write_text(nad("a"))
    folder = Folder(tmp_path)
    folder.look()
    path.write_text(nad("b") + "---\nspec: [}\n")
    assert settled(folder)
    assert names(folder) == ["a"]
    (problem,) = folder.problems()
    assert problem.startswith("a.yaml: document 2, line 7: not YAML")
    assert problem.endswith("; what it held before still counts")
    path.write_text(nad("b"))
    assert settled(folder)
    assert names(folder) == ["b"]
    assert folder.problems() == ()


def test_a_file_in_the_middle_of_being_written_does_not_count(tmp_path: Path) -> None:
    """Emptied and not filled yet, or moved away and not written again: the old one counts."""
    path = tmp_path / "a.yaml"
    path.write_text(nad("a"))
    folder = Folder(tmp_path)
    folder.look()
    path.write_text("")
    assert not folder.look()
    path.write_text(nad("b"))
    assert not folder.look()
    assert names(folder) == ["a"]
    assert folder.look()
    assert names(folder) == ["b"]
    path.rename(tmp_path / "a.yaml~")
    assert not folder.look()
    assert names(folder) == ["b"]
    (tmp_path / "a.yaml~").rename(path)
    assert not settled(folder)
    path.write_text("")
    assert settled(folder)
    assert names(folder) == []


def test_at_start_the_files_that_parse_count(tmp_path: Path) -> None:
    """A broken file does not take the others with it."""
    (tmp_path / "a.yaml").write_text("{{ helm }}: [")
    (tmp_path / "b.yaml").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "c.yaml").write_text(nad("c"))
    folder = Folder(tmp_path)
    folder.look()
    assert names(folder) == ["c"]
    assert [one.split(":")[0] for one in folder.problems()] == ["a.yaml", "b.yaml"]


def test_an_object_that_is_there_twice_is_said_and_the_last_counts(tmp_path: Path) -> None:
    """Two files that disagree are a mistake someone should hear of."""
    (tmp_path / "a.yaml").write_text(nad("a"))
    (tmp_path / "b.yaml").write_text(nad("a").replace("{}", "{ }"))
    folder = Folder(tmp_path)
    folder.look()
    assert len(names(folder)) == 1
    assert folder.objects()[NAD][0]["spec"]["config"] == "{ }"
    (problem,) = folder.problems()
    assert problem == (
        f"b.yaml: document 1, line 2: {NAD} team/a: is in a.yaml already; this one counts"
    )


def test_a_namespaced_object_without_namespace_is_in_default(tmp_path: Path) -> None:
    """As kubectl apply would put it there."""
    (tmp_path / "a.yaml").write_text(nad("a").replace(", namespace: team", ""))
    folder = Folder(tmp_path)
    folder.look()
    assert folder.objects()[NAD][0]["metadata"]["namespace"] == "default"


def test_another_version_of_our_kinds_is_said(tmp_path: Path) -> None:
    """A wrong apiVersion would silently be ignored otherwise."""
    (tmp_path / "a.yaml").write_text(nad("a").replace("cncf.io/v1", "cncf.io/v2"))
    folder = Folder(tmp_path)
    folder.look()
    assert names(folder) == []
    (problem,) = folder.problems()
    assert problem == (
        f"a.yaml: document 1, line 2: {NAD} a: apiVersion: got k8s.cni.cncf.io/v2, "
        "want k8s.cni.cncf.io/v1"
    )


def test_other_kinds_are_none_of_our_business(tmp_path: Path) -> None:
    """A folder may hold Deployments too."""
    (tmp_path / "a.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}")
    folder = Folder(tmp_path)
    folder.look()
    assert folder.problems() == ()
    assert "Deployment" not in folder.objects()


def test_a_mounted_config_map_is_read_once(tmp_path: Path) -> None:
    """The kubelet's ..data links do not make every object appear twice."""
    real = tmp_path / "..2026_01_01"
    real.mkdir()
    (real / "a.yaml").write_text(nad("a"))
    (tmp_path / "..data").symlink_to(real.name)
    (tmp_path / "a.yaml").symlink_to("..data/a.yaml")
    folder = Folder(tmp_path)
    folder.look()
    assert names(folder) == ["a"]
    assert folder.problems() == ()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_said(tmp_path: Path) -> None:
    """A file that we may not read is named with the reason."""
    path = tmp_path / "a.yaml"
    path.write_text(nad("a"))
    path.chmod(0)
    folder = Folder(tmp_path)
    folder.look()
    assert folder.problems() == ("a.yaml: cannot be read: Permission denied",)


def test_a_dangling_link_is_said(tmp_path: Path) -> None:
    """A link to nowhere is named, and does not stop the others."""
    (tmp_path / "a.yaml").symlink_to("nowhere")
    (tmp_path / "b.yaml").write_text(nad("b"))
    folder = Folder(tmp_path)
    folder.look()
    assert names(folder) == ["b"]
    assert folder.problems() == ("a.yaml: cannot be read: No such file or directory",)


async def test_the_cache_follows_the_folder(
    tmp_path: Path, cache: Cache, fake_pace: FakePace
) -> None:
    """Read once: ready. Changed later: in the snapshot soon after."""
    (tmp_path / "a.yaml").write_text(nad("a"))
    source = FileSource(tmp_path, cache, fake_pace.pace)
    await source.read()
    assert cache.missing() == []
    assert set(cache.current().shard("team").nads) == {"a"}
    running = asyncio.create_task(source.run())
    (tmp_path / "a.yaml").write_text(nad("b") + nad("c"))
    await eventually(lambda: set(cache.current().shard("team").nads) == {"b", "c"})
    (tmp_path / "a.yaml").write_text("[")
    await eventually(cache.problems)
    assert set(cache.current().shard("team").nads) == {"b", "c"}
    running.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await running


async def test_nodes_of_a_folder_are_known_and_nothing_waits_for_them(
    tmp_path: Path, cache: Cache, fake_pace: FakePace
) -> None:
    """A cluster's kinds alone decide about readiness."""
    node = "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\nstatus: {capacity: {rdma/hca: 8}}\n"
    (tmp_path / "a.yaml").write_text(node)
    source = FileSource(tmp_path, cache, fake_pace.pace)
    await source.read()
    assert dict(cache.current().nodes) == {"n1": {"rdma/hca"}}
    assert "Node" not in cache.states()
    assert cache.missing() == []


def test_a_field_that_nobody_knows_is_said_and_its_object_counts(tmp_path: Path) -> None:
    """File, document, path and what was meant."""
    (tmp_path / "a.yaml").write_text(
        "apiVersion: rdma.io/v1alpha1\nkind: RDMAPolicy\nmetadata: {name: default}\n"
        "spec: {enforcements: Enforce}\n" + nad("a").replace("config", "configs")
    )
    folder = Folder(tmp_path)
    folder.look()
    assert folder.problems() == (
        (
            "a.yaml: document 1, line 1: RDMAPolicy default/default: spec.enforcements: no such "
            "field, so it is ignored; did you mean enforcement?"
        ),
    )
    assert len(folder.objects()["RDMAPolicy"]) == 1


@pytest.mark.parametrize("becomes", ["nothing", "a file"])
def test_a_folder_that_vanishes_keeps_its_objects(tmp_path: Path, becomes: str) -> None:
    """It is said, and files of a new folder of that name count once they are settled."""
    root, aside = tmp_path / "objects", tmp_path / "aside"
    root.mkdir()
    (root / "a.yaml").write_text(nad("a"))
    folder = Folder(root)
    folder.look()
    root.rename(aside)
    if becomes == "a file":
        root.touch()
    assert settled(folder)
    assert names(folder) == ["a"]
    (problem,) = folder.problems()
    assert problem.startswith(f"{root}: cannot be listed: No")
    assert problem.endswith("; what it held before still counts")
    assert not settled(folder)
    root.unlink(missing_ok=True)
    aside.rename(root)
    assert settled(folder)
    assert (names(folder), folder.problems()) == (["a"], ())
    (root / "a.yaml").unlink()
    assert settled(folder)
    assert names(folder) == []


def test_a_folder_that_is_made_again_forgets_what_it_no_longer_holds(tmp_path: Path) -> None:
    """Only once it looks the same twice: who makes a folder fills it afterwards."""
    root = tmp_path / "objects"
    root.mkdir()
    (root / "a.yaml").write_text(nad("a"))
    folder = Folder(root)
    folder.look()
    root.rename(tmp_path / "aside")
    folder.look()
    root.mkdir()
    folder.look()
    assert (names(folder), folder.problems()) == (["a"], ())
    folder.look()
    assert names(folder) == []


def test_a_folder_that_is_not_there_at_first_is_said(tmp_path: Path) -> None:
    """There is nothing to keep."""
    folder = Folder(tmp_path / "absent")
    assert folder.look()
    (problem,) = folder.problems()
    assert problem == f"{tmp_path / 'absent'}: cannot be listed: No such file or directory"


def test_a_folder_below_that_may_not_be_listed_keeps_its_objects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its own files alone; one that is deleted is deleted."""
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "it.yaml").write_text(nad(name))
    folder = Folder(tmp_path)
    folder.look()
    real = os.scandir

    def guarded(path: str) -> object:
        if path == str(tmp_path / "a"):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
        return real(path)

    monkeypatch.setattr(os, "scandir", guarded)
    (tmp_path / "b" / "it.yaml").unlink()
    (tmp_path / "b").rmdir()
    assert settled(folder)
    assert names(folder) == ["a"]
    assert folder.problems() == (
        f"{tmp_path / 'a'}: cannot be listed: Permission denied; what it held before still counts",
    )
    monkeypatch.setattr(os, "scandir", real)
    assert settled(folder)
    assert (names(folder), folder.problems()) == (["a"], ())
