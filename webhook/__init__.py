"""The admission webhook: everything between the API server's request and its answer."""
