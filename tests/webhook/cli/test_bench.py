"""The benchmark: small runs of every measurement, and how targets are reported."""

import asyncio
import contextlib
import gc
import json
import os
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from policies.rules import Rules
from policies.snapshot import Snapshot
from tests.fakes.eventually import eventually
from webhook.admission.answer import Answer
from webhook.admission.handle import handle
from webhook.apiserver.connection import connect
from webhook.apiserver.kinds import KINDS
from webhook.apiserver.pace import Pace
from webhook.cli import garbage
from webhook.cli.bench import engine, events, measures, objects, scale
from webhook.cli.bench.client import Load
from webhook.cli.bench.figures import Figure, last_line
from webhook.cli.bench.measures import Effort
from webhook.cli.bench.pods import SIZES, Size, body
from webhook.cli.bench.processes import BenchFailed, load, measured, serving
from webhook.cli.main import main
from webhook.watch.cache import Cache
from webhook.watch.cluster import Cluster

EXPECTED_KILOBYTES = {"1 KB": 1.2, "5 KB": 5.0, "17 KB": 17.2, "40 KB": 39.0}


@pytest.fixture(autouse=True)
def _restored_collector() -> Iterator[None]:
    """Leave the garbage collector as it was found."""
    threshold = gc.get_threshold()
    yield
    gc.set_threshold(*threshold)
    gc.unfreeze()


@pytest.mark.parametrize("size", SIZES, ids=[size.title for size in SIZES])
def test_the_pods_are_as_large_as_they_say_and_equipped(size: Size) -> None:
    """Sizes are those of the design's budgets."""
    sent = body(size)
    assert len(sent) / 1000 == pytest.approx(EXPECTED_KILOBYTES[size.title], rel=0.05)
    answer = handle(sent, objects.snapshot(2))
    assert isinstance(answer, Answer)
    assert (answer.decision.verdict, answer.decision.warnings) == ("Patched", ())


def test_the_engine_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """Every size has its figures."""
    engine.main(1)
    found = json.loads(capsys.readouterr().out)
    assert list(found["sizes"]) == [size.title for size in SIZES]
    assert all(one["judged"] > one["check"] >= 0 for one in found["sizes"].values())
    assert all(one["engine"] > 0 for one in found["sizes"].values())


def test_a_large_cluster_is_measured(capsys: pytest.CaptureFixture[str]) -> None:
    """Memory, and the cost beside that of a small one."""
    scale.main(20, 1)
    found = json.loads(capsys.readouterr().out)
    assert found["few"] > 0
    assert found["many"] > 0
    assert set(found["events"]) == {"nad", "policy"}
    assert all(few > 0 and many > 0 for few, many in found["events"].values())


def test_every_event_that_is_measured_changes_the_snapshot() -> None:
    """What leaves everything as it is would cost nothing."""
    found = objects.snapshot(20)
    for changes in (events.nads(), events.policies()):
        several = list(changes)
        for change in [*several, *several]:
            before, found = found, found.apply([change])
            assert found is not before


async def test_a_cluster_is_listed_as_it_is_in_the_snapshot(tmp_path: Path) -> None:
    """Event by event, from the process that stands for an API server."""
    config = tmp_path / "listing.pem"
    with serving(["webhook.cli.bench.listing", "{bundle}", "130"], tmp_path, "listing"):
        pace = Pace()
        connection = await connect(config, pace.clock)
        kinds = [kind.name for kind in KINDS]
        cache = Cache(Snapshot.empty(Rules()), kinds, timedelta(minutes=1), pace.clock)
        running = asyncio.create_task(Cluster(connection, cache, pace).run())
        await eventually(lambda: not cache.missing())
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        await connection.close()
    found, made = cache.current(), objects.snapshot(130)
    assert (found.shards, found.networks, found.claims) == (
        made.shards,
        made.networks,
        made.claims,
    )


