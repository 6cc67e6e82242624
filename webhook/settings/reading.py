"""Settings from flags, environment and a file: who says it first wins, in that order.

Knows argparse, a mapping of variables and YAML. A bad value is one sentence that names where it
was written.
"""

import argparse
import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from webhook.settings.errors import BadSetting
from webhook.settings.table import ENVIRONMENT_PREFIX, SERVE_SETTINGS, Setting

CONFIG = Setting(
    "config",
    "config",
    Path,
    "FILE",
    "YAML file of settings: the same names as the flags, without dashes in front. Unknown and "
    "repeated names are refused.",
)
ORDER = (
    f"Every flag but --help has an environment variable {ENVIRONMENT_PREFIX}NAME. "
    "A flag wins over its variable, a variable over the file, the file over the default."
)


@dataclass(frozen=True, slots=True)
class Said:
    """A setting's text and where it was written.

    Attributes:
        text: As written, or a list of the file joined by commas.
        origin: ``--flag``, ``VARIABLE``, ``FILE: name`` or ``default of --flag``.
    """

    text: str
    origin: str


def add_flags(parser: argparse.ArgumentParser, table: Iterable[Setting]) -> None:
    """Give a parser one flag a setting, and ``--config``. Values stay text until :func:`read`."""
    parser.epilog = ORDER
    for setting in (*table, CONFIG):
        default = "" if setting.default is None else f" Default: {setting.default}."
        parser.add_argument(
            setting.flag,
            dest=_destination(setting),
            metavar=setting.metavar,
            help=f"{setting.help}{default} [{setting.variable}]".replace("%", "%%"),
        )


def read(
    table: Iterable[Setting], flags: argparse.Namespace, environment: Mapping[str, str]
) -> dict[str, object]:
    """Return the value of each setting by its field; None where it is absent.

    Args:
        table: Which settings to read. The file may hold those of other verbs too.
        flags: What a parser with :func:`add_flags` returned.
        environment: Variables; an empty one counts as not set.

    Raises:
        BadSetting: A value cannot be read, or the file cannot.
    """
    settings = tuple(table)
    written = _read_file(settings, _find(CONFIG, flags, environment, {}))
    found: dict[str, object] = {}
    for setting in settings:
        said = _find(setting, flags, environment, written)
        found[setting.field] = None if said is None else _parse(setting, said)
    return found


def _find(
    setting: Setting,
    flags: argparse.Namespace,
    environment: Mapping[str, str],
    written: Mapping[str, Said],
) -> Said | None:
    flag: str | None = getattr(flags, _destination(setting), None)
    if flag is not None:
        return Said(flag, setting.flag)
    if environment.get(setting.variable):
        return Said(environment[setting.variable], setting.variable)
    if setting.name in written:
        return written[setting.name]
    if setting.default is not None:
        return Said(setting.default, f"default of {setting.flag}")
    return None


def _destination(setting: Setting) -> str:
    return "setting_" + setting.field


def _parse(setting: Setting, said: Said) -> object:
    try:
        return setting.parse(said.text)
    except ValueError as err:
        raise BadSetting(f"{said.origin}: got {said.text!r}, want {err}") from err


def _read_file(settings: tuple[Setting, ...], said: Said | None) -> dict[str, Said]:
    if said is None:
        return {}
    try:
        text = Path(said.text).read_text(encoding="utf-8")
        _refuse_repeated(said.text, yaml.compose(text, Loader=yaml.SafeLoader))
        content = yaml.safe_load(text)
    except OSError as err:
        raise BadSetting(f"{said.origin}: {said.text}: cannot be read: {err.strerror}") from err
    except (yaml.YAMLError, UnicodeDecodeError) as err:
        reason = " ".join(str(err).split())
        raise BadSetting(f"{said.origin}: {said.text}: not readable as YAML: {reason}") from err
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise BadSetting(f"{said.text}: got a {type(content).__name__}, want names with values")
    known = list(dict.fromkeys(one.name for one in (*settings, *SERVE_SETTINGS)))
    return {name: _say(said.text, name, value, known) for name, value in content.items()}


def _refuse_repeated(file: str, written: yaml.Node | None) -> None:
    """Refuse a name that stands twice: YAML's reader would silently take the last."""
    lines: dict[object, int] = {}
    for key, _ in written.value if isinstance(written, yaml.MappingNode) else ():
        line = key.start_mark.line + 1
        first = lines.setdefault(str(key.value), line)
        if first != line:
            raise BadSetting(f"{file}: {key.value}: got it in lines {first} and {line}, want one")


def _say(file: str, name: object, value: object, known: list[str]) -> Said:
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
        raise BadSetting(f"{file}: {name}: unknown setting; {hint}")
    origin = f"{file}: {name}"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return Said(",".join(value), origin)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise BadSetting(f"{origin}: got {value!r}, want text, a number or a list of texts")
    return Said(str(value), origin)
