"""A whole store: its control files, logs and objects, and what else lies there (sections 2, 10, 15, 18 and 19)."""
import os
import re
import stat

import cache
from checks import holds
from control import FILES, check_store, key_bytes, load_control
from files import is_file, is_folder, list_folder, mode_of
from log import SEGMENT_NAME, Log, segment_bounds
from objects import FOLDERS, Objects
from refs import References
from runs import Runs, forks
from shapes import SESS

SEVERITY = dict.fromkeys(("manifest_damaged", "segment_missing", "segment_damaged", "lost_tail", "object_missing",
                          "object_damaged", "duplicate_dedupe_key", "broken_reference", "control_damaged"),
                         "error")  # every other code is a warning
NAMES = {  # what has its name in a folder, by section 2
    "": r"(store|config|trust)\.json|keys|\.use\.lock|sessions|snapshots|artifacts|workflows|proposals|audit|"
        r"installed|quarantine|trash|cache",
    "sessions": "sess_[a-z2-7]{25}[aeimquy4]",
    "session": r"manifest\.jsonl|events|\.lock|\.performer\.lock|suspect|keep|cache|annotations",
    "events": SEGMENT_NAME.pattern,
    "snapshots": r"sha256_[0-9a-f]{64}\.json", "artifacts": "sha256_[0-9a-f]{64}",
    "workflows/pinned": r"sha256_[0-9a-f]{64}\.json"}
UNMADE = ("sessions", "snapshots", "artifacts", "workflows", "workflows/pinned", "keys", "quarantine")


class Store:
    """Verifies a store; afterwards `logs` (those that are born), `findings` and `units` (what was looked at) tell the
    outcome. Raises ValueError where there is no store, and Ended where the verification comes to no end."""

    def __init__(self, root):
        self.root, self.findings, self.units, self.logs = root, [], set(), []
        self.key = None  # the current one of a keyring that holds
        self.derived, self.walked, self.requests = 0, 0, [0, 0]  # requestDigests that were made again, and all
        self.own = mode_of(os.path.join(root, "store.json")) is not None
        if not self.own and not is_folder(os.path.join(root, "sessions")) and not self._unmade():
            raise ValueError("no store: neither store.json nor a folder sessions")
        if self.own:
            check_store(os.path.join(root, "store.json"))
            self._controls()
        self._names("", NAMES[""])
        self.objects = Objects(root, self.find)
        self.units |= self.objects.there
        for folder in FOLDERS:
            self._names(folder, NAMES[folder])
        self._logs()
        forks(self.logs, self.find)
        damaged = any(log.health.startswith("corrupt") for log in self.logs)
        for rel in [] if damaged else self.objects.orphans():
            self.find("orphan_object", rel, "nothing refers to it that was read")

    def find(self, code, path, message, at=None, index=None):
        self.findings.append({"code": code, "path": path, "message": message, "at": at, "eventIndex": index})

    def _unmade(self):
        """Whether the folder is a store that is not there yet, by section 11."""
        found = {f for f in UNMADE if is_folder(os.path.join(self.root, f))}
        held = {os.path.join(f, n) for f in found for n in os.listdir(os.path.join(self.root, f))}
        rest = [n for n in os.listdir(self.root) if n not in found]
        return held <= {"workflows/pinned"} & found and all(
            (n == ".use.lock" or n.startswith(".tmp-")) and is_file(os.path.join(self.root, n)) for n in rest)

    def _names(self, folder, pattern):
        """What lies in a folder and has no name there, is a link, or can be opened by others."""
        for name in list_folder(os.path.join(self.root, folder)):
            rel = folder + "/" + name if folder else name
            mode = mode_of(os.path.join(self.root, rel)) or 0
            known = re.fullmatch(pattern, name) and (folder != "sessions" or stat.S_ISDIR(mode)) and (
                pattern != NAMES["events"] or segment_bounds(name) and stat.S_ISREG(mode))
            plain = stat.S_ISREG(mode) or stat.S_ISDIR(mode)
            if not plain or not known and not name.startswith(".tmp-"):
                self.find("unknown_file", rel, "no section of the page has it there")
            if plain and self.own and os.name == "posix" and mode & 0o077:
                self.find("permissions", rel, "others can open it")

    def _controls(self):
        self.units.add("store.json")
        for rel, kind in FILES.items():
            path = os.path.join(self.root, rel)
            folder = mode_of(os.path.dirname(path))
            straight = folder is None or stat.S_ISDIR(folder)
            if straight and mode_of(path) is None:
                continue
            self.units.add(rel)
            try:
                if not straight:
                    raise ValueError("its folder is none")
                data = load_control(path, kind)[1]
                if kind == "keyring" and os.name == "posix" and mode_of(path) & 0o077:
                    raise ValueError("others can open it")
                if kind == "keyring":
                    self.key = key_bytes(data["current"])
            except (ValueError, TypeError) as e:
                self.find("control_damaged", rel, str(e))

    def _logs(self):
        self._names("sessions", NAMES["sessions"])
        for name in list_folder(os.path.join(self.root, "sessions")):
            rel = "sessions/" + name
            if not holds(SESS, name) or not is_folder(os.path.join(self.root, rel)):
                continue
            self._names(rel, NAMES["session"])
            if is_folder(os.path.join(self.root, rel, "events")):
                self._names(rel + "/events", NAMES["events"])
            log = Log(self.root, rel, "sessionId", name, not self.own)
            cache.lost(log, os.path.join(self.root, rel), self.key)
            if log.health == "healthy" and not log.segments:
                continue  # unborn
            self.units.add(rel)
            self.derived += References(log).checked
            self.objects.check(log)
            self.walked += Runs(log, self.objects).checked
            self.requests = [a + b for a, b in zip(self.requests, self.objects.requests(log))]
            suspect = os.path.join(self.root, rel, "suspect")
            if is_file(suspect) or is_folder(suspect):
                log.find("suspect", rel + "/suspect", "a failed sync left its mark")
            self.logs.append(log)
            self.findings += log.findings
