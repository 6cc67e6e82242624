"""X.509 and nothing else: pairs, an authority of our own, and the TLS context that is served.

This package imports nothing of ours. It holds code, never keys.
"""
