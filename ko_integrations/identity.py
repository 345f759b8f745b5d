"""Canonical forms: what counts as the same name, the same value, the same slot.

This module is the only place that decides it. Golden vectors in the tests pin the ids for ever.
The papers truncate the hash to 64 bits (main paper A.4) and join the parts without a frame
(follow-up, eq. 5); we keep all 256 bits and frame every part with its length (see ADR 0001).
"""

import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from hashlib import sha256
from typing import Any

from ko_integrations.errors import InvalidInputError
from ko_integrations.types import Quantity, Value

__all__ = [
    "MAX_NAME_BYTES",
    "MAX_VALUE_BYTES",
    "canonical_value",
    "check_count",
    "check_text",
    "decode_value",
    "encode_value",
    "normalize_name",
    "normalize_predicate",
    "slot_id",
    "slot_of",
]

MAX_NAME_BYTES = 4_096
MAX_VALUE_BYTES = 1_000_000


def check_text(text: object, field: str, *, limit: int = MAX_NAME_BYTES, blank: bool = False) -> str:
    """Return `text` if it can be stored and found again.

    Raises:
        InvalidInputError: not a string, blank (unless allowed), longer than `limit` bytes of UTF-8, or with a
            NUL or lone surrogate (neither survives a round trip through the index).
    """
    if not isinstance(text, str):
        raise InvalidInputError(field, f"expected a string, got {type(text).__name__}")
    if not blank and not text.strip():
        raise InvalidInputError(field, "empty or blank")
    if "\0" in text:
        raise InvalidInputError(field, "contains a NUL character")
    if not text.isascii():
        try:
            size = len(text.encode())
        except UnicodeEncodeError as error:
            raise InvalidInputError(field, "contains a lone surrogate") from error
    else:
        size = len(text)
    if size > limit:
        raise InvalidInputError(field, f"{size} bytes, the limit is {limit}")
    return text


def check_count(number: object, field: str, least: int = 1) -> int:
    """Return `number` if it is a whole one from `least` that a database can hold.

    Raises:
        InvalidInputError: it is not.
    """
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number < 1 << 63:
        raise InvalidInputError(field, f"expected a whole number from {least}, got {number!r}")
    return number


def normalize_name(text: str) -> str:
    """Return the form under which two spellings of a subject are the same: NFKC, case, white space.

    Accents, signs, digits and scripts keep names apart. Idempotent.

    >>> normalize_name("  New   YORK ") == normalize_name("new york")
    True
    >>> normalize_name("C++") == normalize_name("C#")
    False
    """
    if text.isascii():
        return " ".join(text.lower().split())
    previous = None
    # Folding can undo the normal form and the other way round; a fixed point is reached within a few steps.
    while text != previous:
        previous = text
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return " ".join(text.split())


@lru_cache(maxsize=4_096)
def normalize_predicate(text: str) -> str:
    """Return the form under which two spellings of a predicate are the same: as names, and `_`, `-`, blank alike.

    >>> normalize_predicate("Birth-Place")
    'birth_place'
    """
    return "_".join(normalize_name(text).replace("_", " ").replace("-", " ").split())


def slot_id(
    namespace: Sequence[str],
    subject: str,
    predicate: str,
    member: bytes | None = None,
    *,
    verbatim: bool = False,
) -> bytes:
    """Return the 32-byte id of a slot, SHA-256 over length-framed parts.

    `subject` and `predicate` are taken as they are: normalise them first for a `fact`, leave them alone
    for a `key` (`verbatim=True`). `member` is the `canonical_value` of one member of a set.

    Source: main paper 4.2.2, eq. 6 and A.4; follow-up eq. 5 (departures: ADR 0001).
    """
    parts = [*(part.encode() for part in namespace), subject.encode(), predicate.encode()]
    if member is not None:
        parts.append(member)
    frame = b"".join(b"%d:%b" % (len(part), part) for part in parts)
    return sha256(
        b"ko/%b/1;%d;%d;%b" % (b"key" if verbatim else b"fact", len(namespace), len(parts), frame)
    ).digest()


def slot_of(name: str) -> bytes:
    """Return the 32 bytes of a slot id.

    Raises:
        InvalidInputError: not 64 hex digits.
    """
    try:
        slot = bytes.fromhex(name)
    except (TypeError, ValueError) as error:
        raise InvalidInputError("id", f"not hexadecimal: {name!r}") from error
    if len(slot) != 32:
        raise InvalidInputError("id", f"expected 64 hex digits, got {name!r}")
    return slot


