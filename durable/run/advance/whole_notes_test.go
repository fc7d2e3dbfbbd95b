package advance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/advance"
)

// outputsOf returns the output events of a plan.
func outputsOf(p manifest.Plan) (out []event.Event) {
	for _, e := range p.Events {
		if _, ok := e.Data.(event.NodeOutputAppended); ok {
			out = append(out, e)
		}
	}
	return out
}

// payloadOf returns the payload of an output event.
func payloadOf(e event.Event) event.OutputPayload { return e.Data.(event.NodeOutputAppended).Payload }

// wholeNotesOf returns the event with the whole notes, and their bytes in the plan; nil without any.
func wholeNotesOf(t *testing.T, p manifest.Plan) (*event.Event, string) {
	t.Helper()
	var found *event.Event
	var text string
	for _, e := range outputsOf(p) {
		if !payloadOf(e).IsFullNotes() {
			continue
		}
		if found != nil {
			t.Fatal("two artifacts with the notes of one attempt")
		}
		found = &e
		for _, o := range p.Objects {
			if o.Kind == manifest.Artifact && o.Ref() == payloadOf(e).SHA256 {
				text = string(o.Bytes)
			}
		}
	}
	return found, text
}

// TestLongNotesAreKeptWhole: an accepted and a refused attempt and a checkpoint record the beginning in the recap and the
// whole text as an artifact of the engine, among the artifacts in their order. Shorter notes have none.
func TestLongNotesAreKeptWhole(t *testing.T) {
	many := make([]advance.Artifact, limits.ArtifactsMax) // the engine's is not counted
	for i := range many {
		many[i] = artifact("k"+string(rune('a'+i)), "v")
	}
	for name, plan := range map[string]func(advance.Request) (manifest.Plan, error){
		"advanced":   func(r advance.Request) (manifest.Plan, error) { return decide(t, at("plain"), r) },
		"blocked":    func(r advance.Request) (manifest.Plan, error) { return decide(t, at("choice"), r) },
		"checkpoint": func(r advance.Request) (manifest.Plan, error) { return checkpoint(t, at("plain"), r) },
	} {
		for _, n := range []int{1, limits.NotesBytesMax, limits.NotesBytesMax + 1, 100_000, limits.WholeNotesBytesMax} {
			notes := strings.Repeat("é", n/2) + strings.Repeat("x", n%2)
			p, err := plan(advance.Request{Notes: notes, Artifacts: many})
			if err != nil {
				t.Fatal(name, n, err)
			}
			all := outputsOf(p)
			if got := payloadOf(all[0]).NotesMarkdown; got != reason.Truncate(notes, limits.NotesBytesMax) {
				t.Errorf("%s, %d bytes: a recap of %d bytes", name, n, len(got))
			}
			whole, text := wholeNotesOf(t, p)
			if n <= limits.NotesBytesMax {
				if whole != nil {
					t.Errorf("%s, %d bytes: short notes have an artifact", name, n)
				}
				continue
			}
			if whole == nil || text != notes || whole.Actor.Kind != event.Engine ||
				payloadOf(*whole).ByteLength != int64(n) || len(all) != limits.ArtifactsMax+2 {
				t.Fatalf("%s, %d bytes: %+v with %d bytes, %d outputs", name, n, whole, len(text), len(all))
			}
			if !slices.IsSortedFunc(all[1:], func(a, b event.Event) int {
				return strings.Compare(payloadOf(a).SHA256.String(), payloadOf(b).SHA256.String())
			}) {
				t.Errorf("%s, %d bytes: artifacts are not in their order", name, n)
			}
		}
	}
}

// TestWholeNotesBesideTheSameFile: a file with the same text is an artifact of the caller, in the same order each time.
func TestWholeNotesBesideTheSameFile(t *testing.T) {
	notes := strings.Repeat("n", 5000)
	same := advance.Artifact{ContentType: event.FullNotesType, Bytes: []byte(notes)}
	p, err := decide(t, at("plain"), advance.Request{Notes: notes, Artifacts: []advance.Artifact{same}})
	if err != nil {
		t.Fatal(err)
	}
	all := outputsOf(p)
	if len(all) != 3 || payloadOf(all[1]).IsFullNotes() || !payloadOf(all[2]).IsFullNotes() ||
		all[1].Actor != agent || all[2].Actor.Kind != event.Engine {
		t.Fatalf("%+v", all)
	}
}

