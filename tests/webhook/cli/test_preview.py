"""The verb preview: what becomes of the pods in some files, in words and exit codes."""

import io
import sys
from pathlib import Path

import pytest

from webhook.cli.main import main

EXAMPLES = Path(__file__).parents[3] / "deploy" / "examples"

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: train, namespace: team-a, annotations: {rdma.io/network: tokens}}
spec: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: 8}}}, {name: envoy}]}
"""
NETWORK = """\
---
apiVersion: rdma.io/v1alpha1
kind: RDMANetwork
metadata: {name: tokens}
spec: {mode: DeviceOnly, rails: [{name: r0, resourceName: rdma/hca}]}
"""
POLICY = """\
---
apiVersion: rdma.io/v1alpha1
kind: RDMAPolicy
metadata: {name: default, namespace: team-a}
spec: {enforcement: Enforce, networks: [{name: tokens, quota: 3}]}
"""
NAMESPACE = """\
---
apiVersion: v1
kind: Namespace
metadata: {name: team-a, labels: {pod-security.kubernetes.io/warn: baseline}}
"""
WHOLE = POD + NETWORK + POLICY + NAMESPACE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that is the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path


def _preview(text: str, *flags: str) -> int:
    Path("it.yaml").write_text(text, encoding="utf-8")
    return main(["preview", "-f", "it.yaml", *flags])


@pytest.mark.parametrize("name", sorted(path.name for path in (EXAMPLES / "pods").glob("*.yaml")))
def test_every_example_is_admitted_or_refused_as_its_name_says(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The shipped pods with the shipped networks."""
    code = main(["preview", "-f", str(EXAMPLES / "pods" / name), "--from", str(EXAMPLES)])
    assert code == int(name == "refused.yaml")
    assert ("how to fix it: docs/reasons.md#" in capsys.readouterr().out) == bool(code)


@pytest.mark.usefixtures("folder")
def test_the_files_alone_are_enough(capsys: pytest.CaptureFixture[str]) -> None:
    """Policy, network and namespace of the same file count as applied; all is explained."""
    assert _preview(WHOLE) == 0
    out = capsys.readouterr().out
    for line in (
        "Pod team-a/train",
        "  admitted and equipped",
        "  policy       RDMAPolicy team-a/default of tenant namespace/team-a, enforcement Enforce",
        "  network      tokens (DeviceOnly), isolation None",
        "               r0: rdma/hca",
        "  containers   main: equipped: it asks for an accelerator",
        "               envoy: not equipped: a known proxy",
        "  pod security namespace team-a enforces no level",
        "               level baseline is at warn: it will speak of IPC_LOCK",
        "  quota        requests.rdma/hca: 1 a pod x 1 = 1, of 3",
        "    + main: rdma/hca = 1  (device of tokens/r0)",
        "    + main: capability +IPC_LOCK  (RDMA pins memory; the default)",
        "+        rdma/hca: '1'",
        "1 pod template: 1 equipped",
    ):
        assert line in out.splitlines()


