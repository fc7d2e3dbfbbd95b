"""The audit log of a store, and whether it and the sessions tell the same (sections 18 and 25)."""
from checks import holds, one_of, record, text, variant
from shapes import APPROVAL, COUNT, EVT, FULL, RUN, SESS

ACTION = one_of("approve", "override", "repair", "keep", "delete", "restore", "empty_trash", "gc", "erase", "import", "rotate",
                "trust", "untrust", "cancel", "configure", "send_back", "deny")
TARGET = variant("kind", dict(dict.fromkeys(("session", "run", "artifact", "workflow"), ({"id": FULL},)), store=({},), keyring=({},)))


def _details(v):
    record({}, dict.fromkeys(v if isinstance(v, dict) and 1 <= len(v) <= 16 else ["-"], text(1, 2048)))(v)


TEXTS = {"reason": text(1, 2048), "details": _details}
KINDS = {
    "action_intended": ("{storeId}:{ordinal}", record({"action": ACTION, "target": TARGET, "ordinal": COUNT}, TEXTS)),
    "action_done": ("{intendedEventId}", variant("outcome", {
        "done": ({"intendedEventId": EVT}, {"details": _details}),
        "failed": ({"intendedEventId": EVT, "code": FULL}, {"details": _details})})),
    "action_recorded": ("{sessionId}:{eventId}", record({"action": ACTION, "target": TARGET, "source": record(
        {"sessionId": SESS, "runId": RUN, "eventId": EVT, "eventIndex": COUNT})}, TEXTS))}


def _known(e):
    """Whether an event is one of the page."""
    o = e.obj
    if e.kind not in KINDS or "scope" in o or not holds(KINDS[e.kind][1], o.get("data")):
        return False
    data = o["data"]
    key = KINDS[e.kind][0].format(**dict(data.get("source", {}), **dict(data, storeId=o["storeId"])))
    return o.get("dedupeKey") == e.kind + ":" + key and data.get("ordinal", e.index) == e.index


def _fact(e):
    """The action that an event of a session is on record for, or None."""
    own = e.text("actor", "kind") != "engine"
    if e.kind == "node_output_appended" and e.get("data", "payload", "artifactKind") == APPROVAL:
        return "approve"
    decided = e.get("data", "decision", "decision") if e.kind == "node_output_appended" else None
    if decided in ("sent_back", "denied"):
        return {"sent_back": "send_back", "denied": "deny"}[decided]
    if e.kind == "run_cancel_requested" and own:
        return "cancel"
    delta = e.get("data", "delta") if e.kind == "preferences_changed" else None
    if delta and own and {"key": "autonomy", "value": "full_auto_never_stop"} in delta:
        return "override"
    return None


def audited(audit, logs, imported, there, find):
    """Holds the audit log against the logs of sessions. `imported` has the interval of the events of a session that came with bundles, `there`
    the ids of those whose folder exists."""
    intended, lines, gone, unknown = set(), {}, set(), False
    for e in audit.events:
        if not _known(e):
            if not unknown:
                find("unknown_version", "audit", "it is none of this page", None, e.index)
            unknown = True
            if e.kind not in KINDS or not holds(KINDS[e.kind][1], e.obj.get("data")):
                continue
        data = e.obj["data"]
        if e.kind == "action_intended":
            intended.add(e.obj["eventId"])
            if data["action"] in ("delete", "repair") and "id" in data["target"]:
                gone.add(data["target"]["id"])
        elif e.kind == "action_done" and data["intendedEventId"] not in intended:
            find("broken_reference", "audit", "it is the outcome of nothing that was intended", None, e.index)
        elif e.kind == "action_recorded":
            lines[data["source"]["sessionId"], data["source"]["eventId"]] = e
    facts = {}
    for log in logs:
        first, behind = imported.get(log.owner, (0, 0))
        if any(e.kind == "run_started" and (e.get("data", "forkedFrom") or {}).get("mode") == "replay" for e in log.events):
            first, behind = 0, len(log.events)  # what a replay decides again was decided in its source
        for e in log.events[:first] + log.events[behind:]:
            action = _fact(e)
            if action:
                facts[log.owner, e.id("eventId")] = (action, e)
        missing = [e for (owner, _), (_, e) in facts.items() if owner == log.owner and (owner, e.id("eventId")) not in lines]
        if missing or log.health.startswith("corrupt") and not log.outlived:
            find("audit_incomplete", log.rel, "what was decided there has no line, or may have none")
    damaged = {log.owner for log in logs if log.health.startswith("corrupt")}
    for (owner, event), line in lines.items():
        if owner in gone or owner in damaged:
            continue
        action, fact = facts.get((owner, event), (None, None))
        source = line.obj["data"]["source"]
        if owner not in there:
            find("audit_session_missing", "audit", "a line is about %s" % owner)
        elif fact is None or action != line.obj["data"]["action"] or line.obj["data"]["target"] != {
                "kind": "run", "id": source["runId"]} or (fact.index, fact.id("scope", "runId")) != (
                source["eventIndex"], source["runId"]):
            find("audit_unfounded", "audit", "a line is about event %d of %s" % (source["eventIndex"], owner))
        elif any(fact.obj.get(m) != line.obj.get(m) for m in ("actor", "timestampMs")):
            find("inconsistent", "audit", "actor or time of a line is not the fact's", None, line.index)
