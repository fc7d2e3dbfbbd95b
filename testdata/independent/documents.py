"""Forms of objects: execution snapshots (section 12) and compiled workflows (13)."""
import re

from checks import (Shape, anything, boolean, fail, holds, integer, many, matching, nonzero, one_of, real, record, text,
                    true, variant)
from contracts import check_assessment, check_pack
from criteria import CONDITION, CRITERIA, SIZE, pattern
from jcs import Refused, encode, parse
from judge import check_list
from shapes import COUNT, FULL, SHA, SLUG

ANY_TEXT, TEXTS, SOME_TEXTS = text(), many(text()), many(text(), 1)
LOOP = "[a-z0-9_-]+@(?:0|[1-9][0-9]*)"
INSTANCE = re.compile("(?:%s(?:/%s)*::)?[a-z0-9_-]+" % (LOOP, LOOP))
FRAME = record({"bodyIndex": COUNT, "iteration": COUNT, "loopId": SLUG}, {
    "count": integer(1), "decision": one_of("continue", "stop")})
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
        raise Shape("a loop occurs twice on the stack")
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


INPUT = record({"contextKey": ANY_TEXT, "reason": ANY_TEXT, "description": ANY_TEXT},
               {"choices": SOME_TEXTS, "choiceKind": FULL, "choicesFrom": record({"step": SLUG, "pointer": ANY_TEXT})})


def _env(v):
    record({}, {name: ANY_TEXT for name in v} if isinstance(v, dict) else None)(v)
    if not v:
        raise Shape("an optional object that says nothing")


def period_ms(text):
    """A period as 1d2h3m4s in milliseconds, None for a text that is none."""
    m = re.fullmatch("(?:([1-9][0-9]*)d)?(?:([1-9][0-9]*)h)?(?:([1-9][0-9]*)m)?(?:([1-9][0-9]*)s)?", text)
    seconds = sum(int(n or 0) * unit for n, unit in zip(m.groups(), (86400, 3600, 60, 1))) if m else 0
    return seconds * 1000 if 0 < seconds <= 366 * 86400 else None


def _period(v):
    text(1, 48)(v)
    if period_ms(v) is None:
        fail("no period", v)


ACTION = record({"kind": one_of("command"), "argv": many(ANY_TEXT, 1)}, {
    "cwd": FULL, "env": _env, "timeoutSeconds": nonzero,
    "retry": record({"maxAttempts": integer()}, {"backoffSeconds": nonzero})})

def _wait(v):
    record({}, {"for": FULL, "until": FULL})(v)
    if len(v) != 1 or "for" in v and period_ms(v["for"]) is None or len(v.get("until", "")) > 256:
        raise Shape("a wait without a moment")


HOST_TYPES = ("core.noop", "core.identity", "core.delay", "core.fail", "core.approvalGate", "core.clarificationGate",
              "core.interrupt", "core.ai.callPrompt", "core.conformance.requiresMissing")
HOST_CONFIGS = {"core.noop": record({}), "core.identity": record({}),
                "core.delay": record({}, {"delayMs": integer(0, 60000), "defaultMs": integer(0, 60000)}),
                "core.fail": record({}, {"code": matching("[A-Za-z][A-Za-z0-9_.-]{0,127}", "code"), "message": text(1, 512)})}


BESIDE_HOST = {"action", "wait", "checks", "outputs", "assessmentRefs", "notesRequired", "outputContract", "validationCriteria", "type"}


def _host(v):
    record({"typeId": one_of(*HOST_TYPES)}, {"config": anything})(v)
    config = v.get("config", {})
    if not isinstance(config, dict) or "config" in v and not config:
        raise Shape("a host step with a config that is none")
    HOST_CONFIGS.get(v["typeId"], anything)(config)


PARAMETER = record({"name": ANY_TEXT, "type": ANY_TEXT}, {"required": true, "description": FULL,
                                                          "enum": many(anything, 1), "default": anything})
FUNCTION = record({"name": ANY_TEXT, "definition": ANY_TEXT, "scope": ANY_TEXT},
                  {"parameters": many(PARAMETER, 1), "calls": many(anything, 1)})
CONFIRMATION = variant("kind", {"never": ({},), "always": ({},), "condition": ({"condition": CONDITION},),
                                "human_approval": ({}, {"condition": CONDITION, "approvers": many(text(1, 128), 1, 32),
                                                        "count": integer(1, 9), "expiresAfter": _period, "notPerformer": true})})
