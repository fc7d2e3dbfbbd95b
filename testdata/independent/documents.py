"""Forms of objects: execution snapshots (section 12), compiled workflows (13), command results (14)."""
import re

from checks import (Shape, anything, boolean, fail, holds, integer, many, matching, nonzero, one_of, real, record, text,
                    true, variant)
from jcs import Refused, encode, parse
from shapes import COUNT, FULL, SHA, SLUG

ANY_TEXT, TEXTS, SOME_TEXTS = text(), many(text()), many(text(), 1)
LOOP = "[a-z0-9_-]+@(?:0|[1-9][0-9]*)"
INSTANCE = re.compile("(?:%s(?:/%s)*::)?[a-z0-9_-]+" % (LOOP, LOOP))
FRAME = record({"bodyIndex": COUNT, "iteration": COUNT, "loopId": SLUG}, {"count": integer(1)})
STEP = record({"stepId": SLUG, "loopPath": many(record({"iteration": COUNT, "loopId": SLUG}))})
STATE = variant("kind", {"complete": ({},), "running": ({
    "completed": record({"kind": one_of("set"), "values": many(FULL)}), "loopStack": many(FRAME),
    "pending": variant("kind", {"some": ({"step": STEP},), "none": ({},)})},)})
SNAPSHOT = record({"enginePayload": record({"engineState": STATE, "v": integer(1, 1)}),
                   "kind": one_of("execution_snapshot"), "v": integer(1, 1)})


class Problem(Exception):
    """What a document is not: the code of a finding, and why."""


def instance_key(step):
    """The key of a step inside its loops."""
    path = "/".join("%s@%d" % (f["loopId"], f["iteration"]) for f in step["loopPath"])
    return path + "::" + step["stepId"] if path else step["stepId"]


def _snapshot(doc):
    """Form and invariants of section 12."""
    SNAPSHOT(doc)
    state = doc["enginePayload"]["engineState"]
    if state["kind"] == "complete":
        return
    values = state["completed"]["values"]
    keys = [v.encode("utf-8") for v in values]
    if any(a >= b for a, b in zip(keys, keys[1:])) or not all(INSTANCE.fullmatch(v) for v in values):
        raise Shape("completed is not a sorted set of step instance keys")
    stack = state["loopStack"]
    if len({f["loopId"] for f in stack}) != len(stack):
        raise Shape("a loop stands twice on the stack")
    if any("count" in f and f["iteration"] >= f["count"] for f in stack):
        raise Shape("an iteration is not below its count")
    if state["pending"]["kind"] == "some":
        step = state["pending"]["step"]
        if [(f["loopId"], f["iteration"]) for f in step["loopPath"]] != [(f["loopId"], f["iteration"]) for f in stack]:
            raise Shape("loopPath is not the stack")
        if instance_key(step) in values:
            raise Shape("the pending step is completed")


def pending_step(doc):
    """The id of the pending step of a snapshot that is in form, or None."""
    state = doc["enginePayload"]["engineState"]
    return state["pending"]["step"]["stepId"] if state.get("pending", {}).get("kind") == "some" else None


def check_snapshot(data):
    """The document of a snapshot whose digest holds; raises Problem."""
    if len(data) > 4194304:
        raise Problem("object_damaged", "longer than a snapshot can be")
    try:
        doc = parse(data)
        if encode(doc) != data:
            raise Shape("another spelling than JCS")
        _snapshot(doc)
        return doc
    except ValueError as e:
        raise Problem("unknown_version", str(e))


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
    if len(v) < 2:
        raise Shape("a condition without operator")


ESCAPED = r"\\(?:[0-7]{2,3}|0|[pP](?:\{\^?\w+\}|[A-Z])|x(?:\{(?:0*10|0*[0-9a-fA-F])?[0-9a-fA-F]{1,4}\}|[0-9a-fA-F]{2})|" \
          r"[aAbBdDfnrsStvwWz]|[!-/:-@[-`{-~])"


CLASS = r"\[:\^?(?:alnum|alpha|ascii|blank|cntrl|digit|graph|lower|print|punct|space|upper|word|xdigit):\]"


def _pattern(v):
    """RE2, as far as Python can tell: it refuses what both refuse, and what RE2 lacks, looking around and back."""
    FULL(v)
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


RULE, SIZE = {"message": FULL}, integer(0, 2147483647)
CRITERION = variant("type", {
    "contains": (dict(RULE, value=FULL), {"condition": _joined(_comparison)}),
    "regex": (dict(RULE, pattern=_pattern), {"condition": _joined(_comparison), "flags": matching(
        r"(?!.*(.).*\1)[ims]+", "set of flags")}),
    "length": (RULE, {"condition": _joined(_comparison), "min": SIZE, "max": SIZE})})


