"""NetworkAttachmentDefinitions as Multus and the CNI plugins read them."""

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.nad import Nad, read
from tests.harness.budgets import small

Object = dict[str, Any]

IPAM = '"ipam":{"type":"nv-ipam","poolName":"team-a-r0"}'


def nad(config: object, resource: str = "", **metadata: Any) -> Nad:  # noqa: ANN401
    """A NAD of team-a with a config as its author wrote it."""
    annotations = {"k8s.v1.cni.cncf.io/resourceName": resource} if resource else {}
    return read(
        {
            "metadata": {
                "namespace": "team-a",
                "name": "x",
                "annotations": annotations,
                **metadata,
            },
            "spec": {"config": config},
        }
    )


TENANT_VF = Nad.SPOOF_CHECKED | Nad.UNTRUSTED


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        pytest.param(
            '{"cniVersion":"1.0.0","name":"roce-t210","type":"sriov","vlan":210,"vlanQoS":3,\n'
            ' "spoofchk":"on","trust":"off","link_state":"auto",\n'
            f' "capabilities":{{"ips":true,"mac":true}},{IPAM}}}\n',
            Nad("team-a", "x", types=("sriov",), vlan=210, flags=TENANT_VF, ipam="nv-ipam"),
            id="a VF of a tenant's VLAN",
        ),
        pytest.param(
            '{"name":"x","plugins":[{"type":"sriov","vlan":211,"spoofchk":"on","trust":"off",'
            '"ipam":{"type":"whereabouts","range":"10.211.0.0/16"}},{"type":"rdma"},'
            '{"type":"tuning","sysctl":{"net.ipv4.conf.IFNAME.arp_ignore":"1"}}]}',
            Nad(
                "team-a",
                "x",
                types=("sriov", "rdma", "tuning"),
                vlan=211,
                flags=TENANT_VF,
                ipam="whereabouts",
            ),
            id="a chain whose first plugin carries the VLAN",
        ),
        pytest.param(
            '{"type":"sriov","vlan":300,"vlanProto":"802.1ad","spoofchk":"on","ipam":{}}',
            Nad("team-a", "x", types=("sriov",), vlan=300, flags=Nad.SPOOF_CHECKED),
            id="a provider tag, trust left open",
        ),
        pytest.param(
            '{"type":"ib-sriov","pkey":"0x0011","link_state":"enable","ibKubernetesEnabled":true,'
            f'"capabilities":{{"infinibandGUID":true}},{IPAM}}}',
            Nad(
                "team-a",
                "x",
                types=("ib-sriov",),
                pkey=0x11,
                flags=Nad.IB_KUBERNETES,
                ipam="nv-ipam",
            ),
            id="a PKey that ib-kubernetes applies",
        ),
        pytest.param(
            '{"plugins":[{"type":"ib-sriov","pkey":"0x0012","ibKubernetesEnabled":true},'
            '{"type":"rdma"}]}',
            Nad("team-a", "x", types=("ib-sriov", "rdma"), pkey=0x12, flags=Nad.IB_KUBERNETES),
            id="a PKey in a chain",
        ),
        pytest.param(
            '{"type":"ib-sriov","pkey":"0x0013","rdmaIsolation":true,"ibKubernetesEnabled":false,'
            '"ipam":{"type":"host-local","subnet":"10.13.0.0/24"}}',
            Nad("team-a", "x", types=("ib-sriov",), pkey=0x13, ipam="host-local"),
            id="a PKey that is only declared",
        ),
        pytest.param(
            '{"type":"ipoib","master":"ibs1f0","ipam":{"type":"whereabouts"}}',
            Nad("team-a", "x", types=("ipoib",), masters=("ibs1f0",), ipam="whereabouts"),
            id="IPoIB on a parent port",
        ),
        pytest.param(
            '{"type":"macvlan","master":"ens1f0np0.220","mode":"bridge","mtu":9000,'
            '"capabilities":{"ips":true},"ipam":{"type":"whereabouts","range":"10.220.0.0/16"}}',
            Nad("team-a", "x", types=("macvlan",), masters=("ens1f0np0.220",), ipam="whereabouts"),
            id="macvlan on a VLAN sub-interface",
        ),
        pytest.param(
            '{"type":"macvlan","mode":"bridge"}',
            Nad("team-a", "x", types=("macvlan",)),
            id="macvlan on whatever carries the default route",
        ),
        pytest.param(
            f'{{"type":"host-device",{IPAM}}}',
            Nad("team-a", "x", types=("host-device",), ipam="nv-ipam"),
            id="a whole device that the kubelet hands out",
        ),
        pytest.param(
            '{"type":"host-device","device":"eno1"}',
            Nad("team-a", "x", types=("host-device",), flags=Nad.FIXED_DEVICE),
            id="a fixed device of the node",
        ),
        pytest.param(
            '{"plugins":[{"type":"bridge"},{"type":"host-device","pciBusID":"0000:17:00.0"}]}',
            Nad("team-a", "x", types=("bridge", "host-device"), flags=Nad.FIXED_DEVICE),
            id="a fixed device further down a chain",
        ),
        pytest.param(
            '{"type":"ib-sriov","args":{"cni":{"mellanox.infiniband.app":"configured"}}}',
            Nad(
                "team-a",
                "x",
                types=("ib-sriov",),
                flags=Nad.ARGUED,
                odd="key args is none that its plugin takes",
            ),
            id="a mark that the fabric's daemon would set",
        ),
        pytest.param(
            '{"type":"vlan","master":"net1","vlanId":230,"linkInContainer":true,'
            '"ipam":{"type":"static"}}',
            Nad("team-a", "x", types=("vlan",), masters=("net1",), ipam="static"),
            id="a VLAN on an interface of the pod",
        ),
        pytest.param(
            '{"type":"vlan","master":"ens1f0np0","vlanId":240,"ipam":{"type":"host-local"}}',
            Nad("team-a", "x", types=("vlan",), masters=("ens1f0np0",), ipam="host-local"),
            id="a VLAN on the interface itself",
        ),
        pytest.param(
            '{"type":"ipvlan","master":"ens1f0np0.221","mode":"l2"}',
            Nad("team-a", "x", types=("ipvlan",), masters=("ens1f0np0.221",)),
            id="ipvlan on a VLAN sub-interface",
        ),
        pytest.param(
            '{"type":"accelerated-bridge","bridge":"cni0,br-uplink","vlan":270,'
            '"setUplinkVlan":true}',
            Nad("team-a", "x", types=("accelerated-bridge",), vlan=270),
            id="a switchdev VF on a bridge",
        ),
        pytest.param(
            '{"type":"ipoib","master":"ib0.8011","ipam":{}}',
            Nad("team-a", "x", types=("ipoib",), masters=("ib0.8011",)),
            id="IPoIB on a child, as it is written",
        ),
        pytest.param(
            '{"type":"bridge","bridge":"br-data","vlan":250,"preserveDefaultVlan":false}',
            Nad("team-a", "x", types=("bridge",), vlan=250),
            id="a bridge port",
        ),
        pytest.param(
            '{"type":"ovs","bridge":"br-rail0","vlan":260,"ipam":{"type":"nv-ipam"}}',
            Nad("team-a", "x", types=("ovs",), vlan=260, ipam="nv-ipam"),
            id="an access port of Open vSwitch",
        ),
        pytest.param(
            '{"plugins":[{"type":"sriov","ipam":{"type":"spiderpool",'
            '"default_ipv4_ippool":["gpu1-net11"]}},{"type":"rdma"},'
            '{"type":"coordinator","mode":"auto"}]}',
            Nad("team-a", "x", types=("sriov", "rdma", "coordinator"), ipam="spiderpool"),
            id="a VF without a VLAN",
        ),
        pytest.param(
            '{"type":"sriov","vlan":0,"trust":"on","ipam":{}}',
            Nad("team-a", "x", types=("sriov",), vlan=0),
            id="VLAN 0, which is none",
        ),
        pytest.param(
            '{"type":"ib-sriov","pkey":"0x8011"}',
            Nad("team-a", "x", types=("ib-sriov",), pkey=0x8011),
            id="a PKey as written, with the membership bit",
        ),
        pytest.param(
            '{"type":"ib-sriov","pkey":""}',
            Nad("team-a", "x", types=("ib-sriov",)),
            id="an empty PKey is none",
        ),
        pytest.param(
            '{"type":"macvlan","master":null,"vlan":null,"plugins":null,"ipam":null}',
            Nad("team-a", "x", types=("macvlan",)),
            id="null is absent",
        ),
    ],
)
def test_a_config_is_read_as_its_plugins_read_it(config: str, expected: Nad) -> None:
    """What decides where the traffic goes is kept; everything else is forgotten."""
    assert nad(config) == expected