PROVENANCE = variant("source", {"authored": ({},), "template_injected": ({"originId": FULL},),
                                "feature_injected": ({"originId": FULL},)})
MARKER = record({"stepId": SLUG, "title": ANY_TEXT, "prompt": lambda v: fail("text", v) if v != "" else None,
                 "provenance": PROVENANCE, "requireConfirmation": CONFIRMATION, "type": one_of("loop")},
                {"runCondition": CONDITION})
COMPILED_STEP = record(
    {"stepId": SLUG, "title": ANY_TEXT, "prompt": ANY_TEXT, "provenance": PROVENANCE,
     "requireConfirmation": CONFIRMATION},
    {"action": ACTION, "checks": check_list, "agentRole": FULL, "askForFiles": true, "notesRequired": true, "functions": many(FUNCTION, 1),
     "guidance": SOME_TEXTS, "inputs": many(INPUT, 1), "runCondition": CONDITION, "assessmentRefs": SOME_TEXTS,
     "assessmentConsequences": many(record({"anyEqualsLevel": ANY_TEXT, "guidance": ANY_TEXT},
                                           {"forAssessment": FULL}), 1),
     "host": _host, "injected": many(record({"originId": ANY_TEXT, "contentHash": SHA, "bytes": integer()}), 1),
     "outputContract": record({"contractRef": ANY_TEXT, "required": boolean}), "probe": FULL,
     "promptFragments": many(record({"id": ANY_TEXT, "text": ANY_TEXT}, {"when": CONDITION}), 1),
     "type": one_of("parallel"), "wait": _wait, "validationCriteria": CRITERIA, "promptBlocks": record({}, {
         "goal": FULL, "constraints": SOME_TEXTS, "procedure": SOME_TEXTS, "outputRequired": _env,
         "verify": SOME_TEXTS})})
CONTROL_FORMS = {"artifact_contract": ({"contractRef": one_of("wr.contracts.loop_control")}, {"loopId": FULL}),
                 "context_variable": ({"condition": CONDITION}, {})}
CONTROL = variant("kind", {k: (f[0], dict(f[1], conditionId=FULL)) for k, f in CONTROL_FORMS.items()})
NAMED = variant("kind", {k: (dict(f[0], conditionId=FULL), f[1]) for k, f in CONTROL_FORMS.items()})


def _step(v):
    (MARKER if isinstance(v, dict) and v.get("type") == "loop" else COMPILED_STEP)(v)


def _count(v):
    return FULL(v) if isinstance(v, str) else SIZE(v)


SEQUENCE = many(_step, 1, 2000)
OF_LOOP = {"loopId": FULL, "title": ANY_TEXT, "maxIterations": integer(1), "body": SEQUENCE}
DECIDED = (dict(OF_LOOP, control=CONTROL), {"iterationVar": FULL})
LOOP_FORM = variant("kind", {"while": DECIDED, "until": DECIDED, "for": (dict(OF_LOOP, count=_count), {"iterationVar": FULL}),
                             "forEach": (dict(OF_LOOP, items=FULL), dict.fromkeys(("iterationVar", "itemVar", "indexVar"), FULL))})
IDS = {"features": "featureId", "contracts": "contractRef", "conditions": "conditionId", "loops": "loopId",
       "assessments": "id", "bindings": "slotId"}
WORKFLOW = record(
    {"schemaVersion": integer(1, 2), "workflowId": FULL, "name": ANY_TEXT, "description": ANY_TEXT,
     "version": ANY_TEXT, "capabilities": record({"required": TEXTS, "preferred": TEXTS, "disabled": TEXTS}),
     "features": many(record({"featureId": FULL, "contentHash": SHA, "bytes": integer()})),
     "contracts": many(lambda v: check_pack(v, pattern)), "conditions": many(NAMED), "loops": many(LOOP_FORM),
     "steps": SEQUENCE, "compiledWarnings": many(record({"code": ANY_TEXT, "stepId": ANY_TEXT}))},
    {"agentRole": FULL, "clarificationPrompts": SOME_TEXTS, "metaGuidance": SOME_TEXTS, "preconditions": SOME_TEXTS,
     "assessments": many(check_assessment, 1), "bindings": many(record(
         {"slotId": FULL, "routineId": ANY_TEXT, "source": one_of("default", "project")}), 1),
     "inputs": many(INPUT, 1),
     "recommendedPreferences": record({}, {"recommendedAutonomy": FULL, "recommendedRiskPolicy": FULL}),
     "references": many(record({"id": ANY_TEXT, "title": ANY_TEXT, "source": ANY_TEXT, "purpose": ANY_TEXT,
                                "authoritative": boolean}, {"resolveFrom": FULL}), 1)})


