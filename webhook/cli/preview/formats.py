"""The preview for machines: pods as YAML, everything as JSON, or the patch alone.

Knows the shapes that scripts read; they only grow.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from webhook.cli.diffs import as_yaml
from webhook.cli.preview import consequences, trail
from webhook.cli.preview.objects import Checked
from webhook.cli.preview.report import anchor, title
from webhook.cli.preview.verdicts import Judged
from webhook.cli.preview.world import World

ADMITTED = frozenset({"Patched", "Unchanged"})


def as_pods(verdicts: Sequence[Judged]) -> Iterator[str]:
    """Yield the resulting pods as YAML documents; refused ones are left out."""
    for one in verdicts:
        if one.verdict in ADMITTED:
            yield f"---\n# {title(one)}\n{as_yaml(one.after).rstrip()}"


def as_patches(verdicts: Sequence[Judged]) -> Iterator[str]:
    """Yield the patch of each template as a JSON array, in order; empty where nothing changes."""
    for one in verdicts:
        yield json.dumps(list(one.ops), indent=2, ensure_ascii=False)


def as_json(
    verdicts: Sequence[Judged], objects: Sequence[Checked], world: World, notes: Sequence[str]
) -> str:
    """Return one JSON document: what was decided about each template, and notes on the files."""
    found = {
        "templates": [_one(one, world) for one in verdicts],
        "objects": [_object(one) for one in objects],
        "notes": list(notes),
    }
    return json.dumps(found, indent=2, ensure_ascii=False)


def _object(one: Checked) -> dict[str, Any]:
    return {
        "object": one.title,
        "verdict": "Denied" if one.reason else "Unchanged",
        "reason": one.reason or None,
        "message": one.message or None,
        "fix": anchor(one.reason) if one.reason else None,
        "warnings": list(one.warnings),
    }


def _one(one: Judged, world: World) -> dict[str, Any]:
    template = one.template
    policy = trail.policy(one.applicable) if one.applicable else None
    chosen = trail.containers(one.applicable, one.intent) if one.applicable and one.intent else ()
    return {
        "owner": one.owner,
        "namespace": one.namespace,
        "path": template.path,
        "role": template.role,
        "replicas": template.replicas,
        "verdict": one.verdict,
        "reason": one.reason or None,
        "message": one.message or None,
        "fix": anchor(one.reason) if one.reason else None,
        "warnings": list(one.warnings),
        "policy": policy,
        "networks": [trail.as_json(network) for network in trail.networks(one)],
        "containers": [{"name": name, "why": why} for name, why in chosen],
        "changes": [{"what": change.what, "why": change.why} for change in one.changes],
        "podSecurity": list(consequences.pod_security(one, world)),
        "quota": [
            {"resource": each.resource, "perPod": each.per_pod, "total": each.total}
            for each in consequences.counted(one, world)
        ],
        "patch": list(one.ops),
    }
