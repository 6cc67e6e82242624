"""The admission protocol: bytes of an AdmissionReview in, bytes of its answer out. Pure."""
