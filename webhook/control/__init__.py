"""The leader-elected loop: what our kinds say of themselves, written back to the cluster."""
