"""How a pod is written down: reading the part we touch, edits, and the JSON Patch they come to.

This room is pure and knows no RDMA.
"""
