"""What a person confirmed, by the audit log, against config.json and trust.json (sections 15 and 25)."""
import jcs

DEFAULTS = {"agentMaxAutonomy": "full_auto_stop_on_user_deps", "feedback": "on", "principals": {}, "proposals": "on",
            "proposalsActivation": "approval-gate", "proposalsApproverRole": "reviewer", "proposalsQuorum": 1,
            "retentionDays": 90, "roles": {}}
STATES = {"policy": ("configure",), "trusted": ("configure", "trust", "untrust")}


def _policy(config):
    return {k: v for k, v in config.items() if k in DEFAULTS and v != DEFAULTS[k]}


def _confirmed(events, detail):
    """The last digest that an outcome states, and whether an action that would state one has no outcome since."""
    intended, last, begun = {}, None, []
    for e in events:
        data = e.obj.get("data", {})
        if e.kind == "action_intended" and data.get("action") in STATES[detail]:
            intended[e.obj["eventId"]] = e.index
            begun.append(e.obj["eventId"])
        elif e.kind == "action_done" and data.get("intendedEventId") in intended:
            at = intended[data["intendedEventId"]]
            begun = [i for i in begun if i != data["intendedEventId"]]
            if data["outcome"] == "done" and detail in data.get("details", {}):
                last, begun = data["details"][detail], [i for i in begun if intended[i] > at]
    return last, bool(begun)


def confirmed(config, trust, audit, find):
    """Reports what is not as a person confirmed it. `config` and `trust` are the data of the files, {} without one and None
    where it is damaged; `audit` is the log, or None without one."""
    events = audit.events if audit else []
    if audit and audit.health != "healthy":
        return
    if config is not None:
        last, open_ = _confirmed(events, "policy")
        if jcs.digest(jcs.encode(_policy(config))) != (last or jcs.digest(b"{}")):
            find("policy_unrecorded" if last is None or open_ else "policy_unconfirmed", "config.json", "no person confirmed it")
    if trust is not None:
        last, open_ = _confirmed(events, "trusted")
        counting = {"trusted": [e for e in trust.get("trusted", ()) if "root" in e]}
        if jcs.digest(jcs.encode(counting)) != (last or jcs.digest(b'{"trusted":[]}')):
            find("policy_unrecorded" if open_ else "policy_unconfirmed", "trust.json", "no person confirmed it")
