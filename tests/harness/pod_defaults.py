"""What the API server fills into a pod before and after admission, as far as it can meet our patch.

Source: kubernetes ``pkg/apis/core/v1/defaults.go`` and ``zz_generated.defaults.go``; admission
plugins ServiceAccount and DefaultTolerationSeconds.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

Object = dict[str, Any]

_TOKEN = {
    "name": "kube-api-access-abcde",
    "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
}
_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_MODES = ("downwardAPI", "configMap", "secret", "projected")


def defaulted(pod: Object) -> Object:
    """Return a pod as the API server would store it; fields that are set stay as they are."""
    found = deepcopy(pod)
    spec = found.get("spec") or {}
    _fill(
        spec,
        restartPolicy="Always",
        dnsPolicy="ClusterFirst",
        terminationGracePeriodSeconds=30,
        schedulerName="default-scheduler",
        enableServiceLinks=True,
        serviceAccountName="default",
        serviceAccount="default",
        preemptionPolicy="PreemptLowerPriority",
        priority=0,
    )
    spec["securityContext"] = spec.get("securityContext") or {}
    for container in _containers(spec):
        _container(container, on_host=spec.get("hostNetwork") is True)
    for volume in spec.get("volumes") or ():
        _volume(volume)
    _service_account(spec)
    tolerations = spec["tolerations"] = spec.get("tolerations") or []
    for key in _TAINTS:
        if not any(one.get("key") in {None, "", key} for one in tolerations):
            tolerations.append(
                {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300}
            )
    _requests(spec.get("resources"))
    return found


def _containers(spec: Object) -> Iterator[Object]:
    for field in ("initContainers", "containers"):
        yield from spec.get(field) or ()


def _fill(target: Object, **values: object) -> None:
    for key, value in values.items():
        if target.get(key) is None:
            target[key] = value


def _container(container: Object, *, on_host: bool) -> None:
    _fill(
        container,
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
        imagePullPolicy="IfNotPresent",
    )
    container["resources"] = container.get("resources") or {}
    _requests(container["resources"])
    context = container.get("securityContext")
    if context:
        _fill(context, procMount="Default")
    for port in container.get("ports") or ():
        _fill(port, protocol="TCP")
        if on_host:
            _fill(port, hostPort=port["containerPort"])
    for variable in container.get("env") or ():
        source = variable.get("valueFrom") or {}
        if source.get("fieldRef"):
            _fill(source["fieldRef"], apiVersion="v1")


def _requests(resources: Object | None) -> None:
    """Fill requests from limits, key by key."""
    for name, quantity in ((resources or {}).get("limits") or {}).items():
        assert resources is not None
        resources["requests"] = resources.get("requests") or {}
        resources["requests"].setdefault(name, quantity)


def _volume(volume: Object) -> None:
    for kind in _MODES:
        source = volume.get(kind)
        if source is not None:
            _fill(source, defaultMode=420)
            for item in source.get("items") or ():
                if item.get("fieldRef"):
                    _fill(item["fieldRef"], apiVersion="v1")


def _service_account(spec: Object) -> None:
    """Add the token's volume and mounts, as the ServiceAccount plugin does."""
    if spec.get("automountServiceAccountToken") is False:
        return
    spec["volumes"] = spec.get("volumes") or []
    if any(volume["name"] == _TOKEN["name"] for volume in spec["volumes"]):
        return
    spec["volumes"].append(
        {"name": _TOKEN["name"], "projected": {"defaultMode": 420, "sources": []}}
    )
    for container in _containers(spec):
        container["volumeMounts"] = [
            *(container.get("volumeMounts") or ()),
            {**_TOKEN, "readOnly": True},
        ]