// TestWholeNotesSupersedeEarlierOnes, and an attempt without notes leaves them.
func TestWholeNotesSupersedeEarlierOnes(t *testing.T) {
	recap, whole := id.FromStart(root).Output(0), id.FromStart(root).Output(1)
	f := at("plain")
	f.Outputs = []advance.Output{
		{ID: recap, Payload: event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: "old"}},
		{ID: whole, Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, ArtifactKind: event.FullNotesKind,
			ContentType: event.FullNotesType, SHA256: canon.Sum([]byte("old"))}}}
	p, err := decide(t, f, advance.Request{Notes: strings.Repeat("n", 5000)})
	if err != nil {
		t.Fatal(err)
	}
	all := outputsOf(p)
	for i, want := range []id.Output{recap, whole} {
		if got := all[i].Data.(event.NodeOutputAppended).SupersedesOutputID; got == nil || *got != want {
			t.Errorf("output %d supersedes %v, want %s", i, got, want)
		}
	}
}

// TestCriteriaReadWholeNotes: what a criterion asks for may be behind the recap's end, in the attempt's notes and in
// those that are recorded.
func TestCriteriaReadWholeNotes(t *testing.T) {
	notes := strings.Repeat("x", 5000) + "\nFinding 1: all is well"
	f := at("judged")
	if o := outcome(t, f, advance.Request{Notes: notes}); o.Kind != event.Advanced {
		t.Error("the attempt's:", o.Blockers)
	}
	f.Notes = notes
	if o := outcome(t, f, advance.Request{}); o.Kind != event.Advanced {
		t.Error("the recorded ones:", o.Blockers)
	}
	if o := outcome(t, f, advance.Request{Notes: notes[:5000]}); o.Kind != event.Blocked {
		t.Error("notes without it are accepted")
	}
}

// TestApprovalBindsToWholeNotes: notes that differ behind the recap's end are other notes, and so are notes of that
// beginning alone.
func TestApprovalBindsToWholeNotes(t *testing.T) {
	text := strings.Repeat("p", 6000)
	held := func(notes string) advance.Facts {
		p, err := decide(t, stored(t, at("approve")), advance.Request{Notes: notes})
		if err != nil {
			t.Fatal(err)
		}
		f := stored(t, at("approve"))
		for i, e := range outputsOf(p) {
			f.Outputs = append(f.Outputs, advance.Output{ID: id.FromStart(root).Output(i), Payload: payloadOf(e)})
		}
		return f
	}
	f := held(text)
	p, err := approve(t, f, advance.Decision{Word: event.Approved, Actor: person})
	if err != nil {
		t.Fatal(err)
	}
	f.Outputs, f.Approvals = append(f.Outputs, approval(t, p)), 1
	for name, tc := range map[string]struct {
		notes string
		want  event.OutcomeKind
	}{
		"none":                    {"", event.Advanced},
		"the same":                {text, event.Advanced},
		"other behind the end":    {text[:5999] + "q", event.Blocked},
		"longer":                  {text + "p", event.Blocked},
		"the recap's alone":       {reason.Truncate(text, limits.NotesBytesMax), event.Blocked},
		"short":                   {"done", event.Blocked},
		"of the length, another":  {strings.Repeat("q", 6000), event.Blocked},
		"one byte over the recap": {text[:limits.NotesBytesMax+1], event.Blocked},
	} {
		if o := outcome(t, f, advance.Request{Notes: tc.notes}); o.Kind != tc.want {
			t.Errorf("%s: %s", name, o.Kind)
		}
	}
}

// TestContractsDoNotSeeWholeNotes: a step that requires an artifact is not satisfied by the engine's.
func TestContractsDoNotSeeWholeNotes(t *testing.T) {
	long := advance.Request{Notes: strings.Repeat("n", 5000)}
	without, with := outcome(t, at("choice"), advance.Request{}), outcome(t, at("choice"), long)
	if without.Kind != event.Blocked || with.Kind != event.Blocked ||
		!slices.Equal(without.Blockers.Blockers, with.Blockers.Blockers) {
		t.Errorf("%+v\n%+v", without, with)
	}
}

// TestWholeNotesAreRefusedFromACaller, also beside long notes.
func TestWholeNotesAreRefusedFromACaller(t *testing.T) {
	_, err := decide(t, at("plain"), advance.Request{Notes: strings.Repeat("n", 5000),
		Artifacts: []advance.Artifact{artifact(event.FullNotesKind, "forged")}})
	if !fault.Is(err, fault.ValidationError) || !strings.Contains(err.Error(), event.FullNotesKind) {
		t.Error(err)
	}
	_, err = decide(t, at("plain"), advance.Request{Notes: strings.Repeat("n", limits.WholeNotesBytesMax+1)})
	if f := fault.Of(err); err == nil || f.Details["maxBytes"] != limits.WholeNotesBytesMax ||
		!strings.Contains(f.Suggestion.String(), "artifact") {
		t.Error(err)
	}
}
