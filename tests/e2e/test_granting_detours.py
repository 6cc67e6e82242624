"""Ways round the grant that somebody may try who owns a namespace, with the real kubectl."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from tests.harness import roles, tenants
from tests.harness.api import APPLY_PATCH, MERGE_PATCH
from tests.harness.guarded import (
    API,
    CONTROLLER,
    GRANTS_ALL,
    GRANTS_MOST,
    GRANTS_ONE,
    NETWORKS,
    TENANT,
    USERS,
    WORKER,
    WRITER,
    Guarded,
    entries,
    network,
    policies,
    policy,
)

Document = dict[str, Any]

GRANT = "ValidatingAdmissionPolicy 'rdma-grant' with binding 'rdma-grant' denied request: "
STATUS = "ValidatingAdmissionPolicy 'rdma-status' with binding 'rdma-status' denied request: "
COLLECTOR = "system:serviceaccount:kube-system:generic-garbage-collector"
SPEC: Document = {"enforcement": "Enforce", "networks": entries(*NETWORKS[:2])}


@pytest.fixture(scope="module", params=[True, False], ids=["webhook up", "webhook down"])
def state(guarded: Guarded, request: pytest.FixtureRequest) -> Iterator[Guarded]:
    """The cluster, with the webhook running, and then without it."""
    guarded.serve(up=request.param)
    yield guarded
    guarded.serve(up=True)


@pytest.fixture
def bare(state: Guarded) -> Iterator[str]:
    """A namespace without a policy."""
    name = state.new_namespace()
    yield name
    state.cluster.api("DELETE", f"/api/v1/namespaces/{name}")


@pytest.fixture
def owned(state: Guarded, bare: str) -> str:
    """A namespace with a policy at Enforce that grants two networks."""
    state.create(bare, SPEC)
    return bare


def _refused(state: Guarded, user: str, *arguments: str, stdin: object = None) -> str:
    """What kubectl says of a command that has to fail."""
    text = None if stdin is None else yaml.safe_dump(stdin)
    done = state.cluster.kubectl(*arguments, user=user, stdin=text, check=False)
    assert done.returncode == 1, done.stdout
    return done.stderr


# ------------------------------------------------------------------------ kubectl


def test_the_one_network_that_is_missing_is_named(state: Guarded, bare: str) -> None:
    """Fifteen grants of sixteen are not enough, and the sixteenth is named; admin has all."""
    apply = ("apply", "-n", bare, "-f", "-")
    whole = policy({"networks": entries(*NETWORKS)})
    said = _refused(state, GRANTS_MOST, *apply, stdin=whole)
    assert (
        f"{GRANT}RDMAPolicy {bare}/default: spec.networks[net-15]: granting it takes the verb "
        f"grant on rdmanetworks/net-15, which user {GRANTS_MOST} lacks; a platform admin can give "
        "it" in said
    )
    assert "net-00]" not in said
    state.cluster.kubectl(*apply, stdin=yaml.safe_dump(whole))
    assert len(state.spec(bare)["networks"]) == 16


def test_a_forced_replacement_ends_before_it_deletes(state: Guarded, owned: str) -> None:
    """``kubectl replace --force`` is a deletion first."""
    body = policy({"networks": [], "rawNetworks": "Allow"})
    said = _refused(state, GRANTS_ONE, "replace", "--force", "-n", owned, "-f", "-", stdin=body)
    assert "deleting it takes the verb grant on all rdmanetworks" in said
    assert state.spec(owned)["networks"] == SPEC["networks"]


def test_nobody_deletes_a_policy_by_another_door(state: Guarded, owned: str) -> None:
    """By name, all of them, orphaning, or in the foreground: a deletion is a deletion."""
    for more in (["default"], ["--all"], ["default", "--cascade=orphan"], ["default", "--now"]):
        assert GRANT in _refused(state, TENANT, "delete", "rdmapol", "-n", owned, *more)
    assert state.spec(owned)["networks"] == SPEC["networks"]
    state.cluster.kubectl("delete", "rdmapol", "default", "-n", owned, user=GRANTS_ALL)
    assert state.spec(owned) is None


def test_a_field_manager_of_its_own_gives_no_right(state: Guarded, owned: str, bare: str) -> None:
    """Server-side apply is judged by what comes of it, whoever owns the field."""
    assert owned == bare
    path = f"{tenants.policy_path(owned)}?fieldManager=mine&force=true"
    for spec, said in (
        ({"networks": entries(NETWORKS[2])}, "spec.networks[net-02]"),
        ({"enforcement": "Audit"}, "spec.enforcement: changing"),
        ({"networks": [{"name": NETWORKS[0], "quota": 9}]}, "spec.networks[net-00]"),
    ):
        answer = state.cluster.api(
            "PATCH", path, policy(spec), user=TENANT, content_type=APPLY_PATCH
        )
        assert answer[0] == 403
        assert said in answer[1]["message"]
    assert state.spec(owned)["networks"] == SPEC["networks"]


def test_a_first_policy_by_server_side_apply_is_a_creation(state: Guarded, bare: str) -> None:
    """What is not there yet is created by a PATCH, and judged as such."""
    path = f"{tenants.policy_path(bare)}?fieldManager=mine"
    body = policy({"networks": [], "rawNetworks": "Allow"})
    status, answer = state.cluster.api("PATCH", path, body, user=TENANT, content_type=APPLY_PATCH)
    assert (status, "spec.rawNetworks: changing" in answer["message"]) == (403, True)
    body = policy({"networks": entries(NETWORKS[0])})
    status, answer = state.cluster.api(
        "PATCH", path, body, user=GRANTS_ONE, content_type=APPLY_PATCH
    )
    assert status == 201, answer


def test_a_name_that_is_made_up_is_refused(state: Guarded, bare: str) -> None:
    """``generateName`` makes no second policy, not even for admin."""
    body = {**policy(SPEC), "metadata": {"generateName": "default"}}
    for user in USERS:
        status, answer = state.cluster.api("POST", policies(bare), body, user=user)
        assert status == 422
        assert "there is exactly one in a namespace" in answer["message"]


def test_a_grant_in_a_namespace_is_none(state: Guarded, owned: str) -> None:
    """Networks are cluster-scoped: what an owner gives itself in its namespace does not count."""
    verb = {"apiGroups": ["rdma.io"], "resources": ["rdmanetworks"], "verbs": ["grant", "*"]}
    name = ["-n", owned, f"--user={TENANT}"]
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "own-grant", "namespace": owned},
        "rules": [verb],
    }
    state.cluster.kubectl("create", "-f", "-", user=TENANT, stdin=yaml.safe_dump(role))
    state.cluster.kubectl(
        "create", "rolebinding", "own-grant", *name, "--role=own-grant", user=TENANT
    )
    right = {"verb": "grant", "group": "rdma.io", "resource": "rdmanetworks"}
    state.cluster.wait_for(
        "the right is there, in the namespace",
        lambda: roles.may(state.cluster, TENANT, namespace=owned, **right),
    )
    change = json.dumps({"spec": {"networks": entries(NETWORKS[2])}})
    patch = ("patch", "rdmapol", "default", "-n", owned, "--type=merge", "-p", change)
    assert "rdmanetworks/net-02" in _refused(state, TENANT, *patch)


@pytest.mark.parametrize("role", ["admin", "edit", "view"])
def test_built_in_roles_read_policies_and_write_none(guarded: Guarded, role: str) -> None:
    """Whoever administers a namespace does not even get to the question of grants."""
    namespace = f"built-in-{role}"
    guarded.cluster.add_namespace(namespace)
    guarded.cluster.kubectl(
        "create", "rolebinding", "worker", "-n", namespace, f"--clusterrole={role}",
        f"--user={WORKER}",
    )  # fmt: skip
    right = {"group": "rdma.io", "resource": "rdmapolicies", "namespace": namespace}
    guarded.cluster.wait_for(
        f"{role} reads policies",
        lambda: roles.may(guarded.cluster, WORKER, verb="list", **right),
    )
    for verb in ("create", "update", "patch", "delete", "deletecollection"):
        assert not roles.may(guarded.cluster, WORKER, verb=verb, **right)
        for subresource in ("status", "finalizers"):
            assert not roles.may(
                guarded.cluster, WORKER, verb=verb, subresource=subresource, **right
            )
    said = _refused(
        guarded, WORKER, "create", "-n", namespace, "-f", "-", stdin=policy({"networks": []})
    )
    assert 'cannot create resource "rdmapolicies"' in said


# ----------------------------------------------------------------------- metadata


def test_metadata_is_its_owners_and_ends_nothing(state: Guarded, owned: str) -> None:
    """Labels, annotations and finalizers need no grant."""
    for arguments in (
        ("label", "rdmapol", "default", "a=b"),
        ("annotate", "rdmapol", "default", "a=b"),
        (
            "patch",
            "rdmapol",
            "default",
            "--type=merge",
            "-p",
            '{"metadata":{"finalizers":["a/b"]}}',
        ),
    ):
        state.cluster.kubectl(*arguments, "-n", owned, user=TENANT)
    state.cluster.kubectl("delete", "rdmapol", "default", "-n", owned, "--wait=false")
    change = json.dumps({"spec": {"rawNetworks": "Allow"}})
    patch = ("patch", "rdmapol", "default", "-n", owned, "--type=merge", "-p")
    assert "spec.rawNetworks" in _refused(state, TENANT, *patch, change)
    state.cluster.kubectl(*patch, '{"metadata":{"finalizers":null}}', user=TENANT)
    assert state.spec(owned) is None


def test_the_garbage_collector_deletes_no_policy(state: Guarded, owned: str) -> None:
    """A policy that its tenant made depend on something that is deleted stays."""
    cluster = state.cluster
    maps = f"/api/v1/namespaces/{owned}/configmaps"
    owner = cluster.request("POST", maps, {"metadata": {"name": "owner"}}, user=TENANT)
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": "owner",
        "uid": owner["metadata"]["uid"],
    }
    depends = {"metadata": {"ownerReferences": [reference]}}
    cluster.request(
        "PATCH", tenants.policy_path(owned), depends, user=TENANT, content_type=MERGE_PATCH
    )
    cluster.request("DELETE", f"{maps}/owner", user=TENANT)
    code = cluster.wait_for(
        "the garbage collector has tried",
        lambda: state.deletions(owned).get(COLLECTOR),
        timeout=120,
    )
    assert code == 403
    assert state.spec(owned)["networks"] == SPEC["networks"]


@pytest.mark.parametrize("user", ["admin", TENANT])
def test_a_namespace_ends_with_its_policy(state: Guarded, owned: str, user: str) -> None:
    """The namespace controller may delete what nobody in the namespace may."""
    state.cluster.request("DELETE", f"/api/v1/namespaces/{owned}", user=user)
    state.cluster.wait_until_gone(f"/api/v1/namespaces/{owned}", timeout=120)


def test_a_namespace_that_ends_gives_no_right(state: Guarded, owned: str) -> None:
    """While a namespace is held in Terminating its policy cannot be loosened or deleted by hand.

    Its roles go with it, so this takes somebody with rights from outside.
    """
    cluster = state.cluster
    hold = {"metadata": {"name": "held", "finalizers": ["example.com/hold"]}}
    maps = f"/api/v1/namespaces/{owned}/configmaps"
    cluster.request("POST", maps, hold, user=TENANT)
    path = tenants.policy_path(owned)
    keep = {"metadata": {"finalizers": ["example.com/hold"]}}
    cluster.request("PATCH", path, keep, user=TENANT, content_type=MERGE_PATCH)
    cluster.request("DELETE", f"/api/v1/namespaces/{owned}", user=TENANT)
    cluster.wait_for(
        "the policy is being deleted",
        lambda: cluster.request("GET", path)["metadata"].get("deletionTimestamp"),
        timeout=120,
    )
    change = {"spec": {"rawNetworks": "Allow"}}
    for method, body in (("PATCH", change), ("DELETE", None)):
        answer = cluster.api(method, path, body, user=WRITER, content_type=MERGE_PATCH)
        assert (answer[0], GRANT in answer[1]["message"]) == (403, True), answer
    free = {"metadata": {"finalizers": None}}
    cluster.request("PATCH", path, free, user=WRITER, content_type=MERGE_PATCH)
    cluster.request("PATCH", f"{maps}/held", free, content_type=MERGE_PATCH)
    cluster.wait_until_gone(f"/api/v1/namespaces/{owned}", timeout=120)


# ------------------------------------------------------------------------- status


@pytest.fixture
def outputs(state: Guarded, owned: str) -> Iterator[dict[str, str]]:
    """Path of an object of each kind, by how a message calls it."""
    partition = {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMAPartition",
        "metadata": {"name": "leaf.vlan.0210"},
        "spec": {
            "fabric": "leaf", "type": "VLAN", "number": 210, "tenant": "a", "partition": "main",
        },
    }  # fmt: skip
    state.cluster.request("POST", f"{API}/rdmanetworks", network())
    state.cluster.request("POST", f"{API}/rdmapartitions", partition)
    found = {
        f"RDMAPolicy {owned}/default": tenants.policy_path(owned),
        "RDMANetwork host": f"{API}/rdmanetworks/host",
        "RDMAPartition leaf.vlan.0210": f"{API}/rdmapartitions/leaf.vlan.0210",
    }
    yield found
    for path in list(found.values())[1:]:
        state.cluster.request("DELETE", path)


STATUSES: dict[str, Document] = {
    "RDMAPolicy": {"counts": {"networks": 7}},
    "RDMANetwork": {"isolation": "Hard"},
    "RDMAPartition": {"phase": "Draining"},
}


def _holds(found: Any, part: Any) -> bool:  # noqa: ANN401 - JSON
    """Whether a JSON value holds all of another."""
    if isinstance(found, dict) and isinstance(part, dict):
        return all(key in found and _holds(found[key], part[key]) for key in part)
    return bool(found == part)


def test_status_is_written_by_our_account_alone(state: Guarded, outputs: dict[str, str]) -> None:
    """By PUT, PATCH or apply, with every right on it: nobody but the controller, not even admin."""
    for called, path in outputs.items():
        status = STATUSES[called.partition(" ")[0]]
        whole = {**state.cluster.request("GET", path), "status": status}
        applied = {key: whole[key] for key in ("apiVersion", "kind", "status")}
        for user in USERS:
            answers = [state.replace(path, whole, user=user, target="/status")]
            for query, body, content_type in (
                ("", {"status": status}, MERGE_PATCH),
                ("?fieldManager=mine&force=true", applied, APPLY_PATCH),
            ):
                answers.append(
                    state.cluster.api(
                        "PATCH", f"{path}/status{query}", body, user=user, content_type=content_type
                    )
                )
            for code, answer in answers:
                assert code == 403
                assert (
                    f"{STATUS}{called}: status is written by {CONTROLLER} alone"
                    in (answer["message"])
                )
                assert f"not by user {user}; it follows from spec" in answer["message"]
        assert not _holds(state.cluster.request("GET", path).get("status", {}), status)
        answer = state.cluster.request(
            "PATCH", f"{path}/status", {"status": status}, user=CONTROLLER, content_type=MERGE_PATCH
        )
        assert _holds(answer["status"], status)


def test_a_status_write_changes_no_spec(state: Guarded, owned: str) -> None:
    """A spec that comes with a status is dropped, and so is a status that comes with a spec."""
    path = tenants.policy_path(owned)
    both = {"spec": {"rawNetworks": "Allow"}, "status": {"counts": {"networks": 7}}}
    state.cluster.request(
        "PATCH", f"{path}/status", both, user=CONTROLLER, content_type=MERGE_PATCH
    )
    assert state.spec(owned)["rawNetworks"] == "Deny"
    removal = {"spec": {"networks": []}, "status": {"counts": {"networks": 9}}}
    answer = state.cluster.request("PATCH", path, removal, user=TENANT, content_type=MERGE_PATCH)
    assert answer["status"]["counts"]["networks"] != 9


def test_a_first_policy_brings_no_status(state: Guarded, bare: str) -> None:
    """What its author says of its state is not stored."""
    body = {**policy({"networks": entries(NETWORKS[0])}), "status": {"counts": {"networks": 7}}}
    answer = state.cluster.request("POST", policies(bare), body, user=GRANTS_ONE)
    assert "status" not in answer


# ----------------------------------------------------------------------- template


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ({"Type": "host-device"}, "spec.template.Type: spec.mode decides the CNI plugin"),
        ({"MASTER": "ens1", "mtu": 1}, "spec.template.MASTER: write it as master of the rail"),
        ({"pKey": "0x1"}, "spec.template.pKey: a PKey comes from the tenant's partition"),
        ({"DeviceId": "x"}, "spec.template.DeviceId: the device is the one"),
        ({"PLUGINS": []}, "spec.template.PLUGINS: a template holds further keys of one plugin"),
        ({"ma\u017fter": "ens1"}, "spec.template.ma\u017fter: write it as master"),
        ({"p\u212aey": "0x1"}, "spec.template.p\u212aey: a PKey comes"),
    ],
    ids=str,
)
def test_a_template_holds_no_rendered_key_in_any_letter_case(
    state: Guarded, template: Document, said: str
) -> None:
    """What a CNI plugin would take for a key that mode, rail or partition decide is refused."""
    status, answer = state.cluster.api("POST", f"{API}/rdmanetworks", network(template))
    assert status == 422
    denied = "ValidatingAdmissionPolicy 'rdma-template' with binding 'rdma-template' denied request"
    assert f"{denied}: RDMANetwork host: {said}" in answer["message"]
    assert answer["message"].endswith("; a template holds no such key in any letter case")


def test_other_keys_of_a_template_are_free(state: Guarded) -> None:
    """Keys below another, and keys that only begin alike, are the admin's business."""
    template = {"ipam": {"type": "static"}, "mtu": 9000, "types": 1, "vlanQoS": 2}
    for body in (network(), network({}), network(template)):
        status, answer = state.cluster.api("POST", f"{API}/rdmanetworks?dryRun=All", body)
        assert status == 201, answer
