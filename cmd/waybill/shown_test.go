package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
)

// A member that is shown by no view of its own is printed by 'runs events', which prints the stored
// lines: these link records, or are what a view says in its own words.
const (
	storedLine = "events"
	show       = "show"
	step       = "step"
	artifacts  = "artifacts"
)

// shownBy says for each member of the data of each event of a session which view shows its value, in
// text and as JSON. "[]" are the items of a list.
var shownBy = map[string]string{
	"session_created.importedFrom.storeId":   show,
	"session_created.importedFrom.sessionId": show,
	"session_created.importedFrom.head":      show,

	"run_started.workflowId":              show,
	"run_started.workflowHash":            storedLine,
	"run_started.workflowSourceKind":      storedLine,
	"run_started.workflowSourceRef":       storedLine,
	"run_started.signers.digest":          storedLine,
	"run_started.signers.storeId":         storedLine,
	"run_started.forkedFrom.sessionId":    storedLine,
	"run_started.forkedFrom.runId":        storedLine, // 'runs show' has the short form
	"run_started.forkedFrom.nodeId":       storedLine,
	"run_started.forkedFrom.head":         storedLine,
	"run_started.forkedFrom.workflowHash": storedLine,
	"run_started.forkedFrom.mode":         show,
	"run_started.forkedFrom.sequence":     storedLine,
	"run_started.goal":                    show,
	"run_started.options.configurable":    show,
	"run_started.options.metadata":        show,
	"run_started.options.requestDigest":   show,
	"run_started.parent":                  show,
	"run_started.tags[]":                  show,
	"run_started.title":                   show,
	"run_started.warnings[].code":         show,
	"run_started.warnings[].path":         show,
	"run_started.warnings[].expected":     show,
	"run_started.warnings[].got":          show,

	"node_created.nodeKind":     storedLine,
	"node_created.parentNodeId": storedLine,
	"node_created.snapshotRef":  storedLine,
	"node_created.workflowHash": storedLine,

	"edge_created.cause.eventId": storedLine,
	"edge_created.cause.kind":    storedLine,
	"edge_created.edgeKind":      storedLine,
	"edge_created.fromNodeId":    storedLine,
	"edge_created.toNodeId":      storedLine,

	"advance_recorded.account":               storedLine,
	"advance_recorded.attemptId":             storedLine,
	"advance_recorded.intent":                storedLine,
	"advance_recorded.outcome.blockers":      step,
	"advance_recorded.outcome.kind":          step,
	"advance_recorded.elicited.confirmation": storedLine, // 'runs show --step' shows it in words
	"advance_recorded.elicited.inputs[]":     step,
	"advance_recorded.response.action":       storedLine,
	"advance_recorded.response.by":           storedLine,
	"advance_recorded.response.digest":       storedLine,
	"advance_recorded.traceparent":           step,
	"advance_recorded.outcome.toNodeId":      storedLine,
	"advance_recorded.requestDigest":         storedLine,
	"advance_recorded.warnings[].code":       step,
	"advance_recorded.warnings[].path":       step,
	"advance_recorded.warnings[].expected":   step,
	"advance_recorded.warnings[].got":        step,

	"context_set.context":   step,
	"context_set.contextId": storedLine,
	"context_set.nodeId":    storedLine,
	"context_set.source":    step,

	"preferences_changed.changeId":             storedLine,
	"preferences_changed.delta[].key":          storedLine,
	"preferences_changed.delta[].value":        show,
	"preferences_changed.effective.autonomy":   show,
	"preferences_changed.effective.riskPolicy": show,
	"preferences_changed.source":               storedLine,

	"node_output_appended.decision.by":           step,
	"node_output_appended.decision.decision":     step,
	"node_output_appended.decision.reason":       step,
	"node_output_appended.decision.shownDigest":  storedLine,
	"node_output_appended.outputChannel":         storedLine,
	"node_output_appended.outputId":              storedLine,
	"node_output_appended.payload.artifactKind":  artifacts,
	"node_output_appended.payload.byteLength":    artifacts,
	"node_output_appended.payload.contentType":   artifacts,
	"node_output_appended.payload.notesMarkdown": step,
	"node_output_appended.payload.payloadKind":   storedLine,
	"node_output_appended.payload.sha256":        artifacts,
	"node_output_appended.supersedesOutputId":    storedLine,

	"gap_recorded.evidenceRefs[].eventId":   storedLine,
	"gap_recorded.evidenceRefs[].kind":      storedLine,
	"gap_recorded.evidenceRefs[].outputId":  storedLine,
	"gap_recorded.gapId":                    storedLine,
	"gap_recorded.loop.iteration":           storedLine,
	"gap_recorded.loop.length":              storedLine,
	"gap_recorded.loop.loopId":              storedLine,
	"gap_recorded.loop.maxIterations":       storedLine,
	"gap_recorded.pointer":                  storedLine,
	"gap_recorded.reason":                   step,
	"gap_recorded.resolution.kind":          storedLine,
	"gap_recorded.resolution.resolvesGapId": storedLine,
	"gap_recorded.severity":                 step,
	"gap_recorded.summary":                  step,

	"decision_trace_appended.entries[].kind":               step,
	"decision_trace_appended.entries[].refs[].conditionId": storedLine,
	"decision_trace_appended.entries[].refs[].kind":        storedLine,
	"decision_trace_appended.entries[].refs[].loopId":      storedLine,
	"decision_trace_appended.entries[].refs[].stepId":      storedLine,
	"decision_trace_appended.entries[].refs[].value":       storedLine,
	"decision_trace_appended.entries[].summary":            step,
	"decision_trace_appended.traceId":                      storedLine,

	"capability_observed.capObsId":                          storedLine,
	"capability_observed.capability":                        show,
	"capability_observed.provenance.detail.attemptContext":  show,
	"capability_observed.provenance.detail.claim":           show,
	"capability_observed.provenance.detail.claimedBy":       show,
	"capability_observed.provenance.detail.failureCode":     show,
	"capability_observed.provenance.detail.probeStepId":     show,
	"capability_observed.provenance.detail.probeTemplateId": show,
	"capability_observed.provenance.detail.result":          show,
	"capability_observed.provenance.enforcementGrade":       show,
	"capability_observed.provenance.kind":                   show,
	"capability_observed.status":                            show,

	"divergence_recorded.divergenceId":  storedLine,
	"divergence_recorded.reason":        show,
	"divergence_recorded.relatedStepId": show,
	"divergence_recorded.summary":       show,
	// 'runs timeline' has them in words.
	"divergence_recorded.replay.kind":            storedLine,
	"divergence_recorded.replay.originalEventId": storedLine,
	"divergence_recorded.replay.sequence":        storedLine,

	"observation_recorded.confidence":  storedLine,
	"observation_recorded.key":         show,
	"observation_recorded.value.type":  storedLine,
	"observation_recorded.value.value": show,

	"guard_noted.chat":     step,
	"guard_noted.client":   step,
	"guard_noted.refusals": storedLine, // 'runs show' counts them
	"guard_noted.verdict":  storedLine,

	"run_event_recorded.causationId": storedLine,
	"run_event_recorded.nodeId":      storedLine,
	"run_event_recorded.number":      storedLine,
	"run_event_recorded.payload":     storedLine,
	"run_event_recorded.type":        storedLine,

	"session_handed_over.fromStoreId": storedLine, // 'runs show' shows a hand-over from this store
	"session_handed_over.n":           storedLine,
	"session_handed_over.to":          storedLine,
	"session_taken_back.n":            storedLine,

	// 'runs show' shows the pause of a run that is paused, and the reason of the end at a limit.
	"run_paused.drain":   storedLine,
	"run_paused.n":       storedLine,
	"run_paused.reason":  storedLine,
	"run_resumed.n":      storedLine,
	"run_resumed.reason": storedLine,

	"run_closed.limit.kind":        storedLine,
	"run_closed.limit.limit":       storedLine,
	"run_closed.limit.observed":    storedLine,
	"run_cancel_requested.outcome": storedLine,
	"run_cancel_requested.reason":  show,
	"run_closed.outcome":           show,
	"run_closed.reason":            show,
}

