"""A core that does as it is told, for tests of what is around it."""

from collections.abc import Callable
from typing import Any

from policies.snapshot import Snapshot
from webhook.admission.answer import Answer, Decision, Waiting


def decision(**fields: Any) -> Decision:  # noqa: ANN401 - any field of Decision
    """Return a decision about a pod."""
    known: dict[str, Any] = {
        "uid": "u-1",
        "namespace": "team",
        "name": "train-*",
        "operation": "CREATE",
        "dry_run": False,
        "verdict": "Patched",
        "networks": ("train-ib",),
        "policy": "team/default",
        "ops": 7,
    }
    return Decision(**{**known, **fields})


def answer(body: bytes = b'{"kind":"AdmissionReview"}', **fields: Any) -> Answer:  # noqa: ANN401
    """Return an answer with a decision."""
    return Answer(body, decision(**fields))


def not_ready(kind: str = "RDMAPolicy", **fields: Any) -> Waiting:  # noqa: ANN401
    """Return a pod that waits for its policy."""
    refused = answer(b'"refused"', verdict="Denied", reason="PolicyNotReady", **fields)
    return Waiting(kind, "team", "default", refused)


DOUBTED = ("RDMAPolicy", "team", "default")


def doubted(**fields: Any) -> Answer:  # noqa: ANN401 - any field of Decision
    """Return a refusal that a newer policy could make another."""
    found = answer(b'"doubted"', verdict="Denied", reason="NetworkNotGranted", **fields)
    return Answer(found.body, found.decision, DOUBTED)


class FakeCore:
    """A ``handle`` whose results are set by the test.

    Attributes:
        result: What it returns, raises, or calls with body and snapshot.
        bodies: What it was given.
    """

    def __init__(self) -> None:
        """Begin with a patch for everyone."""
        self.result: (
            Answer | Waiting | Exception | Callable[[bytes, Snapshot], Answer | Waiting]
        ) = answer()
        self.bodies: list[bytes] = []

    def __call__(self, body: bytes, snapshot: Snapshot) -> Answer | Waiting:
        """Do as told."""
        self.bodies.append(body)
        if isinstance(self.result, Exception):
            raise self.result
        if isinstance(self.result, Answer | Waiting):
            return self.result
        return self.result(body, snapshot)
