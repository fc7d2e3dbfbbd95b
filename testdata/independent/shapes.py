"""Forms of events: sections 6 and 7 of the format, as checkers."""
from blake3 import derive_id
from checks import (Shape, anything, fail, holds, identifier, integer, many, matching, nonzero, one_of, passing, real, record,
                    text, true, variant)
from jcs import depth, digest, encode

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
TESTED = integer(0, 1000000)
CHECKED = record({"id": SLUG}, {"exit": integer(0, 2 ** 32 - 1), "tests": record(
    {"format": one_of("go", "junit", "tap", "pytest"), "passed": TESTED, "failed": TESTED, "skipped": TESTED})})
LOOP = record({"loopId": SLUG, "iteration": integer(0), "maxIterations": integer(0)}, {"length": integer(1)})
BLOCKER = record({"code": one_of("USER_ONLY_DEPENDENCY", "MISSING_REQUIRED_OUTPUT", "INVALID_REQUIRED_OUTPUT",
                                 "REQUIRED_CAPABILITY_UNKNOWN", "REQUIRED_CAPABILITY_UNAVAILABLE",
                                 "INVARIANT_VIOLATION", "STORAGE_CORRUPTION_DETECTED"),
                  "message": SOME, "pointer": POINTER}, {"suggestedFix": text(1, 1024), "check": CHECKED, "loop": LOOP})
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
DECISION = record({"by": text(1, 128), "decision": one_of("approved", "sent_back", "denied"), "shownDigest": SHA},
                  {"reason": text(1, 4096)})
DECISION_KIND, APPROVAL = "wr.human_decision", "wr.human_approval"
PREFERENCE = variant("key", {"autonomy": ({"value": AUTONOMY},), "riskPolicy": ({"value": RISK},)})
OBSERVED = variant("type", {"short_string": ({"value": text(1, 80)},), "sha256": ({"value": SHA},),
                            "git_sha1": ({"value": matching("[0-9a-f]{40}", "SHA-1")},), "path": ({"value": SOME},)})


def _nullable(check):
    return lambda v: None if v is None else check(v)


def _context(v):
    if not isinstance(v, dict) or len(encode(v)) > 262144 or depth(v) > 48:
        fail("context over its budget or no object", type(v))
    for name in ("__proto__", "constructor", "prototype"):
        if name in v:
            raise Shape("context has a member %s" % name)


def _operand(v):
    if isinstance(v, str):
        text(0, 128)(v)
    elif not isinstance(v, bool) and not holds(real, v):
        fail("neither a text nor a number nor a boolean", type(v))


_warnings = many(record({"code": one_of("CONDITION_MATCHED_LOOSELY"), "path": text(1, 128), "expected": _operand,
                         "got": _operand}), 1, 10)


def WARNINGS(v):
    _warnings(v)
    if len({encode(w) for w in v}) != len(v):
        raise Shape("a warning occurs twice")


_elicited = record({}, {"confirmation": true, "inputs": many(text(1, 128), 1, 100)})


def ELICITED(v):
    _elicited(v)
    if not v:
        raise Shape("elicited without content")
    keys = [k.encode() for k in v.get("inputs", [])]
    if keys != sorted(set(keys)):
        raise Shape("elicited inputs that are not in order")


_response = record({"action": one_of("accept", "reject", "refine", "edit-accept", "answer", "event", "timeout")},
                   {"by": text(1, 256), "digest": SHA})


def RESPONSE(v):
    _response(v)
    if ("by" in v) == (v["action"] == "timeout") or ("by" in v) != ("digest" in v):
        raise Shape("a response has by and digest, but for a timeout")


_traceparent = matching("(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", "traceparent")


def TRACEPARENT(v):
    _traceparent(v)