// views are the commands of shownBy, by run.
func views(run string) map[string][]string {
	return map[string][]string{storedLine: {"runs", "events", run}, show: {"runs", "show", run},
		step: {"runs", "show", run, "--step", "reason"}, artifacts: {"artifacts", "list", run}}
}

// TestEveryMemberOfASessionIsShown stores a session with a value in each member of each kind of event, and
// looks for it in what the commands of shownBy print. The members are those of the Go types: one
// without a row, or without a value here, fails.
func TestEveryMemberOfASessionIsShown(t *testing.T) {
	c := newCalls(t)
	c.with("", "start", "wr.change_checklist", "--set", "change=x")
	stored := storeEveryMember(t, filepath.Join(c.dir, "home/local"))
	var missing []string
	seen := map[string]bool{}
	printed := map[string]string{}
	for _, e := range stored {
		all := leaves(t, e.Data)
		for _, l := range all {
			row := rowOf(shownBy, e.Data.Kind()+"."+l.path)
			if row == "" {
				t.Errorf("%s.%s is in no row of shownBy", e.Data.Kind(), l.path)
				continue
			}
			seen[row] = true
			name, args := shownBy[row], views(e.Scope.RunID.String())[shownBy[row]]
			if e.Scope.RunID.IsZero() {
				args = views(stored[1].Scope.RunID.String())[name]
			}
			for _, asJSON := range []bool{false, true} {
				call := strings.Join(args, " ") + fmt.Sprint(asJSON)
				if printed[call] == "" {
					printed[call] = printedBy(t, c.env(), args, asJSON)
				}
				if !printedShows(printed[call], l.text, asJSON) {
					missing = append(missing, fmt.Sprintf("%s.%s: %.60q is not in %v (JSON: %v)", e.Data.Kind(), l.path, l.text,
						args, asJSON))
				}
			}
		}
	}
	slices.Sort(missing)
	for _, line := range slices.Compact(missing) {
		t.Error(line)
	}
	for _, member := range membersOf(event.Domain) {
		row := rowOf(shownBy, member)
		switch {
		case row == "":
			t.Errorf("member %s has no row in shownBy", member)
		case !seen[row]:
			t.Errorf("no event here has a value of %s", member)
		}
	}
	for row := range shownBy {
		if !slices.ContainsFunc(membersOf(event.Domain), func(m string) bool { return rowOf(shownBy, m) == row }) {
			t.Errorf("row %s is of no member", row)
		}
	}
}

