"""Asks Multus's own parser, and the NAD client library, what they make of a text.

They run in one Go program (``tests/dataplane/readers``) that answers a line for a line: about
ten thousand answers a second, fast enough for fuzzing.
"""

import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.harness import build, parts
from tests.harness.lifetime import Started


@dataclass(frozen=True, slots=True)
class Refused:
    """What the Go code refuses.

    Attributes:
        error: Its message.
        is_panic: It did not refuse, it crashed.
    """

    error: str
    is_panic: bool = False


class Readers(Started):
    """The running Go program; a context manager, or :meth:`start` and :meth:`stop`."""

    def __init__(self) -> None:
        """Describe it; nothing runs before :meth:`start`."""
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the program, building it where it is not in the cache.

        Raises:
            BuildError: It could not be built.
        """
        program = build.binaries(parts.DATAPLANE)["readers"]
        self._process = subprocess.Popen(
            [str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def stop(self) -> None:
        """End the program; calling it again does nothing."""
        process, self._process = self._process, None
        if process is not None:
            process.communicate()

    def selection(self, namespace: str, annotation: str) -> list[dict[str, Any]] | Refused:
        """Return the elements that Multus reads from a pod's networks annotation.

        Args:
            namespace: The pod's namespace, which elements without one get.
            annotation: Value of ``k8s.v1.cni.cncf.io/networks``; empty selects nothing.

        Source: multus-cni pkg/k8sclient ``GetPodNetwork``.
        """
        question = {"kind": "selection", "namespace": namespace, "annotation": annotation}
        answer = self._ask(question)
        if "error" in answer:
            return Refused(answer["error"], answer.get("panic", False))
        elements: list[dict[str, Any]] = answer.get("elements", [])
        return elements

    def nad(self, nad: Mapping[str, Any]) -> dict[str, Any] | Refused:
        """Return the network that Multus loads from a NetworkAttachmentDefinition.

        The result has ``name``, ``cniVersion``, ``isList`` and ``plugins``, each with ``type``,
        ``ipamType``, ``config`` (what the plugin reads on its standard input, parsed) and
        ``fields``: the keys that matter for isolation as a Go plugin decodes them, letter case
        folded, the last spelling winning.

        Source: network-attachment-definition-client pkg/utils ``GetCNIConfig``, multus-cni
        pkg/types ``LoadDelegateNetConf``, libcni.
        """
        answer = self._ask({"kind": "nad", "nad": nad})
        if "error" in answer:
            return Refused(answer["error"], answer.get("panic", False))
        network: dict[str, Any] = answer["network"]
        return network

    def _ask(self, question: Mapping[str, Any]) -> dict[str, Any]:
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise RuntimeError("the readers are not started")
        process.stdin.write(json.dumps(question) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"the readers ended (exit {process.wait()}) at {question!r}")
        answer: dict[str, Any] = json.loads(line)
        return answer
