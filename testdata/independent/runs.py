"""What the facts of a run say of each other by way of its pinned workflow: snapshots and loops (section 12), artifacts
of the product's own kinds (14), approvals, and where a fork began (7). Nothing of it is damage: findings are warnings."""
import re

import jcs
from checks import Shape, anything, integer, many, matching, one_of, record, text, true
from contracts import answers, satisfies
from documents import HOST_TYPES, instance_key, period_ms, sequences
from judge import check_result, failing
from shapes import APPROVAL, AUTONOMY, COUNT, DECISION_KIND, FULL, KINDS, RISK, SHA

STREAM = record({"bytes": COUNT, "head": text(0, 3 * 32768), "tail": text(0, 3 * 32768)},
                {"omitted": integer(1)})
OF_RESULT = (
    {"kind": one_of("wr.command_result"), "argvDigest": SHA, "exitStatus": integer(-1), "durationMs": COUNT,
     "tries": COUNT, "outputBytes": COUNT, "outputDigest": SHA},
    {"failure": FULL, "filledDigest": SHA, "unset": many(record({"key": FULL, "why": FULL}), 1, 1000),
     "undeclared": many(FULL, 1, 10)})
# Stdout and stderr are apart, or in records of the earlier form together.
COMMAND_RESULT = record(dict(OF_RESULT[0], stdout=STREAM, stderr=STREAM), OF_RESULT[1])
EARLIER_RESULT = record(dict(OF_RESULT[0], outputHead=text(0, 3 * 65536), outputTail=text(0, 3 * 65536)), OF_RESULT[1])
BINDING = record({"kind": one_of("wr.human_approval"), "stepInstanceKey": FULL, "snapshotRef": SHA,
                  "outputs": many(record({"kind": FULL, "sha256": SHA}))},
                 {"approvedBy": text(1, 128), "comment": text(1, 4096)})
WAIT_OVER = record({"kind": one_of("wr.wait_over"), "stepInstanceKey": FULL, "dueAtMs": integer(), "overAtMs": integer()})
HOST_RESULT = record({"kind": one_of("wr.host_result"), "stepInstanceKey": FULL, "outcome": one_of("completed", "failed"),
                      "typeId": one_of(*HOST_TYPES)},
                     {"outputs": anything, "error": record({"code": text(1, 128), "message": text(1, 512)})})
OF_DECISION = record(
    {"kind": one_of(DECISION_KIND), "decision": one_of("approved", "sent_back", "denied"), "by": text(1, 128), "shownDigest": SHA,
     "stepInstanceKey": FULL, "snapshotRef": SHA, "outputs": many(record({"kind": FULL, "sha256": SHA})), "atMs": integer()},
    {"reason": text(1, 4096), "account": matching("uid:(0|[1-9][0-9]*)", "account"), "principal": true,
     "roles": many(text(1, 128), 1, 32), "policyDigest": SHA})
BOUND = ("outputs", "snapshotRef", "stepInstanceKey")
EXCEEDED = record({"kind": one_of("wr.recommendation_warning"), "exceeded": many(record(
    {"key": one_of("autonomy", "riskPolicy"), "effective": FULL, "recommended": FULL}), 1, 2)})
ORDER = {"autonomy": ("guided", "full_auto_stop_on_user_deps", "full_auto_never_stop"),
         "riskPolicy": ("conservative", "balanced", "aggressive")}
KEY_PATH = re.compile(r"(?:(.*)::)?([^:]*)")
PROBE = "wr.templates.capability_probe"


