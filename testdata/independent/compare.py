"""Prints what verify.py and waybill say differently of one store: compare.py OURS THEIRS, the answers with --json."""
import json
import sys

OWN = {"underived_id", "segment_order", "inconsistent", "artifact_form"}  # what the page does not ask for


def outcome(path):
    """The code of an error; or sessions with their health and events, and the set of codes of findings."""
    with open(path, encoding="utf-8") as f:
        answer = json.load(f)
    if "error" in answer:
        return answer["error"]["code"]
    data = answer.get("data", answer)
    findings = data["findings"] + [f for s in data["sessions"] for f in s.get("findings", ())]
    sessions = [(s.get("id") or s["sessionId"], s["health"], s["events"]) for s in data["sessions"]]
    return sorted(sessions), sorted({f["code"] for f in findings} - OWN)


if __name__ == "__main__":
    ours, theirs = map(outcome, sys.argv[1:3])
    if ours != theirs:
        print("verify.py: %s\nwaybill: %s" % (ours, theirs))
        raise SystemExit(1)
