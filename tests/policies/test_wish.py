"""The grammar of our annotations: what is read, what is refused, and nothing guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies import wish
from policies.names import USER_KEYS
from policies.refusal import Reason, Refusal
from policies.wish import ASCII_SPACE, MAX_COUNT, MAX_ITEMS, Wish
from tests.harness.budgets import small

NETWORK, CONTAINERS, SHM, PARTITION = USER_KEYS
NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,6}[a-z0-9])?", fullmatch=True)
SPACES = st.text(ASCII_SPACE, max_size=2)


@pytest.mark.parametrize(
    ("text", "networks"),
    [
        pytest.param("train-ib", (("train-ib", None),), id="one name"),
        pytest.param("train-ib:2", (("train-ib", 2),), id="a name with its count"),
        pytest.param("a,b", (("a", None), ("b", None)), id="two names in their order"),
        pytest.param("b,a:3", (("b", None), ("a", 3)), id="only one of two has a count"),
        pytest.param("a,a", (("a", 2),), id="a name twice counts two"),
        pytest.param("a,a:3", (("a", 4),), id="a bare mention adds one"),
        pytest.param("a:2,b,a:3", (("a", 5), ("b", None)), id="counts of one name are summed"),
        pytest.param(" a\t,\r\nb \v\f", (("a", None), ("b", None)), id="space around items"),
        pytest.param("default:2", (("default", 2),), id="the reserved word is a name here"),
        pytest.param(f"a:{MAX_COUNT}", (("a", MAX_COUNT),), id="the largest count"),
        pytest.param("x" * 63, (("x" * 63, None),), id="the longest name"),
    ],
)
def test_networks_are_read(text: str, networks: tuple[tuple[str, int | None], ...]) -> None:
    """A comma list of NAME or NAME:COUNT becomes names in the order of first mention."""
    assert wish.read({NETWORK: text}) == Wish(networks)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("", id="nothing"),
        pytest.param("  ", id="only space"),
        pytest.param("a,", id="a comma at the end"),
        pytest.param("a,,b", id="an empty item"),
        pytest.param("A", id="an upper-case name"),
        pytest.param("a.b", id="a dot"),
        pytest.param("a b", id="space within an item"),
        pytest.param("a: 2", id="space before the count"),
        pytest.param("a:0", id="a count of zero"),
        pytest.param("a:02", id="a count with a leading zero"),
        pytest.param("a:", id="a colon without a count"),
        pytest.param("a:1:2", id="two counts"),
        pytest.param("a:-1", id="a negative count"),
        pytest.param("a:\u0662", id="a digit of another script"),
        pytest.param("a\u00a0", id="space that is not ASCII"),
        pytest.param("a;b", id="another separator"),
        pytest.param("-a", id="a leading dash"),
        pytest.param("a\n:2", id="a line break within an item"),
        pytest.param("x" * 64, id="a name too long"),
        pytest.param(",".join(["a"] * (MAX_ITEMS + 1)), id="too many items"),
    ],
)
def test_a_text_that_is_no_list_of_networks_is_refused(text: str) -> None:
    """What is neither NAME nor NAME:COUNT is said, with the place, and never guessed."""
    found = wish.read({NETWORK: text})
    assert isinstance(found, Refusal)
    assert found.reason is Reason.NETWORK_INVALID
    assert found.message.startswith(f"metadata.annotations[{NETWORK}]: ")
    assert "pod's author" in found.message


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(f"a:{MAX_COUNT + 1}", id="in one item"),
        pytest.param(f"a:{MAX_COUNT},a", id="summed over items"),
        pytest.param("a:999999", id="far above"),
    ],
)
def test_a_count_above_the_largest_is_refused(text: str) -> None:
    """No pod takes more of one network than any node has."""
    found = wish.read({NETWORK: text})
    assert isinstance(found, Refusal)
    assert found.reason is Reason.COUNT_OUT_OF_RANGE
    assert f"want at most {MAX_COUNT}" in found.message


def test_the_item_that_is_empty_is_numbered() -> None:
    """The author of a long list is told which comma to remove."""
    found = wish.read({NETWORK: "a,b,,c"})
    assert isinstance(found, Refusal)
    assert 'item 3 of "a,b,,c" is empty' in found.message


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        pytest.param("rdma.io/networks", "can write rdma.io/network ", id="a plural"),
        pytest.param("rdma.io/Network", "can write rdma.io/network ", id="another letter case"),
        pytest.param("RDMA.IO/containers", "can write rdma.io/containers ", id="a prefix in caps"),
        pytest.param("rdma.io/partitions", "can write rdma.io/partition ", id="plural partition"),
        pytest.param("rdma.io/vlan", "can write rdma.io/network ", id="a key that we never had"),
        pytest.param("rdma.io/", "can write rdma.io/network ", id="the bare prefix"),
        pytest.param("rdma.io/STATUS", "can write rdma.io/network ", id="a webhook key in caps"),
    ],
)
def test_an_unknown_key_below_the_prefix_is_refused(key: str, hint: str) -> None:
    """A typing error in a key is said with the nearest key, although the rest is right."""
    found = wish.read({NETWORK: "a", key: "b"})
    assert isinstance(found, Refusal)
    assert found.reason is Reason.ANNOTATION_UNKNOWN
    assert found.message.startswith(f"metadata.annotations[{key}]: ")
    assert hint in found.message


@pytest.mark.parametrize("key", [CONTAINERS, SHM, PARTITION])
def test_a_key_without_a_network_is_refused(key: str) -> None:
    """A key that can have no effect is a mistake, not a silence."""
    found = wish.read({key: "x"})
    assert isinstance(found, Refusal)
    assert found.reason is Reason.ANNOTATION_INERT
    assert found.message.startswith(f"metadata.annotations[{key}]: ")


@pytest.mark.parametrize(
    "annotations",
    [
        pytest.param({}, id="no annotation"),
        pytest.param({"prometheus.io/scrape": "true"}, id="only those of others"),
        pytest.param({"rdma.io/status": "{}", "rdma.io/nccl-conf": ""}, id="a restored pod"),
        pytest.param({"rdma.io": "a"}, id="the prefix without its slash"),
    ],
)
def test_a_pod_that_asks_for_nothing_has_no_wish(annotations: dict[str, str]) -> None:
    """Pods of others, and keys that only the webhook writes, ask for nothing."""
    assert wish.read(annotations) is None


def test_webhook_keys_beside_a_network_are_taken_without_a_word() -> None:
    """A pod restored from a backup carries them, and they are recomputed."""
    assert wish.read({NETWORK: "a", "rdma.io/status": "old"}) == Wish((("a", None),))


@pytest.mark.parametrize(
    ("key", "concerned"),
    [
        ("rdma.io/network", True),
        ("RDMA.io/Network", True),
        ("rdma.io/", True),
        ("rdma.iox/network", False),
        ("x-rdma.io/network", False),
        ("rdma.io", False),
    ],
)
def test_a_pod_concerns_us_by_its_keys(key: str, *, concerned: bool) -> None:
    """Any key below the prefix counts, in any letter case."""
    assert wish.concerns({"a/b": "", key: ""}) is concerned
    assert wish.is_ours(key) is concerned


def test_containers_are_read_in_order() -> None:
    """The order is that of the annotation, with space around items ignored."""
    found = wish.read({NETWORK: "a", CONTAINERS: " worker, init "})
    assert found == Wish((("a", None),), containers=("worker", "init"))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("", "is blank; write a value or remove it", id="blank"),
        pytest.param("a,,b", "item 2", id="an empty item"),
        pytest.param("a,b,a", 'names "a" twice', id="a container twice"),
    ],
)
def test_a_text_that_names_no_containers_is_refused(text: str, problem: str) -> None:
    """A blank, an empty item or a name twice is said."""
    found = wish.read({NETWORK: "a", CONTAINERS: text})
    assert isinstance(found, Refusal)
    assert found.reason is Reason.CONTAINERS_INVALID
    assert problem in found.message


@pytest.mark.parametrize("text", ["16Gi", " 1e9 ", "0.5Ki", "64000m"])
def test_a_size_is_a_whole_number_of_bytes(text: str) -> None:
    """Any spelling of a whole number of bytes is kept as written, space around it aside."""
    found = wish.read({NETWORK: "a", SHM: text})
    assert found == Wish((("a", None),), shm_size=text.strip())


@pytest.mark.parametrize("text", ["", "0", "-1Gi", "1500m", "16 Gi", "16GB", "lots", "NaN"])
def test_a_text_that_is_no_size_is_refused(text: str) -> None:
    """Zero, a fraction of a byte and a wrong unit are said, with an example."""
    found = wish.read({NETWORK: "a", SHM: text})
    assert isinstance(found, Refusal)
    assert found.reason is Reason.SHM_SIZE_INVALID
    assert "16Gi" in found.message


@pytest.mark.parametrize(
    ("text", "partitions"),
    [
        pytest.param("blue", (("", "blue"),), id="one name is meant for all networks"),
        pytest.param("a=blue", (("a", "blue"),), id="one network"),
        pytest.param(" a = blue , b=red", (("a", "blue"), ("b", "red")), id="space around parts"),
    ],
)
def test_partitions_are_read(text: str, partitions: tuple[tuple[str, str], ...]) -> None:
    """NAME or a list of NETWORK=NAME."""
    found = wish.read({NETWORK: "a,b", PARTITION: text})
    assert found == Wish((("a", None), ("b", None)), partitions=partitions)


@pytest.mark.parametrize("text", ["", "a,", "Blue", "a=", "=b", "a=b=c", "blue,red", "a=b,a=c"])
def test_a_text_that_names_no_partition_is_refused(text: str) -> None:
    """Two bare names, a network twice or a name that cannot exist is said."""
    found = wish.read({NETWORK: "a", PARTITION: text})
    assert isinstance(found, Refusal)
    assert found.reason is Reason.PARTITION_INVALID


@st.composite
def wishes(draw: st.DrawFn) -> Wish:
    """Any wish that an author can write down."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    counts = st.none() | st.integers(1, MAX_COUNT)
    partitions = [(name, draw(NAMES)) for name in names if draw(st.booleans())]
    for_all = (("", draw(NAMES)),) if draw(st.booleans()) else ()
    return Wish(
        tuple((name, draw(counts)) for name in names),
        containers=tuple(draw(st.lists(NAMES, max_size=3, unique=True))),
        shm_size=draw(st.sampled_from(["", "1Gi", "8e9", "512M"])),
        partitions=for_all or tuple(partitions),
    )