// printedBy returns what a call prints, with words as stored ones have them.
func printedBy(t *testing.T, env, args []string, asJSON bool) string {
	t.Helper()
	if asJSON {
		args = append(slices.Clone(args), "--json")
	}
	var out, errOut bytes.Buffer
	if status := run(args, strings.NewReader(""), &out, &errOut, env); status != 0 {
		t.Fatalf("%v: %s%s", args, out.String(), errOut.String())
	}
	return strings.ReplaceAll(out.String(), "_", " ")
}

// printedShows reports whether a value is in what was printed: a value of the document, or a whole word of
// text. The text of a size is as people read it.
func printedShows(printed, text string, asJSON bool) bool {
	text = strings.ReplaceAll(text, "_", " ")
	if asJSON {
		quoted, _ := json.Marshal(text)
		return wholeWord(printed, string(quoted)) || wholeWord(printed, text) && json.Valid([]byte(text))
	}
	return wholeWord(printed, text)
}

// wholeWord reports whether a text contains a word that no letter or digit continues.
func wholeWord(text, word string) bool {
	edge := func(s string) string {
		if s != "" && (s[0] >= '0' && s[0] <= '9' || s[0] >= 'a' && s[0] <= 'z') {
			return `\b`
		}
		return ""
	}
	pattern := edge(word) + regexp.QuoteMeta(word) + edge(word[len(word)-1:])
	return regexp.MustCompile(pattern).MatchString(text)
}

// rowOf returns the row of a table that a path is of: the path itself, or the longest one that it
// continues.
func rowOf(table map[string]string, path string) string {
	for at := path; at != ""; {
		if _, ok := table[at]; ok {
			return at
		}
		at = at[:max(strings.LastIndexAny(at, ".["), 0)]
	}
	return ""
}

// leaf is a value in the data of an event, with its path.
type leaf struct{ path, text string }

// leaves returns the values of an event's data that are neither lists nor objects, and keys of context.
func leaves(t *testing.T, data event.Payload) (out []leaf) {
	t.Helper()
	raw, err := canon.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	v, err := canon.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	var walk func(path string, v canon.Value)
	walk = func(path string, v canon.Value) {
		switch v.Kind() {
		case canon.Object:
			for i := range v.Len() {
				walk(strings.TrimPrefix(path+"."+v.Key(i), "."), v.Item(i))
			}
		case canon.Array:
			for i := range v.Len() {
				walk(path+"[]", v.Item(i))
			}
		case canon.Null: // an absent parent, or a removed key, which a view says in words
		case canon.String:
			out = append(out, leaf{path, v.Text()})
		default:
			out = append(out, leaf{path, string(v.JCS())})
		}
	}
	walk("", v)
	return out
}

// membersOf returns the paths of the members of all payload types of a table. Types with a text form of
// their own, and values, are leaves.
func membersOf(table *event.Table) (out []string) {
	for _, p := range table.Payloads() {
		walkMembers(reflect.TypeOf(p), p.Kind(), &out)
	}
	return out
}

var (
	jsonForm = reflect.TypeFor[json.Marshaler]()
	textForm = reflect.TypeFor[encoding.TextMarshaler]()
)

func walkMembers(typ reflect.Type, path string, out *[]string) {
	switch {
	case typ.Kind() == reflect.Pointer:
		walkMembers(typ.Elem(), path, out)
	case typ.Kind() == reflect.Slice:
		walkMembers(typ.Elem(), path+"[]", out)
	case typ.Kind() != reflect.Struct || typ.Implements(jsonForm) || typ.Implements(textForm) ||
		reflect.PointerTo(typ).Implements(jsonForm):
		*out = append(*out, path)
	default:
		for _, f := range reflect.VisibleFields(typ) {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" || name == "-" || len(f.Index) > 1 && !f.IsExported() {
				continue
			}
			walkMembers(f.Type, path+"."+name, out)
		}
	}
}
