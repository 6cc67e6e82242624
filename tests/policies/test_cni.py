"""Which keys the plugins of a fabric take."""

from typing import Any

import pytest

from policies.cni import odd_key, odd_key_of_list


@pytest.mark.parametrize(
    ("plugin", "problem"),
    [
        ({"type": "macvlan", "master": "ens1", "mode": "bridge", "mtu": 9000}, ""),
        ({"type": "macvlan", "linkInContainer": True}, "key linkInContainer is none that"),
        ({"type": "macvlan", "mtu": "9000"}, "key mtu is no whole number"),
        ({"type": "macvlan", "mtu": True}, "key mtu is no whole number"),
        ({"type": "macvlan", "vlan": None}, ""),
        ({"type": "sriov", "vlan": 210, "vlanQoS": 3, "spoofchk": "on", "trust": "off"}, ""),
        ({"type": "sriov", "logFile": "/etc/cron.d/x"}, "key logFile is none that"),
        ({"type": "sriov", "spoofchk": True}, "key spoofchk is no text"),
        ({"type": "sriov", "ipam": "dhcp"}, "key ipam is no object"),
        ({"type": "ib-sriov", "pkey": "0x0011", "ibKubernetesEnabled": True}, ""),
        ({"type": "ib-sriov", "ibKubernetesEnabled": "true"}, "is no true or false"),
        ({"type": "ib-sriov", "vlan": 5}, "key vlan is none that"),
        ({"type": "rdma"}, ""),
        ({"type": "tuning", "sysctl": {}, "promisc": True}, "key promisc is none that"),
        ({"type": "coordinator", "mode": "auto"}, ""),
        ({"type": "sriov", "ipam": {"type": "host-local", "dataDir": "/run/a"}}, ""),
        ({"type": "sriov", "ipam": {"dataDir": "/etc/x"}}, "ipam.dataDir is outside"),
        ({"type": "bridge", "ipam": {"dataDir": "/etc/x"}}, "ipam.dataDir is outside"),
    ],
)
def test_a_plugin_takes_what_it_takes(plugin: dict[str, Any], problem: str) -> None:
    """What is on no list, or of another type, is said by its key."""
    found = odd_key(plugin)
    assert problem in found if problem else found == ""


def test_a_list_takes_what_libcni_takes() -> None:
    """Beside the plugins there are names and versions, and nothing else."""
    assert odd_key_of_list({"cniVersion": "1.0.0", "name": "a", "plugins": []}) == ""
    assert "key logFile is none" in odd_key_of_list({"plugins": [], "logFile": "/x"})
