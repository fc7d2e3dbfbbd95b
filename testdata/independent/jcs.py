"""Strict reading of JSON and its one spelling (RFC 8785), by section 3 of the format.

Numbers come back as int when they are whole and at most 2^53, else as float. Run this file to check it.
"""
import hashlib
import json
import re
from decimal import Decimal, InvalidOperation

DEPTH_MAX = 64
WHOLE_MAX = 2 ** 53
ESCAPES = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
UNSAFE = re.compile(r'["\\\x00-\x1f]')


class Refused(ValueError):
    """The text is not JSON that a store may hold."""


def _number(literal):
    """The value of a literal; refused when it changes as it is written again."""
    try:
        value, exact = float(literal), Decimal(literal)
    except (ValueError, InvalidOperation):
        raise Refused("number %.40s cannot be read" % literal)
    if value in (float("inf"), float("-inf")) or Decimal(repr(value)) != exact:
        raise Refused("number %.40s changes when it is written again" % literal)
    return int(value) if value == int(value) and abs(value) <= WHOLE_MAX else value


def _constant(name):
    raise Refused("%s is no number" % name)


def fold(name):
    """Simple case folding: one character for one, unlike str.casefold."""
    out = []
    for c in name:
        f = c.casefold()
        if len(f) != 1:
            f = c.lower()
        out.append(f if len(f) == 1 else c)
    return "".join(out)


def _members(pairs):
    seen = set()
    for name, _ in pairs:
        folded = fold(name)
        if folded in seen:
            raise Refused("name %r occurs twice in one object, or differs only in case" % name)
        seen.add(folded)
    return dict(pairs)


def depth(value):
    """Levels of arrays and objects; a text or a number has none."""
    deepest, level = 0, [value]
    while level:
        below = []
        for v in level:
            if isinstance(v, dict):
                below.append(v.values())
            elif isinstance(v, list):
                below.append(v)
        deepest += 1 if below else 0
        level = [v for group in below for v in group]
    return deepest


def _surrogates(value):
    if isinstance(value, str):
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise Refused("half of a surrogate pair")
    elif isinstance(value, list):
        for v in value:
            _surrogates(v)
    elif isinstance(value, dict):
        for k, v in value.items():
            _surrogates(k)
            _surrogates(v)


def parse(data):
    """The value of strict JSON; raises Refused."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise Refused("not UTF-8")
    try:
        value = json.loads(text, object_pairs_hook=_members, parse_int=_number, parse_float=_number,
                           parse_constant=_constant)
    except Refused:
        raise
    except RecursionError:
        raise Refused("too many levels")
    except ValueError as e:
        raise Refused("no JSON: %s" % e)
    if depth(value) > DEPTH_MAX:
        raise Refused("more than %d levels" % DEPTH_MAX)
    _surrogates(value)
    return value


def number(value):
    """A number as ECMAScript's Number to String writes it."""
    value = float(value)
    if value == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits))
    point = len(text) + exponent
    text = text.rstrip("0")
    size = len(text)
    if size <= point <= 21:
        out = text + "0" * (point - size)
    elif 0 < point <= 21:
        out = text[:point] + "." + text[point:]
    elif -6 < point <= 0:
        out = "0." + "0" * -point + text
    else:
        e = point - 1
        out = text[0] + ("." + text[1:] if size > 1 else "") + "e" + ("+" if e > 0 else "-") + str(abs(e))
    return ("-" if sign else "") + out


def _text(value):
    return '"' + UNSAFE.sub(lambda m: ESCAPES.get(m.group(), "\\u%04x" % ord(m.group())), value) + '"'


def _write(value):
    if value is None:
        return "null"
    if value is True:
        return "true"
    if value is False:
        return "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, list):
        return "[" + ",".join(_write(v) for v in value) + "]"
    names = sorted(value, key=lambda n: n.encode("utf-16-be"))
    return "{" + ",".join(_text(n) + ":" + _write(value[n]) for n in names) + "}"


def encode(value):
    """The JCS bytes of a value."""
    return _write(value).encode("utf-8")


def digest(data):
    """`sha256:` and the digits."""
    return "sha256:" + hashlib.sha256(data).hexdigest()


GOOD = (  # text, its one spelling
    (b'{"b":1.50,"a":-0}', b'{"a":0,"b":1.5}'), (b"100000000000000000000", b"100000000000000000000"),
    (b"[1e21,1e-7,0.000001,123.456,5e-324,1.7976931348623157e308,9007199254740992]",
     b"[1e+21,1e-7,0.000001,123.456,5e-324,1.7976931348623157e+308,9007199254740992]"),
    ('{"\ufb33":1,"\U0001f600":2}'.encode(), '{"\U0001f600":2,"\ufb33":1}'.encode()),
    (b'"\\u000f\\u000a\\u00e9\\ud83d\\ude00\\/\x7f"', '"\\u000f\\n\u00e9\U0001f600/\x7f"'.encode()),
    (b"[" * 64 + b"]" * 64, b"[" * 64 + b"]" * 64), (b" {} \n", b"{}"),
)
BAD = (b"9007199254740993", b"0.1000000000000000055", b"1e400", b"1e-400", b"NaN", b"-Infinity", b'"\xff"',
       b"\xef\xbb\xbf{}", b"{} {}", b'{"a":1,"a":1}', b'{"a":1,"A":1}', '{"\u017f":1,"S":1}'.encode(),
       b"[" * 65 + b"]" * 65, b"[" * 9999, b'"\\ud83d"', b'"\\ude00\\ud83d"', b'"\n"', b"01", b"1.", b"[1,]", b"")


def selftest():
    """Spellings that hold and texts that are refused; returns what failed."""
    failed = []
    for text, want in GOOD:
        if encode(parse(text)) != want:
            failed.append("spelling of %r: %r" % (text[:60], encode(parse(text))[:60]))
    for text in BAD:
        try:
            parse(text)
            failed.append("%r is read" % text[:60])
        except Refused:
            pass
    return failed


if __name__ == "__main__":
    bad = selftest()
    print("jcs: " + ("; ".join(bad) if bad else "all spellings hold"))
    raise SystemExit(1 if bad else 0)
