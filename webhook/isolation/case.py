"""What every check looks at: one pod, its policy, and what it is about to receive."""

import msgspec

from policies.intent import Intent
from policies.select import Applicable
from policies.snapshot import Snapshot
from policies.subject import Subject
from policies.tenancy import Tenancy
from webhook.pods.pod import Pod


class Case(msgspec.Struct, frozen=True):
    """One pod under judgement."""

    pod: Pod
    applicable: Applicable
    intent: Intent
    snapshot: Snapshot

    @property
    def subject(self) -> Subject:
        """The facts about the pod."""
        return self.applicable.subject

    @property
    def tenancy(self) -> Tenancy:
        """The policy of its namespace."""
        return self.applicable.tenancy
