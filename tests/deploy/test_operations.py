"""The page for who is on call says what the program has: flags, metrics, log events."""

import re
from pathlib import Path

from webhook.server import ledger, metrics
from webhook.settings.reading import CONFIG
from webhook.settings.table import SERVE_SETTINGS, Setting

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "operations.md").read_text()
SAID = re.compile(r"\blog\.(?:debug|info|warning|error|exception)\(\s*\"(\w+)\"")


def _part(name: str) -> list[str]:
    """Return the rows of the table between two comments."""
    part = PAGE.partition(f"<!-- {name}: ")[2].partition(f"<!-- end of {name} -->")[0]
    return [line for line in part.splitlines() if line.startswith("|")]


def _row(setting: Setting) -> str:
    default = "" if setting.default is None else f"`{setting.default.replace(',', ', ')}`"
    flag = f"{setting.flag} {setting.metavar}"
    return f"| `{flag}` | `{setting.variable}` | {default} | {setting.help} |"


def flags() -> list[str]:
    """Return the table of flags as the page has to have it."""
    head = ["| flag | variable | default | meaning |", "|---|---|---|---|"]
    return head + [_row(setting) for setting in (*SERVE_SETTINGS, CONFIG)]


def metrics_table() -> list[str]:
    """Return the table of metrics as the page has to have it."""
    rows = [line for line in str(metrics.__doc__).splitlines() if line.startswith("|")]
    head = "| name | labels | meaning |"
    return [head, *(row.replace("``", "`") for row in rows[1:])]


def test_every_flag_is_in_the_page() -> None:
    """With its variable, its default and the words of --help."""
    assert _part("flags") == flags()


def test_every_metric_is_in_the_page() -> None:
    """As the module that counts them documents them."""
    assert _part("metrics") == metrics_table()


def test_every_log_event_is_in_the_page() -> None:
    """Those that the service writes, and no others."""
    sources = [
        *(ROOT / "certs").rglob("*.py"),
        *(path for path in (ROOT / "webhook").rglob("*.py") if "bench" not in path.parts),
    ]
    written = {event for path in sources for event in SAID.findall(path.read_text())}
    written |= {*ledger.EVENTS.values(), *ledger.OBJECT_EVENTS.values(), "pod_judged"}
    table = PAGE.partition("## Log events")[2]
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert {event for row in rows for event in re.findall(r"`(\w+)`", row)} == written


def test_the_readme_links_to_the_page() -> None:
    """Whoever is called at night finds it."""
    assert "(docs/operations.md)" in (ROOT / "README.md").read_text()
