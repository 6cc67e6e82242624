"""Host network, node selector, tolerations."""

from typing import Any

import pytest

from tests.harness.intents import injected, intent
from tests.harness.pods import container, pod
from webhook.injectors import placement
from webhook.pods.edits import Edit, SelectNode, SetSpecField, Tolerate

ON_HOST = SetSpecField("hostNetwork", value=True)
DNS = SetSpecField("dnsPolicy", "ClusterFirstWithHostNet")


def test_labels_and_tolerations_are_wanted_in_order() -> None:
    """Every label and toleration of the networks is asked for."""
    wanted = intent(node_selector=(("a", "1"), ("b", "2")), tolerations=({"key": "t"},))
    assert injected(placement.inject, pod(), wanted) == (
        [SelectNode("a", "1"), SelectNode("b", "2"), Tolerate({"key": "t"})],
        [],
    )


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({}, [ON_HOST, DNS], id="no DNS policy"),
        pytest.param({"dnsPolicy": None}, [ON_HOST, DNS], id="a DNS policy of null"),
        pytest.param({"dnsPolicy": "ClusterFirst"}, [ON_HOST, DNS], id="the API server's default"),
        pytest.param({"dnsPolicy": "None"}, [ON_HOST], id="a DNS policy that is a choice"),
    ],
)
def test_the_host_network_goes_with_its_dns(spec: dict[str, Any], expected: list[Edit]) -> None:
    """The cluster's names still resolve, unless the author chose another policy."""
    wanted = intent(host_network=True)
    assert injected(placement.inject, pod(**spec), wanted) == (expected, [])


def test_ports_become_ports_of_the_node() -> None:
    """The author is told of the first ports, of native sidecars too."""
    ports = [{"containerPort": 80 + number} for number in range(4)]
    sidecar = container("b", restartPolicy="Always", ports=[{"containerPort": 1}])
    given = pod(None, container(ports=ports), initContainers=[sidecar])
    _, notices = injected(placement.inject, given, intent(host_network=True))
    assert notices == ["host network: container ports 80, 81, 82, 83 become ports of the node"]