def written(one: Wish, space: str) -> dict[str, str]:
    """The annotations that say a wish."""
    networks = [name if count is None else f"{name}:{count}" for name, count in one.networks]
    partitions = [f"{network}={name}" if network else name for network, name in one.partitions]
    texts = {
        NETWORK: f"{space},{space}".join(networks),
        CONTAINERS: f"{space},{space}".join(one.containers),
        SHM: one.shm_size,
        PARTITION: f"{space},{space}".join(partitions),
    }
    return {key: f"{space}{text}{space}" for key, text in texts.items() if text}


@small
@given(one=wishes(), space=SPACES)
def test_a_wish_survives_being_written_down(one: Wish, space: str) -> None:
    """What an author writes is what is read, whatever white space is around items."""
    assert wish.read(written(one, space)) == one


@small
@given(
    values=st.dictionaries(
        st.sampled_from(USER_KEYS), st.text() | st.text("ab:,= \t0129GMi-", max_size=12)
    )
)
def test_no_text_breaks_the_reader(values: dict[str, str]) -> None:
    """Any text is a wish or a refusal in one printable sentence."""
    found = wish.read(values)
    if isinstance(found, Refusal):
        assert found.message.isprintable()
        assert found.reason.code == 422
    else:
        assert found is None or isinstance(found, Wish)
