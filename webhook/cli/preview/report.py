"""The whole preview as people read it: one block for each pod template.

Knows words and indentation; every fact comes from the rooms beside it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from policies import wish
from policies.names import MIRROR_ANNOTATION
from policies.refusal import cleaned
from webhook.cli.colours import Painter
from webhook.cli.diffs import diff
from webhook.cli.preview import changes, consequences, trail
from webhook.cli.preview.consequences import Counted
from webhook.cli.preview.objects import Checked
from webhook.cli.preview.verdicts import UNKNOWN, UNREADABLE, Judged
from webhook.cli.preview.world import World
from webhook.pods import pod as pods

REASONS: Final = "docs/reasons.md"
LONGEST: Final = 4096
"""Of a line in characters: a pod's 128 attachments, each with its network, fit."""
LONGEST_PATH: Final = 253
"""Of the parts of a heading: as long as a name may be."""
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


def block(judged: Judged, world: World, paint: Painter) -> Iterator[str]:
    """Yield the lines about one template's pods.

    Args:
        judged: What becomes of them.
        world: What is known.
        paint: Colours.
    """
    yield paint("bold", title(judged))
    yield paint(_STYLES.get(judged.verdict, "green"), f"  {_outcome(judged)}")
    if judged.message:
        yield f"  {_line(judged.message)}"
    if judged.reason and judged.verdict == "Denied":
        yield paint("dim", f"  how to fix it: {anchor(judged.reason)}")
    yield from _facts(judged, world)
    for text in judged.warnings:
        yield paint("yellow", f"  warning: {_line(text)}")
    if judged.changes:
        yield "  changes"
        for what, why in changes.lines(judged.changes):
            because = paint("dim", f"  ({_line(why)})")
            yield f"    {paint('green', '+')} {_line(what)}{because}"
    if judged.ops:
        yield ""
        yield from diff(judged.before, judged.after, paint)


def title(judged: Judged) -> str:
    """Return what the pods are: their workload, template, role and number."""
    template = judged.template
    owner, path = _line(judged.owner), cleaned(template.path, LONGEST_PATH)
    shown = [owner, path, _role(judged), _number(template.replicas)]
    return ", ".join(filter(None, shown)) if path else owner


def bystander(found: Bystander, paint: Painter) -> Iterator[str]:
    """Yield the lines about an object without pods of its own."""
    yield paint("bold", _line(found.title))
    for note in found.notes:
        yield paint("yellow", f"  warning: {_line(note)}")


def checked(found: Checked, paint: Painter) -> Iterator[str]:
    """Yield the lines about an object of ours beside all others."""
    yield paint("bold", _line(found.title))
    if found.reason:
        yield paint("red", f"  refused: {found.reason}")
        yield f"  {_line(found.message)}"
        yield paint("dim", f"  how to fix it: {anchor(found.reason)}")
    elif found.is_silent:
        yield paint("green", "  accepted")
    for text in found.warnings:
        yield paint("yellow", f"  warning: {_line(text)}")


def summary(verdicts: Sequence[Judged], objects: Sequence[Checked] = ()) -> str:
    """Return the result of all templates, or where there is none of all objects, in a sentence."""
    if not verdicts and objects:
        refused = sum(bool(one.reason) for one in objects)
        kinds = "1 object" if len(objects) == 1 else f"{len(objects)} objects"
        return f"{kinds}: {len(objects) - refused} accepted, {refused} refused"
    names = {"Patched": "equipped", "Unchanged": "left as they are", "Denied": "refused"}
    counts: dict[str, int] = {}
    for one in verdicts:
        name = names.get(one.verdict, "not to be told")
        counts[name] = counts.get(name, 0) + 1
    kinds = "1 pod template" if len(verdicts) == 1 else f"{len(verdicts)} pod templates"
    return f"{kinds}: {', '.join(f'{count} {name}' for name, count in counts.items())}"


def _role(judged: Judged) -> str:
    role = cleaned(judged.template.role, LONGEST_PATH)
    return f"role {role}" if role else ""


def _number(replicas: int | None) -> str:
    return "" if replicas is None else f"{replicas} pod{'' if replicas == 1 else 's'}"


def _outcome(judged: Judged) -> str:
    if judged.verdict == "Denied":
        return f"refused: {judged.reason}"
    if judged.verdict != "Unchanged":
        return _OUTCOMES[judged.verdict]
    if judged.applicable:
        return "admitted: it has everything already"
    return f"admitted as it is: {_left(judged)}"


def _left(judged: Judged) -> str:
    """Return why a pod gets nothing."""
    annotations = pods.annotations(judged.before)
    if not wish.concerns(annotations):
        return "it asks for no RDMA network"
    if MIRROR_ANNOTATION in annotations:
        return "a mirror pod already runs on its node and is left alone"
    if not pods.spec(judged.before).get("containers"):
        return "a pod without containers is left to the API server"
    return "though it names a network"


def _facts(judged: Judged, world: World) -> Iterator[str]:
    """Yield the decision trail, one labelled line a fact."""
    if judged.applicable is None or judged.intent is None:
        return
    yield from _labelled("policy", [trail.policy(judged.applicable)])
    for network in trail.networks(judged):
        yield from _labelled("network", [network.line()])
        for rail in network.rails:
            parts = [rail.get("interface", ""), rail.get("attachment", ""), rail["resource"]]
            yield _line(f"               {rail['rail']}: {'  '.join(filter(None, parts))}")
    chosen = trail.containers(judged.applicable, judged.intent)
    yield from _labelled("containers", [f"{name}: {why}" for name, why in chosen])
    yield from _labelled("pod security", consequences.pod_security(judged, world))
    yield from _labelled("quota", [_quota(one) for one in consequences.counted(judged, world)])


def _labelled(label: str, texts: Sequence[str]) -> Iterator[str]:
    for index, text in enumerate(texts):
        yield f"  {label if index == 0 else '':<12} {_line(text)}"


def _line(text: str) -> str:
    return cleaned(text, LONGEST)


def _quota(one: Counted) -> str:
    many = "" if one.total is None else f" x {one.replicas} = {one.total}"
    text = f"{one.resource}: {one.per_pod} a pod{many}"
    if one.quota is None:
        return text
    over = one.total is not None and one.total > one.quota
    return f"{text}, of {one.quota}" + (": more than the quota lets in" if over else "")
