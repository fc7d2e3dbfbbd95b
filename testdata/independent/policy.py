"""What a person confirmed, by the audit log, against config.json, trust.json and keys/http.json (sections 15 and 25)."""
import jcs

DEFAULTS = {"agentMaxAutonomy": "full_auto_stop_on_user_deps", "feedback": "on", "notify": [], "principals": {},
            "proposals": "on", "proposalsActivation": "approval-gate", "proposalsApproverRole": "reviewer", "proposalsQuorum": 1,
            "retentionDays": 90, "roles": {}}
STATES = {"policy": ("configure",), "trusted": ("configure", "trust", "untrust"), "httpKeys": ("configure",)}


def _policy(config):
    return {k: v for k, v in config.items() if k in DEFAULTS and v != DEFAULTS[k]}


def _leads(data, detail, now):
    """Whether an intention leads to the content with a digest. Earlier versions, without keys, did not state it."""
    details = data.get("details", {})
    if any(name + "After" in details for name in STATES):
        return details.get(detail + "After") == now
    return detail != "httpKeys"


def _confirmed(events, detail, now):
    """The last digest that an outcome states, and whether an action that leads to `now` has no outcome since."""
    intended, last, begun = {}, None, []
    for e in events:
        data = e.obj.get("data", {})
        if e.kind == "action_intended" and data.get("action") in STATES[detail]:
            intended[e.obj["eventId"]] = e.index
            if _leads(data, detail, now):
                begun.append(e.obj["eventId"])
        elif e.kind == "action_done" and data.get("intendedEventId") in intended:
            at = intended[data["intendedEventId"]]
            begun = [i for i in begun if i != data["intendedEventId"]]
            if data["outcome"] == "done" and detail in data.get("details", {}):
                last, begun = data["details"][detail], [i for i in begun if intended[i] > at]
    return last, bool(begun)


def confirmed(config, trust, keys, audit, find):
    """Reports what is not as a person confirmed it. `config`, `trust` and `keys` are the data of the files, {} without one
    and None where it is damaged; `audit` is the log, or None without one."""
    events = audit.events if audit else []
    if audit and audit.health.startswith("corrupt"):  # a side log is of kinds that log.py does not know
        return

    def compare(rel, detail, content, empty, unconfirmed_once=False):
        now = jcs.digest(jcs.encode(content))
        last, open_ = _confirmed(events, detail, now)
        if now != (last or jcs.digest(empty)):
            unrecorded = open_ or unconfirmed_once and last is None
            find("policy_unrecorded" if unrecorded else "policy_unconfirmed", rel, "no person confirmed it")

    if config is not None:
        compare("config.json", "policy", _policy(config), b"{}", True)
    if trust is not None:
        compare("trust.json", "trusted", {"trusted": [e for e in trust.get("trusted", ()) if "root" in e]},
                b'{"trusted":[]}')
    if keys is not None:
        compare("keys/http.json", "httpKeys", {"keys": keys.get("keys", [])}, b'{"keys":[]}')
