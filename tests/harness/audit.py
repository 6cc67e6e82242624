"""What an account did, as the API server's audit log has it: verbs, resources and outcomes."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

LOG = "audit.log"


class Deed(NamedTuple):
    """One finished request.

    Attributes:
        verb: ``get``, ``list``, ``watch``, ``create``, ``update``, ``patch``, ….
        group: API group; empty for the core.
        resource: Plural, with ``/status`` where that was asked for.
        namespace: Empty for cluster-wide requests.
        name: Empty for collections.
        code: HTTP status.
    """

    verb: str
    group: str
    resource: str
    namespace: str
    name: str
    code: int


def flags(folder: Path, account: str) -> Sequence[str]:
    """Return flags of an API server that logs what one account does, into a folder.

    Args:
        folder: Where the log and its policy are written.
        account: ``system:serviceaccount:NAMESPACE:NAME``.
    """
    policy = {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "rules": [{"level": "Metadata", "users": [account]}, {"level": "None"}],
    }
    (folder / "policy.yaml").write_text(yaml.safe_dump(policy))
    return [
        f"--audit-log-path={folder / LOG}",
        f"--audit-policy-file={folder / 'policy.yaml'}",
    ]


def deeds(folder: Path) -> Iterator[Deed]:
    """Yield all that the account did so far; a watch counts when it begins."""
    for line in (folder / LOG).read_text().splitlines():
        event = json.loads(line)
        if "objectRef" in event:
            yield _deed(event)


def _deed(event: dict[str, Any]) -> Deed:
    place = event["objectRef"]
    below = f"/{place['subresource']}" if "subresource" in place else ""
    return Deed(
        event["verb"],
        place.get("apiGroup", ""),
        place["resource"] + below,
        place.get("namespace", ""),
        place.get("name", ""),
        event.get("responseStatus", {}).get("code", 0),
    )
