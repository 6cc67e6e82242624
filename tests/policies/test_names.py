"""The strings of our public API."""

from policies import names


def test_every_key_of_ours_is_below_the_prefix() -> None:
    """The conditions that send pods to us look at the prefix alone."""
    keys = (*names.USER_KEYS, *names.WEBHOOK_KEYS, names.LABEL_RENDERED)
    assert all(key.startswith(names.PREFIX) for key in keys)
    assert len(set(keys)) == len(keys)
    assert names.PREFIX.islower()
    assert names.API_VERSION.startswith(names.PREFIX)