@pytest.mark.parametrize("measure", [lambda: engine.main(1), lambda: scale.main(20, 1)])
def test_the_collector_is_set_as_in_the_service(
    measure: Callable[[], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """What is measured is what is served."""
    measure()
    assert capsys.readouterr().out
    assert gc.get_threshold() == garbage.THRESHOLD
    assert gc.get_freeze_count() > 0


def test_load_is_put_on_a_server(tmp_path: Path) -> None:
    """One after the other and at a rate; the server's own time is read."""
    with serving(["webhook.cli.bench.echo", "{bundle}"], tmp_path, "echo") as echo:
        before = echo.cpu_seconds()
        what = Load(echo.port, str(echo.bundle), "1 KB", connections=2, requests=20)
        assert load(what).p50 > 0
        rated = Load(echo.port, str(echo.bundle), "1 KB", connections=2, requests=20, rate=500)
        assert load(rated).seconds >= 19 / 500
        wanted = Load(echo.port, str(echo.bundle), "1 KB", 1, 3, wanted="allowed")
        with pytest.raises(BenchFailed, match="3 of 3 answers were not as wanted"):
            load(wanted)
        assert before is None or (echo.cpu_seconds() or 0) >= before
    gone = Load(echo.port, str(echo.bundle), "1 KB", connections=1, requests=2)
    with pytest.raises(BenchFailed, match="broke off"):
        load(gone)


def test_what_does_not_start_is_said(tmp_path: Path) -> None:
    """A sentence, not a traceback."""
    with (
        pytest.raises(BenchFailed, match="never said listening"),
        serving(["json.tool", "-"], tmp_path, "x"),
    ):
        pass
    with pytest.raises(BenchFailed, match="ended with code 1: "):
        measured("webhook.cli.bench.engine", "many")


@pytest.mark.parametrize(
    ("figure", "line"),
    [
        (Figure("a", 99.96, "us", 60), "a 100.0 us target <= 60.0 us: missed"),
        (Figure("a", 1.234, target=3), "a 1.23 target <= 3.00: met"),
        (Figure("a", 1234.0, "MB", note="n"), "a 1234 MB (n)"),
        (Figure("a", None, "MB", 5), "a not measured here target <= 5.00 MB: unknown"),
    ],
)
def test_a_figure_stands_beside_its_target(figure: Figure, line: str) -> None:
    """Three digits, and whether the target is met."""
    assert " ".join(figure.line().split()) == line


def test_the_last_line_names_what_is_missed() -> None:
    """Or says that all is met, or what this system does not show."""
    met, missed = Figure("a", 1.0, target=2), Figure("b", 3.0, target=2)
    assert last_line([met]) == "all targets are met"
    assert last_line([met, missed, missed]) == "missed: b; b"
    assert last_line([met, Figure("c", None, target=2)]) == "not measured here: c"


@pytest.mark.parametrize(
    ("value", "code", "ending"),
    [(1.0, 0, "all targets are met"), (3.0, 1, "missed: it"), (None, 2, "it broke")],
    ids=["met", "missed", "broken"],
)
def test_the_verb_ends_with_the_verdict(
    value: float | None,
    code: int,
    ending: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The last line and the exit code say the same."""

    def made(effort: Effort) -> Iterator[Figure]:
        assert effort is measures.QUICK
        if value is None:
            raise BenchFailed("it broke")
        yield Figure("it", value, target=2)

    monkeypatch.setattr(measures, "all_of", made)
    monkeypatch.setattr(os, "getloadavg", lambda: (9.0, 9.0, 9.0))
    assert main(["bench", "--quick"]) == code
    captured = capsys.readouterr()
    assert (captured.out + captured.err).splitlines()[-1].endswith(ending)
    assert ("others were busy here" in captured.out) == (code != 2)


def test_every_target_of_the_design_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tiny run of everything, in the processes of a full one."""
    tiny = Effort(rounds=1, requests=20, loops=1, open_seconds=0.1, open_loops=1, tenants=20)
    monkeypatch.setattr(measures, "WARM_UP", 4)
    figures = list(measures.all_of(tiny))
    assert [figure.target for figure in figures if figure.target is not None] == [
        60.0,
        120.0,
        1.1,
        120.0,
        1.5,
        1.5,
        5.0,
        120.0,
        2.0,
        3.0,
        5.0,
    ]
