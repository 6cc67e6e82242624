"""Which keys the plugins of a fabric take."""

from typing import Any

import pytest

from policies.cni import odd_chained, odd_key, odd_key_of_list


@pytest.mark.parametrize(
    ("plugin", "problem"),
    [
        ({"type": "macvlan", "master": "ens1", "mode": "bridge", "mtu": 9000}, ""),
        ({"type": "macvlan", "linkInContainer": True}, "looks for its master in the pod"),
        ({"type": "macvlan", "linkInContainer": False}, ""),
        ({"type": "macvlan", "mtu": "9000"}, "key mtu is no whole number"),
        ({"type": "macvlan", "mtu": True}, "key mtu is no whole number"),
        ({"type": "macvlan", "vlan": None}, ""),
        ({"type": "sriov", "vlan": 210, "vlanQoS": 3, "spoofchk": "on", "trust": "off"}, ""),
        ({"type": "sriov", "logFile": "/etc/cron.d/x"}, "logFile is outside /var/log"),
        ({"type": "sriov", "logFile": "/var/log/sriov.log", "logLevel": "debug"}, ""),
        ({"type": "sriov", "spoofchk": True}, "key spoofchk is no text"),
        ({"type": "sriov", "ipam": "dhcp"}, "key ipam is no object"),
        ({"type": "ib-sriov", "pkey": "0x0011", "ibKubernetesEnabled": True}, ""),
        ({"type": "ib-sriov", "ibKubernetesEnabled": "true"}, "is no true or false"),
        ({"type": "ib-sriov", "vlan": 5}, "key vlan is none that"),
        ({"type": "rdma"}, ""),
        ({"type": "tuning", "sysctl": {}, "promisc": True}, "key promisc is none that"),
        ({"type": "coordinator", "mode": "auto"}, ""),
        ({"type": "sriov", "ipam": {"type": "host-local", "dataDir": "/run/a"}}, ""),
        ({"type": "sriov", "ipam": {"dataDir": "/etc/x"}}, "dataDir is outside"),
        ({"type": "sriov", "ipam": {"dataDir": "/var/lib/cni/networks"}}, ""),
        ({"type": "sriov", "ipam": {"dataDir": "/var/lib/cni/../../etc"}}, "dataDir is outside"),
        ({"type": "sriov", "ipam": {"dataDir": "/var/lib/cnievil"}}, "dataDir is outside"),
        ({"type": "sriov", "ipam": {"resolvConf": "/etc/shadow"}}, "resolvConf is outside"),
        ({"type": "sriov", "ipam": {"log_file": "/var/log/whereabouts.log"}}, ""),
        (
            {
                "type": "sriov",
                "ipam": {"kubernetes": {"kubeconfig": "/etc/cni/net.d/whereabouts.kubeconfig"}},
            },
            "",
        ),
        (
            {"type": "sriov", "ipam": {"kubernetes": {"kubeconfig": "/etc/kubernetes/admin.conf"}}},
            "kubeconfig is outside",
        ),
        ({"type": "tuning", "allmulti": True, "txQLen": 1000}, ""),
        ({"type": "bridge", "ipam": {"dataDir": "/etc/x"}}, "dataDir is outside"),
    ],
)
def test_a_plugin_takes_what_it_takes(plugin: dict[str, Any], problem: str) -> None:
    """What is on no list, or of another type, is said by its key."""
    found = odd_key(plugin)
    assert problem in found if problem else found == ""


def test_a_plugin_that_follows_hands_out_no_addresses() -> None:
    """Its address plugin would run with the whole config."""
    assert (
        odd_chained({"type": "sbr", "ipam": {"type": "evil"}}) == "a plugin that follows has ipam"
    )
    assert odd_chained({"type": "bandwidth", "ingressRate": 1}) == ""
    assert "key vlan is none" in odd_chained({"type": "bandwidth", "vlan": 230})


def test_a_list_takes_what_libcni_takes() -> None:
    """Beside the plugins there are names and versions, and nothing else."""
    assert odd_key_of_list({"cniVersion": "1.0.0", "name": "a", "plugins": []}) == ""
    assert odd_key_of_list({"plugins": [], "disableCheck": "true"}) == ""
    assert "key logFile is none" in odd_key_of_list({"plugins": [], "logFile": "/x"})
