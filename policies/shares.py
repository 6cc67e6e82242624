"""What each container and each network comes to, while a pod's networks are taken in turn."""

from itertools import chain

from policies import dealing
from policies.accept import CNI_TYPE, MULTUS_MODES, ONE_PER_RAIL_MODES, WHOLE_DEVICE_MODES
from policies.dealing import Selections
from policies.intent import Attachment, Equipped
from policies.refusal import Refusal
from policies.select import Order
from policies.snapshot import Snapshot
from policies.subject import Container, Subject
from policies.targets import Targets, choose
from policies.wish import Wish

Place = tuple[str, int]
_WHOLE_DEVICE_TYPES = frozenset(CNI_TYPE[mode] for mode in WHOLE_DEVICE_MODES)
"""CNI types that take one device for each element, where a NAD names a resource."""


class _Need:
    """What one container needs of each resource; sums do not depend on the order of networks."""

    def __init__(self) -> None:
        self._counted: dict[str, int] = {}
        """Devices and counted tokens: every network's own are added up."""
        self._pools: set[str] = set()
        """Pools whose one token serves all networks on them."""

    def count(self, resource: str, number: int = 1) -> None:
        self._counted[resource] = self._counted.get(resource, 0) + number

    def join(self, resource: str) -> None:
        self._counted.setdefault(resource, 0)
        self._pools.add(resource)

    def of(self, resource: str) -> int:
        return max(self._counted.get(resource, 0), int(resource in self._pools))

    def resources(self) -> tuple[str, ...]:
        return tuple(self._counted)


class Shares:
    """The sums of one pod."""

    def __init__(self, subject: Subject) -> None:
        """Start with nothing."""
        self.attachments: list[Attachment] = []
        self.totals: dict[str, int] = {}
        """Attachments or tokens of each network in the whole pod."""
        self._subject = subject
        self._selections = Selections(subject)
        self._needs: dict[Place, _Need] = {}
        self._containers: dict[Place, bool] = {}
        """The containers that take part, and whether they get devices."""
        self._whole: dict[str, Place] = {}
        """The container that holds the whole devices of each resource."""

    def take(self, order: Order, wish: Wish) -> Refusal | None:
        """Add one network; return why it cannot be had."""
        targets = choose(self._subject, wish, order.offer)
        if isinstance(targets, Refusal):
            return targets
        self._join(targets)
        if order.offer.spec.mode in MULTUS_MODES:
            return self._take_attachments(order, targets)
        return self._take_tokens(order, targets)

    def count_by_hand(self, snapshot: Snapshot) -> None:
        """Count elements that the author selected beyond the annotation: each takes its device."""
        places: dict[str, Place] = {}
        for one in self._selections.unmatched():
            nad = snapshot.nad(one.namespace, one.name)
            if nad is None or not nad.resource_name or not snapshot.governance.governs(nad):
                continue
            pool = nad.resource_name
            if pool not in places:
                places[pool] = self._place_of(pool)
            if nad.types[:1] and nad.types[0] in _WHOLE_DEVICE_TYPES:
                self._add_whole(places[pool], pool)
            else:
                self._need(places[pool]).join(pool)

    def charge_excess(self, orders: tuple[Order, ...]) -> None:
        """Charge what containers ask for by themselves beyond the need to the pool's network.

        Init containers are done before the others start, so their devices come on top only as far
        as they are more. Where several networks share a pool, the one named first is charged.
        """
        owners: dict[str, str] = {}
        for order in orders:
            if order.offer.spec.mode not in ONE_PER_RAIL_MODES:
                for lane in order.offer.lanes:
                    owners.setdefault(lane.resource, order.offer.network)
        for pool, owner in owners.items():
            needed = sum(need.of(pool) for need in self._needs.values())
            along = sum(
                self._amount(one, pool) for one in self._subject.containers if one.runs_along
            )
            before = max(
                (_asked(one, pool) for one in self._subject.containers if not one.runs_along),
                default=0,
            )
            self.totals[owner] += max(along, before) - needed

    def equipped(self) -> tuple[Equipped, ...]:
        """Return the containers that take part, in the pod's own order."""
        return tuple(
            Equipped(
                place=one.place,
                name=one.name,
                resources=tuple(
                    (pool, self._amount(one, pool))
                    for pool in self._needs.get(one.place, _NOTHING).resources()
                ),
                has_devices=self._containers[one.place],
                env_by_file=one.has_env_from or self._subject.is_mpi_worker,
            )
            for one in self._subject.containers
            if one.place in self._containers
        )

    def _amount(self, container: Container, pool: str) -> int:
        """Return what a container shall ask for: the need, or what it asks for already if more."""
        return max(self._needs.get(container.place, _NOTHING).of(pool), _asked(container, pool))

    def _need(self, place: Place) -> _Need:
        return self._needs.setdefault(place, _Need())

    def _join(self, targets: Targets) -> None:
        for one in targets.equipped:
            self._containers[one.place] = True
        for one in targets.companions:
            self._containers.setdefault(one.place, False)

    def _take_attachments(self, order: Order, targets: Targets) -> Refusal | None:
        """Add network selections, each with its device or with the pool's one token."""
        offer = order.offer
        number = dealing.amount(order, targets.equipped)
        if isinstance(number, Refusal):
            return number
        lanes = dealing.dealt(offer.lanes, number)
        self.attachments += [self._selections.attach(offer.network, lane) for lane in lanes]
        self.totals[offer.network] = number
        for lane in lanes:
            if offer.spec.mode in WHOLE_DEVICE_MODES:
                self._add_whole(targets.equipped[0].place, lane.resource)
            else:
                for container in targets.equipped:
                    self._need(container.place).join(lane.resource)
        return None

    def _take_tokens(self, order: Order, targets: Targets) -> Refusal | None:
        """Add tokens of a device plugin alone, for each container by its own count."""
        offer = order.offer
        self.totals[offer.network] = 0
        for container in targets.equipped:
            number = dealing.amount(order, (container,))
            if isinstance(number, Refusal):
                return number
            for lane in dealing.dealt(offer.lanes, number):
                self._need(container.place).count(lane.resource)
            self.totals[offer.network] += number
        return None

    def _place_of(self, pool: str) -> Place:
        """Return the container for a device that was selected by hand.

        The one that holds the devices of that resource already, else that asks for it, else the
        first that is equipped.
        """
        held = self._whole.get(pool)
        if held is not None:
            return held
        asking = (one.place for one in self._subject.containers if _asks_along(one, pool))
        equipped = (place for place, has_devices in self._containers.items() if has_devices)
        return next(chain(asking, equipped))

    def _add_whole(self, place: Place, pool: str) -> None:
        self._need(place).count(pool)
        self._whole[pool] = place
        self._containers.setdefault(place, False)


_NOTHING = _Need()


def _asked(container: Container, pool: str) -> int:
    return next((number for name, number in container.resources if name == pool), 0)


def _asks_along(container: Container, pool: str) -> bool:
    return container.runs_along and _asked(container, pool) > 0
