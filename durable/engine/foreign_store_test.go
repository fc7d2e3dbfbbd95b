package engine_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

var updateForeign = flag.Bool("update-foreign", false, "write testdata/foreign again")

// foreignDir is a store of the shapes that another program writes, with words and ids made for
// these tests: they must not depend on data that may be missing.
const foreignDir = "../../testdata/foreign/store"

// The runs of that store, by the seeds of their directories.
const (
	foreignComplete = byte(1) // complete, with a loop and two refused attempts on its way
	foreignBlocked  = byte(2) // its tip is a refused attempt
	foreignBranch   = byte(3) // ended, and was continued from an earlier step
	foreignGap      = byte(4) // an open gap at the tip, named by no snapshot
)

func foreignRun(seed byte) id.Run { return id.NewRun(id.Seed{seed}) }

type object = map[string]any

// foreignLog is one log of the store while it is made.
type foreignLog struct {
	t       testing.TB
	files   map[string][]byte
	session string
	run     id.Run
	hash    string
	index   int
	lines   []byte // of the segment that is being made
	first   int
	records int
	pinned  map[string]bool
	pins    []object
	log     []byte // the manifest
	serial  int
	nodes   map[string]id.Node
}

func jcs(t testing.TB, v any) []byte {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := canon.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return parsed.JCS()
}

// put stores an object and returns its digest.
func (l *foreignLog) put(kind manifest.ObjectKind, v any) string {
	data := jcs(l.t, v)
	ref := canon.Sum(data)
	l.files[manifest.ObjectDir(kind)+"/"+manifest.ObjectName(kind, ref)] = data
	return ref.String()
}

// name is an id in the shape of the other program: made of others, or by counting.
func (l *foreignLog) name(prefix string) string {
	l.serial++
	return fmt.Sprintf("%s_of_%d", prefix, l.serial)
}

func (l *foreignLog) add(kind string, scope object, data object) string {
	key := fmt.Sprintf("%s-of:%s:%d", kind, l.session, l.index)
	e := object{"data": data, "dedupeKey": key, "eventId": id.EventOf(l.session, key).String(), "eventIndex": l.index,
		"kind":      kind,
		"sessionId": l.session, "timestampMs": 1767225600000 + int64(l.index)*1000, "v": 1}
	if scope != nil {
		e["scope"] = scope
	}
	l.lines = append(append(l.lines, jcs(l.t, e)...), '\n')
	l.index++
	return e["eventId"].(string)
}

func (l *foreignLog) at(node string) object {
	return object{"runId": l.run.String(), "nodeId": l.nodes[node].String()}
}

func (l *foreignLog) ofRun() object { return object{"runId": l.run.String()} }

// close commits what was added, as a group of the other program: without chain, and with pins of
// new snapshots only.
func (l *foreignLog) close() {
	name := manifest.SegmentName(int64(l.first), int64(l.index-1))
	l.files["sessions/"+l.session+"/events/"+name] = l.lines
	l.record(object{"kind": "segment_closed", "bytes": len(l.lines), "firstEventIndex": l.first,
		"lastEventIndex": l.index - 1,
		"segmentRelPath": "events/" + name, "sha256": canon.Sum(l.lines).String()})
	for _, pin := range l.pins {
		l.record(pin)
	}
	l.lines, l.pins, l.first = nil, nil, l.index
	l.files["sessions/"+l.session+"/"+manifest.FileName] = l.log
}

func (l *foreignLog) record(r object) {
	r["manifestIndex"], r["sessionId"], r["v"] = l.records, l.session, 1
	l.records++
	l.log = append(append(l.log, jcs(l.t, r)...), '\n')
}

// node makes a node under a parent, whose snapshot holds a state.
func (l *foreignLog) node(name, parent, kind string, state object) {
	ref := l.put(manifest.Snapshot,
		object{"kind": "execution_snapshot", "v": 1, "enginePayload": object{"v": 1, "engineState": state}})
	data := object{"nodeKind": kind, "parentNodeId": nil, "snapshotRef": ref, "workflowHash": l.hash}
	if parent == "" {
		l.nodes[name] = id.RootNode(l.run)
	} else {
		l.nodes[name] = id.RootNode(id.NewRun(id.Seed{byte(len(l.nodes) + 1), l.run.String()[4]}))
		data["parentNodeId"] = l.nodes[parent].String()
	}
	created := l.add("node_created", l.at(name), data)
	if !l.pinned[ref] {
		l.pinned[ref] = true
		l.pins = append(l.pins, object{"kind": "snapshot_pinned", "createdByEventId": created,
			"eventIndex": l.index - 1, "snapshotRef": ref})
	}
	if kind == "checkpoint" {
		l.edge(parent, name, "checkpoint", "checkpoint_created", created)
	}
}

func (l *foreignLog) edge(from, to, kind, cause, event string) {
	l.add("edge_created", l.ofRun(), object{"cause": object{"eventId": event, "kind": cause}, "edgeKind": kind,
		"fromNodeId": l.nodes[from].String(), "toNodeId": l.nodes[to].String()})
}

