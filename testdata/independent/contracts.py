"""Contract packs, shapes and assessments: section 13 of the format, as what a document holds and as what it asks of
an artifact."""
import re

import jcs
from checks import Shape, anything, boolean, fail, integer, many, matching, one_of, real, record, text, true

ANY_TEXT, FULL = text(), text(1)
NESTED_MAX, PATTERN_MAX, FORMAT_MAX = 16, 256, 64
BELONGS = {"enum": "text", "minChars": "text", "maxChars": "text", "pattern": "text", "format": "text",
           "min": "integer number", "max": "integer number", "minItems": "array map", "maxItems": "array map",
           "items": "array map", "fields": "object", "open": "object", "exactlyOne": "object", "anyOf": "any"}
FORMS = {"type": one_of("any", "text", "integer", "number", "boolean", "array", "object", "map")}
SOME = {"description": FULL, "const": lambda v: fail("no constant", v) if v is None else None, "enum": many(FULL, 1),
        "minChars": integer(1), "maxChars": integer(1), "pattern": FULL, "format": one_of("date-time", "date", "uuid"),
        "min": real, "max": real, "minItems": integer(1), "maxItems": integer(1), "open": true, "items": anything,
        "fields": many(record({"name": FULL, "shape": anything}, {"required": true}), 1),
        "exactlyOne": many(ANY_TEXT, 2), "anyOf": many(anything, 2)}
TAKES = {"any": ("null", "boolean", "number", "text", "list", "object"), "text": ("text",), "integer": ("number",),
         "number": ("number",), "boolean": ("boolean",), "array": ("list",), "object": ("object",), "map": ("object",)}
DATE = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)"
                  r"(\.\d+)?([Zz]|[+-]([01]\d|2[0-3]):[0-5]\d)", re.A)
DAY = re.compile(r"(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])([Tt ]([01]\d|2[0-3]):[0-5]\d(:([0-5]\d|60)(\.\d+)?)?"
                 r"([Zz]|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?)?", re.A)
UUID = re.compile("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}")


def json_kind(v):
    """What a value is in JSON."""
    for kind, types in (("null", type(None)), ("boolean", bool), ("number", (int, float)), ("text", str), ("list", list)):
        if isinstance(v, types):
            return kind
    return "object"


def taken(shape):
    """The kinds of JSON values that a shape takes."""
    if "anyOf" in shape:
        return {k for s in shape["anyOf"] for k in TAKES[s["type"]]}
    return set(TAKES[shape["type"]])


def check_shape(shape, pattern, depth=1):
    """Raises Shape when a document's shape is none. `pattern` judges regular expressions."""
    if depth > NESTED_MAX:
        raise Shape("shapes nest too deep")
    record(FORMS, SOME)(shape)
    for name in set(shape) & set(BELONGS):
        if shape["type"] not in BELONGS[name].split():
            raise Shape("%s does not belong to %s" % (name, shape["type"]))
    for low, high in (("minChars", "maxChars"), ("minItems", "maxItems"), ("min", "max")):
        if low in shape and high in shape and shape[low] > shape[high]:
            raise Shape("no value is within its bounds")
    if "pattern" in shape:
        pattern(shape["pattern"])
        if len(shape["pattern"].encode("utf-8")) > PATTERN_MAX:
            raise Shape("a pattern is too long")
    fields, one = shape.get("fields", []), shape.get("exactlyOne", [])
    names = [f["name"].encode("utf-16-be", "surrogatepass") for f in fields]
    if any(a >= b for a, b in zip(names, names[1:])) or len(set(shape.get("enum", []))) != len(shape.get("enum", [])):
        raise Shape("fields are out of order, or a text of enum occurs twice")
    if len(set(one)) != len(one) or set(one) - {f["name"] for f in fields if "required" not in f}:
        raise Shape("exactlyOne names what is no optional field")
    for inner in [f["shape"] for f in fields] + shape.get("anyOf", []) + [shape[n] for n in ("items",) if n in shape]:
        check_shape(inner, pattern, depth + 1)
    kinds = [k for s in shape.get("anyOf", []) for k in taken(s)]
    if len(set(kinds)) != len(kinds) or any(s["type"] == "any" for s in shape.get("anyOf", [])):
        raise Shape("two shapes of anyOf take one kind of value")
    if "const" in shape:
        check_value(shape, shape["const"])