def sequences(doc):
    """loopId -> steps, the main sequence under ""."""
    return dict({loop["loopId"]: loop["body"] for loop in doc["loops"]}, **{"": doc["steps"]})


def _workflow(doc):
    """What section 13 says beyond the members one by one."""
    WORKFLOW(doc)
    for name, member in IDS.items():
        ids = [x[member].encode("utf-8") for x in doc.get(name, [])]
        if any(a >= b for a, b in zip(ids, ids[1:])):
            raise Shape("%s are out of order" % name)
    steps = [s for body in sequences(doc).values() for s in body]
    ids = [s["stepId"] for s in steps]
    if len(set(ids)) != len(ids) or len(ids) > 2000:
        raise Shape("a step occurs twice, or there are too many")
    reached, todo = set(), [""]
    while todo:
        loops = [s["stepId"] for s in sequences(doc).get(todo[0], ()) if s.get("type") == "loop"]
        reached.update(loops)
        todo = todo[1:] + loops
    if reached != {loop["loopId"] for loop in doc["loops"]}:
        raise Shape("loops and the steps that stand for them do not go together")
    packs, assessments = ({x[m] for x in doc.get(n, [])} for n, m in (("contracts", "contractRef"), ("assessments", "id")))
    for s in steps:
        _step_of(s, packs, assessments)
        gate = s["requireConfirmation"]
        if doc["schemaVersion"] < 2 and set(gate) & {"approvers", "count", "expiresAfter", "notPerformer"}:
            raise Shape("form 1 does not say who approves a step")
        if doc["schemaVersion"] < 2 and "checks" in s:
            raise Shape("form 1 has no checks")
        if "host" in s and (doc["schemaVersion"] < 2 or set(s) & BESIDE_HOST):
            raise Shape("a host step beside what only other steps have, or in form 1")
        if len(set(gate.get("approvers", []))) != len(gate.get("approvers", [])):
            raise Shape("an approver occurs twice")
    for name in doc["capabilities"]["required"]:
        if name not in ("delegation", "web_browsing") or name not in {s.get("probe") for s in steps}:
            raise Shape("capability %s is required and has no probe" % name)
    named = {c["conditionId"]: c for c in doc["conditions"]}
    for control in [loop["control"] for loop in doc["loops"] if "control" in loop] + doc["conditions"]:
        if control["kind"] == "artifact_contract" and control["contractRef"] not in packs:
            raise Shape("a control names a contract that does not exist")
        if control.get("conditionId") is not None and named.get(control["conditionId"]) != control:
            raise Shape("a control is not the condition that it names")


def _step_of(s, packs, assessments):
    refs = s.get("assessmentRefs", [])
    if "outputContract" in s and s["outputContract"]["contractRef"] not in packs:
        raise Shape("its contract does not exist")
    if set(refs) - assessments or refs and "wr.contracts.assessment" not in packs:
        raise Shape("an assessment does not exist")
    for c in s.get("assessmentConsequences", ()):
        if not refs or c.get("forAssessment", refs[0]) not in refs:
            raise Shape("a consequence of what the step does not ask for")
    if "probe" in s and (s["probe"] not in ("delegation", "web_browsing") or s.get("outputContract") != {
            "contractRef": "wr.contracts.capability_observation", "required": True}):
        raise Shape("a probe that asks for no observation")


def check_workflow(data):
    """The document of a pinned workflow whose digest holds; raises Problem. Section 13 says which."""
    try:
        doc = parse(data)
    except Refused as e:
        raise Problem("object_damaged", str(e))
    version = doc.get("schemaVersion") if isinstance(doc, dict) else None
    whole = holds(real, version) and version == int(version)
    if whole and version > 2 or isinstance(doc, dict) and "sourceKind" in doc:
        raise Problem("unknown_version", "a workflow of another version or program")
    try:
        if encode(doc) != data:
            raise Shape("another spelling than JCS")
        _workflow(doc)
    except Shape as e:
        raise Problem("object_damaged", str(e))
    return doc
