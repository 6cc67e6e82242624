"""The program's edge: exit codes, help, and no traceback for anybody."""

import argparse
import json
import subprocess
import sys
from types import ModuleType

import pytest

from policies.names import VERSION
from webhook.cli import main as module
from webhook.cli.main import main


class Verb(ModuleType):
    """A verb that does as it is told."""

    NAME = "serve"
    HELP = "do as told"

    def __init__(self, result: int | BaseException) -> None:
        """Remember what to do."""
        super().__init__("verb")
        self.result = result

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Declare the flag that every serving verb has."""
        parser.add_argument("--log-level")

    def run(self, _: argparse.Namespace) -> int:
        """Return or raise."""
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


@pytest.fixture
def verb(monkeypatch: pytest.MonkeyPatch) -> Verb:
    """Put a verb in the place of ``serve``."""
    found = Verb(0)
    monkeypatch.setattr(module, "_load", lambda name: found if name == "serve" else None)
    return found


def test_the_verbs_exit_code_is_the_programs(verb: Verb) -> None:
    """Scripts can use it."""
    verb.result = 3
    assert main(["serve"]) == 3


def test_a_mistake_of_ours_is_one_sentence_and_70(
    verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody sees a traceback."""
    verb.result = ValueError("seven\nis no eight")
    assert main(["serve"]) == 70
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == (
        "rdma-webhook: unexpected ValueError: seven is no eight; "
        "--log-level debug logs where it happened\n"
    )


@pytest.mark.parametrize("flags", [["--log-level", "debug"], ["--log-level=debug"]])
@pytest.mark.usefixtures("_restored_logging")
def test_at_debug_the_traceback_is_a_field(
    verb: Verb, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    """Who asks for details gets them, as JSON."""
    verb.result = ValueError("seven")
    assert main(["serve", *flags]) == 70
    line = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert line["event"] == "gave_up"
    assert "Traceback" in line["traceback"]


def test_an_interrupt_is_130(verb: Verb) -> None:
    """As shells expect it."""
    verb.result = KeyboardInterrupt()
    assert main(["serve"]) == 130


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--help"], 0), (["--version"], 0), ([], 2), (["nonsense"], 2)]
)
def test_the_program_itself_has_usual_exit_codes(
    arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """0 for what was asked, 2 for what cannot be meant."""
    assert main(arguments) == code
    assert "Traceback" not in capsys.readouterr().err


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    """One place has the version."""
    main(["--version"])
    assert capsys.readouterr().out == f"rdma-webhook {VERSION}\n"


def test_a_verb_that_this_build_lacks_is_not_listed(
    verb: Verb, capsys: pytest.CaptureFixture[str]
) -> None:
    """Help shows what is there."""
    assert verb.NAME == "serve"
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "do as told" in shown
    assert "crds" not in shown


def test_help_imports_nothing_heavy() -> None:
    """--help of the program and of serve load neither HTTP nor the cluster client."""
    code = (
        "import sys; from webhook.cli.main import main; main(sys.argv[1:]); "
        "print([m for m in ('aiohttp','kubernetes_asyncio','uvloop','cryptography') "
        "if m in sys.modules])"
    )
    for arguments in (["--help"], ["serve", "--help"]):
        found = subprocess.run(
            [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True
        )
        assert found.stdout.splitlines()[-1] == "[]"
