"""How our objects stand, for their status: worked out from the snapshot alone, read by no check."""
