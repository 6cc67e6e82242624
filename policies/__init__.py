"""What the cluster wants, in RDMA words: networks, grants, partitions, and what a pod gets of them.

This package is pure. It knows no pod JSON, no admission protocol and no I/O.
"""
