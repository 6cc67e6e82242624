"""Modes as CEL and as words: rules of a network hold for some modes and not for others."""

from collections.abc import Iterable

from policies.network import Mode


def is_any(modes: Iterable[Mode]) -> str:
    """Return CEL that is true where the mode of ``self``, a network's spec, is one of some."""
    names = [f"'{mode.value}'" for mode in _ordered(modes)]
    return f"self.mode == {names[0]}" if len(names) == 1 else f"self.mode in [{', '.join(names)}]"


def listed(modes: Iterable[Mode], word: str = "and") -> str:
    """Return modes as a sentence lists them."""
    names = [mode.value for mode in _ordered(modes)]
    return f" {word} ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _ordered(modes: Iterable[Mode]) -> list[Mode]:
    wanted = set(modes)
    return [mode for mode in Mode if mode in wanted]