@pytest.mark.parametrize(
    ("config", "problem"),
    [
        pytest.param(None, "a file on the node would decide", id="no config"),
        pytest.param("", "a file on the node would decide", id="an empty config"),
        pytest.param(" \n", "a file on the node would decide", id="a blank config"),
        pytest.param({"type": "sriov"}, "a file on the node would decide", id="no text"),
        pytest.param("{", "not valid JSON", id="broken JSON"),
        pytest.param("[]", "is not a JSON object", id="a list"),
        pytest.param("{}", "a plugin has no type", id="no type"),
        pytest.param('{"type":""}', "a plugin has no type", id="an empty type"),
        pytest.param('{"type":7}', "a plugin has no type", id="a type that is no text"),
        pytest.param('{"plugins":[]}', "not a list of plugins", id="an empty chain"),
        pytest.param('{"plugins":{}}', "not a list of plugins", id="a chain that is no list"),
        pytest.param('{"plugins":["sriov"]}', "not a list of objects", id="a chain of texts"),
        pytest.param('{"plugins":[{"type":"sriov"},{}]}', "has no type", id="a typeless plugin"),
        pytest.param(
            '{"type":"bridge","plugins":[{"type":"sriov"}]}',
            "type and plugins together",
            id="both forms, of which Multus takes the first",
        ),
        pytest.param(
            '{"type":"multus","delegates":[{"type":"sriov"}]}', "key delegates", id="delegates"
        ),
        pytest.param('{"type":"sriov","runtimeConfig":{}}', "key runtimeConfig", id="run time"),
        pytest.param('{"type":"ib-sriov","guid":"02:00"}', "key guid", id="a GUID"),
        pytest.param(
            '{"plugins":[{"type":"sriov"},{"type":"x","delegates":[]}]}',
            "key delegates",
            id="a delegate within a chain",
        ),
        pytest.param('{"type":"sriov","vlan":4095}', "vlan 4095 is not", id="the reserved VLAN"),
        pytest.param('{"type":"sriov","vlan":-1}', "vlan -1 is not", id="a negative VLAN"),
        pytest.param('{"type":"sriov","vlan":"210"}', "vlan '210' is not", id="a VLAN as text"),
        pytest.param('{"type":"sriov","vlan":210.0}', "vlan 210.0 is not", id="a VLAN as float"),
        pytest.param('{"type":"sriov","vlan":true}', "vlan True is not", id="a VLAN as boolean"),
        pytest.param('{"type":"ib-sriov","pkey":17}', "pkey 17 is not", id="a PKey as number"),
        pytest.param('{"type":"ib-sriov","pkey":"11"}', "pkey '11' is not", id="a bare PKey"),
        pytest.param('{"type":"ib-sriov","pkey":"0x10011"}', "is not text", id="a long PKey"),
        pytest.param('{"type":"sriov","vlan":210,"Vlan":999}', "occurs twice", id="a second VLAN"),
        pytest.param('{"type":"sriov","VLAN":5}', "is read as 'vlan'", id="a key in capitals"),
        pytest.param(
            '{"type":"sriov","ipam":{"Type":"static"}}', "is read as 'type'", id="below ipam"
        ),
        pytest.param(
            '{"type":"sriov","vlan":' + "1" * 5000 + "}", "out of range", id="a giant number"
        ),
    ],
)
def test_what_cannot_be_read_for_certain_is_the_nads_problem(config: object, problem: str) -> None:
    """A NAD that Go and we could read differently is kept as its reason, and never guessed."""
    found = nad(config, "nvidia.com/vf")
    assert problem in found.problem
    assert (found.types, found.vlan, found.pkey, found.flags) == ((), None, None, 0)
    assert (found.key, found.resource_name) == ("team-a/x", "nvidia.com/vf")


