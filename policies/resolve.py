"""Applicable to Intent: attachments, resources, and what else one pod shall receive.

What two injectors need is decided here, so that they stay strangers to each other.
"""

from msgspec.structs import replace

from policies import allowances, defaults, hugepages, inventory
from policies.accept import MULTUS_MODES, SHARED_HCA_MODES, WHOLE_DEVICE_MODES
from policies.allowances import Allowance
from policies.defaults import Defaults
from policies.intent import Attachment, Equipped, Intent
from policies.names import ANNOTATION_CONTAINERS, ANNOTATION_NETWORK, POLICY_NAME
from policies.network import Mode
from policies.placement import contradiction
from policies.refusal import Notice, Reason, Refusal
from policies.select import Applicable, Order
from policies.shapes import PartitionType
from policies.shares import Shares
from policies.snapshot import Snapshot
from policies.stamp import stamp
from policies.wish import where


def resolve(applicable: Applicable, snapshot: Snapshot) -> Intent | Refusal:
    """Return what the pod shall receive, or why it cannot."""
    refusal = _misfit(applicable)
    if refusal is not None:
        return refusal
    if _only_launches(applicable):
        text = f"MPI launcher without accelerator: not equipped; see {ANNOTATION_CONTAINERS}"
        nothing = Intent(networks=(), is_bystander=True, notices=(Notice(text, 5),))
        return replace(nothing, status=stamp(nothing, snapshot.rules.version))
    shares = Shares(applicable.subject)
    for order in applicable.orders:
        refusal = shares.take(order, applicable.wish)
        if refusal is not None:
            return refusal
    orders = applicable.orders
    shares.count_by_hand(snapshot)
    shares.charge_excess(orders)
    equipped = shares.equipped()
    merged = defaults.beside(tuple(order.offer.defaults for order in orders))
    refusal = contradiction(applicable, merged.node_selector) or hugepages.conflict(
        applicable.subject, equipped, merged.hugepages
    )
    if refusal is not None:
        return refusal
    allowance = allowances.check(applicable, merged, shares.totals, snapshot)
    if isinstance(allowance, Refusal):
        return allowance
    intent = _intent(applicable, merged, allowance, tuple(shares.attachments), equipped)
    return replace(
        intent,
        status=stamp(intent, snapshot.rules.version),
        notices=(*allowance.notices, *_notices(applicable, equipped, snapshot)),
    )


def _intent(
    applicable: Applicable,
    merged: Defaults,
    allowance: Allowance,
    attachments: tuple[Attachment, ...],
    equipped: tuple[Equipped, ...],
) -> Intent:
    """Return the intent without what is said about it."""
    tenancy = applicable.tenancy
    modes = {order.offer.spec.mode for order in applicable.orders}
    return Intent(
        networks=tuple(order.offer.network for order in applicable.orders),
        attachments=attachments,
        equipped=equipped,
        host_network=Mode.HOST_NETWORK in modes,
        add_capabilities=allowance.add,
        drop_capabilities=defaults.united((merged.drop, tenancy.limits.required_drop)),
        shared_memory=allowance.shared_memory,
        env=merged.env,
        forced_env=tenancy.limits.env,
        hugepages=merged.hugepages,
        node_selector=merged.node_selector,
        tolerations=merged.tolerations,
        partition=_partition(applicable.orders),
        policy=f"{tenancy.namespace}/{POLICY_NAME}",
        generation=tenancy.generation,
        shares_hca=bool(modes & SHARED_HCA_MODES),
        has_vfs=bool(modes & WHOLE_DEVICE_MODES),
    )


def _only_launches(applicable: Applicable) -> bool:
    """Whether a pod starts the ranks of other pods and takes no part itself."""
    subject = applicable.subject
    pools = frozenset(lane.resource for order in applicable.orders for lane in order.offer.lanes)
    return (
        subject.is_mpi_launcher
        and not applicable.wish.containers
        and not any(one.accelerators or one.asks(pools) for one in subject.containers)
    )


