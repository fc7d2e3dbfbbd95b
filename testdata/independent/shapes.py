"""Forms of events, snapshots and compiled workflows: sections 6, 7, 12 and 13 of the format, as checkers.

A checker takes a value and raises Shape when it is not of its form.
"""
import re

from blake3 import derive_id
from jcs import depth, digest, encode


class Shape(ValueError):
    """A value is not of the form that the page gives."""


def _fail(what, value):
    raise Shape("%s: %.60r" % (what, value))


def matching(pattern, what):
    compiled = re.compile(pattern)
    return lambda v: None if isinstance(v, str) and compiled.fullmatch(v) else _fail("no " + what, v)


def text(low=0, high=None):
    def check(v):
        if not isinstance(v, str) or not low <= len(v.encode("utf-8")) <= (high or 1 << 62):
            _fail("text of other length or type", v)
    return check


def one_of(*values):
    return lambda v: None if isinstance(v, str) and v in values else _fail("not one of %s" % "|".join(values), v)


def integer(low=-2 ** 53, high=2 ** 53):
    def check(v):
        if isinstance(v, bool) or not isinstance(v, int) or not low <= v <= high:
            _fail("integer out of range or type", v)
    return check


def nonzero(v):
    integer()(v)
    if v == 0:
        _fail("an optional member that says nothing", v)


def anything(v):
    return None


def true(v):
    return None if v is True else _fail("not true", v)


def boolean(v):
    return None if isinstance(v, bool) else _fail("no boolean", v)


def real(v):
    return None if isinstance(v, (int, float)) and not isinstance(v, bool) else _fail("no number", v)


def many(check, low=0, high=1 << 62):
    def checked(v):
        if not isinstance(v, list) or not low <= len(v) <= high:
            _fail("list of other length or type", v)
        for item in v:
            check(item)
    return checked


def record(required, optional=None):
    optional = optional or {}

    def check(v):
        if not isinstance(v, dict):
            _fail("no object", v)
        for name in required:
            if name not in v:
                raise Shape("member %s is missing" % name)
        for name, member in v.items():
            checker = required.get(name) or optional.get(name)
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
            _fail("not one of %s" % "|".join(checks), tag)
        checks[tag](v)
    return check


def identifier(prefix):
    return matching(prefix + "_[a-z2-7]{25}[aeimquy4]", "id of " + prefix)


def is_id(v):
    return isinstance(v, str) and re.fullmatch("[a-z]+_[a-z2-7]{25}[aeimquy4]", v) is not None


def is_digest(v):
    return isinstance(v, str) and re.fullmatch("sha256:[0-9a-f]{64}", v) is not None


SHA = matching("sha256:[0-9a-f]{64}", "digest")
SLUG = matching("[a-z0-9_-]+", "name of a step, loop or condition")
KEY = matching("[A-Za-z_][A-Za-z0-9_.-]{0,127}", "context key")
FULL, SOME, COUNT = text(1), text(1, 512), integer(0)
SESS, RUN, NODE, EVT, GAP, OUT = map(identifier, ("sess", "run", "node", "evt", "gap", "out"))
CAPABILITY = one_of("delegation", "web_browsing")
AUTONOMY = one_of("guided", "full_auto_stop_on_user_deps", "full_auto_never_stop")
RISK = one_of("conservative", "balanced", "aggressive")
POINTER = variant("kind", {"context_key": ({"key": KEY},), "context_budget": ({},),
                           "output_contract": ({"contractRef": FULL},), "capability": ({"capability": CAPABILITY},),
                           "workflow_step": ({"stepId": SLUG},)})
NEEDS = ("needs_user_secret_or_token", "needs_user_account_access", "needs_user_artifact", "needs_user_choice",
         "needs_user_approval", "needs_user_environment_action")
BLOCKER = record({"code": one_of("USER_ONLY_DEPENDENCY", "MISSING_REQUIRED_OUTPUT", "INVALID_REQUIRED_OUTPUT",
                                 "REQUIRED_CAPABILITY_UNKNOWN", "REQUIRED_CAPABILITY_UNAVAILABLE",
                                 "INVARIANT_VIOLATION", "STORAGE_CORRUPTION_DETECTED"),
                  "message": SOME, "pointer": POINTER}, {"suggestedFix": text(1, 1024)})
OUTCOME = variant("kind", {"advanced": ({"toNodeId": NODE},),
                           "blocked": ({"blockers": record({"blockers": many(BLOCKER, 1, 10)})},)})
REASON = variant("category", {
    "user_only_dependency": ({"detail": one_of(*NEEDS)},),
    "contract_violation": ({"detail": one_of("missing_required_output", "invalid_required_output")},),
    "capability_missing": ({"detail": one_of("required_capability_unknown", "required_capability_unavailable")},),
    "unexpected": ({"detail": one_of("invariant_violation", "storage_corruption_detected")},)})
