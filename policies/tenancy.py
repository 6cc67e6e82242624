"""What one tenant may have, in the compact form that the admission path reads.

A pydantic model of a policy weighs some 6 KB; ten thousand of these weigh a tenth of that.
"""

from functools import lru_cache
from sys import intern
from typing import TypeAlias

import msgspec

from policies.defaults import Defaults, read
from policies.errors import InvalidObject
from policies.policy import NetworkGrant, PodLimits, RDMAPolicy
from policies.shapes import Isolation

Partitions: TypeAlias = tuple[tuple[str, int | None], ...]


class Grant(msgspec.Struct, frozen=True, gc=False):
    """One network that a tenant may use."""

    name: str
    max_per_pod: int | None
    partitions: Partitions
    """``(name, number)``; the number is None where one is to be allocated."""


class Limits(msgspec.Struct, frozen=True, gc=False):
    """What pods of a tenant may not exceed."""

    capabilities: tuple[str, ...]
    shared_memory: str | None
    env: tuple[tuple[str, str], ...]
    host_network: bool
    privileged: bool
    required_drop: tuple[str, ...]
    omit_capabilities: bool
    """Whether a Pod Security conflict omits the capability instead of refusing the pod."""


class Tenancy(msgspec.Struct, frozen=True):
    """One namespace's policy."""

    namespace: str
    generation: int
    tenant: str
    """The tenant's name, or ``namespace/NAME`` where the policy names none."""
    enforcement: str
    default_network: str | None
    grants: tuple[Grant, ...]
    defaults: Defaults
    limits: Limits
    allows_raw_networks: bool
    minimum_isolation: Isolation

    @property
    def title(self) -> str:
        """How messages name the policy."""
        return f"RDMAPolicy {self.namespace}/default"

    @property
    def enforces(self) -> bool:
        """Whether a pod that oversteps its own rights is refused, not only warned."""
        return self.enforcement == "Enforce"

    def grant(self, network: str) -> Grant | None:
        """Return the grant of a network, or None."""
        return next((grant for grant in self.grants if grant.name == network), None)


_MOST_LIMITS = 1024
_KNOWN_LIMITS: dict[Limits, Limits] = {}
"""Equal limits are kept once: most tenants of a cluster have the same."""


def compiled(policy: RDMAPolicy) -> Tenancy:
    """Return the compact form of a policy.

    Raises:
        InvalidObject: The policy contradicts itself.
    """
    spec = policy.spec
    title = f"RDMAPolicy {policy.metadata.namespace}/{policy.metadata.name}"
    _refuse_doubles([entry.name for entry in spec.networks], f"{title}: spec.networks")
    granted = [entry.name for entry in spec.networks]
    if spec.default_network is not None and spec.default_network not in granted:
        message = f"{title}: spec.defaultNetwork: {spec.default_network} is not in spec.networks"
        raise InvalidObject(message)
    return Tenancy(
        namespace=policy.metadata.namespace,
        generation=policy.metadata.generation,
        tenant=spec.tenant or f"namespace/{policy.metadata.namespace}",
        enforcement=spec.enforcement.value,
        default_network=spec.default_network,
        grants=tuple(_grant(entry, title) for entry in spec.networks),
        defaults=read(spec.pod_defaults),
        limits=_limits(spec.pod_limits),
        allows_raw_networks=spec.raw_networks.value == "Allow",
        minimum_isolation=spec.minimum_isolation,
    )


def _limits(shape: PodLimits) -> Limits:
    found = Limits(
        capabilities=shape.capabilities,
        shared_memory=shape.shared_memory.max if shape.shared_memory else None,
        env=tuple((var.name, var.value) for var in shape.env),
        host_network=shape.host_network,
        privileged=shape.privileged,
        required_drop=shape.required_drop,
        omit_capabilities=shape.pod_security_conflict.value == "OmitCapabilities",
    )
    if len(_KNOWN_LIMITS) >= _MOST_LIMITS:
        _KNOWN_LIMITS.clear()
    return _KNOWN_LIMITS.setdefault(found, found)


def _grant(entry: NetworkGrant, title: str) -> Grant:
    names = [partition.name for partition in entry.partitions]
    _refuse_doubles(names, f"{title}: spec.networks[{entry.name}].partitions")
    return Grant(
        name=intern(entry.name),
        max_per_pod=entry.max_per_pod,
        partitions=_shared(
            tuple((intern(partition.name), partition.number) for partition in entry.partitions)
        ),
    )


@lru_cache(maxsize=1024)
def _shared(partitions: Partitions) -> Partitions:
    """Return an equal tuple that grants share: those of one policy mostly say the same."""
    return partitions


def _refuse_doubles(names: list[str], path: str) -> None:
    for name in names:
        if names.count(name) > 1:
            message = f"{path}: name {name} occurs twice; the platform admin can merge the entries"
            raise InvalidObject(message)
