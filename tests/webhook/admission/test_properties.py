"""What no pod may ever see broken: the properties of every answer, over pods of every shape.

Each pod has every field that we read absent, null, empty, present or unknown (see
`tests.harness.pod_strategies`); a patch is applied by an independent library.
"""

import json
from base64 import b64decode
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import jsonpatch
from hypothesis import assume, given
from hypothesis import strategies as st

from policies.quantity import whole
from policies.refusal import Reason
from policies.snapshot import Snapshot
from tests.harness.cluster import cluster
from tests.harness.golden_checks import ALLOWED
from tests.harness.pod_defaults import defaulted
from tests.harness.pod_strategies import BUDGET, PODS
from tests.harness.pods import UID, Object, ask, review
from webhook.admission.answer import Answer
from webhook.admission.handle import handle

KEY = "k8s.v1.cni.cncf.io/networks"
FORCED = {"NCCL_DEBUG": "WARN", "PATH": "/$(HOME)"}
DEFAULTS = {"NCCL_IB_TIMEOUT": "22", "NCCL_DEBUG": "INFO", "UCX_TLS": "rc"}
RICH: Object = {
    "rawNetworks": "Allow",
    "podDefaults": {
        "env": [{"name": name, "value": value} for name, value in DEFAULTS.items()],
        "capabilities": {"add": ["IPC_LOCK"], "drop": ["SYS_TIME"]},
        "tolerations": [{"key": "rdma", "operator": "Exists"}],
    },
    "podLimits": {
        "capabilities": ["IPC_LOCK", "SYS_TIME", "ALL"],
        "requiredDrop": ["NET_RAW"],
        "env": [{"name": name, "value": value} for name, value in FORCED.items()],
    },
}


def fresh(enforcement: str = "Warn") -> Snapshot:
    """Return the cluster with a policy that has an opinion about everything."""
    return cluster(enforcement=enforcement, **deepcopy(RICH))


@cache
def known(enforcement: str = "Warn") -> Snapshot:
    """Return the cluster, in which other pods have been decided before."""
    return fresh(enforcement)


def answered(pod: Object, snapshot: Snapshot | None = None, **request: Any) -> bytes:  # noqa: ANN401
    """Return the bytes of the answer about a pod that waits for nothing."""
    found = handle(review(pod, **request), snapshot or known())
    assert isinstance(found, Answer)
    return found.body


def patch_of(pod: Object) -> Any:  # noqa: ANN401 JSON is anything
    """Return the operations on a pod; a pod that is refused is no example."""
    response = json.loads(answered(pod))["response"]
    assume(response["allowed"])
    return json.loads(b64decode(response.get("patch", "W10=")))


def patched(pod: Object) -> Object:
    """Return the whole pod after its patch, applied by an independent library."""
    result: Any = jsonpatch.JsonPatch(patch_of(pod)).apply(pod)
    assert isinstance(result, dict)
    return result


def containers(pod: Object) -> list[Object]:
    """Return all containers of a pod."""
    spec = pod["spec"]
    return [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]


