"""Who says a setting first, and what is said about a bad one."""

import argparse
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from policies.rules import GOVERNED_RESOURCES, Rules
from webhook.settings import (
    RULE_SETTINGS,
    SERVE_SETTINGS,
    Address,
    Settings,
    add_flags,
    read_rules,
    read_settings,
)
from webhook.settings.errors import BadSetting


def settings(*arguments: str, environment: Mapping[str, str] | None = None) -> Settings:
    """Return the settings of ``serve`` for a command line and an environment."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    add_flags(parser, SERVE_SETTINGS)
    return read_settings(parser.parse_args(arguments), environment or {})


def test_without_a_word_everything_has_its_default() -> None:
    """The defaults of the contract."""
    found = settings()
    assert found.listen == Address("0.0.0.0", 8443)  # noqa: S104 - the contract's default
    assert found.probe_listen == Address("0.0.0.0", 8080)  # noqa: S104 - the contract's default
    assert found.max_staleness == timedelta(minutes=10)
    assert found.max_in_flight == 64
    assert found.drain == timedelta(seconds=10)
    assert (found.folder, found.kubeconfig, found.tls_cert_file, found.ca_file) == (None,) * 4
    assert found.rules == Rules()


def test_flag_wins_over_variable_over_file_over_default(tmp_path: Path) -> None:
    """In exactly this order."""
    path = tmp_path / "settings.yaml"
    path.write_text("max-in-flight: 1\nnamespace: file\nservice-name: file\n")
    environment = {
        "RDMA_WEBHOOK_CONFIG": str(path),
        "RDMA_WEBHOOK_MAX_IN_FLIGHT": "2",
        "RDMA_WEBHOOK_NAMESPACE": "variable",
    }
    found = settings("--max-in-flight", "3", environment=environment)
    assert (found.max_in_flight, found.namespace, found.service_name) == (3, "variable", "file")
    assert found.log_level == "info"


def test_an_empty_variable_is_not_set() -> None:
    """Manifests leave variables empty to mean nothing."""
    assert settings(environment={"RDMA_WEBHOOK_NAMESPACE": ""}).namespace == "rdma-system"


def test_the_variables_the_kubelet_makes_for_a_service_are_no_settings() -> None:
    """A Service called rdma-webhook sets these in every pod of the namespace."""
    links = {
        "RDMA_WEBHOOK_SERVICE_HOST": "10.0.0.1",
        "RDMA_WEBHOOK_SERVICE_PORT": "443",
        "RDMA_WEBHOOK_SERVICE_PORT_HTTPS": "443",
        "RDMA_WEBHOOK_PORT": "tcp://10.0.0.1:443",
        "RDMA_WEBHOOK_PORT_443_TCP": "tcp://10.0.0.1:443",
        "RDMA_WEBHOOK_PORT_443_TCP_PROTO": "tcp",
        "RDMA_WEBHOOK_PORT_443_TCP_PORT": "443",
        "RDMA_WEBHOOK_PORT_443_TCP_ADDR": "10.0.0.1",
    }
    assert settings(environment=links) == settings()
    assert not set(links) & {setting.variable for setting in SERVE_SETTINGS}


def test_lists_may_be_lists_in_the_file(tmp_path: Path) -> None:
    """YAML lists and comma lists mean the same, additions too."""
    path = tmp_path / "settings.yaml"
    path.write_text("governed-resources: [+example.com/, +example.org/x]\nproxies: a,b\n")
    rules = settings("--config", str(path)).rules
    assert rules.governed_resources == (*GOVERNED_RESOURCES, "example.com/", "example.org/x")
    assert rules.proxies == ("a", "b")


@pytest.mark.parametrize(
    ("arguments", "environment", "sentence"),
    [
        (["--max-staleness", "10x"], {}, "--max-staleness: got '10x', want a duration"),
        ([], {"RDMA_WEBHOOK_LISTEN": "x"}, "RDMA_WEBHOOK_LISTEN: got 'x', want HOST:PORT"),
        (["--from", "/absent"], {}, "--from: got '/absent', want the path of a folder"),
        (["--tls-cert-file", "a"], {}, "--tls-private-key-file: got one of them"),
        (["--tls-cert-file=a", "--tls-private-key-file=b", "--ca-file=c"], {}, "--ca-file: got"),
        (["--from", ".", "--kubeconfig", "x"], {}, "--from, --kubeconfig: got both"),
        (["--config", "/absent"], {}, "--config: /absent: cannot be read: No such file"),
        ([], {"RDMA_WEBHOOK_CONFIG": "/absent"}, "RDMA_WEBHOOK_CONFIG: /absent: cannot be read"),
    ],
)
def test_a_bad_value_is_one_sentence_that_names_where_it_is(
    arguments: list[str], environment: dict[str, str], sentence: str
) -> None:
    """Flag, variable or file; what was got; what is wanted."""
    with pytest.raises(BadSetting) as found:
        settings(*arguments, environment=environment)
    assert sentence in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("max-stalenes: 10m", "max-stalenes: unknown setting; did you mean max-staleness?"),
        ("zzz: 1", "zzz: unknown setting; known are listen, "),
        ("max-staleness: 10", "max-staleness: got '10', want a duration"),
        ("log-level: [debug, 1]", "log-level: got ['debug', 1], want text"),
        ("listen: {a: 1}", "listen: got {'a': 1}, want text"),
        ("namespace: true", "namespace: got True, want text"),
        ("- a", "got a list, want names with values"),
        ("a: [", "not readable as YAML"),
        ("config: other.yaml", "config: unknown setting"),
        (
            "namespace: a\nlog-level: info\nnamespace: b",
            "namespace: got it in lines 1 and 3, want one",
        ),
    ],
)
def test_a_bad_file_is_one_sentence_that_names_file_and_key(
    tmp_path: Path, text: str, sentence: str
) -> None:
    """Unknown names are refused, with the nearest that is known."""
    path = tmp_path / "settings.yaml"
    path.write_text(text)
    with pytest.raises(BadSetting) as found:
        settings("--config", str(path))
    assert str(path) in str(found.value)
    assert sentence in str(found.value)
    assert "\n" not in str(found.value)


def test_an_empty_file_says_nothing(tmp_path: Path) -> None:
    """As a ConfigMap without settings."""
    path = tmp_path / "settings.yaml"
    path.write_text("# nothing yet\n")
    assert settings("--config", str(path)) == settings()


def test_help_says_every_flag_with_its_variable() -> None:
    """--help is complete by construction."""
    parser = argparse.ArgumentParser()
    add_flags(parser, SERVE_SETTINGS)
    text = " ".join(parser.format_help().split())
    for setting in SERVE_SETTINGS:
        assert setting.flag in text
        assert f"[{setting.variable}]" in text
    assert "A flag wins over its variable" in text


def test_rules_can_be_read_alone() -> None:
    """Verbs that judge pods offline take the core's settings and no others."""
    parser = argparse.ArgumentParser()
    add_flags(parser, RULE_SETTINGS)
    flags = parser.parse_args(["--default-enforcement", "enforce", "--accelerators", "+a.b/c"])
    rules = read_rules(flags, {"RDMA_WEBHOOK_MISSING_POLICY": "ignore"})
    assert rules.default_enforcement == "Enforce"
    assert rules.missing_policy == "Ignore"
    assert rules.accelerators[-1] == "a.b/c"


def test_one_file_serves_every_verb(tmp_path: Path) -> None:
    """A verb that takes few settings does not refuse the others in the file."""
    path = tmp_path / "settings.yaml"
    path.write_text("max-in-flight: 9\ndefault-enforcement: Audit\n")
    parser = argparse.ArgumentParser()
    add_flags(parser, RULE_SETTINGS)
    rules = read_rules(parser.parse_args(["--config", str(path)]), {})
    assert rules.default_enforcement == "Audit"


def test_every_rule_is_a_setting() -> None:
    """A new field of Rules without a flag would be fixed for ever by accident."""
    fields = {setting.field for setting in RULE_SETTINGS}
    assert set(Rules.__struct_fields__) - fields == {"version"}
