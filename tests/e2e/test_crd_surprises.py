"""What people write and YAML reads in another way: one clear line of the real kubectl for each.

What kubectl converts before the server sees it only ``preview`` can say, so both read the same.
"""

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.harness.controlplane import ControlPlane
from webhook.cli.main import main

MIB = 1024 * 1024
AGAIN = "* <nil>: "
"""How the API server begins what it adds where a type is wrong; it is about the same mistake."""


def policy(spec: str, name: str = "default") -> str:
    """An RDMAPolicy whose spec is written by hand."""
    return (
        "apiVersion: rdma.io/v1alpha1\nkind: RDMAPolicy\n"
        f"metadata: {{name: {name}, namespace: team-a}}\nspec: {spec}\n"
    )


def number(written: str) -> str:
    """An RDMAPolicy with one number."""
    return policy(f"{{networks: [{{name: a, partitions: [{{name: main, number: {written}}}]}}]}}")


def network(mode: str, more: str = "") -> str:
    """An RDMANetwork."""
    return (
        "apiVersion: rdma.io/v1alpha1\nkind: RDMANetwork\nmetadata: {name: surprise}\n"
        f"spec: {{mode: {mode}, rails: [{{name: r0, resourceName: rdma/x}}]{more}}}\n"
    )


NUMBER = r"spec.networks\[0\].partitions\[0\].number"
REFUSED = {
    "a membership bit": (
        number("0x8011"),
        f"{NUMBER}: Invalid value: 32785: 0x8000 is set: that is the membership bit; write 0x0011",
        r"PKey 0x8011: 0x8000 is the membership bit; write 0x0011",
    ),
    "a number as text": (
        number('"0x11"'),
        f'{NUMBER}: Invalid value: "string": {NUMBER} in body must be of type integer: "string"',
        r'number: input should be a valid integer: got "0x11"',
    ),
    "a word that YAML reads as true": (
        number("on"),
        f'{NUMBER}: Invalid value: "boolean": {NUMBER} in body must be of type integer: "boolean"',
        r'number: input should be a valid integer: got "True"',
    ),
    "a fraction": (
        number("1.5"),
        f'{NUMBER}: Invalid value: "number": {NUMBER} in body must be of type integer: "number"',
        r'number: input should be a valid integer: got "1.5"',
    ),
    "a number with a colon": (
        number("3:30"),
        f'{NUMBER}: Invalid value: "string": {NUMBER} in body must be of type integer: "string"',
        r'number: input should be a valid integer: got "3:30"',
    ),
    "a variable that is true": (
        policy("{podDefaults: {env: [{name: A, value: on}]}}"),
        r'spec.podDefaults.env\[0\].value: Invalid value: "boolean": .* must be of type string: ',
        r'value: input should be a valid string: got "True"',
    ),
    "a variable that is a number": (
        policy("{podDefaults: {env: [{name: A, value: 1}]}}"),
        r'spec.podDefaults.env\[0\].value: Invalid value: "integer": .* must be of type string: ',
        r'value: input should be a valid string: got "1"',
    ),
    "an unknown mode": (
        network("Quantum"),
        r'spec.mode: Unsupported value: "Quantum": supported values: "Macvlan", "IPVLAN", ',
        r"""spec.mode: input should be 'Macvlan', .*: got "Quantum\"""",
    ),
    "17 networks": (
        policy(f"{{networks: [{', '.join(f'{{name: n{n}}}' for n in range(17))}]}}"),
        r"spec.networks: Too many: 17: must have at most 16 items",
        r"spec.networks: .* at most 16 items",
    ),
    "a policy of another name": (
        policy("{}", name="team-a"),
        (
            r"metadata.name: Invalid value: an RDMAPolicy is named default: there is exactly one "
            r"in a namespace"
        ),
        r"RDMAPolicy team-a/team-a: metadata.name: want default",
    ),
    "a variable of 1 MiB": (
        policy(f'{{podDefaults: {{env: [{{name: A, value: "{"x" * MIB}"}}]}}}}'),
        r"spec.podDefaults.env\[0\].value: Too long: may not be more than 1024 bytes",
        r"value: string should have at most 1024 characters",
    ),
    "a tenant of 1 MiB": (
        policy(f'{{tenant: "{"x" * MIB}"}}'),
        r"spec.tenant: Too long: may not be more than 63 bytes",
        r"spec.tenant: string should have at most 63 characters",
    ),
    "a field of the future": (
        policy("{lanes: 4}"),
        r'strict decoding error: unknown field "spec.lanes"',
        r"spec.lanes: no such field, so it is ignored",
    ),
}


def _lines(stderr: str) -> list[str]:
    """What kubectl complains about, a line each."""
    (first, *rest) = stderr.splitlines()
    said = [one.removeprefix("* ") for one in rest if not one.startswith(AGAIN)]
    return said or [re.sub(r'^(?:The \S+ "\S*" is invalid|Error from server \(\w+\)): ', "", first)]


