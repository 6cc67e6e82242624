"""The part of a NetworkAttachmentDefinition that decides where a pod's traffic goes.

Read as Multus and the CNI plugins read it: a non-empty ``type`` wins over ``plugins``; an empty
config is a file on the node. What cannot be read for certain becomes the NAD's ``problem``.

Source: network-attachment-definition-client ``pkg/utils/cniconfig.go``, Multus ``pkg/types``,
sriov-cni ``pkg/types``, ib-sriov-cni ``pkg/types``, containernetworking/plugins.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from sys import intern
from typing import Any

import msgspec

from policies import cni, gojson
from policies.errors import AmbiguousJSON
from policies.names import LABEL_RENDERED, RESOURCE_NAME_ANNOTATION

FIXED_DEVICE_KEYS = frozenset({"device", "hwaddr", "kernelpath", "pciBusID", "deviceID"})
"""Keys that name a device of the node, so that the pod takes it whatever it was allocated."""
_FORBIDDEN_KEYS = frozenset({"delegates", "runtimeConfig", "guid"})
_KNOWN_KEYS = (
    FIXED_DEVICE_KEYS
    | _FORBIDDEN_KEYS
    | frozenset(
        {"type", "plugins", "name", "cniVersion", "master", "vlan", "vlanId", "pkey", "mode", "mtu"}
        | {"ibKubernetesEnabled", "spoofchk", "trust", "ipam", "args", "capabilities", "link_state"}
        | {"vlanQoS", "vlanProto", "rdmaIsolation", "linkInContainer", "subnet", "range", "bridge"}
        | {"dataDir", "logFile", "resolvConf", "daemonSocketPath", "kubeconfig"}
    )
)
_PKEY = re.compile(r"0[xX][0-9a-fA-F]{1,4}")
_PLAIN_NAME = re.compile(r"[-a-z0-9.]+")
_LONGEST_ALIKE = 4096
"""Longest config, in characters, that is kept for others that are alike."""


class Nad(msgspec.Struct, frozen=True, gc=False):
    """The governing keys of one NetworkAttachmentDefinition; everything else is forgotten."""

    namespace: str
    name: str
    rendered: str = ""
    """Value of our label: the network it was rendered for."""
    resource_name: str = ""
    types: tuple[str, ...] = ()
    """CNI types of its plugins in order; the first makes the interface."""
    masters: tuple[str, ...] = ()
    vlan: int | None = None
    pkey: int | None = None
    """As written, with the membership bit where it was written."""
    flags: int = 0
    ipam: str = ""
    odd: str = ""
    """A key that its plugins do not take, which no NAD of a fabric may hold; empty for none."""
    problem: str = ""
    """Why its content cannot be trusted; empty where it can."""

    IB_KUBERNETES = 1
    SPOOF_CHECKED = 2
    UNTRUSTED = 4
    FIXED_DEVICE = 8
    ARGUED = 16
    """Carries ``args``, by which a pod's mark or address could be forged."""

    @property
    def key(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


def read(nad: Mapping[str, Any]) -> Nad:
    """Return the governing keys of a NetworkAttachmentDefinition object.

    Args:
        nad: The object as the API serves it (``k8s.cni.cncf.io/v1``).
    """
    metadata = nad.get("metadata") or {}
    name = str(metadata.get("name") or "")
    spec = nad.get("spec") or {}
    config = spec.get("config") if isinstance(spec, Mapping) else None
    try:
        governing = _shared_governing(config, name)
    except AmbiguousJSON as err:
        governing = {"problem": str(err)}
    return Nad(
        namespace=intern(str(metadata.get("namespace") or "")),
        name=name,
        rendered=_text(metadata.get("labels"), LABEL_RENDERED),
        resource_name=_text(metadata.get("annotations"), RESOURCE_NAME_ANNOTATION),
        **governing,
    )


def _text(found: object, key: str) -> str:
    """Return a label or annotation; empty where there is none, or it is no text."""
    value = found.get(key) if isinstance(found, Mapping) else None
    return intern(str(value)) if isinstance(value, str) else ""


def _shared_governing(config: object, name: str) -> dict[str, Any]:
    """Return the same as `_governing`, read once for all configs that differ in their name alone.

    A cluster's NADs are a few configs with many names. The value of a key ``name`` governs
    nothing, and a plain name has nothing that JSON would read as more than a text.
    """
    if not isinstance(config, str) or len(config) > _LONGEST_ALIKE:
        return _governing(config)
    alike = config
    if _PLAIN_NAME.fullmatch(name):
        alike = config.replace(f'"name":"{name}"', '"name":""')
        alike = alike.replace(f'"name": "{name}"', '"name": ""')
    try:
        return _governing_of_alike(alike)
    except AmbiguousJSON:
        return _governing(config)  # fails again, and says the place in the config as it is


@lru_cache(maxsize=1024)
def _governing_of_alike(config: str) -> dict[str, Any]:
    return _governing(config)


def _governing(config: object) -> dict[str, Any]:
    """Return the fields of `Nad` that the CNI config decides."""
    if not isinstance(config, str) or not config.strip():
        raise AmbiguousJSON("spec.config is empty, so a file on the node would decide")
    parsed = gojson.loads(config, _KNOWN_KEYS)
    if not isinstance(parsed, dict):
        raise AmbiguousJSON("spec.config is not a JSON object")
    plugins = _plugins(parsed)
    main = plugins[0]
    return {
        "types": _shared(tuple(_type(plugin) for plugin in plugins)),
        "masters": _shared(
            tuple(intern(m) for p in plugins if isinstance(m := p.get("master"), str) and m)
        ),
        "vlan": _vlan(main),
        "pkey": _pkey(main),
        "flags": _flags(main, plugins),
        "ipam": intern(_ipam(main)),
        "odd": _odd(parsed, plugins),
    }


@lru_cache(maxsize=4096)
def _shared(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return an equal tuple that many NADs share: a cluster has few kinds and interfaces."""
    return names


def _plugins(parsed: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the plugins in order: the object itself, or its list."""
    plugins = parsed.get("plugins")
    if parsed.get("type") and plugins is not None:
        raise AmbiguousJSON("type and plugins together: Multus would ignore plugins")
    if plugins is None:
        plugins = [parsed]
    if not isinstance(plugins, list) or not plugins:
        raise AmbiguousJSON("plugins is not a list of plugins")
    for plugin in [parsed, *plugins]:
        if not isinstance(plugin, dict):
            raise AmbiguousJSON("plugins is not a list of objects")
        for key in _FORBIDDEN_KEYS & plugin.keys():
            message = f"key {key} has no place in a network's config"
            raise AmbiguousJSON(message)
    return plugins


def _type(plugin: dict[str, Any]) -> str:
    kind = plugin.get("type")
    if not isinstance(kind, str) or not kind:
        raise AmbiguousJSON("a plugin has no type")
    return intern(kind)


def _vlan(plugin: dict[str, Any]) -> int | None:
    vlan = plugin.get("vlan")
    if vlan is None:
        return None
    if isinstance(vlan, bool) or not isinstance(vlan, int) or not 0 <= vlan <= 4094:  # noqa: PLR2004 802.1Q
        message = f"vlan {vlan!r} is not a number from 0 to 4094"
        raise AmbiguousJSON(message)
    return vlan


def _pkey(plugin: dict[str, Any]) -> int | None:
    pkey = plugin.get("pkey")
    if pkey is None or pkey == "":
        return None
    if not isinstance(pkey, str) or not _PKEY.fullmatch(pkey):
        message = f"pkey {pkey!r} is not text such as 0x0011"
        raise AmbiguousJSON(message)
    return int(pkey, 16)


def _flags(main: dict[str, Any], plugins: list[dict[str, Any]]) -> int:
    flags = Nad.IB_KUBERNETES if main.get("ibKubernetesEnabled") is True else 0
    flags |= Nad.SPOOF_CHECKED if main.get("spoofchk") == "on" else 0
    flags |= Nad.UNTRUSTED if main.get("trust") == "off" else 0
    if any(plugin.get(key) for plugin in plugins for key in FIXED_DEVICE_KEYS):
        flags |= Nad.FIXED_DEVICE
    if any(plugin.get("args") for plugin in plugins):
        flags |= Nad.ARGUED
    return flags


def _odd(parsed: dict[str, Any], plugins: list[dict[str, Any]]) -> str:
    found = "" if parsed is plugins[0] else cni.odd_key_of_list(parsed)
    chained = map(cni.odd_chained, plugins[1:])
    return found or cni.odd_key(plugins[0]) or next(filter(None, chained), "")


def _ipam(plugin: dict[str, Any]) -> str:
    ipam = plugin.get("ipam")
    if not isinstance(ipam, dict):
        return ""
    return str(ipam.get("type") or "")
