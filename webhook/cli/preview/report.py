"""The whole preview as people read it: one block for each pod template.

Knows words and indentation; every fact comes from the rooms beside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from webhook.cli.colours import Painter
from webhook.cli.diffs import diff
from webhook.cli.preview import changes, consequences, trail
from webhook.cli.preview.consequences import Counted
from webhook.cli.preview.verdicts import UNKNOWN, UNREADABLE, Verdict
from webhook.cli.preview.world import World

REASONS: Final = "docs/reasons.md"
_OUTCOMES: Final = {
    "Patched": "admitted and equipped",
    UNKNOWN: "cannot be told: something is missing",
    UNREADABLE: "cannot be told: the API server would not take this pod",
}
_STYLES: Final = {"Denied": "red", UNKNOWN: "yellow", UNREADABLE: "red"}


@dataclass(frozen=True, slots=True)
class Bystander:
    """An object without pods of its own that the author should hear about.

    Attributes:
        title: ``Kind namespace/name``.
        notes: Sentences.
    """

    title: str
    notes: tuple[str, ...]


def anchor(reason: str) -> str:
    """Return where a reason of a refusal is documented, with its fix."""
    return f"{REASONS}#{reason.lower()}"


def block(verdict: Verdict, world: World, paint: Painter) -> Iterator[str]:
    """Yield the lines about one template's pods.

    Args:
        verdict: What becomes of them.
        world: What is known.
        paint: Colours.
    """
    yield paint("bold", title(verdict))
    yield paint(_STYLES.get(verdict.verdict, "green"), f"  {_outcome(verdict)}")
    if verdict.message:
        yield f"  {verdict.message}"
    if verdict.reason and verdict.verdict == "Denied":
        yield paint("dim", f"  how to fix it: {anchor(verdict.reason)}")
    yield from _facts(verdict, world)
    for text in verdict.warnings:
        yield paint("yellow", f"  warning: {text}")
    if verdict.changes:
        yield "  changes"
        for what, why in changes.lines(verdict.changes):
            yield f"    {paint('green', '+')} {what}{paint('dim', f'  ({why})')}"
    if verdict.ops:
        yield ""
        yield from diff(verdict.before, verdict.after, paint)


def title(verdict: Verdict) -> str:
    """Return what the pods are: their workload, template, role and number."""
    template = verdict.template
    shown = [verdict.owner, template.path, _role(verdict), _number(template.replicas)]
    if not template.path:
        shown = [verdict.owner]
    return ", ".join(filter(None, shown))


def bystander(found: Bystander, paint: Painter) -> Iterator[str]:
    """Yield the lines about an object without pods of its own."""
    yield paint("bold", found.title)
    for note in found.notes:
        yield paint("yellow", f"  warning: {note}")


def summary(verdicts: Sequence[Verdict]) -> str:
    """Return the result of all templates in one sentence."""
    names = {"Patched": "equipped", "Unchanged": "left as they are", "Denied": "refused"}
    counts: dict[str, int] = {}
    for one in verdicts:
        name = names.get(one.verdict, "not to be told")
        counts[name] = counts.get(name, 0) + 1
    kinds = "1 pod template" if len(verdicts) == 1 else f"{len(verdicts)} pod templates"
    return f"{kinds}: {', '.join(f'{count} {name}' for name, count in counts.items())}"


def _role(verdict: Verdict) -> str:
    role = verdict.template.role
    return f"role {role}" if role else ""


def _number(replicas: int | None) -> str:
    return "" if replicas is None else f"{replicas} pod{'' if replicas == 1 else 's'}"


def _outcome(verdict: Verdict) -> str:
    if verdict.verdict == "Denied":
        return f"refused: {verdict.reason}"
    if verdict.verdict != "Unchanged":
        return _OUTCOMES[verdict.verdict]
    if verdict.order:
        return "admitted: it has everything already"
    asks = "though it names a network" if verdict.warnings else "it asks for no RDMA network"
    return f"admitted as it is: {asks}"


def _facts(verdict: Verdict, world: World) -> Iterator[str]:
    """Yield the decision trail, one labelled line a fact."""
    if verdict.order is None or verdict.intent is None:
        return
    yield from _labelled("policy", [trail.policy(verdict.order)])
    for network in trail.networks(verdict):
        yield from _labelled("network", [network.line()])
        for rail in network.rails:
            parts = [rail.get("interface", ""), rail.get("attachment", ""), rail["resource"]]
            yield f"               {rail['rail']}: {'  '.join(filter(None, parts))}"
    chosen = trail.containers(verdict.order, verdict.intent)
    yield from _labelled("containers", [f"{name}: {why}" for name, why in chosen])
    yield from _labelled("pod security", consequences.pod_security(verdict, world))
    yield from _labelled("quota", [_quota(one) for one in consequences.counted(verdict, world)])


def _labelled(label: str, texts: Sequence[str]) -> Iterator[str]:
    for index, text in enumerate(texts):
        yield f"  {label if index == 0 else '':<12} {text}"


def _quota(one: Counted) -> str:
    many = "" if one.total is None else f" x {one.replicas} = {one.total}"
    text = f"{one.resource}: {one.per_pod} a pod{many}"
    if one.quota is None:
        return text
    over = one.total is not None and one.total > one.quota
    return f"{text}, of {one.quota}" + (": more than the quota lets in" if over else "")
