"""What can be wrong with the files that stand for a cluster."""


class UnreadableFile(Exception):
    """A file of the folder is not what it should be; the text names file, document and line."""
