"""Conditions and validation criteria: section 13 of the format."""
import re

import jcs
from checks import Shape, anything, boolean, fail, integer, many, matching, one_of, real, record, text, variant

FULL = text(1)
SIZE = integer(0, 2147483647)


def _joined(leaf):
    """Leaves joined by and, or, not."""
    def check(v):
        if isinstance(v, dict) and len(v) == 1:
            (name, value), = v.items()
            if name in ("and", "or"):
                return many(check, 1)(value)
            if name == "not":
                return check(value)
        return leaf(v)
    return check


SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
NAME = r"(?![%s])[^.]+(?<![%s])" % (SPACE, SPACE)
PATH = matching(r"%s(?:\.%s)*" % (NAME, NAME), "path of names")
OPERATORS = dict.fromkeys(("gt", "gte", "lt", "lte"), real)
OPERATORS.update(equals=anything, not_equals=anything, **{"in": many(anything, 1)})
OPERATORS["contains"] = lambda v: None if isinstance(v, (str, int, float)) else fail("no text, number or boolean", v)


def _comparison(v):
    record({"var": PATH}, OPERATORS)(v)


ESCAPED = r"\\(?:[0-7]{2,3}|0|[pP](?:\{\^?\w+\}|[A-Z])|x(?:\{(?:0*10|0*[0-9a-fA-F])?[0-9a-fA-F]{1,4}\}|[0-9a-fA-F]{2})|" \
          r"[aAbBdDfnrsStvwWz]|[!-/:-@[-`{-~])"


CLASS = r"\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]"


UNICODE = re.compile(r"(\\Q.*?(?:\\E|$))|\\u(?:\{([0-9a-fA-F]{1,28})\}|([0-9a-fA-F]{4}))|(\\.)|(.)", re.S)


def _spelled(pattern):
    """A pattern with its escapes of characters by \\u written as \\x{...}; half a character stays."""
    out, high = "", None
    for m in UNICODE.finditer(pattern):
        code = int(m.group(2) or m.group(3) or "-1", 16)
        if high is not None and 0xDC00 <= code <= 0xDFFF:
            out, code = out[:-6], 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)
        high = code if 0xD800 <= code <= 0xDBFF and m.group(3) else None
        whole = code >= 0 and not 0xD800 <= code <= 0xDFFF and code <= 0x10FFFF
        out += "\\x{%X}" % code if whole else m.group(0)
    return out


def pattern(v):
    """RE2, as far as Python can tell: it refuses what both refuse, and what RE2 lacks, looking around and back."""
    FULL(v)
    v = _spelled(v)
    bare = re.sub(r"\\Q.*?(?:\\E|$)", "", v, flags=re.S)
    tokens = re.sub(CLASS, "a", re.sub(ESCAPED, "a", bare))
    tokens = re.sub(r"\(\?[imsU-]*\)", "", re.sub(r"\(\?(?:[imsU-]+:|P?<\w+>)", "(?:", tokens))
    if re.search(r"\\|\[:[^]]*:\]|\(\?[^:]", tokens) or re.search(
            r"[*+?}]\+", re.sub(r"\[\^?\]?[^]]*\]", "a", tokens)) or any(
            int(n) > 1000 for n in re.findall(r"[{,](\d+)(?=,\d*\}|\})", tokens)):
        raise Shape("no regular expression of RE2")
    try:
        re.compile(tokens)
    except (re.error, OverflowError, RecursionError) as e:
        raise Shape("no regular expression: %s" % e)


COMMON = dict.fromkeys(("value", "pattern", "flags", "min", "max", "schema"), anything)  # those of other types are not read
WORDS = ("type", "const", "enum", "pattern", "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems",
         "minProperties", "maxProperties", "uniqueItems", "required", "properties", "additionalProperties", "items", "anyOf",
         "oneOf", "allOf", "not")
ANNOTATIONS = ("$comment", "$id", "$schema", "default", "description", "examples", "format", "title")
TYPES = one_of("array", "boolean", "integer", "null", "number", "object", "string")


def _flags(v):
    if not isinstance(v, str) or set(v) - set("imsygu") or len(set(v)) != len(v):
        fail("no set of flags", v)


def schema(v):
    """The part of JSON Schema that is judged."""
    if isinstance(v, bool):
        return
    inner = dict.fromkeys(("additionalProperties", "items", "not"), schema)
    record({}, dict(dict.fromkeys(ANNOTATIONS + ("const",), anything), **dict(inner, **{
        "type": lambda t: many(TYPES, 1)(t) if isinstance(t, list) else TYPES(t), "enum": many(anything, 1),
        "pattern": lambda p: pattern(p) if p != "" else None, "minimum": real, "maximum": real, "uniqueItems": boolean,
        "required": many(text()), "properties": lambda p: record({}, dict.fromkeys(p, schema) if isinstance(p, dict) else None)(p)},
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), SIZE),
        **dict.fromkeys(("anyOf", "oneOf", "allOf"), many(schema, 1)))))(v)
    for low, high in (("minimum", "maximum"), ("minLength", "maxLength"), ("minItems", "maxItems"),
                      ("minProperties", "maxProperties")):
        if low in v and high in v and v[low] > v[high]:
            raise Shape("no value is within its bounds")
    if "const" in v and "enum" in v and jcs.encode(v["const"]) not in [jcs.encode(e) for e in v["enum"]]:
        raise Shape("const is not among enum")


RULE = {"message": text()}
OPTIONS = dict(COMMON, condition=_joined(_comparison))
CRITERION = variant("type", {
    "contains": (dict(RULE, value=FULL), OPTIONS), "regex": (dict(RULE, pattern=pattern), dict(OPTIONS, flags=_flags)),
    "length": (RULE, dict(OPTIONS, min=SIZE, max=SIZE)), "schema": (dict(RULE, schema=schema), OPTIONS)})


def _rule(v):
    CRITERION(v)
    if v["type"] == "length" and (not {"min", "max"} & set(v) or v.get("min", 0) > v.get("max", 2147483647)):
        raise Shape("a rule of length without min and max, or with min above max")


def _criteria(v):
    many(_joined(_rule), 1)(v) if isinstance(v, list) else _joined(_rule)(v)


CONDITION, CRITERIA = _joined(_comparison), _criteria
