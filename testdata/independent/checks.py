"""Checkers of values, and what makes them. A checker takes a value and raises Shape when it is not of its form."""
import re


class Shape(ValueError):
    """A value is not of the form that the page gives."""


def fail(what, value):
    raise Shape("%s: %.60r" % (what, value))


def matching(pattern, what):
    compiled = re.compile(pattern)
    return lambda v: None if isinstance(v, str) and compiled.fullmatch(v) else fail("no " + what, v)


def text(low=0, high=None):
    def check(v):
        if not isinstance(v, str) or not low <= len(v.encode("utf-8")) <= (high or 1 << 62):
            fail("text of other length or type", v)
    return check


def one_of(*values):
    return lambda v: None if isinstance(v, str) and v in values else fail("not one of %s" % "|".join(values), v)


def integer(low=-2 ** 53, high=2 ** 53):
    def check(v):
        if isinstance(v, bool) or not isinstance(v, int) or not low <= v <= high:
            fail("integer out of range or type", v)
    return check


def nonzero(v):
    integer()(v)
    if v == 0:
        fail("an optional member that says nothing", v)


def anything(v):
    return None


def true(v):
    return None if v is True else fail("not true", v)


def boolean(v):
    return None if isinstance(v, bool) else fail("no boolean", v)


def real(v):
    return None if isinstance(v, (int, float)) and not isinstance(v, bool) else fail("no number", v)


def many(check, low=0, high=1 << 62):
    def checked(v):
        if not isinstance(v, list) or not low <= len(v) <= high:
            fail("list of other length or type", v)
        for item in v:
            check(item)
    return checked


PASSING = []  # not empty while members that a record does not have are passed over


def passing(check):
    """The same checker, which passes over members that its records do not have, at every level."""
    def checked(v):
        PASSING.append(check)
        try:
            check(v)
        finally:
            PASSING.pop()
    return checked


def record(required, optional=None):
    optional = optional or {}

    def check(v):
        if not isinstance(v, dict):
            fail("no object", v)
        for name in required:
            if name not in v:
                raise Shape("member %s is missing" % name)
        for name, member in v.items():
            checker = required.get(name) or optional.get(name)
            if checker is None and PASSING:
                continue
            if checker is None:
                raise Shape("member %s is not known" % name)
            try:
                checker(member)
            except Shape as e:
                raise Shape("%s: %s" % (name, e))
    return check


def variant(member, forms):
    """An object whose form depends on one of its members: value -> (required, optional)."""
    checks = {k: record(dict(f[0], **{member: anything}), f[1] if len(f) > 1 else None) for k, f in forms.items()}

    def check(v):
        tag = v.get(member) if isinstance(v, dict) else None
        if not isinstance(tag, str) or tag not in checks:
            fail("not one of %s" % "|".join(checks), tag)
        checks[tag](v)
    return check


def holds(check, v):
    """Whether a value passes a check."""
    try:
        check(v)
    except Shape:
        return False
    return True


def identifier(prefix):
    return matching(prefix + "_[a-z2-7]{25}[aeimquy4]", "id of " + prefix)


def is_id(v):
    return isinstance(v, str) and re.fullmatch("[a-z]+_[a-z2-7]{25}[aeimquy4]", v) is not None


def is_digest(v):
    return isinstance(v, str) and re.fullmatch("sha256:[0-9a-f]{64}", v) is not None