REF = variant("kind", {"step_id": ({"stepId": SLUG},), "loop_id": ({"loopId": SLUG},),
                       "condition_id": ({"conditionId": SLUG},), "iteration": ({"value": COUNT},)})
ENTRY = record({"kind": one_of("selected_next_step", "evaluated_condition", "entered_loop", "exited_loop",
                               "detected_non_tip_advance"), "summary": text(0, 512)}, {"refs": many(REF, 1, 10)})
RESULT = one_of("success", "failure")
PROVENANCE = variant("kind", {
    "probe_step": ({"enforcementGrade": one_of("strong"),
                    "detail": record({"probeTemplateId": FULL, "probeStepId": FULL, "result": RESULT})},),
    "attempted_use": ({"enforcementGrade": one_of("strong"), "detail": variant("result", {
        "success": ({"attemptContext": one_of("workflow_step", "system_probe")},),
        "failure": ({"attemptContext": one_of("workflow_step", "system_probe"), "failureCode": one_of(
            "tool_missing", "tool_error", "policy_blocked", "unknown")},)})},),
    "manual_claim": ({"enforcementGrade": one_of("weak"), "detail": record(
        {"claimedBy": one_of("agent", "user"), "claim": one_of("available", "unavailable")})},)})
PAYLOAD = variant("payloadKind", {
    "notes": ({"notesMarkdown": text(1, 4096)},),
    "artifact_ref": ({"sha256": SHA, "contentType": FULL, "byteLength": integer(1, 67108864)}, {"artifactKind": FULL})})
PREFERENCE = variant("key", {"autonomy": ({"value": AUTONOMY},), "riskPolicy": ({"value": RISK},)})
OBSERVED = variant("type", {"short_string": ({"value": text(1, 80)},), "sha256": ({"value": SHA},),
                            "git_sha1": ({"value": matching("[0-9a-f]{40}", "SHA-1")},), "path": ({"value": SOME},)})


def _nullable(check):
    return lambda v: None if v is None else check(v)


def _context(v):
    if not isinstance(v, dict) or len(encode(v)) > 262144 or depth(v) > 48:
        _fail("context over its budget or no object", type(v))
    for name in ("__proto__", "constructor", "prototype"):
        if name in v:
            raise Shape("context has a member %s" % name)


# kind -> scope, recipe of the dedupeKey behind kind and owner, members of data
KINDS = {
    "session_created": ("none", "", record({}, {"importedFrom": record(
        {"storeId": identifier("store"), "sessionId": SESS, "head": SHA})})),
    "run_started": ("run", "{runId}", record(
        {"workflowId": FULL, "workflowHash": SHA, "workflowSourceRef": text(0, 512),
         "workflowSourceKind": one_of("bundled", "user", "project", "remote", "plugin")},
        {"forkedFrom": record({"sessionId": SESS, "runId": RUN, "nodeId": NODE, "head": SHA}), "parent": RUN,
         "tags": many(text(1, 64), 1, 32), "title": text(1, 256)})),
    "node_created": ("node", "{runId}:{nodeId}", record(
        {"nodeKind": one_of("step", "checkpoint", "blocked_attempt"), "parentNodeId": _nullable(NODE),
         "snapshotRef": SHA, "workflowHash": SHA})),
    "edge_created": ("run", "{runId}:{fromNodeId}->{toNodeId}:{edgeKind}", variant("edgeKind", {
        "acked_step": ({"fromNodeId": NODE, "toNodeId": NODE, "cause": record(
            {"eventId": EVT, "kind": one_of("intentional_fork", "non_tip_advance", "idempotent_replay")})},),
        "checkpoint": ({"fromNodeId": NODE, "toNodeId": NODE, "cause": record(
            {"eventId": EVT, "kind": one_of("checkpoint_created")})},)})),
    "advance_recorded": ("node", "{nodeId}:{attemptId}", record(
        {"attemptId": identifier("attempt"), "intent": one_of("ack_pending"), "outcome": OUTCOME},
        {"requestDigest": SHA})),
    "context_set": ("run", "{contextId}", record(
        {"context": _context, "contextId": identifier("ctx"), "source": one_of("initial", "agent_delta", "merge")},
        {"nodeId": NODE})),
    "preferences_changed": ("node", "{changeId}", record(
        {"changeId": identifier("chg"), "delta": many(PREFERENCE, 1), "source": one_of(
            "user", "workflow_recommendation", "system"),
         "effective": record({"autonomy": AUTONOMY, "riskPolicy": RISK})})),
    "node_output_appended": ("node", "{outputId}", record(
        {"outputChannel": one_of("recap", "artifact"), "outputId": OUT, "payload": PAYLOAD},
        {"supersedesOutputId": OUT})),
    "gap_recorded": ("node", "{gapId}", record(
        {"gapId": GAP, "reason": REASON, "severity": one_of("info", "warning", "critical"), "summary": SOME,
         "resolution": variant("kind", {"unresolved": ({},), "resolves": ({"resolvesGapId": GAP},)})},
        {"pointer": POINTER, "evidenceRefs": many(variant("kind", {
            "event": ({"eventId": EVT},), "output": ({"outputId": OUT},)}), 1)})),
    "decision_trace_appended": ("node", "{traceId}", record(
        {"traceId": identifier("trace"), "entries": many(ENTRY, 1, 25)})),
    "capability_observed": ("node", "{capObsId}", record(
        {"capObsId": identifier("capobs"), "capability": CAPABILITY, "provenance": PROVENANCE,
         "status": one_of("unknown", "available", "unavailable")})),
    "divergence_recorded": ("node", "{divergenceId}", record(
        {"divergenceId": identifier("div"), "summary": SOME, "reason": one_of(
            "missing_user_context", "capability_unavailable", "efficiency_skip", "safety_stop", "policy_constraint")},
        {"relatedStepId": SLUG})),
    "observation_recorded": ("any", "{key}:{valueDigest}", record(
        {"key": one_of("git_branch", "git_head_sha", "repo_root_hash", "repo_root"),
         "confidence": one_of("low", "med", "high"), "value": OBSERVED})),
    "run_cancel_requested": ("run", "{runId}", record({"reason": SOME})),
    "run_closed": ("run", "{runId}", record({"outcome": one_of("cancelled", "failed"), "reason": SOME})),
}
SCOPES = {"none": (), "run": ({"runId"},), "node": ({"runId", "nodeId"},), "any": (None, {"runId", "nodeId"})}
ACTOR = record({"kind": one_of("human", "agent", "engine")}, {"ref": text(1, 128)})


