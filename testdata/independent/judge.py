"""Checks of steps: their form in a workflow (section 13), their results (14), and what each proves, judged again from
the record alone."""
import re

import jcs
from checks import Shape, anything, fail, identifier, integer, many, matching, nonzero, one_of, real, record, text
from shapes import COUNT, FULL, SHA, SLUG

PLACEHOLDER = re.compile(r"\{\{ *[A-Za-z_][A-Za-z0-9_.-]* *\}\}")
CLAUSE, NAME = text(1, 512), text(1, 512)


def _texts(value_check, low=1, high=1 << 62):
    """An object of any members."""
    def check(v):
        if not isinstance(v, dict) or not low <= len(v) <= high:
            fail("no object of so many members", v)
        for name, value in v.items():
            NAME(name)
            value_check(value)
    return check


def _stdout(v):
    record({"pointer": text(0, 512)}, {"equals": anything, "gte": real, "lte": real, "contains": anything})(v)
    if len(v) < 2:
        raise Shape("nothing is expected of the value")


def _unique(member):
    def check(v):
        ids = [x[member] for x in v]
        if len(set(ids)) != len(ids):
            raise Shape("a check occurs twice")
    return check


CHECK = record({"id": SLUG, "argv": many(text(), 1)}, {
    "cwd": FULL, "env": _texts(text()), "timeoutSeconds": nonzero, "pins": many(NAME, 1, 64),
    "expect": record({}, {"exit": integer(0, 255), "stdout": _stdout,
                          "tests": record({}, {"min": COUNT, "failed": COUNT, "skipped": COUNT})})})


def check_list(v):
    many(CHECK, 1, 16)(v)
    _unique("id")(v)


TESTED = integer(0, 1000000)
STREAM = record({"bytes": COUNT, "head": text(0, 3 * 32768), "tail": text(0, 3 * 32768)}, {"omitted": integer(1)})
FORMAT = one_of("go", "junit", "tap", "pytest")
RESULT = record(
    {"kind": one_of("wr.check_result"), "checkId": SLUG, "attemptId": identifier("attempt"), "stepInstanceKey": FULL, "argvDigest": SHA,
     "exit": integer(-1, 2 ** 32 - 1), "durationMs": COUNT, "outputBytes": COUNT, "outputDigest": SHA, "stdout": STREAM, "stderr": STREAM},
    {"filledDigest": SHA, "failure": CLAUSE, "changed": many(NAME, 1, 65), "pins": _texts(SHA, 1, 64), "testsUnread": CLAUSE,
     "tests": record({"format": FORMAT, "passed": TESTED, "failed": TESTED, "skipped": TESTED}, {"cached": integer(1, 1000000)}),
     "value": anything, "valueUnread": CLAUSE,
     "root": SHA, "gitHead": matching(r"[0-9a-f]{40}|[0-9a-f]{64}", "commit")})


def check_result(v):
    """Raises Shape for a value that is no result of a check."""
    RESULT(v)
    changed = [name.encode("utf-8") for name in v.get("changed", [])]
    if any(a >= b for a, b in zip(changed, changed[1:])):
        raise Shape("changed is out of order")
    if "tests" in v and "testsUnread" in v or "value" in v and ("valueUnread" in v or v["value"] is None):
        raise Shape("there is a value, and why there is none")
    if len(jcs.encode(v.get("value"))) > 2048:
        raise Shape("the value is too long")


def _same(a, b):
    return jcs.encode(a) == jcs.encode(b)


def _number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def _contains(v, part):
    if isinstance(v, str):
        return isinstance(part, str) and part in v
    return isinstance(v, list) and any(_same(x, part) for x in v)


def fails(check, r):
    """Why a result of a check does not pass, None if it does."""
    expect = check.get("expect", {})
    filled = any(PLACEHOLDER.search(t) for t in check["argv"] + [check.get("cwd", "")] + list(check.get("env", {}).values()))
    if r["argvDigest"] != jcs.digest(jcs.encode(check["argv"])) or ("filledDigest" in r) != filled:
        return "it is of another command"
    if "changed" in r or "failure" in r:
        return "it did not run as it was trusted"
    if r["exit"] != expect.get("exit", 0):
        return "exit status"
    if set(check.get("pins", [])) - set(r.get("pins", {})):
        return "a pin without a digest"
    if "tests" in expect:
        want, got = expect["tests"], r.get("tests")
        if got is None or got["failed"] > want.get("failed", 0) or got["passed"] < want.get("min", 1) or (
                got["skipped"] > want.get("skipped", got["skipped"])):
            return "tests"
    if "stdout" in expect:
        want, v = expect["stdout"], r.get("value")
        if v is None or "equals" in want and not _same(v, want["equals"]) or "contains" in want and not _contains(v, want["contains"]):
            return "value"
        if "gte" in want and not (_number(v) and v >= want["gte"]) or "lte" in want and not (_number(v) and v <= want["lte"]):
            return "value"
    return None


def failing(step, key, attempt, brought):
    """The ids of the checks of a step without a passing result among what an attempt brought: (result, actor)
    pairs. attempt None: the one that all of them name, as in a session that an import renamed."""
    results = []
    for v, actor in brought:
        try:
            check_result(v)
        except Shape:
            continue
        if attempt is None:
            attempt = v["attemptId"]
        if v["attemptId"] == attempt and v["stepInstanceKey"] == key and actor == "engine":
            results.append(v)
    out = []
    for check in step.get("checks", []):
        mine = [r for r in results if r["checkId"] == check["id"]]
        if len(mine) != 1 or fails(check, mine[0]) is not None:
            out.append(check["id"])
    return out