def test_the_head_of_a_nad_is_kept() -> None:
    """Name, namespace, the network it was rendered for and the resource are read."""
    found = nad('{"type":"sriov"}', "nvidia.com/vf", labels={"rdma.io/rendered": "train"})
    assert (found.namespace, found.name, found.key) == ("team-a", "x", "team-a/x")
    assert (found.rendered, found.resource_name) == ("train", "nvidia.com/vf")


@pytest.mark.parametrize(
    "raw",
    [
        pytest.param({}, id="nothing at all"),
        pytest.param({"metadata": None, "spec": None}, id="null parts"),
        pytest.param({"metadata": {"name": "x"}, "spec": "sriov"}, id="a text for a spec"),
        pytest.param({"metadata": {"labels": ["a"], "annotations": "b"}}, id="odd metadata"),
        pytest.param({"metadata": {"labels": {"rdma.io/rendered": 7}}}, id="a label that is none"),
    ],
)
def test_an_object_of_another_shape_is_a_nad_that_cannot_be_read(raw: Object) -> None:
    """A file may hold anything; it never stops the reader."""
    found = read(raw)
    assert "spec.config is empty" in found.problem
    assert (found.rendered, found.resource_name) == ("", "")


CONFIGS = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 5000) | st.sampled_from(["", "sriov", "0x11"]),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "plugins", "vlan", "pkey", "master", "ipam", "device", "VLAN"]
            ),
            below,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@small
