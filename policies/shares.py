"""What each container and each network comes to, while a pod's networks are taken in turn."""

from policies import dealing
from policies.accept import MULTUS_MODES, ONE_PER_RAIL_MODES, WHOLE_DEVICE_MODES
from policies.dealing import Selections
from policies.intent import Attachment, Equipped
from policies.refusal import Refusal
from policies.select import Order
from policies.snapshot import Snapshot
from policies.subject import Container, Subject
from policies.targets import Targets, choose
from policies.wish import Wish

Place = tuple[str, int]
_WHOLE_DEVICE_TYPES = frozenset({"sriov", "ib-sriov", "host-device"})
"""CNI types that take one device for each element, where a NAD names a resource."""


class Shares:
    """The sums of one pod."""

    def __init__(self, subject: Subject) -> None:
        """Start with nothing."""
        self.attachments: list[Attachment] = []
        self.totals: dict[str, int] = {}
        """Attachments or tokens of each network in the whole pod."""
        self._subject = subject
        self._selections = Selections(subject)
        self._needs: dict[Place, dict[str, int]] = {}
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
        for one in self._selections.unmatched:
            nad = snapshot.nad(one.namespace, one.name)
            if nad is None or not nad.resource_name or not snapshot.governance.governs(nad):
                continue
            place = self._place_of(nad.resource_name)
            if nad.types[:1] and nad.types[0] in _WHOLE_DEVICE_TYPES:
                self._add_whole(place, nad.resource_name)
            else:
                self._add_tokens(place, {nad.resource_name: 1})

    def charge_excess(self, orders: tuple[Order, ...]) -> None:
        """Charge what containers ask for by themselves beyond the need to the pool's network.

        Where several networks share a pool, the one named first is charged.
        """
        for one in self._subject.containers:
            needs = self._needs.get(one.place, {})
            for name, number in one.resources:
                excess = number - needs.get(name, 0)
                if excess > 0:
                    self._charge(name, excess, orders)

    def _charge(self, resource: str, excess: int, orders: tuple[Order, ...]) -> None:
        for order in orders:
            offer = order.offer
            if offer.spec.mode in ONE_PER_RAIL_MODES:
                continue
            if any(lane.resource == resource for lane in offer.lanes):
                self.totals[offer.network] += excess
                return

    def equipped(self) -> tuple[Equipped, ...]:
        """Return the containers that take part, in the pod's own order."""
        return tuple(
            Equipped(
                place=one.place,
                name=one.name,
                resources=self._amounts(one),
                has_devices=self._containers[one.place],
                env_by_file=one.has_env_from or self._subject.is_mpi_worker,
            )
            for one in self._subject.containers
            if one.place in self._containers
        )

    def _amounts(self, container: Container) -> tuple[tuple[str, int], ...]:
        """Return what a container shall ask for: the need, or what it asks for already if more."""
        asked = dict(container.resources)
        needs = self._needs.get(container.place, {})
        return tuple((name, max(need, asked.get(name, 0))) for name, need in needs.items())

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
                    self._add_tokens(container.place, {lane.resource: 1})
        return None

    def _take_tokens(self, order: Order, targets: Targets) -> Refusal | None:
        """Add tokens of a device plugin alone, for each container by its own count."""
        offer = order.offer
        self.totals[offer.network] = 0
        for container in targets.equipped:
            number = dealing.amount(order, (container,))
            if isinstance(number, Refusal):
                return number
            tokens: dict[str, int] = {}
            for lane in dealing.dealt(offer.lanes, number):
                tokens[lane.resource] = tokens.get(lane.resource, 0) + 1
            self._add_tokens(container.place, tokens)
            self.totals[offer.network] += number
        return None

    def _place_of(self, resource: str) -> Place:
        """Return the container for a device that was selected by hand.

        The one that holds the devices of that resource already, else that asks for it, else the
        first that is equipped.
        """
        pool = frozenset({resource})
        asking = [one for one in self._subject.containers if _asks_along(one, pool)]
        devices = [place for place, has_devices in self._containers.items() if has_devices]
        return self._whole.get(resource) or (asking[0].place if asking else devices[0])

    def _add_whole(self, place: Place, resource: str) -> None:
        needs = self._needs.setdefault(place, {})
        needs[resource] = needs.get(resource, 0) + 1
        self._whole[resource] = place
        self._containers.setdefault(place, False)

    def _add_tokens(self, place: Place, tokens: dict[str, int]) -> None:
        needs = self._needs.setdefault(place, {})
        for resource, number in tokens.items():
            needs[resource] = max(needs.get(resource, 0), number)


def _asks_along(container: Container, pool: frozenset[str]) -> bool:
    return container.runs_along and container.asks(pool)
