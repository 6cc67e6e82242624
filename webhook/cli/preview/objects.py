"""Objects of ours in the files, held against all that is known, as ``/validate`` does.

What the files leave out is no problem of theirs where no folder says what the cluster holds.
"""

from dataclasses import dataclass

from policies import crosschecks
from policies.refusal import Refusal, cleaned
from webhook.cli.preview.world import World


@dataclass(frozen=True, slots=True)
class Checked:
    """What would be said to who applies one object.

    Attributes:
        title: ``Kind namespace/name``.
        reason: Of a refusal; else empty.
        message: Of a refusal; else empty.
        warnings: The most important first.
    """

    title: str
    reason: str = ""
    message: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def is_silent(self) -> bool:
        """Whether nothing is said."""
        return not self.reason and not self.warnings


def checked(world: World) -> list[Checked]:
    """Return a verdict on each object of ours in the files.

    Objects that are a problem by themselves have been reported as such, and are left out.
    """
    known = world.snapshot.faults
    return [
        _checked(one, world)
        for one in world.writes
        if (one.kind, one.namespace, one.name) not in known
    ]


def _checked(write: crosschecks.Write, world: World) -> Checked:
    title = cleaned(write.title)
    found = crosschecks.judge(write, world.snapshot)
    if isinstance(found, Refusal):
        return Checked(title, found.reason.value, cleaned(found.message))
    told = sorted(found, key=lambda one: one.rank)
    texts = [
        cleaned(one.text) for one in told if world.has_folder or one.rank != crosschecks.MISSING
    ]
    return Checked(title, warnings=tuple(dict.fromkeys(texts)))
