"""The fixed settings that the core needs, as one value."""

from functools import lru_cache

import msgspec

from policies.names import VERSION

GOVERNED_RESOURCES = (
    "rdma/",
    "nvidia.com/",
    "mellanox.com/",
    "openshift.io/",
    "intel.com/",
    "amd.com/",
    "aliyun/",
    "spidernet.io/",
    "vpc.amazonaws.com/efa",
)
"""Prefixes (ending in a slash) and exact names of the resources that networks may use."""
ACCELERATORS = (
    "nvidia.com/gpu",
    "nvidia.com/mig-*",
    "amd.com/gpu",
    "gpu.intel.com/*",
    "habana.ai/gaudi",
    "huawei.com/Ascend*",
)
"""Exact names, or patterns with a trailing star, of accelerators. A MIG slice counts as one."""
PROXIES = (
    "istio-proxy",
    "linkerd-proxy",
    "consul-dataplane",
    "envoy",
    "envoy-sidecar",
    "vault-agent",
    "cloudsql-proxy",
    "cloud-sql-proxy",
    "kuma-sidecar",
    "daprd",
)
"""Names of containers that service meshes and proxies add; never equipped by default."""

_LONGEST = 316
"""Longest qualified name; longer ones are no resources and are not remembered."""


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """The settings that decide how pods are read; fixed for the life of a process."""

    governed_resources: tuple[str, ...] = GOVERNED_RESOURCES
    accelerators: tuple[str, ...] = ACCELERATORS
    proxies: tuple[str, ...] = PROXIES
    default_enforcement: str = "Warn"
    """Level where no policy says one: Enforce, Warn or Audit."""
    missing_policy: str = "Refuse"
    """An annotated pod in a namespace without policy: Refuse, or Ignore with a warning."""
    version: str = VERSION

    def is_accelerator(self, resource: str) -> bool:
        """Whether an extended resource is an accelerator (a MIG slice or shared GPU is one)."""
        return len(resource) <= _LONGEST and _matches(resource, self.accelerators)

    def is_governed(self, resource: str) -> bool:
        """Whether an extended resource is one that networks may use, and no accelerator."""
        return (
            len(resource) <= _LONGEST
            and _is_governed(resource, self.governed_resources)
            and not self.is_accelerator(resource)
        )


@lru_cache(maxsize=4096)
def _matches(resource: str, patterns: tuple[str, ...]) -> bool:
    return any(
        resource.startswith(pattern[:-1]) if pattern.endswith("*") else resource == pattern
        for pattern in patterns
    )


@lru_cache(maxsize=4096)
def _is_governed(resource: str, governed: tuple[str, ...]) -> bool:
    return any(
        resource.startswith(entry) if entry.endswith("/") else resource == entry
        for entry in governed
    )