// advance records an attempt at a node that leads to another, and the notes on it.
func (l *foreignLog) advance(from, to, kind, cause string, state object, notes string) {
	attempt := id.NextAttempt(l.nodes[from], id.OpAck, l.serial).String()
	l.serial++
	node := id.RootNode(id.NewRun(id.Seed{byte(len(l.nodes) + 1), l.run.String()[4]}))
	recorded := l.add("advance_recorded", l.at(from), object{"attemptId": attempt, "intent": "ack_pending",
		"outcome": object{"kind": "advanced", "toNodeId": node.String()}})
	l.add("decision_trace_appended", l.at(from),
		object{"traceId": l.name("evt"),
			"entries": []object{{"kind": "selected_next_step", "summary": "This one is next."}}})
	l.node(to, from, kind, state)
	l.edge(from, to, "acked_step", cause, recorded)
	if notes != "" {
		l.add("node_output_appended", l.at(from), object{"outputChannel": "recap", "outputId": "out_recap_" + attempt,
			"payload": object{"notesMarkdown": notes, "payloadKind": "notes"}})
	}
}

func running(step string, loop []object, completed ...string) object {
	path := []object{}
	for _, f := range loop {
		path = append(path, object{"iteration": f["iteration"], "loopId": f["loopId"]})
	}
	if loop == nil {
		loop = []object{}
	}
	return object{"kind": "running", "completed": object{"kind": "set", "values": append([]string{}, completed...)},
		"loopStack": loop,
		"pending":   object{"kind": "some", "step": object{"loopPath": path, "stepId": step}}}
}

func refused(state object, code, message string) object {
	state = maps.Clone(state)
	state["kind"] = "blocked"
	state["blocked"] = object{"kind": "retryable_block", "reason": object{"kind": "missing_required_output",
		"contractRef": "tea.leaves"},
		"blockers": object{"blockers": []object{{"code": code, "message": message,
			"pointer":      object{"kind": "output_contract", "contractRef": "tea.leaves"},
			"suggestedFix": "Call it again."}}}}
	return state
}

func round(n, body int) []object {
	return []object{{"loopId": "pot", "iteration": n, "bodyIndex": body}}
}

var complete = object{"kind": "complete"}

// begin makes a session with its run, its first node and the events that belong to them.
func begin(t testing.TB, files map[string][]byte, seed byte, workflow object, root object) *foreignLog {
	l := beginKnown(t, files, seed, workflow, root, object{"goal": "tea"})
	l.add("git_start_recorded", nil, object{"repoRoot": "/srv/tea", "stagedFiles": 1, "unstagedFiles": 0})
	l.close()
	return l
}

// beginKnown is begin with events of kinds that Waybill knows, and the segment still open.
func beginKnown(t testing.TB, files map[string][]byte, seed byte, workflow, root, context object) *foreignLog {
	l := &foreignLog{t: t, files: files, run: foreignRun(seed), session: id.NewSession(id.Seed{seed}).
		String(), pinned: map[string]bool{}, nodes: map[string]id.Node{}}
	l.hash = l.put(manifest.Workflow, object{"schemaVersion": 1, "sourceKind": "v1_pinned",
		"workflowId": workflow["id"], "name": workflow["name"],
		"description": "d", "version": "1.0.0", "definition": workflow})
	l.add("session_created", nil, object{})
	l.add("run_started", l.ofRun(), object{"triggerSource": "hand", "workflowHash": l.hash,
		"workflowId": workflow["id"], "workflowSourceKind": "project", "workflowSourceRef": "/srv/tea/workflows"})
	l.node("root", "", "step", root)
	l.add("preferences_changed", l.at("root"),
		object{"changeId": l.name("evt"), "delta": []object{{"key": "autonomy", "value": "guided"}},
			"effective": object{"autonomy": "guided", "riskPolicy": "conservative"}, "source": "system"})
	l.add("context_set", l.ofRun(), object{"context": context, "contextId": l.name("evt"), "source": "initial"})
	return l
}

func foreignStep(name, title string) object { return object{"id": name, "title": title, "prompt": "p"} }

