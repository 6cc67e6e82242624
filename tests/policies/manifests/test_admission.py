"""The admission policies that are shipped."""

from policies.manifests.admission import admission_policies
from policies.names import GROUP


def test_names_are_short_and_in_order() -> None:
    """A name stands in every message, and is one of ours at first sight."""
    names = [policy.name for policy in admission_policies()]
    assert names == sorted(set(names))
    for name in names:
        assert name.startswith(f"{GROUP.partition('.')[0]}-")
        assert len(name) <= 16


def test_every_check_has_a_sentence() -> None:
    """What is refused is said in words, in one sentence without its full stop."""
    for policy in admission_policies():
        for check in policy.checks:
            assert check.says.count("'") % 2 == 0
            assert not check.says.endswith(".'")
            assert check.reason in {"Forbidden", "Invalid"}