def _rule(v):
    CRITERION(v)
    if v["type"] == "length" and (not {"min", "max"} & set(v) or v.get("min", 0) > v.get("max", 2147483647)):
        raise Shape("a rule of length without min and max, or with min above max")


def _criteria(v):
    many(_joined(_rule), 1)(v) if isinstance(v, list) else _joined(_rule)(v)


CONDITION, CRITERIA = _joined(_comparison), _criteria
INPUT = record({"contextKey": ANY_TEXT, "reason": ANY_TEXT, "description": ANY_TEXT},
               {"choices": SOME_TEXTS, "choiceKind": FULL})


def _env(v):
    record({}, {name: ANY_TEXT for name in v} if isinstance(v, dict) else None)(v)
    if not v:
        raise Shape("an optional object that says nothing")


ACTION = record({"kind": one_of("command"), "argv": many(ANY_TEXT, 1)}, {
    "cwd": FULL, "env": _env, "timeoutSeconds": nonzero,
    "retry": record({"maxAttempts": integer()}, {"backoffSeconds": nonzero})})
PARAMETER = record({"name": ANY_TEXT, "type": ANY_TEXT}, {"required": true, "description": FULL,
                                                          "enum": many(anything, 1), "default": anything})
FUNCTION = record({"name": ANY_TEXT, "definition": ANY_TEXT, "scope": ANY_TEXT},
                  {"parameters": many(PARAMETER, 1), "calls": many(anything, 1)})
COMPILED_STEP = record(
    {"stepId": SLUG, "title": ANY_TEXT, "prompt": ANY_TEXT,
     "provenance": record({"source": one_of("authored")}, {"originId": FULL}),
     "requireConfirmation": variant("kind", {"never": ({},), "always": ({},), "condition": ({"condition": CONDITION},),
                                             "human_approval": ({}, {"condition": CONDITION})})},
    {"action": ACTION, "agentRole": FULL, "askForFiles": true, "notesRequired": true, "functions": many(FUNCTION, 1),
     "guidance": SOME_TEXTS, "inputs": many(INPUT, 1), "runCondition": CONDITION,
     "validationCriteria": CRITERIA, "promptBlocks": record({}, {
         "goal": FULL, "constraints": SOME_TEXTS, "procedure": SOME_TEXTS, "outputRequired": _env,
         "verify": SOME_TEXTS})})
LATER = ("features", "contracts", "conditions", "loops")  # lists that are empty in this version
WORKFLOW = record(
    dict({"schemaVersion": integer(1, 1), "workflowId": FULL, "name": ANY_TEXT, "description": ANY_TEXT,
          "version": ANY_TEXT, "capabilities": record({"required": TEXTS, "preferred": TEXTS, "disabled": TEXTS}),
          "steps": many(COMPILED_STEP, 1, 2000),
          "compiledWarnings": many(record({"code": ANY_TEXT, "stepId": ANY_TEXT}))},
         **dict.fromkeys(LATER, many(anything))),
    {"agentRole": FULL, "clarificationPrompts": SOME_TEXTS, "metaGuidance": SOME_TEXTS, "preconditions": SOME_TEXTS,
     "inputs": many(INPUT, 1),
     "recommendedPreferences": record({}, {"recommendedAutonomy": FULL, "recommendedRiskPolicy": FULL}),
     "references": many(record({"id": ANY_TEXT, "title": ANY_TEXT, "source": ANY_TEXT, "purpose": ANY_TEXT,
                                "authoritative": boolean}, {"resolveFrom": FULL}), 1)})


def check_workflow(data):
    """The document of a pinned workflow whose digest holds; raises Problem. Section 13 says which."""
    try:
        doc = parse(data)
    except Refused as e:
        raise Problem("object_damaged", str(e))
    version = doc.get("schemaVersion") if isinstance(doc, dict) else None
    whole = holds(real, version) and version == int(version)
    if whole and version > 1 or isinstance(doc, dict) and "sourceKind" in doc:
        raise Problem("unknown_version", "a workflow of another version or program")
    try:
        if encode(doc) != data:
            raise Shape("another spelling than JCS")
        WORKFLOW(doc)
        ids = [s["stepId"] for s in doc["steps"]]
        if len(set(ids)) != len(ids):
            raise Shape("a step stands twice")
    except Shape as e:
        raise Problem("object_damaged", str(e))
    if any(doc[name] for name in LATER) or doc["capabilities"]["required"]:
        raise Problem("unknown_version", "it needs what this version does not know")
    return doc


COMMAND_RESULT = record(
    {"kind": one_of("wr.command_result"), "argvDigest": SHA, "exitStatus": integer(-1), "durationMs": COUNT,
     "tries": COUNT, "outputBytes": COUNT, "outputDigest": SHA, "outputHead": text(0, 3 * 65536),
     "outputTail": text(0, 3 * 65536)}, {"failure": FULL})
