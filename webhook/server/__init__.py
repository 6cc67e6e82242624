"""HTTP: bytes from the API server in, bytes out. Knows no watch and no certificates."""