// foreignFiles is the whole store.
func foreignFiles(t testing.TB) map[string][]byte {
	files := map[string][]byte{}
	tea := object{"id": "tea", "name": "Make tea", "steps": []object{foreignStep("boil", "Boil the water"),
		{"id": "pot", "title": "Fill the pot", "type": "loop", "loop": object{"type": "while", "maxIterations": 3},
			"body": []object{foreignStep("add", "Add leaves"), foreignStep("taste", "Taste it")}},
		foreignStep("serve", "Serve it")}}
	plain := object{"id": "toast", "name": "Make toast", "steps": []object{foreignStep("slice", "Slice the bread"),
		foreignStep("toast", "Toast it"), foreignStep("butter", "Butter it")}}

	l := begin(t, files, foreignComplete, tea, running("boil", nil))
	l.advance("root", "add0", "step", "intentional_fork", running("add", round(0, 0), "boil"), "it boils")
	l.close()
	taste := running("taste", round(0, 1), "pot@0::add", "boil") // in no order of bytes
	l.advance("add0", "taste0", "step", "intentional_fork", taste, "two spoons")
	l.advance("taste0", "no1", "blocked_attempt", "intentional_fork",
		refused(taste, "MISSING_REQUIRED_OUTPUT", "No leaves were shown."), "")
	l.add("validation_performed", l.at("taste0"), object{"attemptId": l.name("attempt"), "contractRef": "tea.leaves",
		"validationId": l.name("validation"),
		"result": object{"valid": false, "issues": []string{"leaves: want some", "color: want brown"},
			"suggestions": []string{}}})
	l.advance("no1", "no2", "blocked_attempt", "intentional_fork",
		refused(taste, "INVALID_REQUIRED_OUTPUT", "These are no leaves."), "")
	l.close()
	l.advance("no2", "serve", "step", "intentional_fork", running("serve", nil, "pot", "boil"), "good")
	l.add("node_output_appended", l.at("no2"), object{"outputChannel": "artifact", "outputId": l.name("out_artifact"),
		"payload": object{"payloadKind": "artifact_ref",
			"byteLength": 30, "content": object{"kind": "tea.leaves", "count": 2}, "contentType": "application/json",
			"sha256": canon.Sum([]byte("leaves")).String()}})
	l.advance("serve", "end", "step", "intentional_fork", complete, "served")
	l.add("run_completed", l.ofRun(), object{"agentCommitShas": []string{"a"}, "captureConfidence": "high",
		"durationMs": 1500, "endGitSha": nil, "startGitSha": nil, "gitBranch": nil})
	l.add("git_metrics_recorded", l.ofRun(), object{"filesChanged": 1, "linesAdded": 2, "linesRemoved": nil,
		"commitShas": []string{"a"}, "truncated": true})
	l.close()

	l = begin(t, files, foreignBlocked, plain, running("slice", nil))
	l.advance("root", "toast", "step", "intentional_fork", running("toast", nil, "slice"), "sliced")
	l.advance("toast", "no", "blocked_attempt", "intentional_fork",
		refused(running("toast", nil, "slice"), "USER_ONLY_DEPENDENCY", "Nobody said how brown."), "")
	l.close()

	l = begin(t, files, foreignBranch, plain, running("slice", nil))
	l.advance("root", "toast", "step", "intentional_fork", running("toast", nil, "slice"), "sliced")
	l.node("kept", "toast", "checkpoint", running("toast", nil, "slice"))
	l.advance("toast", "butter", "step", "intentional_fork", running("butter", nil, "slice", "toast"), "toasted")
	l.advance("butter", "end", "step", "intentional_fork", complete, "buttered")
	l.add("run_completed", l.ofRun(), object{"agentCommitShas": []string{}})
	l.close()
	l.advance("toast", "again", "step", "non_tip_advance", running("butter", nil, "slice", "toast"), "browner")
	l.close()

	l = begin(t, files, foreignGap, plain, running("slice", nil))
	gap := func(name, resolution string, refers any) {
		r := object{"kind": resolution}
		if refers != nil {
			r["resolvesGapId"] = refers
		}
		l.add("gap_recorded", l.at("root"), object{"gapId": name, "severity": "critical", "summary": "Which bread " +
			strings.Repeat("?", 600), "resolution": r,
			"reason": object{"category": "user_only_dependency", "detail": "needs_user_choice"}})
	}
	gap("gap_first_0", "unresolved", nil)
	gap("gap_second_0", "unresolved", nil)
	gap("gap_third_0", "resolves", "gap_first_0")
	l.close()

	files["sessions/workstream-7/manifest.jsonl"] = []byte("{}\n")
	files["sessions/workstream-7/events/1.jsonl"] = []byte("{}\n")
	return files
}

// TestForeignStoreIsCurrent compares the files that other tests read with what this code makes.
func TestForeignStoreIsCurrent(t *testing.T) {
	want := foreignFiles(t)
	if *updateForeign {
		if err := os.RemoveAll(foreignDir); err != nil {
			t.Fatal(err)
		}
		writeFiles(t, foreignDir, want)
	}
	got := map[string][]byte{}
	err := filepath.WalkDir(foreignDir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(foreignDir, path)
			got[filepath.ToSlash(rel)], err = os.ReadFile(path)
		}
		return err
	})
	same := func(a, b []byte) bool { return string(a) == string(b) }
	if err != nil || !maps.EqualFunc(want, got, same) {
		t.Errorf("testdata/foreign is not current: go test ./durable/engine -run ForeignStore -update-foreign (%v, "+
			"%d files of %d)", err, len(got), len(want))
	}
}

func writeFiles(t testing.TB, dir string, files map[string][]byte) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
