"""Every setting, once: its name, what it means, how it is read, what it is when nobody says.

The name is the flag (``--max-staleness``), the environment variable
(``RDMA_WEBHOOK_MAX_STALENESS``) and the key in the settings file (``max-staleness``). A Service
called rdma-webhook makes the kubelet set ``RDMA_WEBHOOK_PORT`` and ``RDMA_WEBHOOK_SERVICE_*``
in every pod of its namespace: no setting may be called ``port``, ``port-…``, ``service-host`` or
``service-port…``, and unknown variables cannot be refused.
"""

from collections.abc import Callable
from dataclasses import dataclass

from policies.rules import ACCELERATORS, GOVERNED_RESOURCES, PROXIES, Rules
from webhook.settings import values

ENVIRONMENT_PREFIX = "RDMA_WEBHOOK_"
RULES = Rules()


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting.

    Attributes:
        name: As in the flag, without its dashes.
        field: Name of the attribute of ``Settings`` or ``Rules``.
        parse: Text to value; raises ValueError saying what is wanted.
        metavar: What ``--help`` calls the value.
        help: One or two sentences.
        default: As text; None = absent.
    """

    name: str
    field: str
    parse: Callable[[str], object]
    metavar: str
    help: str
    default: str | None = None

    @property
    def flag(self) -> str:
        """Return the flag."""
        return f"--{self.name}"

    @property
    def variable(self) -> str:
        """Return the environment variable."""
        return ENVIRONMENT_PREFIX + self.name.upper().replace("-", "_")


RULE_SETTINGS = (
    Setting(
        "default-enforcement",
        "default_enforcement",
        values.one_of("Enforce", "Warn", "Audit"),
        "LEVEL",
        "What happens where no policy says it: Enforce, Warn or Audit.",
        RULES.default_enforcement,
    ),
    Setting(
        "missing-policy",
        "missing_policy",
        values.one_of("Refuse", "Ignore"),
        "WHAT",
        "An annotated pod in a namespace without RDMAPolicy: Refuse it, or Ignore the annotation "
        "with a warning.",
        RULES.missing_policy,
    ),
    Setting(
        "governed-resources",
        "governed_resources",
        values.list_over(GOVERNED_RESOURCES),
        "LIST",
        "Extended resources that networks may hand out: prefixes that end in a slash, or exact "
        "names. The whole list, or +item to add.",
        ",".join(GOVERNED_RESOURCES),
    ),
    Setting(
        "accelerators",
        "accelerators",
        values.list_over(ACCELERATORS),
        "LIST",
        "Extended resources that mark the containers to equip; a star matches any text. The "
        "whole list, or +item to add.",
        ",".join(ACCELERATORS),
    ),
    Setting(
        "proxies",
        "proxies",
        values.list_over(PROXIES),
        "LIST",
        "Names of containers that are skipped by default where the pod has another one; naming "
        "them in rdma.io/containers equips them. The whole list, or +item to add.",
        ",".join(PROXIES),
    ),
)
"""What the core reads; a verb that judges pods offline takes these too."""

SOURCE_SETTINGS = (
    Setting(
        "from",
        "folder",
        values.folder,
        "DIR",
        "Read networks, policies and the other objects from the YAML and JSON files in this "
        "folder instead of a cluster; read again when they change.",
    ),
    Setting(
        "kubeconfig",
        "kubeconfig",
        values.path,
        "FILE",
        "Reach the cluster as this file says; without it and --from, as a pod of the cluster.",
    ),
)

SERVE_SETTINGS = (
    Setting(
        "listen",
        "listen",
        values.address,
        "HOST:PORT",
        "Where admission reviews are answered over TLS; no host = every interface; port 0 = any, "
        "the log line 'listening' says which.",
        "0.0.0.0:8443",
    ),
    Setting(
        "probe-listen",
        "probe_listen",
        values.address,
        "HOST:PORT",
        "Where /healthz, /readyz and /metrics are answered in plain HTTP; host and port as above.",
        "0.0.0.0:8080",
    ),
    Setting(
        "tls-cert-file",
        "tls_cert_file",
        values.path,
        "FILE",
        "Serving certificate, PEM, the leaf first; read again when it changes. Without it one "
        "is generated in memory.",
    ),
    Setting(
        "tls-private-key-file",
        "tls_private_key_file",
        values.path,
        "FILE",
        "Private key of that certificate, PEM, not encrypted.",
    ),
    Setting(
        "ca-file",
        "ca_file",
        values.path,
        "FILE",
        "Write the CA bundle of the generated certificate here, for who registers by hand.",
    ),
    *SOURCE_SETTINGS,
    Setting(
        "namespace",
        "namespace",
        values.dns_label,
        "NAME",
        "Namespace this webhook runs in.",
        "rdma-system",
    ),
    Setting(
        "service-name",
        "service_name",
        values.dns_label,
        "NAME",
        "Service the API server calls; the generated certificate is for NAME.NAMESPACE.svc.",
        "rdma-webhook",
    ),
    Setting(
        "log-level",
        "log_level",
        values.one_of("debug", "info", "warning", "error"),
        "LEVEL",
        "debug, info, warning or error; lines are JSON on standard error.",
        "info",
    ),
    Setting(
        "max-staleness",
        "max_staleness",
        values.duration,
        "DURATION",
        "Not ready when a kind of object had no event or bookmark for this long.",
        "10m",
    ),
    Setting(
        "max-in-flight",
        "max_in_flight",
        values.count,
        "N",
        "Requests whose body is there and that are being judged at a time; what comes on top is "
        "answered 429 at once.",
        "64",
    ),
    Setting(
        "drain-seconds",
        "drain",
        values.seconds,
        "SECONDS",
        "How long requests are still answered after SIGTERM.",
        "10",
    ),
    *RULE_SETTINGS,
)
"""What ``serve`` takes."""
