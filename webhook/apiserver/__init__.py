"""The way to the API server: who we are there, one request, what its answers mean."""
