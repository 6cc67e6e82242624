"""Which keys the plugins of a fabric take, and of what type: what no list has is refused.

A plugin ignores a key that it does not know, or reads it as something that we do not know of; both
make a NAD another one than its author and we believe. Keys that name files of the node may name
only those of their kind.

Source: containernetworking/plugins ``macvlan.go``, ``ipvlan.go``; sriov-cni ``pkg/types``;
ib-sriov-cni ``pkg/types``; rdma-cni; containernetworking/cni ``libcni`` for the keys of a list.
"""

from collections.abc import Mapping
from posixpath import normpath
from types import UnionType
from typing import Any, Final

_EVERY: Final[Mapping[str, type]] = {
    "cniVersion": str,
    "name": str,
    "type": str,
    "ipam": dict,
    "dns": dict,
    "capabilities": dict,
}
_PLUGINS: Final[Mapping[str, Mapping[str, type]]] = {
    "macvlan": {
        "master": str,
        "mode": str,
        "mtu": int,
        "bcqueuelen": int,
        "linkInContainer": bool,
    },
    "ipvlan": {"master": str, "mode": str, "mtu": int, "linkInContainer": bool},
    "sriov": {
        "vlan": int,
        "vlanQoS": int,
        "vlanProto": str,
        "spoofchk": str,
        "trust": str,
        "link_state": str,
        "min_tx_rate": int,
        "max_tx_rate": int,
        "logLevel": str,
        "logFile": str,
    },
    "ib-sriov": {
        "pkey": str,
        "link_state": str,
        "rdmaIsolation": bool,
        "ibKubernetesEnabled": bool,
        "logLevel": str,
        "logFile": str,
    },
    "tuning": {"sysctl": dict, "mtu": int, "allmulti": bool, "txQLen": int},
    "rdma": {},
    "bandwidth": {
        "ingressRate": int,
        "ingressBurst": int,
        "egressRate": int,
        "egressBurst": int,
    },
    "sbr": {"table": int},
    "vrf": {"vrfname": str, "table": int},
}
_LIST: Final[Mapping[str, type | UnionType]] = {
    "cniVersion": str,
    "cniVersions": list,
    "name": str,
    "plugins": list,
    "disableCheck": bool | str,
    "disableGC": bool,
    "loadOnlyInlinedPlugins": bool,
}
_FOLDERS: Final[Mapping[str, tuple[str, ...]]] = {
    "dataDir": ("/var/lib/cni", "/run", "/var/run"),
    "logFile": ("/var/log",),
    "log_file": ("/var/log",),
    "configuration_path": ("/etc/cni/net.d",),
    "kubeconfig": ("/etc/cni/net.d",),
    "daemonSocketPath": ("/run/cni",),
    "resolvConf": ("/etc/cni/net.d",),
}
"""Keys of plugins and of their addresses that name files of the node, and where these may be."""


def odd_key(plugin: Mapping[str, Any]) -> str:
    """Return what one plugin's config holds that it does not take; empty where all is known.

    Args:
        plugin: One plugin, as in the config. Of types that make no fabric's interface only the
            addresses are looked at.
    """
    known = _PLUGINS.get(str(plugin.get("type")))
    problem = _odd({**_EVERY, **known}, plugin) if known is not None else ""
    if known is not None and plugin.get("linkInContainer"):
        problem = problem or "linkInContainer looks for its master in the pod"
    ipam = plugin.get("ipam")
    if not isinstance(ipam, Mapping):
        return problem or _stray_file(plugin)
    kubernetes = ipam.get("kubernetes")
    inner = kubernetes if isinstance(kubernetes, Mapping) else {}
    return problem or _stray_file(plugin) or _stray_file(ipam) or _stray_file(inner)


def odd_chained(plugin: Mapping[str, Any]) -> str:
    """Return what a plugin that follows another may not hold; empty where all is right."""
    return "a plugin that follows has ipam" if plugin.get("ipam") else odd_key(plugin)


def _stray_file(config: Mapping[str, Any]) -> str:
    """Return the first key that names a file of the node where none of its kind belongs."""
    for key in sorted(_FOLDERS.keys() & config.keys()):
        path = normpath("/" + str(config[key]).lstrip("/"))
        if config[key] is not None and not any(
            path == folder or path.startswith(f"{folder}/") for folder in _FOLDERS[key]
        ):
            return f"{key} is outside {_FOLDERS[key][0]}"
    return ""


def odd_key_of_list(config: Mapping[str, Any]) -> str:
    """Return what a list of plugins holds beside them that libcni does not take."""
    return _odd(_LIST, config)


def _odd(known: Mapping[str, type | UnionType], found: Mapping[str, Any]) -> str:
    for key, value in found.items():
        wanted = known.get(key)
        if value is None:
            continue
        if wanted is None:
            return f"key {key} is none that its plugin takes"
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            return f"key {key} is no {_NAMES[wanted]}"
    return ""


_NAMES: Final[Mapping[type | UnionType, str]] = {
    str: "text",
    bool | str: "true or false",
    int: "whole number",
    bool: "true or false",
    dict: "object",
    list: "list",
}