@given(config=CONFIGS)
def test_no_config_breaks_the_reader(config: object) -> None:
    """Any JSON is a NAD with its plugins or one with a problem, and never both."""
    found = nad(json.dumps(config))
    assert bool(found.types) != bool(found.problem)
    assert found.vlan is None or 0 <= found.vlan <= 4094


WORDS = st.sampled_from(["x", "type", "name", "master", "sriov", "args", 'x", "args": "y', ""])
CONFIGS = st.recursive(
    WORDS,
    lambda inner: st.dictionaries(WORDS, inner, max_size=4) | st.lists(inner, max_size=2),
    max_leaves=8,
)


@small
@given(
    name=WORDS,
    config=st.dictionaries(WORDS, CONFIGS, max_size=5),
    separators=st.sampled_from([(",", ":"), (", ", ": ")]),
)
def test_what_a_nad_is_called_governs_nothing(
    name: str, config: dict[str, Any], separators: tuple[str, str]
) -> None:
    """Configs that differ in a name alone are read once, and each is read as it is."""
    text = json.dumps(config, separators=separators)

    def governing(called: str) -> Nad:
        found = read({"metadata": {"name": called}, "spec": {"config": text}})
        return msgspec.structs.replace(found, name="")

    assert governing(name) == governing("a name that stands nowhere")
    renamed = text.replace(f'"name"{separators[1]}"x"', f'"name"{separators[1]}"other"')
    other = read({"metadata": {"name": "other"}, "spec": {"config": renamed}})
    if not other.problem:
        assert msgspec.structs.replace(other, name="") == governing("x")


def test_a_large_config_is_read_as_it_is() -> None:
    """It is not kept for others."""
    config = {"type": "sriov", "master": "ens1", "ipam": {"type": "y" * 5000}}
    found = nad(json.dumps(config))
    assert (found.types, found.masters) == (("sriov",), ("ens1",))