def check_value(shape, v):
    """Raises Shape when a value is not of a shape."""
    kind = json_kind(v)
    if kind not in taken(shape):
        fail("no " + shape["type"], v)
    for inner in shape.get("anyOf", []):
        if kind in taken(inner):
            check_value(inner, v)
    if "const" in shape and jcs.encode(v) != jcs.encode(shape["const"]):
        fail("not the constant", v)
    if shape["type"] == "text":
        _text(shape, v)
    elif kind == "number" and "anyOf" not in shape:
        if shape["type"] == "integer" and (v != int(v) or abs(v) > 2 ** 53):
            fail("not whole", v)
        if v < shape.get("min", v) or v > shape.get("max", v):
            fail("out of bounds", v)
    elif shape["type"] in ("array", "map"):
        items = v if shape["type"] == "array" else list(v.values())
        if len(items) < shape.get("minItems", 0) or len(items) > shape.get("maxItems", len(items)):
            fail("too many or too few", v)
        for item in items if "items" in shape else ():
            check_value(shape["items"], item)
    elif shape["type"] == "object":
        _members(shape, v)


def _text(shape, v):
    if "enum" in shape and v not in shape["enum"]:
        fail("not one of %s" % "|".join(shape["enum"]), v)
    if len(v) < shape.get("minChars", 0) or len(v) > shape.get("maxChars", len(v)):
        fail("text of other length", v)
    if "pattern" in shape and not re.search(re.sub(r"\$$", r"\\Z", shape["pattern"]), v):
        fail("not of the pattern", v)
    if "format" in shape and not _formatted(shape["format"], v):
        fail("no " + shape["format"], v)


def _formatted(name, v):
    if len(v.encode("utf-8")) > FORMAT_MAX:
        return False
    if name == "uuid":
        return UUID.fullmatch(v) is not None
    m = (DATE if name == "date-time" else DAY).fullmatch(v)
    if not m:
        return False
    year, month, day = int(m.group(1)), int(m.group(2)), int(m.group(3))
    leap = year % 4 == 0 and (year % 100 or year % 400 == 0)
    return day <= (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def _members(shape, v):
    fields = {f["name"]: f for f in shape.get("fields", [])}
    for name, f in fields.items():
        if name in v:
            check_value(f["shape"], v[name])
        elif "required" in f:
            raise Shape("member %s is missing" % name)
    if "open" not in shape and set(v) - set(fields):
        raise Shape("member %s is not known" % min(set(v) - set(fields)))
    if "exactlyOne" in shape and len(set(shape["exactlyOne"]) & set(v)) != 1:
        raise Shape("want exactly one of %s" % "|".join(shape["exactlyOne"]))


def satisfies(pack, artifact):
    """Raises Shape when an artifact does not satisfy a contract."""
    if not isinstance(artifact, dict) or artifact.get("kind") != pack["artifactKind"]:
        fail("not of the kind %s" % pack["artifactKind"], artifact)
    check_value(pack["shape"], {k: v for k, v in artifact.items() if k != "kind"})


def check_pack(pack, pattern):
    """Raises Shape when a document's contract pack is none."""
    record({"contractRef": matching(r"wr\.contracts\.[a-z0-9_]+", "contract"), "title": FULL, "shape": anything,
            "artifactKind": matching(r"wr\.[a-z0-9_]+", "kind"), "example": anything})(pack)
    check_shape(pack["shape"], pattern)
    if pack["shape"]["type"] != "object" or any(f["name"] == "kind" for f in pack["shape"].get("fields", [])):
        raise Shape("a contract is not of an object without its kind")
    satisfies(pack, pack["example"])


ASSESSMENT = record({"id": FULL, "purpose": ANY_TEXT, "dimensions": many(record(
    {"id": FULL, "purpose": ANY_TEXT, "levels": many(FULL, 2), "required": boolean}), 1)})


def check_assessment(a):
    """Raises Shape when a document's assessment is none."""
    ASSESSMENT(a)
    ids = [d["id"] for d in a["dimensions"]]
    if len(set(ids)) != len(ids) or any(len(set(d["levels"])) != len(d["levels"]) for d in a["dimensions"]):
        raise Shape("a dimension or level occurs twice")
    try:
        jcs.parse(jcs.encode(dict.fromkeys(ids)))
    except jcs.Refused as e:
        raise Shape("dimensions: %s" % e)


def answers(assessment, artifact):
    """Raises Shape when an artifact does not answer an assessment."""
    text_of = lambda levels: {"type": "text", "enum": levels}  # noqa: E731
    fields = [dict({"name": d["id"], "shape": {"type": "any", "anyOf": [text_of(d["levels"]), {
        "type": "object", "fields": [{"name": "level", "required": True, "shape": text_of(d["levels"])},
                                     {"name": "rationale", "shape": {"type": "text", "minChars": 1, "maxChars": 512}}]}]}},
                   **({"required": True} if d["required"] else {})) for d in assessment["dimensions"]]
    satisfies({"artifactKind": "wr.assessment", "shape": {"type": "object", "fields": [
        {"name": "assessmentId", "shape": {"type": "text", "const": assessment["id"]}},
        {"name": "dimensions", "required": True, "shape": {"type": "object", "fields": fields}},
        {"name": "summary", "shape": {"type": "text", "maxChars": 1024}}]}}, artifact)