class Place:
    """A node: its snapshot's state, what it has now, and what holds there."""

    def __init__(self, event, state, above):
        self.ref, self.state, self.outputs, self.attempts = event.get("data", "snapshotRef"), state, [], 0
        self.autonomy = above.autonomy if above else "guided"
        self.at = event.obj.get("timestampMs", 0)
        self.accounts = []  # of the attempts, None where none is recorded
        self.left = 0  # how many attempts there were when the node was left last

    def add(self, e, value):
        """An output becomes current; those it takes the place of do not stay."""
        data = e.get("data")
        payload = data["payload"]
        notes = payload["payloadKind"] == "notes"
        sort = "notes" if notes else payload.get("artifactKind", (payload.get("contentType"),))
        if sort == DECISION_KIND:
            sort = (sort, data["outputId"])  # none replaces another
        replaced = data.get("supersedesOutputId")
        self.outputs = [o for o in self.outputs if o["id"] != replaced and (
            o["sort"] != sort or not notes and o["attempts"] == self.attempts)]
        bound = {"kind": "notes", "sha256": jcs.digest(payload["notesMarkdown"].encode("utf-8"))} if notes else {
            "kind": payload.get("artifactKind", payload["contentType"]), "sha256": payload["sha256"]}
        self.outputs.append({"id": data["outputId"], "sort": sort, "attempts": self.attempts, "bound": bound,
                             "value": value, "decision": data.get("decision") if isinstance(sort, tuple) else None,
                             "decides": sort == APPROVAL or "decision" in data})

    def binding(self):
        """What a decision about what is here would be bound to, with the kind of an approval."""
        others = [o["bound"] for o in self.outputs if not o["decides"] and o["sort"] != "wr.check_result"]
        others.sort(key=lambda b: (b["kind"].encode("utf-8"), b["sha256"]))
        return {"kind": "wr.human_approval", "outputs": others, "snapshotRef": self.ref,
                "stepInstanceKey": instance_key(self.step()) if self.step() else ""}

    def approved(self, gate, at_ms, account):
        """Whether enough approvals count for a gate, in an attempt of an account at a time. What was erased since is not
        held against the attempt."""
        want, counting, unchanged = self.binding(), [], False
        records = [o for o in self.outputs if o["decides"]]
        if not all(isinstance(o["value"], dict) for o in records):
            return True
        performers = {self.accounts[o["attempts"] - 1] for o in self.outputs
                      if not o["decides"] and o["sort"] != "wr.check_result" and o["attempts"]}
        performers |= set() if want["outputs"] else {account} | set(self.accounts[self.left:])
        lifetime = period_ms(gate.get("expiresAfter", ""))
        rules = set(gate) & {"approvers", "count", "expiresAfter", "notPerformer"}
        beside = [{m: o["value"][m] for m in BOUND} for o in records if (o["decision"] or {}).get("decision") == "approved"]
        for o in records:
            value, same = o["value"], all(o["value"].get(m) == want[m] for m in BOUND)
            decided = o["decision"]
            if decided and decided["decision"] == "sent_back":
                counting, unchanged = [], unchanged or same
            if not same or decided and decided["decision"] != "approved":
                continue
            if decided is None and (rules or {m: value[m] for m in BOUND} in beside):
                continue
            if "approvers" in gate and not set(gate["approvers"]) & set(value.get("roles", [])):
                continue
            if gate.get("notPerformer") and (not value.get("account") or performers & {"unknown", value.get("account")}):
                continue
            mine = (value.get("principal"), value.get("account"))
            counting = [c for c in counting if c[0] and mine[0] and c[1] != mine[1]]
            unchanged = False
            if lifetime is None or at_ms < value["atMs"] + lifetime:
                counting.append(mine)
        return len(counting) >= gate.get("count", 1) and not unchanged

    def step(self):
        return (self.state or {}).get("pending", {}).get("step")

    def stack(self):
        return (self.state or {}).get("loopStack", [])