def canonical_value(value: Value) -> bytes:
    """Return the form under which two values are equal: numbers by value, strings NFC, every other kind apart.

    Raises:
        InvalidInputError: not a value (None, NaN, a naive datetime, a lone surrogate, an unsupported type).
    """
    try:
        return _canonical(value, "object").encode()
    except RecursionError as error:
        raise InvalidInputError("object", "JSON that is nested too deeply, or in itself") from error
    except UnicodeEncodeError as error:
        raise InvalidInputError("object", "contains a lone surrogate") from error
    except ValueError as error:
        if isinstance(error, InvalidInputError):
            raise
        raise InvalidInputError("object", str(error)) from error  # an integer of too many digits


def _canonical(value: Any, field: str) -> str:
    match value:
        case bool():
            return "b:true" if value else "b:false"
        case int():
            return f"n:{value}"
        case float():
            if not math.isfinite(value):
                raise InvalidInputError(field, "NaN and infinity are not values")
            return f"n:{int(value)}" if value.is_integer() else f"n:{value!r}"
        case str():
            return "s:" + unicodedata.normalize("NFC", value)
        case datetime():
            if value.utcoffset() is None:
                raise InvalidInputError(field, "naive datetime; give it a time zone")
            try:
                return "t:" + value.astimezone(UTC).isoformat(timespec="microseconds")
            except OverflowError as error:
                raise InvalidInputError(field, "outside the years 1 to 9999 in UTC") from error
        case date():
            return "d:" + value.isoformat()
        case Quantity():
            return f"q:{_canonical(value.value, field)[2:]} {unicodedata.normalize('NFC', value.unit)}"
        case Mapping() | list() | tuple():
            return "j:" + json.dumps(_canonical_json(value, field), ensure_ascii=False, separators=(",", ":"))
    if value is None:
        raise InvalidInputError(field, "None is not a value a fact can hold; `retract` ends a fact")
    raise InvalidInputError(field, f"{type(value).__name__} is not a type of value a fact can hold")


def _canonical_json(value: Any, field: str) -> Any:
    """Tag every scalar, so that inside JSON too 3 equals 3.0 and neither equals "3" or true."""
    if value is None:
        return None
    if isinstance(value, Mapping):
        pairs = []
        for key, item in value.items():
            check_text(key, f"{field} key", limit=MAX_VALUE_BYTES, blank=True)
            pairs.append([unicodedata.normalize("NFC", key), _canonical_json(item, field)])
        return {"o": sorted(pairs, key=lambda pair: str(pair[0]))}
    if isinstance(value, list | tuple):
        return [_canonical_json(item, field) for item in value]
    if isinstance(value, bool | int | float | str):
        return _canonical(value, field)
    raise InvalidInputError(field, f"JSON cannot hold a {type(value).__name__}")


def encode_value(value: Value) -> tuple[str, str]:
    """Return (kind, text) as the log stores a value; `decode_value` gives it back in its own type.

    Raises:
        InvalidInputError: not a value (None, NaN, a naive datetime, a NUL or lone surrogate, over
            `MAX_VALUE_BYTES`, an unsupported type).
    """
    canonical_value(value)
    kind, text = _encoded(value)
    check_text(text, "object", limit=MAX_VALUE_BYTES, blank=True)
    return kind, text


def _encoded(value: Value) -> tuple[str, str]:
    match value:
        case bool():
            return "b", "true" if value else "false"
        case int():
            return "i", str(int(value))
        case float():
            return "f", repr(float(value))
        case str():
            return "s", str.__str__(value)  # of an enumeration its text, not its name
        case datetime():
            return "t", value.isoformat()
        case date():
            return "d", value.isoformat()
        case Quantity():
            return "q", json.dumps([value.value, value.unit], ensure_ascii=False)
        case _:
            text = json.dumps(value, ensure_ascii=False, allow_nan=False)
            if "\\u0000" in text:
                check_json_text(value)
            return "j", text


def check_json_text(value: Any) -> None:
    """Check every string inside a JSON value as `check_text` would.

    Raises:
        InvalidInputError: one of them has a NUL character or a lone surrogate.
    """
    if isinstance(value, str):
        check_text(value, "object", limit=MAX_VALUE_BYTES, blank=True)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            check_json_text(key)
            check_json_text(item)
    elif isinstance(value, list | tuple):
        for item in value:
            check_json_text(item)


def decode_value(kind: str, text: str) -> Value:
    """Return the value that `encode_value` wrote."""
    match kind:
        case "s":
            return text
        case "i":
            return int(text)
        case "f":
            return float(text)
        case "b":
            return text == "true"
        case "t":
            return datetime.fromisoformat(text)
        case "d":
            return date.fromisoformat(text)
        case "q":
            number, unit = json.loads(text)
            return Quantity(value=number, unit=unit)
        case "j":
            return json.loads(text)  # type: ignore[no-any-return]
    raise InvalidInputError("object", f"unknown kind of value {kind!r}")
