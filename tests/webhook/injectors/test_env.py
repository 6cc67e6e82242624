"""Environment variables."""

from typing import Any

import pytest

from tests.harness.intents import MAIN, SIDE, equipped, injected, intent
from tests.harness.pods import Object, container, pod
from webhook.injectors import env
from webhook.pods.edits import Edit, SetEnv

DEFAULTS = (("NCCL_IB_SL", "1"), ("UCX_TLS", "rc"))


def kept(name: str, value: str, place: tuple[str, int] = MAIN) -> SetEnv:
    """Return a default, which loses to the user's own."""
    return SetEnv(place, name, value, replaces=False)


def forced(name: str, value: str, place: tuple[str, int] = MAIN) -> SetEnv:
    """Return a value of the policy, which wins."""
    return SetEnv(place, name, value, replaces=True)


FROM = "from a field"


def _value(value: str | None) -> Object:
    if value == FROM:
        return {"valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    return {} if value is None else {"value": value}


def variables(*pairs: tuple[str, str | None], **fields: Any) -> Object:  # noqa: ANN401
    """Return a pod whose container sets variables; None is a variable without value."""
    listed = [{"name": name, **_value(value)} for name, value in pairs]
    return pod(None, container(env=listed, **fields))


def test_an_empty_fixed_value_is_set_once() -> None:
    """Go leaves an empty value out when it writes a pod; that is no other value."""
    wanted = intent(forced_env=(("F", ""),))
    assert injected(env.inject, variables(("F", None)), wanted) == ([forced("F", "")], [])
    edits, notices = injected(env.inject, variables(("F", "x")), wanted)
    assert (edits, notices) == (
        [forced("F", "")],
        ["container main: F is set to nothing by the policy"],
    )


def test_defaults_are_set_in_order() -> None:
    """Every equipped container gets every default."""
    wanted = intent(equipped(), equipped(SIDE, name="side"), env=DEFAULTS)
    edits, notices = injected(env.inject, pod(None, container(), container("side")), wanted)
    assert edits == [
        *(kept(name, value) for name, value in DEFAULTS),
        *(kept(name, value, SIDE) for name, value in DEFAULTS),
    ]
    assert notices == []


def test_a_reference_is_escaped() -> None:
    """Kubernetes expands nothing in a literal value of ours."""
    wanted = intent(env=(("A", "$(B) $$(C) $D"),), forced_env=(("F", "$(G)"),))
    edits, _ = injected(env.inject, pod(), wanted)
    assert edits == [kept("A", "$$(B) $$$(C) $D"), forced("F", "$$(G)")]


@pytest.mark.parametrize(
    ("pairs", "warns"),
    [
        pytest.param([], False, id="it is not set"),
        pytest.param([("F", "$(1)")], True, id="it is set to what Kubernetes would expand"),
        pytest.param([("F", "$$(1)")], False, id="it is set to that by an earlier call"),
        pytest.param([("F", "2")], True, id="it is set to another value"),
        pytest.param([("F", FROM)], True, id="it comes from a source"),
        pytest.param([("F", "2"), ("F", "$$(1)")], False, id="the last of two counts"),
    ],
)
def test_a_forced_value_wins(pairs: list[tuple[str, str | None]], *, warns: bool) -> None:
    """The policy's fixed value replaces the user's, who is told where it differs."""
    wanted = intent(env=(("F", "default"),), forced_env=(("F", "$(1)"),))
    edits, notices = injected(env.inject, variables(*pairs), wanted)
    assert edits == [forced("F", "$$(1)")]
    assert notices == (["container main: F is set to $(1) by the policy"] if warns else [])


def test_a_container_with_a_file_gets_only_forced_values() -> None:
    """Its defaults are in the file, where they lose to what it gets elsewhere."""
    wanted = intent(
        equipped(),
        equipped(SIDE, name="side", env_by_file=True),
        env=DEFAULTS,
        forced_env=(("F", "1"),),
    )
    edits, _ = injected(env.inject, pod(None, container(), container("side")), wanted)
    assert edits == [
        *(kept(name, value) for name, value in DEFAULTS),
        forced("F", "1"),
        forced("F", "1", SIDE),
    ]


GID = "container main: NCCL_IB_GID_INDEX differs between pods on shared RoCE devices"
HCA = "container main: NCCL_IB_HCA {} may not exist: VF device names are assigned at run time"
PKEY = "container main: NCCL_IB_PKEY is an index into the port's table, not key {}"


@pytest.mark.parametrize(
    ("name", "value", "on", "expected"),
    [
        pytest.param(
            "NCCL_IB_GID_INDEX", "3", "shares_hca", GID, id="a GID index on shared devices"
        ),
        pytest.param("NCCL_IB_GID_INDEX", "3", "has_vfs", None, id="a GID index on its own device"),
        pytest.param("NCCL_IB_GID_INDEX", None, "shares_hca", None, id="a GID index from a source"),
        pytest.param(
            "NCCL_IB_HCA", "=mlx5_0", "has_vfs", HCA.format("=mlx5_0"), id="an exact name"
        ),
        pytest.param(
            "NCCL_IB_HCA", "^=mlx5_0", "has_vfs", HCA.format("^=mlx5_0"), id="all but one"
        ),
        pytest.param("NCCL_IB_HCA", "mlx5", "has_vfs", None, id="a prefix of names"),
        pytest.param("NCCL_IB_HCA", "=mlx5_0", "shares_hca", None, id="an exact name of the node"),
        pytest.param(
            "NCCL_IB_PKEY", "0x8011", "has_vfs", PKEY.format("0x8011"), id="a key as index"
        ),
        pytest.param("NCCL_IB_PKEY", "128", "has_vfs", PKEY.format("128"), id="too large an index"),
        pytest.param("NCCL_IB_PKEY", "x", "has_vfs", PKEY.format("x"), id="no number as index"),
        pytest.param("NCCL_IB_PKEY", "0x7f", "has_vfs", None, id="the largest index"),
        pytest.param("NCCL_IB_PKEY", "", "has_vfs", None, id="an empty index"),
    ],
)
def test_a_value_that_cannot_be_right_is_told(
    name: str, value: str | None, on: str, expected: str | None
) -> None:
    """The user's value stays, with a word about why it cannot work on this network."""
    edits, notices = injected(env.inject, variables((name, value)), intent(**{on: True}))
    found: list[Edit] = edits
    assert found == []
    assert notices == ([expected] if expected else [])