class Runs:
    """One pass over the committed events of a log whose objects can be read."""

    def __init__(self, log, objects):
        self.log, self.objects, self.places, self.workflows, self.checked = log, objects, {}, {}, 0
        for segment in log.segments:
            if any(e.foreign for e in segment.events):
                return
            self._segment(segment.events)

    def find(self, code, message, event):
        self.log.find(code, self.log.rel, "%s: %s" % (event.kind, message), None, event.index)

    def _segment(self, events):
        first, run = events[0], next((e.id("scope", "runId") for e in events if e.get("scope")), None)
        for e in events:
            if e.kind == "run_started":
                self.workflows[run] = self.objects.look("workflows/pinned", e.get("data", "workflowHash"))[2]
        self.workflow = self.workflows.get(run)
        if self.workflow is None:
            return
        self.place = self.places.get((run, first.id("scope", "nodeId")))
        brought, made, checked = [], None, []
        if first.kind == "advance_recorded" and self.place:
            self.place.attempts += 1
            self.place.accounts.append(first.get("data", "account"))
            self._account(first, self.place)
        for e in events:
            node = (run, e.id("scope", "nodeId"))
            if e.kind == "node_created":
                made = self._made(e, node)
            elif e.kind == "preferences_changed" and node in self.places:
                self.places[node].autonomy = e.get("data", "effective", "autonomy")
            elif e.kind == "node_output_appended" and node in self.places:
                value = self._value(e)
                if isinstance(value, dict):
                    self._form(e, value, self.places[node])
                    brought.append(value)
                    if value.get("kind") == "wr.check_result":
                        checked.append((value, e.text("actor", "kind")))
                self.places[node].add(e, value)
        if first.kind == "advance_recorded" and self.place:
            lost = any(e.kind == "node_output_appended" and self._lost(e) for e in events)
            if not lost:
                self._asides(events, brought)
                self._checks(first, checked)
            if made and not lost:
                made.autonomy = self.place.autonomy
                self._advanced(first, self.place, made)
            if made:
                self.place.left = len(self.place.accounts)

    def _lost(self, e):
        """Whether the artifact of an output cannot be read, as one that was erased."""
        payload = e.get("data", "payload")
        return "sha256" in payload and self.objects.look("artifacts", payload["sha256"])[0] is not None

    def _value(self, e):
        payload = e.get("data", "payload")
        if payload.get("contentType") != "application/json":
            return None
        try:
            return jcs.parse(self.objects.look("artifacts", payload["sha256"])[2] or b"null")
        except jcs.Refused:
            return None

    def _made(self, e, node):
        doc = self.objects.look("snapshots", e.get("data", "snapshotRef"))[2]
        state = doc["enginePayload"]["engineState"] if doc else None
        place = Place(e, state, self.places.get((node[0], e.get("data", "parentNodeId"))))
        self.places[node] = place
        if state and state["kind"] == "running":
            try:
                self._fits(state)
            except Shape as error:
                self.find("inconsistent", "its snapshot does not go with the workflow: %s" % error, e)
        return place

    def _fits(self, state):
        """Raises Shape when a state is none of the workflow (section 12)."""
        self.checked += 1
        loops = {loop["loopId"]: loop for loop in self.workflow["loops"]}
        bodies, steps = sequences(self.workflow), state["pending"].get("step")
        inner = [f["loopId"] for f in state["loopStack"][1:]] + ([steps["stepId"]] if steps else [])
        above, paths, path = "", {"": ""}, ""
        for f, below in zip(state["loopStack"], inner):
            loop = loops.get(f["loopId"])
            if loop is None or f["loopId"] not in [s["stepId"] for s in bodies[above] if s.get("type") == "loop"]:
                raise Shape("loop %s is not in the sequence" % f["loopId"])
            if f["bodyIndex"] >= len(loop["body"]) or loop["body"][f["bodyIndex"]]["stepId"] != below:
                raise Shape("bodyIndex of %s is not that of %s" % (f["loopId"], below))
            if ("count" in f) != (loop["kind"] in ("for", "forEach")) or f["iteration"] >= loop["maxIterations"]:
                raise Shape("loop %s has another count, or goes too far" % f["loopId"])
            if "decision" in f and loop.get("control", {}).get("kind") != "artifact_contract":
                raise Shape("loop %s is not decided by an artifact" % f["loopId"])
            above, path = f["loopId"], (path + "/" if path else "") + "%s@%d" % (f["loopId"], f["iteration"])
            paths[path] = above
        if steps and steps["stepId"] not in [s["stepId"] for s in bodies[above] if s.get("type") != "loop"]:
            raise Shape("step %s is not in the sequence" % steps["stepId"])
        for key in state["completed"]["values"]:
            where, step = KEY_PATH.fullmatch(key).groups()
            if (where or "") not in paths or step not in [s["stepId"] for s in bodies[paths[where or ""]]]:
                raise Shape("%s is done, and is of no iteration on the stack" % key)

    def _form(self, e, value, place):
        """An artifact of the product's own kinds."""
        kind, step = value.get("kind"), self._step(place)
        pack = next((p for p in self.workflow["contracts"] if p["artifactKind"] == kind), None)
        asked = step.get("outputContract", {}).get("contractRef") == (pack or {}).get("contractRef", "-")
        try:
            if kind == "wr.command_result":
                (EARLIER_RESULT if "outputHead" in value else COMMAND_RESULT)(value)
            elif kind == "wr.wait_over":
                WAIT_OVER(value)
                self._over(value, step, place)
            elif kind == "wr.host_result":
                HOST_RESULT(value)
                self._hosted(value, step, place)
            elif kind == "wr.check_result":
                check_result(value)
            elif kind == "wr.recommendation_warning":
                EXCEEDED(value)
                self._exceeds(value, place, e)
            elif kind == DECISION_KIND and e.get("data", "decision"):
                OF_DECISION(value)
                self._decided(e, value, place)
            elif kind == APPROVAL:
                BINDING(value)
                if {k: v for k, v in value.items() if k not in ("approvedBy", "comment")} != place.binding():
                    raise Shape("it is not bound to what the node had")
                if value.get("comment") != e.get("data", "decision", "reason") and e.get("data", "decision"):
                    raise Shape("its event states another comment")
                if value.get("approvedBy") != e.text("actor", "ref") or e.text("actor", "kind") != "human":
                    raise Shape("it is another's than the actor's")
            elif asked and kind != "wr.assessment" and self._accepted(e):
                satisfies(pack, value)
            elif kind == "wr.assessment" and self._accepted(e):
                for a in self.workflow.get("assessments", []):
                    if a["id"] in step.get("assessmentRefs", []) and value.get("assessmentId", a["id"]) == a["id"]:
                        answers(a, value)
            elif (kind or "").startswith("wr.") and self.objects_own(kind) and self._accepted(e):
                raise Shape("an artifact of a kind that no section has")
        except Shape as error:
            self.find("artifact_form", str(error), e)

    def _checks(self, e, brought):
        """An attempt advances only with a passing result of each check, and names those that are missing otherwise. In a
        session that an import renamed the results name the attempt of the other store."""
        step, key = self._step(self.place), instance_key(self.place.step()) if self.place.step() else ""
        source = next((x.get("data", "importedFrom", "sessionId") for x in self.log.events if x.kind == "session_created"), None)
        renamed = source not in (None, self.log.owner) and len({v.get("attemptId") for v, _ in brought}) == 1
        missing = sorted(failing(step, key, None if renamed else e.get("data", "attemptId"), brought))
        blockers = (e.get("data", "outcome", "blockers") or {}).get("blockers", [])
        if e.get("data", "outcome", "kind") == "advanced" and missing:
            self.find("inconsistent", "it advanced without a passing result of check %s" % missing[0], e)
        if blockers and len(blockers) < 10 and sorted(b["check"]["id"] for b in blockers if "check" in b) != missing:
            self.find("inconsistent", "its blockers are not the checks that did not pass", e)

    @staticmethod
    def _over(value, step, place):
        """The end of a wait: of this step, not before it was due, and due when the node says."""
        waits = step.get("wait", {})
        if value["overAtMs"] < value["dueAtMs"]:
            raise Shape("it was over before it was due")
        if not waits or value["stepInstanceKey"] != instance_key(place.step()):
            raise Shape("it is of another step")
        if "for" in waits and value["dueAtMs"] != place.at + period_ms(waits["for"]):
            raise Shape("it was due at another moment")

    @staticmethod
    def _hosted(value, step, place):
        """The result of a host step: of this step and its type, with an error exactly where it failed."""
        if value["typeId"] != step.get("host", {}).get("typeId") or value["stepInstanceKey"] != instance_key(place.step()):
            raise Shape("it is of another step")
        if ("error" in value) != (value["outcome"] == "failed"):
            raise Shape("its error and its outcome contradict each other")
        if "outputs" in value and ("error" in value or not isinstance(value["outputs"], dict)):
            raise Shape("its outputs are not those of a step that completed")

    @staticmethod
    def _decided(e, value, place):
        """Raises Shape when an event states another decision than its artifact, or this one is not of what the node had."""
        binding = place.binding()
        if {m: value[m] for m in e.get("data", "decision")} != e.get("data", "decision") or (
                "reason" in value) != ("reason" in e.get("data", "decision")):
            raise Shape("its event states another decision")
        if any(value[m] != binding[m] for m in BOUND) or value["shownDigest"] != jcs.digest(jcs.encode(binding)):
            raise Shape("it is not bound to what the node had")
        if e.text("actor", "kind") != "human" or value["atMs"] != e.obj.get("timestampMs") or not value.get("principal") and (
                value["by"] != (e.text("actor", "ref") or "human")):
            raise Shape("it is another's than the actor's, or of another time")

    def _account(self, e, place):
        """The account of an attempt is recorded only where the step, or a loop that it begins, asks for it."""
        gates = [s["requireConfirmation"] for body in sequences(self.workflow).values() for s in body]
        if e.get("data", "account") is not None and not any(g.get("notPerformer") for g in gates):
            self.find("inconsistent", "it has an account that no gate asks for", e)

    @staticmethod
    def objects_own(kind):
        return kind not in ("wr.loop_control", "wr.capability_observation", "wr.divergence", "wr.assessment",
                            "wr.discovery_handoff", "wr.shaping_handoff", "wr.coding_handoff", "wr.review_verdict",
                            "wr.differentiation_handoff", "wr.gate_verdict")

    def _accepted(self, e):
        """Whether the artifact came with an attempt that advanced and could not do so with a wrong one."""
        first = next(s for s in self.log.segments if s.name == e.segment).events[0]
        return first.get("data", "outcome", "kind") == "advanced" and self.place.autonomy != "full_auto_never_stop"

    def _step(self, place):
        pending = (place.step() or {}).get("stepId")
        return next((s for body in sequences(self.workflow).values() for s in body if s["stepId"] == pending), {})

    def _exceeds(self, value, place, e):
        wish = self.workflow.get("recommendedPreferences", {})
        for x in value["exceeded"]:
            (AUTONOMY if x["key"] == "autonomy" else RISK)(x["effective"])
            order = ORDER[x["key"]]
            want = wish.get("recommended" + x["key"][0].upper() + x["key"][1:])
            if want != x["recommended"] or order.index(x["effective"]) <= order.index(want):
                raise Shape("%s does not go beyond what is recommended" % x["key"])
        if e.text("actor", "kind") != "engine":
            raise Shape("it is not the engine's")

    def _asides(self, events, brought):
        """Events that follow from artifacts of the attempt, in the order of the outputs (sections 8 and 14)."""
        step = self._step(self.place)
        want = [x for x in (self._observed(v, step) for v in brought if v.get("kind") == "wr.capability_observation") if x]
        have = [{k: v for k, v in e.get("data").items() if k != "capObsId"} for e in events if e.kind == "capability_observed"]
        if want != have:
            self.find("inconsistent", "capability_observed is not what the artifacts say", events[0])
        want = [{k: v[k] for k in ("reason", "summary", "relatedStepId") if k in v}
                for v in brought if v.get("kind") == "wr.divergence"]
        have = [{k: v for k, v in e.get("data").items() if k != "divergenceId"} for e in events if e.kind == "divergence_recorded"]
        if [w for w in want if _is_divergence(w) and len(w["summary"].encode("utf-8")) <= 512] != [
                h for h in have if not h["summary"].endswith("[TRUNCATED]")]:
            self.find("inconsistent", "divergence_recorded is not what the artifacts say", events[0])

    def _observed(self, v, step):
        pack = next((p for p in self.workflow["contracts"] if p["artifactKind"] == v["kind"]), None)
        try:
            satisfies(pack or CAPABILITY, v)
        except Shape:
            return None
        out = {"capability": v["capability"]}
        if "claim" in v:
            return dict(out, status=v["claim"], provenance={"kind": "manual_claim", "enforcementGrade": "weak", "detail": {
                "claim": v["claim"], "claimedBy": v.get("claimedBy", "agent")}})
        detail, kind = {"result": v["result"]}, "attempted_use"
        if step.get("probe") == v["capability"]:
            kind, detail = "probe_step", dict(detail, probeStepId=step["stepId"], probeTemplateId=PROBE)
        else:
            detail["attemptContext"] = "workflow_step"
            if v["result"] == "failure":
                detail["failureCode"] = v.get("failureCode", "unknown")
        return dict(out, status="available" if v["result"] == "success" else "unavailable", provenance={
            "kind": kind, "enforcementGrade": "strong", "detail": detail})

    def _advanced(self, e, left, made):
        """What it takes to come from one node to the next."""
        step = self._step(left)
        gate = step.get("requireConfirmation", {})
        if gate.get("kind") == "human_approval" and "condition" not in gate and not left.approved(
                gate, e.obj.get("timestampMs", 0), e.get("data", "account")):
            self.find("inconsistent", "a step that needs an approval was left without one that holds", e)
        if left.autonomy == "full_auto_never_stop":
            return
        for i, f in enumerate(left.stack()):
            loop = next((x for x in self.workflow["loops"] if x["loopId"] == f["loopId"]), {})
            if loop.get("control", {}).get("kind") != "artifact_contract":
                continue
            now = made.stack()[i] if len(made.stack()) > i and made.stack()[i]["loopId"] == f["loopId"] else None
            same = now and made.stack()[:i] == left.stack()[:i]
            if same and now["iteration"] == f["iteration"]:
                if now.get("decision") != self._decision(left, i):
                    self.find("inconsistent", "the decision of loop %s is not the one that came" % f["loopId"], e)
                continue
            went = "continue" if same and now["iteration"] == f["iteration"] + 1 else "stop"
            if self._decision(left, i) != went:
                self.find("inconsistent", "loop %s continued or ended without that decision" % f["loopId"], e)

    def _decision(self, left, at):
        """The decision in force at a loop of the stack when its node is left."""
        loops = {x["loopId"]: x for x in self.workflow["loops"]}
        names = [f["loopId"] for f in left.stack()]
        found = left.stack()[at].get("decision")
        for o in left.outputs:
            v = o["value"]
            if not isinstance(v, dict) or v.get("kind") != "wr.loop_control":
                continue
            try:
                satisfies(next(p for p in self.workflow["contracts"] if p["artifactKind"] == v["kind"]), v)
            except (Shape, StopIteration):
                continue
            meant = [i for i, n in enumerate(names) if self._meant(loops[n], v.get("loopId"), [loops[m] for m in names])]
            if meant and meant[-1] == at:
                found = v["decision"]
        return found

    @staticmethod
    def _meant(loop, name, stack):
        control = loop.get("control", {})
        if control.get("kind") != "artifact_contract":
            return False
        if name is None or name in (loop["loopId"], control.get("loopId")):
            return True
        return "loopId" not in control and not any(
            name in (x["loopId"], x.get("control", {}).get("loopId")) for x in stack)


