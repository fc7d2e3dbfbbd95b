#!/usr/bin/env python3
"""Verifies a Waybill store by the format page alone: verify.py STORE_DIR [--json] [--keyring FILE] [--token T]...

Exit status: 0 when nothing is an error, 5 when something is or an error ended the verification, 2 on usage and where
no store is. Findings have the codes of section 18, and these, all warnings: `underived_id` (an id, but of an event, that is not the
derived one, which the page calls no damage), `segment_order` (section 8), `inconsistent` and `artifact_form` (a fact
that does not go with another); and the error `token_refused`.
"""
import argparse
import base64
import hashlib
import hmac
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import jcs                                              # noqa: E402
import shapes                                           # noqa: E402
from control import key_bytes, load_control             # noqa: E402
from files import Ended                                 # noqa: E402
from store import SEVERITY, Store                       # noqa: E402

KINDS = {"st": "state", "ack": "ack", "chk": "checkpoint"}


def _base64url(text):
    if not re.fullmatch("[A-Za-z0-9_-]+", text) or len(text) % 4 == 1:
        raise ValueError("no base64url")
    raw = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(raw).decode().rstrip("=") != text:
        raise ValueError("base64url in another spelling")
    return raw


def check_token(token, keys, logs):
    """Section 16: the form, the signature where there are keys, and that the log has the node."""
    if len(token) > 4096:
        raise ValueError("too long")
    parts = token.split(".")
    if len(parts) != 4 or parts[0] not in KINDS or parts[1] != "v1":
        raise ValueError("no token of this version")
    raw, signature = _base64url(parts[2]), _base64url(parts[3])
    if len(signature) != 32:
        raise ValueError("no signature")
    if keys and not any(hmac.compare_digest(hmac.new(k, raw, hashlib.sha256).digest(), signature) for k in keys):
        raise ValueError("the signature is of none of the keys")
    payload = jcs.parse(raw)
    if jcs.encode(payload) != raw:
        raise ValueError("another spelling than JCS")
    extra = {"workflowHash": shapes.SHA} if parts[0] == "st" else {"attemptId": shapes.identifier("attempt")}
    shapes.record(dict(extra, nodeId=shapes.NODE, runId=shapes.RUN, sessionId=shapes.SESS,
                       tokenKind=shapes.one_of(KINDS[parts[0]]), tokenVersion=shapes.integer(1, 1)))(payload)
    for log in logs:
        for e in log.events if log.owner == payload["sessionId"] else ():
            if e.kind == "node_created" and e.get("scope") == {n: payload[n] for n in ("nodeId", "runId")}:
                if payload.get("workflowHash", e.get("data", "workflowHash")) != e.get("data", "workflowHash"):
                    raise ValueError("workflowHash is not the node's")
                return
    raise ValueError("no log has its node")


def main(argv):
    parser = argparse.ArgumentParser(description="Verify a Waybill store by the format page alone.")
    parser.add_argument("store", metavar="STORE_DIR")
    parser.add_argument("--json", action="store_true", help="one JSON document")
    parser.add_argument("--keyring", metavar="FILE", help="verify signatures of tokens with the keys of FILE")
    parser.add_argument("--token", metavar="T", action="append", default=[], help="look into a token as well")
    args = parser.parse_args(argv)
    keys = []
    try:
        store = Store(args.store)
        if args.keyring:
            ring = load_control(args.keyring, "keyring")[1]
            keys = [key_bytes(ring[name]) for name in ("current", "previous") if name in ring]
    except Ended as e:
        code, message = e.args
        print(json.dumps({"error": {"code": code, "message": message}}) if args.json else "%s: %s" % (code, message))
        return 5
    except (OSError, ValueError) as e:
        print("verify.py: %s" % e, file=sys.stderr)
        return 2
    for i, token in enumerate(args.token):
        name = "token %d" % (i + 1)
        store.units.add(name)
        try:
            check_token(token, keys, store.logs)
        except ValueError as e:
            store.find("token_refused", name, str(e))
    return report(store, args.json)


def report(store, as_json):
    """Prints what was found; the exit status."""
    for f in store.findings:
        f["severity"] = "error" if f["code"] == "token_refused" else SEVERITY.get(f["code"], "warn")
    errors = [f for f in store.findings if f["severity"] == "error"]
    failed = set()
    for f in errors:
        below = [u for u in store.units if f["path"] == u or f["path"].startswith(u + "/")]
        failed.add(max(below, key=len) if below else f["path"])
    passed = len(store.units - failed)
    sessions = [{"id": log.owner, "health": log.health, "events": len(log.events),
                 "head": log.head} for log in store.logs]
    sides = [{"path": log.rel, "owner": log.owner, "events": len(log.events), "head": log.head} for log in store.sides]
    if as_json:
        findings = [{k: v for k, v in f.items() if v is not None} for f in store.findings]
        print(json.dumps({"sessions": sessions, "sideLogs": sides, "findings": findings, "derivedIds": store.derived, "snapshots": store.walked,
                          "requests": store.requests, "passed": passed, "failed": len(failed)},
                         indent=1, sort_keys=True))
        return 5 if failed else 0
    for s in sessions:
        print("%s %s %d events head %s" % (s["id"], s["health"], s["events"], s["head"]["digest"] or "none"))
    for s in sides:
        print("%s %d events head %s" % (s["path"], s["events"], s["head"]["digest"] or "none"))
    for f in store.findings:
        at = "".join(" %s %d" % (word, f[k]) for word, k in (("event", "eventIndex"), ("byte", "at"))
                     if f[k] is not None)
        print("%s %s %s%s: %s" % (f["severity"], f["code"], f["path"], at, f["message"]))
    print("%d passed, %d failed" % (passed, len(failed)))
    return 5 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
