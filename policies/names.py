"""Every string of our public API and of the APIs we read, each written once.

Sources: Multus and the NPWG specification for the ``k8s.v1.cni.cncf.io`` keys; the Kubernetes
documentation for ``pod-security.kubernetes.io`` and ``kubernetes.io`` keys.
"""

from typing import Final

VERSION = "0.1.0"

GROUP: Final = "rdma.io"
API_VERSION: Final = "rdma.io/v1alpha1"
NAD_API_VERSION: Final = "k8s.cni.cncf.io/v1"

NETWORK: Final = "RDMANetwork"
POLICY: Final = "RDMAPolicy"
PARTITION: Final = "RDMAPartition"
NAD: Final = "NetworkAttachmentDefinition"
NAMESPACE: Final = "Namespace"
NODE: Final = "Node"

PLURALS: Final = {
    NETWORK: "rdmanetworks",
    POLICY: "rdmapolicies",
    PARTITION: "rdmapartitions",
    NAD: "network-attachment-definitions",
    NAMESPACE: "namespaces",
}
"""Kinds as they stand in URLs and roles."""

OUR_NAMESPACE: Final = "rdma-system"
"""Where the shipped manifests run the webhook."""
OUR_ACCOUNT: Final = "rdma-webhook"
"""The ServiceAccount of the webhook and its controller."""
OUR_USER: Final = f"system:serviceaccount:{OUR_NAMESPACE}:{OUR_ACCOUNT}"
"""What the API server calls that account."""

POLICY_NAME: Final = "default"
"""The only name an RDMAPolicy may have: one a namespace."""

PREFIX: Final = "rdma.io/"
"""Annotation prefix; every key below it belongs to us, in any letter case."""
ANNOTATION_NETWORK: Final = "rdma.io/network"
ANNOTATION_CONTAINERS: Final = "rdma.io/containers"
ANNOTATION_SHM_SIZE: Final = "rdma.io/shm-size"
ANNOTATION_PARTITION: Final = "rdma.io/partition"
ANNOTATION_NCCL_CONF: Final = "rdma.io/nccl-conf"
ANNOTATION_STATUS: Final = "rdma.io/status"

USER_KEYS: Final = (
    ANNOTATION_NETWORK,
    ANNOTATION_CONTAINERS,
    ANNOTATION_SHM_SIZE,
    ANNOTATION_PARTITION,
)
"""Keys a pod's author writes."""
WEBHOOK_KEYS: Final = (ANNOTATION_NCCL_CONF, ANNOTATION_STATUS)
"""Keys the webhook writes; on a new pod they are recomputed without a word (restores)."""

LABEL_RENDERED: Final = "rdma.io/rendered"
"""Label of a NetworkAttachmentDefinition that is ours; its value is the network's name."""

DEFAULT_NETWORK_WORD: Final = "default"
"""The reserved word in ``rdma.io/network`` that means the policy's ``defaultNetwork``."""
MAIN_PARTITION: Final = "main"

SELECTION_ANNOTATION: Final = "k8s.v1.cni.cncf.io/networks"
DEFAULT_SELECTION_ANNOTATION: Final = "v1.multus-cni.io/default-network"
RESOURCE_NAME_ANNOTATION: Final = "k8s.v1.cni.cncf.io/resourceName"

HUGEPAGES_PREFIX: Final = "hugepages-"
"""Prefix of the resource of a page size."""
MIRROR_ANNOTATION: Final = "kubernetes.io/config.mirror"
POD_SECURITY_PREFIX: Final = "pod-security.kubernetes.io/"
POD_SECURITY_ENFORCE: Final = "pod-security.kubernetes.io/enforce"
NAMESPACE_LABELS: Final = (POD_SECURITY_PREFIX, PREFIX)
"""Prefixes of the labels of a namespace that decisions may look at; no others are kept."""
