"""JSON of any depth is read, as far down as anybody looks."""

import json

import msgspec
import pytest

from webhook.apiserver.depth import MOST_LEVELS, decoded, shallow

decode = msgspec.json.Decoder(dict[str, object]).decode


def nested(levels: int, opening: str = '{"a":', closing: str = "}") -> bytes:
    """Return an object with a field that is so deep, and one behind it."""
    return f'{{"deep":{opening * levels}1{closing * levels},"name":"]x{{\\"["}}'.encode()


@pytest.mark.parametrize(("opening", "closing"), [('{"a":', "}"), ("[", "]")])
def test_what_is_too_deep_for_the_decoder_is_left_out(opening: str, closing: str) -> None:
    """The rest of the object is there, brackets in texts and all."""
    found = decoded(decode, nested(100_000, opening, closing))
    assert found["name"] == ']x{"['
    assert json.dumps(found).count(opening[0]) <= MOST_LEVELS + 1


def test_what_is_not_too_deep_stays_as_it_is() -> None:
    """Byte for byte, however little is left."""
    text = nested(MOST_LEVELS - 1)
    assert shallow(text) == text
    assert decoded(decode, text) == json.loads(text)
    assert shallow(nested(MOST_LEVELS)) == nested(MOST_LEVELS).replace(b'{"a":1}', b"null")


def test_what_is_no_json_is_the_decoders_to_refuse() -> None:
    """Its error is passed on."""
    with pytest.raises(msgspec.DecodeError):
        decoded(decode, b'{"a":')
