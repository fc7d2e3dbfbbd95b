"""Control files: section 15 of the format, and what section 20 says of the features of a store."""
import base64
import binascii
import re

import jcs
from checks import Shape, anything, boolean, integer, many, one_of, record, text
from files import Ended, is_file
from shapes import AUTONOMY, COUNT, SHA, identifier

FILES = {"keys/keyring.json": "keyring", "keys/http.json": "http_keys", "config.json": "config", "trust.json": "trust"}
SIZE_MAX = 1048576


def key_bytes(value):
    """32 bytes of a keyring; raises ValueError."""
    try:
        key = base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        raise Shape("a key is no base64")
    if len(key) != 32 or base64.b64encode(key).decode() != value:
        raise Shape("a key is not 32 bytes in their one spelling")
    return key


KEYRING = record({"algorithm": one_of("HMAC-SHA256"), "current": key_bytes}, {"previous": key_bytes})
WHO = record({"kind": text()}, {"ref": text()})
ENTRY = {"actor": WHO, "atMs": integer(), "commands": integer(), "workflowHash": SHA, "workflowId": text()}
def texts(value):
    if not isinstance(value, dict) or any(not isinstance(v, str) for v in value.values()):
        raise Shape("no object of texts")


def digests(value):
    if not isinstance(value, dict) or not all(value):
        raise Shape("no object of digests by path")
    for digest in value.values():
        SHA(digest)


def programs(value):
    if not isinstance(value, dict):
        raise Shape("no object of programs")
    for program in value.values():
        record({"path": text(1), "sha256": SHA})(program)


FIXED = record({}, {"env": texts, "pins": digests, "programs": programs})
TRUST = record({"trusted": many(record(ENTRY, {"fixed": FIXED, "root": text(1)}))})
SCOPES = ("manifest:read", "runs:create", "runs:read", "runs:cancel", "feedback:write", "proposals:author", "packs:publish",
          "approvals:respond")
KEY = record({"addedMs": COUNT, "name": text(1), "scopes": many(one_of(*SCOPES)), "sha256": SHA})


def http_keys(data):
    """At most 100 keys: no two with one name or digest, the scopes of each sorted."""
    record({"keys": many(KEY)})(data)
    keys = data["keys"]
    names = [k["name"].lower() for k in keys]
    if len(keys) > 100 or len(set(names)) < len(keys) or len({k["sha256"] for k in keys}) < len(keys):
        raise Shape("too many keys, or two with one name or digest")
    for k in keys:
        if not re.fullmatch("[A-Za-z0-9][A-Za-z0-9._-]{0,63}", k["name"]):
            raise Shape("a name that cannot be given")
        if not k["scopes"] or k["scopes"] != sorted(set(k["scopes"])):
            raise Shape("no scopes, or not sorted, or one twice")


CONFIG = {"agentMaxAutonomy": AUTONOMY, "lockWaitMs": integer(0, 600000)}


MARK = {"actor": WHO, "atMs": integer(), "bundleId": text(), "bytes": COUNT, "events": COUNT, "from": COUNT, "head": SHA, "reason": text(),
        "salvage": boolean, "sha256": SHA}


def _mark(*required):
    """Control files beside their subject. Unknown members are ignored."""
    return lambda data: record({name: MARK[name] for name in required}, dict(dict.fromkeys(data, anything), **MARK))(data)


ERASED = _mark()
MARKS = {"imported": _mark("bundleId", "events", "head"), "keep": _mark(), "trash": _mark(), "erased": _mark("sha256"),
         "repair": anything}


def _config(data):
    record({}, dict(dict.fromkeys(data, anything), **CONFIG))(data)


CHECKS = {"keyring": KEYRING, "http_keys": http_keys, "trust": TRUST, "config": _config, "store": anything, **MARKS}


def load_control(path, kind):
    """The `v` and `data` of a control file; raises ValueError where it is not what was written."""
    if not is_file(path):
        raise Shape("it is no file")
    with open(path, "rb") as f:
        raw = f.read(SIZE_MAX + 1)
    if len(raw) > SIZE_MAX:
        raise Shape("longer than a control file may be")
    doc = jcs.parse(raw)
    if jcs.encode(doc) != raw:
        raise Shape("another spelling than JCS")
    record({"data": anything, "kind": one_of(kind), "sha256": SHA, "v": integer()})(doc)
    if not isinstance(doc["data"], dict) or jcs.digest(jcs.encode(doc["data"])) != doc["sha256"]:
        raise Shape("sha256 is not that of data")
    if (kind == "keyring" or kind in MARKS) and doc["v"] != 1:
        raise Shape("it is of another version")
    CHECKS[kind](doc["data"])
    if kind == "trust" and doc["v"] < 2 and any("root" in e for e in doc["data"]["trusted"]):
        raise Shape("it is of version 1 and has a root")
    if kind == "trust" and doc["v"] < 3 and any("fixed" in e for e in doc["data"]["trusted"]):
        raise Shape("it is of version 1 or 2 and has what was fixed")
    return doc["v"], doc["data"]


def check_store(path):
    """The store's id. Ends the verification where store.json is damaged, or asks for more than this version knows."""
    try:
        version, data = load_control(path, "store")
        if version == 1:
            features = data.get("features", {})
            names = record({}, dict(dict.fromkeys(features, anything), **dict.fromkeys(
                ("compat", "incompat", "roCompat"), many(text()))))
            record({"storeId": identifier("store")}, dict.fromkeys(data, anything))(data)
            names(features)
    except (ValueError, TypeError) as e:
        raise Ended("STORE_CORRUPT", "store.json: %s" % e)
    if version != 1 or features.get("incompat"):
        raise Ended("STORE_NEWER", "store.json: it is of another version, or needs features that are not known")
    return data["storeId"]