# kind -> scope, recipe of the dedupeKey behind kind and owner, members of data
KINDS = {
    "session_created": ("none", "", record({}, {"importedFrom": record(
        {"storeId": identifier("store"), "sessionId": SESS, "head": SHA})})),
    "run_started": ("run", "{runId}", record(
        {"workflowId": FULL, "workflowHash": SHA, "workflowSourceRef": text(0, 512),
         "workflowSourceKind": one_of("bundled", "user", "project", "remote", "plugin")},
        {"forkedFrom": record({"sessionId": SESS, "runId": RUN, "nodeId": NODE, "head": SHA},
                               {"workflowHash": SHA, "mode": one_of("branch", "replay"), "sequence": integer(1, 2 ** 53)}),
         "goal": text(1, 1024), "parent": RUN, "tags": many(text(1, 64), 1, 32), "title": text(1, 256), "warnings": WARNINGS})),
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
        {"account": text(1, 128), "elicited": ELICITED, "requestDigest": SHA, "response": RESPONSE, "traceparent": TRACEPARENT,
         "warnings": WARNINGS})),
    "context_set": ("run", "{contextId}", record(
        {"context": _context, "contextId": identifier("ctx"), "source": one_of("initial", "agent_delta", "merge")},
        {"nodeId": NODE})),
    "preferences_changed": ("node", "{changeId}", record(
        {"changeId": identifier("chg"), "delta": many(PREFERENCE, 1), "source": one_of(
            "user", "workflow_recommendation", "system"),
         "effective": record({"autonomy": AUTONOMY, "riskPolicy": RISK})})),
    "node_output_appended": ("node", "{outputId}", record(
        {"outputChannel": one_of("recap", "artifact"), "outputId": OUT, "payload": PAYLOAD},
        {"decision": DECISION, "supersedesOutputId": OUT})),
    "gap_recorded": ("node", "{gapId}", record(
        {"gapId": GAP, "reason": REASON, "severity": one_of("info", "warning", "critical"), "summary": SOME,
         "resolution": variant("kind", {"unresolved": ({},), "resolves": ({"resolvesGapId": GAP},)})},
        {"pointer": POINTER, "loop": LOOP, "evidenceRefs": many(variant("kind", {
            "event": ({"eventId": EVT},), "output": ({"outputId": OUT},)}), 1)})),
    "decision_trace_appended": ("node", "{traceId}", record(
        {"traceId": identifier("trace"), "entries": many(ENTRY, 1, 25)})),
    "capability_observed": ("node", "{capObsId}", record(
        {"capObsId": identifier("capobs"), "capability": CAPABILITY, "provenance": PROVENANCE,
         "status": one_of("unknown", "available", "unavailable")})),
    "divergence_recorded": ("node", "{divergenceId}", record(
        {"divergenceId": identifier("div"), "summary": SOME, "reason": one_of(
            "missing_user_context", "capability_unavailable", "efficiency_skip", "safety_stop", "policy_constraint",
            "replay_diverged", "replay_source_missing")},
        {"relatedStepId": SLUG, "replay": record({"sequence": integer(0, 2 ** 53)}, {
            "originalEventId": text(1, 128), "kind": one_of("output", "missing", "extra", "type-mismatch")})})),
    "observation_recorded": ("any", "{key}:{valueDigest}", record(
        {"key": one_of("git_branch", "git_head_sha", "repo_root_hash", "repo_root"),
         "confidence": one_of("low", "med", "high"), "value": OBSERVED})),
    "guard_noted": ("node", "{nodeId}:{client}:{chat}:{nth}", record(
        {"chat": SHA, "client": matching("[a-z0-9_-]{1,32}", "name of a client"), "refusals": integer(1, 99),
         "verdict": one_of("refused", "let_go")})),
    "run_event_recorded": ("node", "{number}", record(
        {"number": integer(1), "payload": anything, "type": matching("[a-z][a-zA-Z0-9_-]*(\\.[a-zA-Z0-9_-]+)+", "type")},
        {"causationId": text(1, 128), "nodeId": text(1, 128)})),
    "run_cancel_requested": ("run", "{runId}", record({"reason": SOME}, {"outcome": one_of("failed")})),
    "run_closed": ("run", "{runId}", record({"outcome": one_of("cancelled", "failed"), "reason": SOME}, {"limit": record(
        {"kind": one_of("node-executions"), "limit": integer(1), "observed": integer(2)})})),
    "run_paused": ("run", "{runId}:{n}", record({"n": integer(1), "reason": SOME}, {"drain": one_of(True)})),
    "run_resumed": ("run", "{runId}:{n}", record({"n": integer(1)}, {"reason": SOME})),
    "session_handed_over": ("none", "{n}", record({"fromStoreId": identifier("store"), "n": integer(1)}, {"to": text(1, 128)})),
    "session_taken_back": ("none", "{n}", record({"n": integer(1)})),
}
SCOPES = {"none": (), "run": ({"runId"},), "node": ({"runId", "nodeId"},), "any": (None, {"runId", "nodeId"})}
SCOPE = record({"runId": RUN}, {"nodeId": NODE})
ACTOR = record({"kind": one_of("human", "agent", "engine")}, {"ref": text(1, 128)})


