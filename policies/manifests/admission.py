"""The admission policies that are shipped: rules that hold whether or not the webhook runs."""

from policies.manifests.granting import granting
from policies.manifests.outputs import outputs
from policies.manifests.templates import templates
from policies.manifests.vap import AdmissionPolicy


def admission_policies() -> tuple[AdmissionPolicy, ...]:
    """Return every policy, in order of their names."""
    return granting(), outputs(), templates()
