"""What can be wrong with the settings.

::

    SettingsError
    └── BadSetting      one value, whose flag, variable or file key is named: who started us
"""


class SettingsError(Exception):
    """Root of this package's errors; the text is one sentence, the exit code is 2."""


class BadSetting(SettingsError):
    """A value that cannot be used, or two that contradict each other."""