def _preview(text: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What preview says of the object, beside a pod that it may look at."""
    pod = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c}]}\n"
    path = folder / "it.yaml"
    path.write_text(f"{text}---\n{pod}", encoding="utf-8")
    assert main(["preview", "-f", str(path)]) in {0, 2}
    return capsys.readouterr().err.splitlines()


@pytest.mark.parametrize(("text", "server", "reader"), REFUSED.values(), ids=list(REFUSED))
def test_a_surprise_is_said_in_one_line(
    kinds: ControlPlane,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    server: str,
    reader: str,
) -> None:
    """The API server refuses it through kubectl with field and reason; preview says the same."""
    done = kinds.kubectl("create", "--dry-run=server", "-f", "-", stdin=text, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    (said,) = _lines(done.stderr)
    assert re.search(server, said), done.stderr[:2000]
    flags = ("--server-side", "--dry-run=server", "-f", "-")
    done = kinds.kubectl("apply", *flags, stdin=text, check=False)
    assert (done.returncode, done.stdout, len(_lines(done.stderr))) == (1, "", 1)
    (noted,) = _preview(text, tmp_path, capsys)
    assert re.search(reader, noted), noted[:2000]
    assert len(noted) < 1000


def test_kubectl_warns_of_a_field_of_the_future_where_it_is_told_to(kinds: ControlPlane) -> None:
    """The server drops it, and says so in one line."""
    flags = ("--dry-run=server", "--validate=warn", "-o", "json", "-f", "-")
    done = kinds.kubectl("create", *flags, stdin=policy("{lanes: 4}"))
    assert done.stderr == 'Warning: unknown field "spec.lanes"\n'
    assert "lanes" not in json.loads(done.stdout)["spec"]


CONVERTED = {
    "0100": (64, "is octal and means 64; write 100 or 0x…"),
    "0o17": (15, "is octal and means 15; write 15 or 0x…"),
    "08": (8, "has a leading zero and means 8; write 8"),
    "0b11": (3, "is binary and means 3; write 3"),
    "1e3": (1000, "has an exponent and means 1000; write 1000"),
    ".5E+1": (5, "has an exponent and means 5; write 5"),
    "1_000": (1000, "has underscores and means 1000; write 1000"),
    "0x1_0": (16, "has underscores and means 16; write 16"),
}


@pytest.mark.parametrize(("written", "stored", "note"), [(k, *v) for k, v in CONVERTED.items()])
def test_what_kubectl_converts_preview_tells(
    kinds: ControlPlane,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    written: str,
    stored: int,
    note: str,
) -> None:
    """The server sees the number that preview names, and nobody else says a word."""
    flags = ("--dry-run=server", "-o", "json", "-f", "-")
    done = kinds.kubectl("create", *flags, stdin=number(written))
    (entry,) = json.loads(done.stdout)["spec"]["networks"]
    assert (entry["partitions"][0]["number"], done.stderr) == (stored, "")
    noted = _preview(number(written), tmp_path, capsys)
    assert any(one.endswith(f"line 4: number: {written} {note}") for one in noted), noted


def test_plain_numbers_are_no_surprise(
    kinds: ControlPlane, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Decimal and hexadecimal numbers mean to all three what they look like."""
    for written, stored in (("210", 210), ("0x0011", 17)):
        flags = ("--dry-run=server", "-o", "json", "-f", "-")
        done = kinds.kubectl("create", *flags, stdin=number(written))
        (entry,) = json.loads(done.stdout)["spec"]["networks"]
        assert entry["partitions"][0]["number"] == stored
        assert _preview(number(written), tmp_path, capsys) == []


def test_a_template_of_1_mib_is_stored_and_not_accepted(
    kinds: ControlPlane, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """No schema bounds free-form keys by their bytes: readers do, in one short line."""
    text = network("DeviceOnly", f', template: {{a: "{"x" * MIB}"}}')
    done = kinds.kubectl(
        "apply", "--server-side", "--dry-run=server", "-f", "-", stdin=text, check=False
    )
    assert done.returncode == 0, done.stderr[:2000]
    (noted,) = _preview(text, tmp_path, capsys)
    assert noted.endswith(
        "RDMANetwork surprise: spec.template: is 1048584 bytes as JSON, want at most 16384"
    )


def test_a_claim_reads_numbers_the_same_way(kinds: ControlPlane) -> None:
    """The membership bit is said of an RDMAPartition too, beside nothing else."""
    claim = {
        "apiVersion": "rdma.io/v1alpha1",
        "kind": "RDMAPartition",
        "metadata": {"name": "ib-a.pkey.8011"},
        "spec": {
            "fabric": "ib-a",
            "type": "PKey",
            "number": 0x8011,
            "tenant": "acme",
            "partition": "main",
        },
    }
    done = kinds.kubectl("create", "-f", "-", stdin=yaml.safe_dump(claim), check=False)
    (said,) = _lines(done.stderr)
    assert said.endswith("0x8000 is set: that is the membership bit; write 0x0011")
