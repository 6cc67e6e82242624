"""What the API server is told: our kinds and their rules, as documents made from the models."""
