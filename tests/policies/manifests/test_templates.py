"""A template's rendered keys: the policy knows all of them and why."""

from policies.accept import RENDERED_KEYS
from policies.manifests.templates import templates


def test_every_rendered_key_is_known_with_its_reason() -> None:
    """Keys are folded as they are looked up, so they are in lower case here."""
    reasons = templates().variables["reasons"]
    assert reasons.count("dyn(") == len(RENDERED_KEYS)
    for key in RENDERED_KEYS:
        assert f"'{key.lower()}': dyn('" in reasons


def test_an_old_template_is_left_alone() -> None:
    """A network that is changed elsewhere is not judged by a template it had before."""
    condition = templates().conditions["template-changes"]
    assert condition == "oldObject == null || object.spec.?template != oldObject.spec.?template"