def _pointer_key(blocker):
    p = blocker["pointer"]
    rest = "".join(v for k, v in p.items() if k != "kind")
    return tuple(s.encode("utf-8") for s in (blocker["code"], p["kind"], rest))


def _between(kind, data, scope):
    """What the page says of a kind beyond the members one by one."""
    if kind == "advance_recorded" and data["outcome"]["kind"] == "blocked":
        keys = [_pointer_key(b) for b in data["outcome"]["blockers"]["blockers"]]
        if any(a >= b for a, b in zip(keys, keys[1:])):
            raise Shape("blockers out of order")
    elif kind == "node_created" and data["parentNodeId"] == scope["nodeId"]:
        raise Shape("a node is its own parent")
    elif kind == "edge_created" and data["fromNodeId"] == data["toNodeId"]:
        raise Shape("an edge leads to its own node")
    elif kind == "preferences_changed":
        delta = [(d["key"], d["value"]) for d in data["delta"]]
        if len(dict(delta)) != len(delta) or any(data["effective"][k] != v for k, v in delta):
            raise Shape("delta names a key twice or does not show in effective")
    elif kind == "node_output_appended":
        if (data["outputChannel"] == "recap") != (data["payload"]["payloadKind"] == "notes"):
            raise Shape("payload of the other channel")
    elif kind == "gap_recorded" and data["resolution"]["kind"] == "resolves":
        if data["resolution"]["resolvesGapId"] == data["gapId"] or data["severity"] != "info":
            raise Shape("a record that resolves names itself or is not of severity info")
    elif kind == "decision_trace_appended":
        if sum(len(e["summary"].encode("utf-8")) for e in data["entries"]) > 8192:
            raise Shape("summaries over their budget")


def check_event(event, owner_key):
    """Raises Shape when the event is not one of this page (its spelling aside)."""
    kind = event.get("kind")
    if kind not in KINDS:
        _fail("unknown kind", kind)
    scope_rule, recipe, data_check = KINDS[kind]
    record({"data": data_check, "dedupeKey": matching("[a-z0-9_:>-]{1,256}", "dedupeKey"), "eventId": EVT,
            "eventIndex": COUNT, "kind": anything, owner_key: anything, "v": integer(1, 1)},
           {"actor": ACTOR, "ignorable": true, "scope": record({}, {"runId": RUN, "nodeId": NODE}),
            "timestampMs": nonzero})(event)
    scope, data = event.get("scope"), event["data"]
    if (None if scope is None else set(scope)) not in (SCOPES[scope_rule] or (None,)):
        raise Shape("scope does not fit: %s is wanted" % scope_rule)
    if len(encode(data)) > 524288:
        raise Shape("data over its budget")
    _between(kind, data, scope)
    parts = dict(data, **(scope or {}))
    if kind == "observation_recorded":
        parts["valueDigest"] = digest(data["value"]["value"].encode("utf-8"))
    key = kind + ":" + event[owner_key] + (":" + recipe.format(**parts) if recipe else "")
    if event["dedupeKey"] != key:
        raise Shape("dedupeKey by another recipe, %s is wanted" % key)


def event_id(event, owner):
    return derive_id("evt", owner, event["dedupeKey"])
