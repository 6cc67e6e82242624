"""Judge a pair against a moment. Pure: the moment comes in."""

from datetime import datetime

from certs.errors import OutOfValidity
from certs.keypair import KeyPair


def check(pair: KeyPair, now: datetime, origin: str = "pair") -> None:
    """Do nothing where the pair's certificate is valid at that moment.

    Raises:
        OutOfValidity: It has expired, or is not valid yet.
    """
    begins, ends = pair.leaf.not_valid_before_utc, pair.leaf.not_valid_after_utc
    if now < begins:
        raise OutOfValidity(
            f"{origin}: certificate: not valid yet: it is {_text(now)}, "
            f"the certificate begins at {_text(begins)}"
        )
    if now >= ends:
        raise OutOfValidity(
            f"{origin}: certificate: expired at {_text(ends)}: got {_text(now)}, want a valid one"
        )


def is_due(pair: KeyPair, now: datetime) -> bool:
    """Tell whether two thirds of the certificate's life are over, so that it is to be renewed."""
    begins, ends = pair.leaf.not_valid_before_utc, pair.leaf.not_valid_after_utc
    return now >= begins + (ends - begins) * 2 / 3


def _text(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
