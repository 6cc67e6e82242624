"""Where the snapshot comes from: the API server's list and watch, or files in a folder."""