def _misfit(applicable: Applicable) -> Refusal | None:
    """Return why pod and networks cannot go together, whatever the policy says."""
    subject = applicable.subject
    if subject.is_windows:
        return Refusal(
            Reason.WINDOWS_POD,
            "spec.os.name: windows has no RDMA networks; the pod's author can remove "
            f"{where(ANNOTATION_NETWORK)}",
        )
    by_multus = [o.offer for o in applicable.orders if o.offer.spec.mode in MULTUS_MODES]
    on_host = [o.offer for o in applicable.orders if o.offer.spec.mode is Mode.HOST_NETWORK]
    if by_multus and (subject.host_network or on_host):
        other = (
            "spec.hostNetwork: true" if subject.host_network else f"network {on_host[0].network}"
        )
        return Refusal(
            Reason.HOST_NETWORK_CONFLICT,
            f"{where(ANNOTATION_NETWORK)}: network {by_multus[0].network} (mode "
            f"{by_multus[0].spec.mode}) needs a pod network of its own, which {other} takes away "
            "(no CNI runs on the host network); the pod's author can drop one of the two",
        )
    return None


def _partition(orders: tuple[Order, ...]) -> str:
    """Return the partition for the stamp: one name, or ``network=name`` where they differ."""
    used = [(o.offer.network, o.offer.partition) for o in orders if o.offer.partition]
    names = {name for _, name in used}
    if len(names) <= 1:
        return next(iter(names), "")
    return ",".join(f"{network}={name}" for network, name in used)


def _notices(
    applicable: Applicable, equipped: tuple[Equipped, ...], snapshot: Snapshot
) -> list[Notice]:
    found = _unused(applicable, snapshot)
    kinds = {
        spec.partition.type
        for order in applicable.orders
        if (spec := order.offer.spec).partition is not None
    }
    if kinds == set(PartitionType):
        names = " and ".join(order.offer.network for order in applicable.orders[:2])
        found.append(Notice(f"{names} mix InfiniBand and Ethernet; NCCL uses one link layer", 4))
    found += [
        Notice(f"NAD {nad} uses host-local IPAM: pods on two nodes get the same address", 6)
        for order in applicable.orders
        if (nad := order.offer.uses_host_local)
    ]
    found += [
        Notice(f"NAD {nad} lacks ibKubernetesEnabled: nobody sets its PKey on the port", 2)
        for order in applicable.orders
        if (nad := order.offer.declares_only)
    ]
    found += [
        Notice(text, 3) for order in applicable.orders if (text := _unadvertised(order, snapshot))
    ]
    subject = applicable.subject
    proxies = [one.name for one in subject.containers if one.is_proxy]
    if proxies:
        text = f"mesh sidecar {proxies[0]} intercepts the TCP bootstrap traffic of RDMA jobs"
        found.append(Notice(text, 4))
    if "kata" in subject.runtime_class:
        text = f"runtimeClassName {subject.runtime_class}: RDMA and /dev/shm depend on the runtime"
        found.append(Notice(text, 5))
    silent = [one.name for one in equipped if not one.has_devices]
    if silent:
        found.append(Notice(f"container {silent[0]} has no RDMA device, memory and env only", 5))
    return found


def _unadvertised(order: Order, snapshot: Snapshot) -> str:
    """Return what is said of a network whose devices no node has; empty where some may have them.

    Where nodes are not known (replicas in a cluster watch none), the leader's last look counts.
    """
    network = snapshot.networks[order.offer.network]
    missing = inventory.missing_resources(snapshot, network)
    if missing:
        return f"network {network.name}: no node advertises {missing[0]}, so the pod stays Pending"
    if missing is None and network.is_unadvertised:
        return f"network {network.name}: no node advertises its devices, so the pod stays Pending"
    return ""


def _unused(applicable: Applicable, snapshot: Snapshot) -> list[Notice]:
    """Return warnings of pools that the pod asks for and no network of the cluster names."""
    return [
        Notice(f"container {one.name} asks for {name}, which belongs to no selected network", 4)
        for one in applicable.subject.containers
        for name, number in one.resources
        if number
        and snapshot.rules.is_governed(name)
        and not snapshot.governance.owners_of(name)
        and all(lane.resource != name for o in applicable.orders for lane in o.offer.lanes)
    ]
