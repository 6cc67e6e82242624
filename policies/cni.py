"""Which keys the plugins of a fabric take, and of what type: what no list has is refused.

A plugin ignores a key that it does not know, or reads it as something that we do not know of; both
make a NAD another one than its author and we believe. Keys that name files of the node are on no
list.

Source: containernetworking/plugins ``macvlan.go``, ``ipvlan.go``; sriov-cni ``pkg/types``;
ib-sriov-cni ``pkg/types``; rdma-cni; containernetworking/cni ``libcni`` for the keys of a list.
"""

from collections.abc import Mapping
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
    "macvlan": {"master": str, "mode": str, "mtu": int, "bcqueuelen": int},
    "ipvlan": {"master": str, "mode": str, "mtu": int},
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
    },
    "ib-sriov": {
        "pkey": str,
        "link_state": str,
        "rdmaIsolation": bool,
        "ibKubernetesEnabled": bool,
        "logLevel": str,
    },
    "tuning": {"sysctl": dict, "mtu": int},
    "rdma": {},
}
_LIST: Final[Mapping[str, type]] = {
    "cniVersion": str,
    "cniVersions": list,
    "name": str,
    "plugins": list,
    "disableCheck": bool,
    "disableGC": bool,
}
_ADDRESS_FOLDERS: Final = ("/var/lib/cni", "/run/", "/var/run/")
"""Where ``host-local`` may keep its addresses."""


def odd_key(plugin: Mapping[str, Any]) -> str:
    """Return what one plugin's config holds that it does not take; empty where all is known.

    Args:
        plugin: One plugin, as in the config. Of types that make no fabric's interface only the
            addresses are looked at.
    """
    known = _PLUGINS.get(str(plugin.get("type")))
    if known is not None:
        problem = _odd({**_EVERY, **known}, plugin)
        if problem:
            return problem
    ipam = plugin.get("ipam")
    folder = ipam.get("dataDir") if isinstance(ipam, Mapping) else None
    if folder is None or str(folder).startswith(_ADDRESS_FOLDERS):
        return ""
    return f"ipam.dataDir is outside {_ADDRESS_FOLDERS[0]} and /run"


def odd_key_of_list(config: Mapping[str, Any]) -> str:
    """Return what a list of plugins holds beside them that libcni does not take."""
    return _odd(_LIST, config)


def _odd(known: Mapping[str, type], found: Mapping[str, Any]) -> str:
    for key, value in found.items():
        wanted = known.get(key)
        if value is None:
            continue
        if wanted is None:
            return f"key {key} is none that its plugin takes"
        if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
            return f"key {key} is no {_NAMES[wanted]}"
    return ""


_NAMES: Final = {
    str: "text",
    int: "whole number",
    bool: "true or false",
    dict: "object",
    list: "list",
}