@BUDGET
@given(PODS, st.sampled_from(("Enforce", "Warn")))
def test_the_answer_is_valid(pod: Object, enforcement: str) -> None:
    """The API server takes the response: uid, patch, warnings and refusal as it wants them."""
    found = handle(review(pod), known(enforcement))
    assert isinstance(found, Answer)
    whole_answer = json.loads(found.body)
    response = whole_answer.pop("response")
    assert whole_answer == {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
    assert response["uid"] == UID
    assert (
        ("patch" in response) == ("patchType" in response) == (found.decision.verdict == "Patched")
    )
    warnings = response.get("warnings", [])
    assert len(warnings) <= 3
    assert all(len(text) <= 120 and text.isprintable() for text in warnings)
    assert response["allowed"] is ("status" not in response)
    if not response["allowed"]:
        status = response["status"]
        assert status["code"] == Reason(status["reason"]).code
        assert status["message"].isprintable()
        assert "patch" not in response


@BUDGET
@given(PODS)
def test_the_patch_applies_to_the_whole_pod(pod: Object) -> None:
    """Every operation finds its place on the object that the API server has, unknown fields too."""
    before = deepcopy(pod)
    result = patched(pod)
    assert pod == before
    assert result["spec"].get("fieldOfTomorrow") == pod["spec"].get("fieldOfTomorrow")


@BUDGET
@given(PODS)
def test_a_second_call_finds_nothing_to_do(pod: Object) -> None:
    """The patched pod is left alone, as it is and as the API server would fill it in."""
    result = patched(pod)
    assert patch_of(result) == []
    assert patch_of(defaulted(result)) == []


@BUDGET
@given(PODS)
def test_only_our_places_are_touched(pod: Object) -> None:
    """Operations add or replace, and only where the webhook has something to say."""
    for op in patch_of(pod):
        assert op.keys() == {"op", "path", "value"}
        assert op["op"] in {"add", "replace"}
        assert ALLOWED.fullmatch(op["path"]), op


def lost(before: Any, after: Any, path: str = "") -> Iterator[str]:  # noqa: ANN401 JSON is anything
    """Yield where something of the author is gone or has changed; null counts for nothing."""
    if before is None:
        return
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            yield from lost(value, after.get(key), f"{path}/{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) <= len(after):
        for index, value in enumerate(before):
            yield from lost(value, after[index], f"{path}/{index}")
    elif before != after:
        yield path


@BUDGET
@given(PODS)
def test_nothing_of_the_author_is_lost(pod: Object) -> None:
    """What was there stands where it stood, but for forced variables and what we top up."""
    result = patched(pod)
    stamped = ("/metadata/annotations/rdma.io/status", f"/metadata/annotations/{KEY}")
    on_host = ("/spec/hostNetwork", "/spec/dnsPolicy")
    for path in lost(pod, result):
        parts = path.split("/")
        if path in (*stamped, *on_host):
            continue
        place = pod["spec"][parts[2]][int(parts[3])]
        if parts[4] == "env":
            assert place["env"][int(parts[5])]["name"] in FORCED, path
        else:
            assert parts[4] == "resources", path
            name = "/".join(parts[6:])
            now = result["spec"][parts[2]][int(parts[3])]["resources"][parts[5]][name]
            was = place["resources"][parts[5]][name]
            assert (whole(now) or 0) >= (whole(was) or 0) or name.startswith("hugepages-"), path


@BUDGET
@given(PODS)
def test_the_authors_selections_come_first(pod: Object) -> None:
    """The elements that were there are the first of the list, with every key of theirs."""
    before = pod["metadata"]["annotations"].get(KEY) or ""
    after = patched(pod)["metadata"]["annotations"].get(KEY) or ""
    if before.strip().startswith("["):
        mine, whole_list = json.loads(before), json.loads(after)
        assert whole_list[: len(mine)] == mine
    elif before != after:
        names = [item.strip().rpartition("/")[2].partition("@")[0] for item in before.split(",")]
        assert [one["name"] for one in json.loads(after)][: len(names)] == names or not before


@BUDGET
@given(PODS)
def test_the_authors_variables_win(pod: Object) -> None:
    """A name that the container sets keeps its value, unless the policy forces it."""
    for before, after in zip(containers(pod), containers(patched(pod)), strict=True):
        mine, now = before.get("env") or [], after.get("env") or []
        for old, new in zip(mine, now, strict=False):
            assert old == new or new == {"name": old["name"], "value": new["value"]}
            assert old == new or old["name"] in FORCED
        own = {one["name"] for one in mine}
        added = now[len(mine) :]
        assert not own & {one["name"] for one in added}
        assert len({one["name"] for one in added}) == len(added)
        for one in added:
            assert "$(" not in one["value"].replace("$$(", "")


@BUDGET
@given(PODS, st.sampled_from((None, "", "team-b", "kube-system", "bare")))
def test_a_forged_namespace_changes_nothing(pod: Object, forged: str | None) -> None:
    """The tenant is that of the request, whatever the object says."""
    other = deepcopy(pod)
    other["metadata"]["namespace"] = forged
    assert answered(other) == answered(pod)


@BUDGET
@given(PODS, PODS)
def test_the_answer_depends_on_bytes_and_snapshot_alone(pod: Object, other: Object) -> None:
    """Pods that were decided before, or not, make no difference to a byte."""
    warm = fresh()
    answered(other, warm)
    first = answered(pod, warm)
    assert answered(pod, warm) == first
    assert answered(pod, fresh()) == first
    assert answered(pod) == first


@BUDGET
@given(PODS)
def test_a_dry_run_gets_the_same_answer(pod: Object) -> None:
    """Nothing is done in the request path, so there is nothing to leave out."""
    assert answered(pod, dryRun=True) == answered(pod)


@BUDGET
@given(PODS)
def test_mutation_is_the_same_at_every_level(pod: Object) -> None:
    """Where both levels admit a pod they patch it alike: only refusals are softened."""
    enforced, warned = ask(pod, known("Enforce")), ask(pod, known("Warn"))
    if enforced.verdict != "Denied":
        assert enforced.patch == warned.patch
    if warned.verdict == "Denied":
        assert enforced.reason is not None
