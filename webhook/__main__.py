"""``python -m webhook`` is ``rdma-webhook``."""

import sys

from webhook.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