def _is_divergence(v):
    try:
        record({k: anything for k in v})(v)
        KINDS["divergence_recorded"][2](dict(v, divergenceId="div_" + "a" * 26, summary=v["summary"][:100]))
    except (Shape, KeyError, TypeError):
        return False
    return True


_TEXT = {"type": "text", "maxChars": 1024}
CAPABILITY = {"artifactKind": "wr.capability_observation", "shape": {  # of workflows that embed no pack of it
    "type": "object", "exactlyOne": ["claim", "result"], "fields": [
        {"name": n, "shape": dict({"type": "text"}, enum=e) if e else _TEXT, **({"required": True} if n == "capability" else {})}
        for n, e in (("attemptContext", ["workflow_step", "system_probe"]), ("capability", ["delegation", "web_browsing"]),
                     ("claim", ["available", "unavailable"]), ("claimedBy", ["agent", "user"]),
                     ("failureCode", ["tool_missing", "tool_error", "policy_blocked", "unknown"]),
                     ("result", ["success", "failure"]), ("summary", None))]}}


def forks(logs, find):
    """Where runs say that they began, as far as those sessions exist: the node has the root's snapshot unless the definition is
    another, and the head is one of the log's, not before the node."""
    by_owner = {log.owner: log for log in logs}
    for log in logs:
        roots = {e.id("scope", "runId"): e.get("data", "snapshotRef") for e in log.events
                 if e.kind == "node_created" and e.get("data", "parentNodeId") is None}
        for e in log.events:
            source = e.get("data", "forkedFrom") if e.kind == "run_started" else None
            other = by_owner.get((source or {}).get("sessionId"))
            if other is None:
                continue
            node = next((n for n in other.events if n.kind == "node_created" and n.get("scope") == {
                k: source[k] for k in ("nodeId", "runId")}), None)
            covered = other.heads.get(source["head"])
            adopted = "workflowHash" in source  # another definition: the root has a state of its own
            if node is None or not adopted and node.get("data", "snapshotRef") != roots.get(e.id("scope", "runId")):
                find("inconsistent", log.rel, "forkedFrom names no node with the root's snapshot", None, e.index)
            elif covered is None and other.health == "healthy" or covered is not None and covered <= node.index:
                find("inconsistent", log.rel, "the head of forkedFrom is none of that log's behind the node", None, e.index)