POINTED = {"context_key": ("key",), "output_contract": ("contractRef",), "capability": ("capability",),
           "workflow_step": ("stepId",)}


def _pointer_key(blocker):
    p = blocker["pointer"]
    rest = "".join(p.get(k, "") for k in POINTED.get(p["kind"], ()))
    return tuple(s.encode("utf-8") for s in (blocker["code"], p["kind"], rest, blocker.get("check", {}).get("id", "")))


def _between(kind, data, scope):
    """What the page says of a kind beyond the members one by one."""
    if kind == "advance_recorded" and data["outcome"]["kind"] == "blocked":
        keys = [_pointer_key(b) for b in data["outcome"]["blockers"]["blockers"]]
        if any(a >= b for a, b in zip(keys, keys[1:])):
            raise Shape("blockers out of order")
        if any("check" in b and (b["code"], b["pointer"]["kind"]) != ("INVALID_REQUIRED_OUTPUT", "workflow_step")
               for b in data["outcome"]["blockers"]["blockers"]):
            raise Shape("a blocker of another code has a check")
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
        decided = data.get("decision")
        if decided and (decided["decision"] != "approved" and "reason" not in decided or
                        data["payload"].get("artifactKind") not in (DECISION_KIND, APPROVAL)):
            raise Shape("a decision without a reason, or in an artifact of another kind")
    elif kind == "gap_recorded" and data["resolution"]["kind"] == "resolves":
        if data["resolution"]["resolvesGapId"] == data["gapId"]:
            raise Shape("a record that resolves names itself")
    elif kind == "decision_trace_appended":
        if sum(len(e["summary"].encode("utf-8")) for e in data["entries"]) > 8192:
            raise Shape("summaries over their budget")


def check_data(event, passing_over=False):
    """Raises Shape when `data` has not the members and values of its kind, or the scope does not fit. Members that the
    kind does not have may be passed over."""
    kind, data, scope = event["kind"], event.get("data"), event.get("scope")
    if kind not in KINDS:
        fail("unknown kind", kind)
    rule, _, check = KINDS[kind]
    if "scope" in event:
        SCOPE(scope)
    if (None if scope is None else set(scope)) not in (SCOPES[rule] or (None,)):
        raise Shape("scope does not fit: %s is wanted" % rule)
    (passing(check) if passing_over else check)(data)
    _between(kind, data, scope)


def check_envelope(event, owner_key):
    """Raises Shape when the members that all events have are not those of section 6."""
    record({"data": anything, "dedupeKey": matching("[a-z0-9_:>-]{1,256}", "dedupeKey"), "eventId": EVT,
            "eventIndex": COUNT, "kind": anything, owner_key: anything, "v": integer(1, 1)},
           {"actor": ACTOR, "ignorable": true, "scope": anything, "timestampMs": nonzero})(event)


def dedupe_key(event, owner_key):
    """The key by the recipe of the event's kind."""
    kind, data = event["kind"], event["data"]
    recipe, parts = KINDS[kind][1], dict(data, **event.get("scope", {}))
    if kind == "observation_recorded":
        parts["valueDigest"] = digest(data["value"]["value"].encode("utf-8"))
    if kind == "guard_noted":
        parts["nth"] = "let_go" if data["verdict"] == "let_go" else data["refusals"]
    return kind + ":" + event[owner_key] + (":" + recipe.format(**parts) if recipe else "")


def check_event(event, owner_key):
    """Raises Shape when the event is not one of this page (its spelling is not checked)."""
    check_data(event)
    if len(encode(event["data"])) > 524288:
        raise Shape("data over its budget")
    check_envelope(event, owner_key)
    if event["kind"] in ("guard_noted", "run_event_recorded") and "ignorable" not in event:
        raise Shape("the kind is ignorable, and the event is not")
    key = dedupe_key(event, owner_key)
    if event["dedupeKey"] != key:
        raise Shape("dedupeKey by another recipe, %s is wanted" % key)


def event_id(event, owner):
    return derive_id("evt", owner, event["dedupeKey"])