@pytest.mark.usefixtures("folder")
def test_pods_of_a_controller_are_counted_for_the_quota(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Four replicas of one token are more than a quota of three."""
    deployment = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: serve, namespace: team-a}
spec:
  replicas: 4
  template:
    metadata: {annotations: {rdma.io/network: tokens}}
    spec: {containers: [{name: main}]}
"""
    assert _preview(deployment + NETWORK + POLICY) == 0
    out = capsys.readouterr().out
    assert "Deployment team-a/serve, spec.template, 4 pods\n" in out
    assert "requests.rdma/hca: 1 a pod x 4 = 4, of 3: more than the quota lets in\n" in out
    assert "labels of namespace team-a are not known, so nothing is checked\n" in out


@pytest.mark.usefixtures("folder")
def test_a_missing_policy_cannot_be_told_without_a_folder(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without --from the cluster may hold it; with it, it is missing and the pod refused."""
    assert _preview(POD) == 2
    assert "RDMAPolicy team-a/default is in none of the files" in capsys.readouterr().out
    (folder / "cluster").mkdir()
    assert _preview(POD, "--from", "cluster") == 1
    assert "refused: PolicyNotReady" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_the_files_go_over_the_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A document of the files replaces the folder's object of its name."""
    (folder / "cluster").mkdir()
    (folder / "cluster" / "all.yaml").write_text(NETWORK + POLICY, encoding="utf-8")
    assert _preview(POD, "--from", "cluster") == 0
    changed = POLICY.replace("networks: [{name: tokens, quota: 3}]", "networks: []")
    assert _preview(POD + changed, "--from", "cluster") == 1
    assert "refused: NetworkNotGranted" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_namespace_flag_and_settings_are_used(capsys: pytest.CaptureFixture[str]) -> None:
    """-n is for objects that name none; settings are those of the server."""
    text = WHOLE.replace(", namespace: team-a", "").replace("rdma/hca", "acme.example/hca")
    assert _preview(text, "-n", "team-a") == 1
    assert "refused: NetworkNotReady" in capsys.readouterr().out
    assert _preview(text, "-n", "team-a", "--governed-resources", "+acme.example/") == 0
    assert "Pod team-a/train" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_an_annotation_on_the_wrong_level_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    """The pods are admitted and get nothing, which their author should know."""
    text = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, annotations: {rdma.io/network: tokens}}
spec: {template: {spec: {containers: [{name: main}]}}}
"""
    assert _preview(text) == 0
    out = capsys.readouterr().out
    assert "write it in spec.template.metadata.annotations" in out
    assert "admitted as it is: it asks for no RDMA network" in out


@pytest.mark.usefixtures("folder")
def test_pods_that_come_from_elsewhere_cannot_be_told(capsys: pytest.CaptureFixture[str]) -> None:
    """A TrainJob's pods are its runtime's."""
    text = """\
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
metadata: {name: train}
spec: {runtimeRef: {name: torch}}
"""
    assert _preview(text) == 2
    assert "its pods come from ClusterTrainingRuntime torch" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_a_pod_that_the_api_server_would_not_take(capsys: pytest.CaptureFixture[str]) -> None:
    """The field is named."""
    assert _preview(WHOLE.replace("{limits: {nvidia.com/gpu: 8}}", "{limits: [8]}")) == 2
    assert "spec.containers[0].resources.limits: expected object" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("annotation", "sentence"),
    [
        (
            "rdma.io/network: 5",
            (
                "metadata.annotations[rdma.io/network]: got 5, want a text; "
                'put the value in quotes: "5"'
            ),
        ),
        (
            "rdma.io/network: tokens, rdma.io/shm-size: 8589934592",
            (
                "metadata.annotations[rdma.io/shm-size]: got 8589934592, want a text; "
                'put the value in quotes: "8589934592"'
            ),
        ),
    ],
)
def test_a_number_where_a_text_belongs_is_to_be_put_in_quotes(
    annotation: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The annotation is named, and how to write it."""
    assert _preview(WHOLE.replace("rdma.io/network: tokens", annotation)) == 2
    assert f"  {sentence}\n" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_null_is_what_the_api_server_makes_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    """An annotation without a value is an empty one, and refused."""
    assert _preview(WHOLE.replace("rdma.io/network: tokens", "rdma.io/network: null")) == 1
    assert "metadata.annotations[rdma.io/network]: is blank" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("written", "why"),
    [
        ("1.0", "main: equipped: it asks for an accelerator"),
        ("null", "main: equipped: the first app container that is no known proxy"),
    ],
)
def test_numbers_of_devices_are_read_as_the_api_server_reads_them(
    written: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """1.0 is one accelerator, null is none."""
    assert _preview(WHOLE.replace("nvidia.com/gpu: 8", f"nvidia.com/gpu: {written}")) == 0
    assert why in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("kind", ["Pod", "RDMAPolicy"])
def test_a_namespace_that_is_no_text_is_refused(
    kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """It does not silently become the default one."""
    old = {
        "Pod": "{name: train, namespace: team-a,",
        "RDMAPolicy": "{name: default, namespace: team-a}",
    }[kind]
    assert _preview(WHOLE.replace(old, old.replace("team-a", "5"))) == 2
    assert f": {kind}: metadata.namespace: got 5, want a text\n" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_a_field_that_nobody_knows_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    """File, document, path and the field that was meant; the object counts."""
    text = WHOLE.replace("quota: 3", "maxperpod: 3").replace("mode: Dev", "cuont: 3, mode: Dev")
    assert _preview(text) == 0
    network, policy = capsys.readouterr().err.splitlines()
    head = "rdma-webhook preview: warning: it.yaml: document"
    assert network == (
        f"{head} 2, line 6: RDMANetwork tokens: spec.cuont: no such field, so it is ignored; "
        "did you mean count?"
    )
    assert policy == (
        f"{head} 3, line 11: RDMAPolicy team-a/default: spec.networks[tokens].maxperpod: "
        "no such field, so it is ignored; did you mean maxPerPod?"
    )


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (
            "rdma.io/network: tokens",
            "rdma.io/network: tokens, kubernetes.io/config.mirror: x",
            "a mirror pod already runs on its node and is left alone",
        ),
        (
            "[{name: main, resources: {limits: {nvidia.com/gpu: 8}}}, {name: envoy}]",
            "[]",
            "a pod without containers is left to the API server",
        ),
        ("rdma.io/network: tokens", "a: b", "it asks for no RDMA network"),
    ],
    ids=["a mirror pod", "no containers", "no wish"],
)
def test_why_a_pod_gets_nothing_is_true(
    old: str, new: str, why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A pod that names a network is not said to name none."""
    assert _preview(WHOLE.replace(old, new)) == 0
    assert f"  admitted as it is: {why}\n" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("output", ["diff", "yaml"])
@pytest.mark.parametrize("name", [r"a\e[31mb\nc", "x" * 100_000], ids=["control", "long"])
def test_names_of_files_reach_the_terminal_cleaned(
    name: str, output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Headings and trail hold no control characters, and end."""
    text = WHOLE.replace("name: train", f'name: "{name}"').replace("name: main", f'name: "{name}"')
    assert _preview(text, "-o", output) == 0
    out = capsys.readouterr().out
    shown = out.partition("--- before")[0] if output == "diff" else out.splitlines()[1]
    assert "\x1b" not in out
    assert max(map(len, shown.splitlines())) < 400
    assert shown.startswith("Pod team-a/" if output == "diff" else "# Pod team-a/")


def test_help_says_what_a_folder_is_for_here(capsys: pytest.CaptureFixture[str]) -> None:
    """No cluster is asked and nothing is read again, so neither is spoken of."""
    assert main(["preview", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "What the cluster holds: the networks, policies and other objects" in out
    assert "instead of a cluster" not in out
    assert "read again" not in out


def test_standard_input_is_read(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dash means standard input."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WHOLE.encode())))
    assert main(["preview", "-f", "-"]) == 0
    assert "admitted and equipped" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("flags", "variables", "coloured"),
    [
        ((), {}, False),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {}, False),
    ],
    ids=["no terminal", "always", "never"],
)
def test_colour_is_for_terminals(
    flags: tuple[str, ...],
    variables: dict[str, str],
    coloured: bool,  # noqa: FBT001 - a row of the table
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody finds escape sequences in a file."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert _preview(WHOLE, *flags) == 0
    assert ("\x1b[" in capsys.readouterr().out) == coloured


def test_usage_is_code_two(capsys: pytest.CaptureFixture[str]) -> None:
    """Bad arguments are no refusal."""
    assert main(["preview"]) == 2
    assert main(["preview", "-f", "x", "--from", "/no/such/folder"]) == 2
    assert "--from: got '/no/such/folder'" in capsys.readouterr().err
