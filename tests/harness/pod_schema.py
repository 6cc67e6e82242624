"""The strict schema of a pod, as the API publishes it, from the package kubernetes-validate."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from kubernetes_validate import utils as kubernetes_schemas
from referencing import Registry, Resource

KUBERNETES = "1.37"

Object = dict[str, Any]


def schema_errors(pod: Object) -> Iterator[str]:
    """Yield where a pod is not what the API's strict schema says."""
    for error in _validator().iter_errors(pod):
        yield f"schema: {error.json_path}: {error.message}"


@lru_cache(maxsize=1)
def _validator() -> Draft202012Validator:
    folder = f"kubernetes-json-schema/v{KUBERNETES}.0-local-strict"
    schema, definitions = (
        kubernetes_schemas.schema_contents(f"{folder}/{name}.json", KUBERNETES)
        for name in ("pod-v1", "_definitions")
    )
    registry = Resource.from_contents(definitions) @ Registry()
    return Draft202012Validator(schema, registry=Resource.from_contents(schema) @ registry)
