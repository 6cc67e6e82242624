"""Which kinds are read, and where the API server keeps them."""

from dataclasses import dataclass
from typing import Final

from policies import names


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of object.

    Attributes:
        name: ``RDMAPolicy``, ….
        api_version: ``group/version``; the core group has none.
        is_namespaced: Whether objects live in namespaces.
        is_partial: Whether metadata is all we need of it.
        is_optional: Whether a cluster without its definition is a cluster without such objects,
            not a broken installation.
    """

    name: str
    api_version: str
    is_namespaced: bool = False
    is_partial: bool = False
    is_optional: bool = False

    @property
    def plural(self) -> str:
        """Return its name in URLs and roles."""
        return names.PLURALS[self.name]

    @property
    def root(self) -> str:
        """Return the URL path of its group and version."""
        prefix = "/apis" if "/" in self.api_version else "/api"
        return f"{prefix}/{self.api_version}"

    @property
    def resource(self) -> str:
        """Return the name that roles use: ``plural`` or ``plural.group``."""
        group, slash, _ = self.api_version.partition("/")
        return f"{self.plural}.{group}" if slash else self.plural

    def path(self, namespace: str = "", name: str = "") -> str:
        """Return the URL path of one object, or of all of them in the cluster."""
        if not name:
            return f"{self.root}/{self.plural}"
        inside = f"/namespaces/{namespace}" if self.is_namespaced else ""
        return f"{self.root}{inside}/{self.plural}/{name}"


KINDS: Final = (
    Kind(names.NETWORK, names.API_VERSION),
    Kind(names.POLICY, names.API_VERSION, is_namespaced=True),
    Kind(names.PARTITION, names.API_VERSION),
    Kind(names.NAD, names.NAD_API_VERSION, is_namespaced=True, is_optional=True),
    Kind(names.NAMESPACE, "v1", is_partial=True),
)
"""Clusters that hand devices out without Multus have no NetworkAttachmentDefinition."""

BY_NAME: Final = {kind.name: kind for kind in KINDS}
