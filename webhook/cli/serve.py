"""The verb ``serve``: answer admission reviews over TLS until told to stop.

Reads the settings; what is heavy (HTTP, certificates, the cluster) is imported when it runs.
"""

import argparse
import os
import sys

from webhook.settings import SERVE_SETTINGS, Settings, add_flags, read_settings
from webhook.settings.errors import SettingsError

NAME = "serve"
HELP = "answer admission reviews over TLS until told to stop"
USAGE_CODE = 2


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the flags of the verb."""
    add_flags(parser, SERVE_SETTINGS)


def run(args: argparse.Namespace) -> int:
    """Serve, and return the exit code: 0 after a signal, 1 where we cannot, 2 for bad settings."""
    try:
        settings = read_settings(args, os.environ)
    except SettingsError as err:
        sys.stderr.write(f"rdma-webhook serve: {err}\n")
        return USAGE_CODE
    return _serve(settings)


def _serve(settings: Settings) -> int:
    from webhook.cli.service import run_service  # noqa: PLC0415 - see above

    return run_service(settings)
