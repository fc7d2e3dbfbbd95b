"""Forms of objects: execution snapshots (section 12), compiled workflows (13), command results (14)."""
import re

from shapes import (AUTONOMY, COUNT, FULL, KEY, NEEDS, RISK, SHA, SLUG, Shape, anything, boolean, integer, many,
                    one_of, record, text, true, variant)

ANY_TEXT, TEXTS, SOME_TEXTS = text(), many(text()), many(text(), 1)
INSTANCE = re.compile(r"(?:[a-z0-9_-]+@\d+(?:/[a-z0-9_-]+@\d+)*::)?[a-z0-9_-]+")
FRAME = record({"bodyIndex": COUNT, "iteration": COUNT, "loopId": SLUG}, {"count": integer(1)})
STEP = record({"stepId": SLUG, "loopPath": many(record({"iteration": COUNT, "loopId": SLUG}))})
STATE = variant("kind", {"complete": ({},), "running": ({
    "completed": record({"kind": one_of("set"), "values": many(FULL)}), "loopStack": many(FRAME),
    "pending": variant("kind", {"some": ({"step": STEP},), "none": ({},)})},)})
SNAPSHOT = record({"enginePayload": record({"engineState": STATE, "v": integer(1, 1)}),
                   "kind": one_of("execution_snapshot"), "v": integer(1, 1)})


def instance_key(step):
    """The key of a step inside its loops."""
    path = "/".join("%s@%d" % (f["loopId"], f["iteration"]) for f in step["loopPath"])
    return path + "::" + step["stepId"] if path else step["stepId"]


def check_snapshot(doc):
    """Form and invariants of section 12; raises Shape."""
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


OPERATORS = ("equals", "not_equals", "gt", "gte", "lt", "lte", "contains", "in")


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


def _comparison(v):
    record({"var": FULL}, {name: anything for name in OPERATORS})(v)
    if len(v) < 2:
        raise Shape("a condition without operator")


CONDITION = _joined(_comparison)
RULE = {"message": ANY_TEXT}
CRITERIA = _joined(variant("type", {
    "contains": (dict(RULE, value=ANY_TEXT), {"condition": CONDITION}),
    "regex": (dict(RULE, pattern=ANY_TEXT), {"condition": CONDITION, "flags": FULL}),
    "length": (RULE, {"condition": CONDITION, "min": COUNT, "max": integer(1)})}))
INPUT = record({"contextKey": KEY, "reason": one_of(*NEEDS), "description": ANY_TEXT},
               {"choices": SOME_TEXTS, "choiceKind": one_of(
                   "preference_tradeoff", "scope_boundary", "irreversible_action", "external_side_effect",
                   "policy_or_compliance")})


def _input(v):
    INPUT(v)
    if ("choiceKind" in v) != (v["reason"] == "needs_user_choice"):
        raise Shape("choiceKind stands exactly with needs_user_choice")


def _env(v):
    record({}, {name: ANY_TEXT for name in v} if isinstance(v, dict) else None)(v)
    if not v:
        raise Shape("an optional object that says nothing")


ACTION = record({"kind": one_of("command"), "argv": many(ANY_TEXT, 1)}, {
    "cwd": FULL, "env": _env, "timeoutSeconds": integer(1, 604800),
    "retry": record({"maxAttempts": integer(1, 100)}, {"backoffSeconds": integer(1, 86400)})})
PARAMETER = record({"name": FULL, "type": FULL}, {"required": true, "description": ANY_TEXT, "enum": many(anything, 1),
                                                  "default": anything})
FUNCTION = record({"name": FULL, "definition": ANY_TEXT, "scope": one_of("step", "workflow")},
                  {"parameters": many(PARAMETER, 1), "calls": many(anything, 1)})
COMPILED_STEP = record(
    {"stepId": SLUG, "title": ANY_TEXT, "prompt": ANY_TEXT,
     "provenance": record({"source": one_of("authored")}, {"originId": FULL}),
     "requireConfirmation": variant("kind", {"never": ({},), "always": ({},), "condition": ({"condition": CONDITION},),
                                             "human_approval": ({}, {"condition": CONDITION})})},
    {"action": ACTION, "agentRole": FULL, "askForFiles": true, "notesRequired": true, "functions": many(FUNCTION, 1),
     "guidance": many(ANY_TEXT, 1), "inputs": many(_input, 1), "runCondition": CONDITION,
     "validationCriteria": CRITERIA, "promptBlocks": record({}, {
         "goal": FULL, "constraints": SOME_TEXTS, "procedure": SOME_TEXTS, "outputRequired": _env,
         "verify": SOME_TEXTS})})
EMPTY = many(anything, 0, 0)
WORKFLOW = record(
    {"schemaVersion": integer(1, 1), "workflowId": FULL, "name": ANY_TEXT, "description": ANY_TEXT,
     "version": ANY_TEXT, "capabilities": record({"required": EMPTY, "preferred": TEXTS, "disabled": TEXTS}),
     "features": EMPTY, "contracts": EMPTY, "conditions": EMPTY, "loops": EMPTY, "steps": many(COMPILED_STEP, 1, 2000),
     "compiledWarnings": many(record({"code": one_of("coordinator_eval_as_confirmation"), "stepId": SLUG}))},
    {"agentRole": FULL, "clarificationPrompts": SOME_TEXTS, "metaGuidance": SOME_TEXTS, "preconditions": SOME_TEXTS,
     "inputs": many(_input, 1),
     "recommendedPreferences": record({}, {"recommendedAutonomy": AUTONOMY, "recommendedRiskPolicy": RISK}),
     "references": many(record({"id": FULL, "title": ANY_TEXT, "source": ANY_TEXT, "purpose": ANY_TEXT,
                                "authoritative": boolean}, {"resolveFrom": FULL}), 1)})


def _sorted(values, what):
    if values != sorted(values):
        raise Shape(what + " is not sorted")


def check_workflow(doc):
    """Form of section 13; raises Shape."""
    WORKFLOW(doc)
    ids = [s["stepId"] for s in doc["steps"]]
    if len(set(ids)) != len(ids):
        raise Shape("a step stands twice")
    for name in ("preferred", "disabled"):
        _sorted([v.encode("utf-8") for v in doc["capabilities"][name]], name)
    _sorted([(w["code"], w["stepId"]) for w in doc["compiledWarnings"]], "compiledWarnings")
    for step in doc["steps"]:
        _sorted([(f["scope"] != "step", f["name"].encode("utf-8")) for f in step.get("functions", ())], "functions")
        if step.get("validationCriteria", {}).get("type") == "length" and not (
                {"min", "max"} & set(step["validationCriteria"])):
            raise Shape("a rule of length without min and max")


COMMAND_RESULT = record(
    {"kind": one_of("wr.command_result"), "argvDigest": SHA, "exitStatus": integer(-1), "durationMs": COUNT,
     "tries": COUNT, "outputBytes": COUNT, "outputDigest": SHA, "outputHead": text(0, 65536),
     "outputTail": text(0, 65536)}, {"failure": FULL})
