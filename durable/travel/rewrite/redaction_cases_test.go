package rewrite_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/travel/rewrite"
)

const secret = "sk-abcdef"

var marked = redact.Marker(redact.SecretKey)

// one redacts single payloads of a constructed log.
func one(t *testing.T, load func(canon.Digest) ([]byte, error), payloads ...event.Payload) []event.Payload {
	t.Helper()
	session := id.NewSession(id.Seed{1})
	run := id.NewRun(id.Seed{1})
	var events []event.Event
	for i, p := range payloads {
		scope := event.Scope{RunID: run, NodeID: id.RootNode(run)}
		switch p.(type) {
		case event.SessionHandedOver:
			scope = event.Scope{}
		case event.RunStarted, event.RunCancelRequested, event.RunClosed, event.RunPaused, event.RunResumed, event.ContextSet:
			scope.NodeID = id.Node{}
		case event.ObservationRecorded:
			scope = event.Scope{}
		}
		e := event.New(session.String(), int64(i), scope, event.Actor{Kind: event.Human, Ref: secret}, 1, p)
		if err := e.Check(event.Domain); err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	out, err := rewrite.NewRedaction(load).Segment(events)
	if err != nil {
		t.Fatal(err)
	}
	chain := rewrite.NewChain(manifest.SessionEvents(session))
	if _, err := chain.Next(out); err != nil {
		t.Fatal(err)
	}
	var got []event.Payload
	for i, e := range out {
		if e.Actor.Ref != marked || e.ID != id.EventOf(session.String(), e.DedupeKey()) {
			t.Errorf("event %d: %+v", i, e)
		}
		got = append(got, e.Data)
	}
	return got
}

// TestRedactsEveryTextOfEveryKind: every text member is redacted, and stays within its budget
// although markers may be longer.
func TestRedactsEveryTextOfEveryKind(t *testing.T) {
	long := func(most int) string { return strings.Repeat(secret+" ", most/10) }
	origin := id.FromStart(id.RootNode(id.NewRun(id.Seed{1})))
	gap := event.GapRecorded{GapID: origin.Gap(0), Reason: reason.NeedsApproval, Severity: event.Critical,
		Summary: long(limits.SummaryBytesMax), Resolution: event.Resolution{Kind: event.Unresolved}}
	blocked := event.AdvanceRecorded{AttemptID: id.NextAttempt(id.RootNode(id.NewRun(id.Seed{1})), id.OpAck, 0),
		Intent: event.IntentAckPending, RequestDigest: canon.Sum(nil),
		Outcome: event.BlockedBy(
			reason.Report{Blockers: []reason.Blocker{{Code: reason.BlockerInvalidOutput,
				Message: long(limits.MessageBytesMax), SuggestedFix: long(limits.SuggestedFixBytesMax),
				Pointer: reason.WorkflowStep("a")}}})}
	observed := func(value string) event.ObservationRecorded {
		return event.ObservationRecorded{Key: "git_branch", Confidence: "low",
			Value: event.ObservationValue{Type: "short_string", Value: value}}
	}
	var entries []event.TraceEntry
	for range limits.TraceEntriesMax {
		entries = append(entries, event.TraceEntry{Kind: event.SelectedNextStep, Summary: long(320)})
	}
	got := one(t, nil, blocked, gap,
		event.RunStarted{WorkflowID: "w", WorkflowHash: canon.Sum(nil), WorkflowSourceKind: event.SourceUser,
			WorkflowSourceRef: "a/" + secret + "/b", Title: long(limits.TitleBytesMax),
			Goal: long(limits.GoalBytesMax), Tags: []string{secret, "fine"}},
		event.ContextSet{Context: parse(`{"password":"p","list":["` + secret + `"],"n":1,"` + secret + `":2}`),
			ContextID: origin.Context(0), Source: event.ContextInitial},
		event.ContextSet{Context: parse(`{"n":1,"list":[` + strings.Repeat(`{"token":1},`, 21000) + `0]}`),
			ContextID: origin.Context(1), Source: event.ContextInitial},
		event.NodeOutputAppended{OutputChannel: event.Recap, OutputID: origin.Output(0),
			Payload: event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: long(limits.NotesBytesMax)}},
		event.DecisionTraceAppended{TraceID: origin.Trace(0), Entries: entries},
		event.DivergenceRecorded{DivergenceID: origin.Divergence(0), Reason: "safety_stop", Summary: secret},
		observed("x "+secret), observed("x "+secret+"g"), observed("x "+marked), observed(long(limits.ShortStringMax)),
		observed(long(limits.ShortStringMax-10)),
		event.RunCancelRequested{Reason: secret},
		event.SessionHandedOver{FromStoreID: id.NewStore(id.Seed{1}), N: 1, To: secret},
		event.RunPaused{N: 1, Reason: secret}, event.RunResumed{N: 1, Reason: secret},
		event.RunClosed{Outcome: event.OutcomeCancelled, Reason: long(limits.SummaryBytesMax)})
	text, err := json.Marshal(fmt.Sprintf("%+v", got))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("abcdef")); n != 1 { // workflowSourceRef is kept
		t.Errorf("%d are left: %s", n, text)
	}
	if a := got[0].(event.AdvanceRecorded); !a.RequestDigest.IsZero() {
		t.Error("requestDigest was kept")
	}
	if c := got[3].(event.ContextSet); string(
		c.Context.JCS()) != `{"[REDACTED:secret_key]":2,"list":["[REDACTED:secret_key]"],"n":1,"password":"[REDACTED:named_secret]"}` {
		t.Errorf("%s", c.Context.JCS())
	}
	if c := got[4].(event.ContextSet); string(c.Context.JCS()) != `{"n":1}` {
		t.Errorf("%d bytes", len(c.Context.JCS()))
	}
	for i, want := range []string{"x " + marked, "x " + marked + " (2)", "x " + marked + " (3)"} {
		if o := got[8+i].(event.ObservationRecorded); o.Value.Value != want {
			t.Errorf("observation %d is %q", i, o.Value.Value)
		}
	}
}

// TestArtifactIsStable: an artifact that refers to another one which is redacted later was
// recorded with the old digest, and keeps it.
func TestArtifactIsStable(t *testing.T) {
	late := []byte(`{"note":"` + secret + `"}`)
	early := []byte(`{"note":"` + secret + `","of":"` + canon.Sum(late).String() + `"}`)
	files := map[canon.Digest][]byte{canon.Sum(late): late, canon.Sum(early): early}
	r := rewrite.NewRedaction(func(d canon.Digest) ([]byte, error) { return files[d], nil })
	session := id.NewSession(id.Seed{1}).String()
	for i, b := range [][]byte{early, late} {
		e := event.New(session, int64(i), event.Scope{}, event.Actor{Kind: event.Agent}, 1,
			output(i, "", "application/json", b))
		out, err := r.Segment([]event.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		for _, old := range [][]byte{early, late}[:i+1] {
			ref, data, changed, err := r.Artifact(canon.Sum(old))
			if err != nil || !changed || canon.Sum(data) != ref || bytes.Equal(old, b) &&
				ref != out[0].Data.(event.NodeOutputAppended).Payload.SHA256 {
				t.Errorf("%v %v %s", err, changed, data)
			}
		}
	}
}

func TestLogWithoutSecretsIsUnchanged(t *testing.T) {
	digest := canon.Sum([]byte("x"))
	a := event.AdvanceRecorded{AttemptID: id.NextAttempt(id.RootNode(id.NewRun(id.Seed{1})), id.OpAck, 0),
		Intent: event.IntentAckPending, RequestDigest: digest,
		Outcome: event.AdvancedTo(id.RootNode(id.NewRun(id.Seed{2})))}
	e := event.New(id.NewSession(id.Seed{1}).
		String(), 0, event.Scope{RunID: id.NewRun(id.Seed{1}), NodeID: id.RootNode(id.NewRun(id.Seed{1}))},
		event.Actor{Kind: event.Agent}, 1, a)
	r := rewrite.NewRedaction(nil)
	out, err := r.Segment([]event.Event{e})
	if err != nil || out[0].Data.(event.AdvanceRecorded).RequestDigest != digest || r.Counts().Total() != 0 {
		t.Errorf("%v %+v", err, out)
	}
}

func output(n int, kind, contentType string, data []byte) event.NodeOutputAppended {
	return event.NodeOutputAppended{OutputChannel: event.Artifact,
		OutputID: id.FromStart(id.RootNode(id.NewRun(id.Seed{1}))).Output(n),
		Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, ArtifactKind: kind, ContentType: contentType,
			ByteLength: int64(len(data)), SHA256: canon.Sum(data)}}
}

// TestArtifacts: references to a redacted artifact are replaced, those to an erased one kept,
// and a failing store is an error.
func TestArtifacts(t *testing.T) {
	secretive := []byte(`{"kind":"` + secret + `","v":1}`)
	naming := []byte(`{"kind":"list","of":["` + canon.Sum(secretive).String() + `"]}`)
	binary := []byte("\xff\xfe" + secret)
	erased := []byte("gone " + secret)
	files := map[canon.Digest][]byte{}
	for _, b := range [][]byte{secretive, naming, binary} {
		files[canon.Sum(b)] = b
	}
	load := func(d canon.Digest) ([]byte, error) {
		if b, ok := files[d]; ok {
			return b, nil
		}
		return nil, fault.New(fault.ArtifactErased, "erased")
	}
	got := one(t, load, output(0, secret, "application/json", secretive), output(1, "list", "application/json", naming),
		output(2, "", "x/y", binary), output(3, "", "text/plain", erased))
	first := canon.Sum([]byte(`{"kind":"` + marked + `","v":1}`))
	second := canon.Sum([]byte(`{"kind":"list","of":["` + first.String() + `"]}`))
	for i, want := range []canon.Digest{first, second, canon.Sum(binary), canon.Sum(erased)} {
		if p := got[i].(event.NodeOutputAppended).Payload; p.SHA256 != want || i == 0 && p.ArtifactKind != marked {
			t.Errorf("output %d is %+v", i, p)
		}
	}
	broken := fault.New(fault.StoreIO, "no")
	r := rewrite.NewRedaction(func(canon.Digest) ([]byte, error) { return nil, broken })
	e := event.New(id.NewSession(id.Seed{1}).String(), 0, event.Scope{}, event.Actor{Kind: event.Agent}, 1,
		output(0, "", "text/plain", erased))
	if _, err := r.Segment([]event.Event{e}); !fault.Is(err, fault.StoreIO) {
		t.Error(err)
	}
}

// TestRedactsForeignEvents: the envelope is kept, as are events without secrets.
func TestRedactsForeignEvents(t *testing.T) {
	session := id.NewSession(id.Seed{1}).String()
	data := []byte("a file with " + secret)
	load := func(canon.Digest) ([]byte, error) { return data, nil }
	lines := []string{
		`{"data":{"apiToken":12,"note":"` + secret + `"},"dedupeKey":"` + secret +
			`","eventId":"e0","eventIndex":0,"kind":"strange","sessionId":"` + session + `","v":1}`,
		`{"v":1, "kind":"strange","eventIndex":1,"sessionId":"` + session + `","data":{"n":1}}`,
		`{"data":{"payload":{"byteLength":1,"contentType":"text/plain","sha256":"` + canon.Sum(data).
			String() + `"}},"eventId":"e2","eventIndex":2,"kind":"node_output_appended","sessionId":"` + session +
			`","v":1}`,
	}
	now := []byte("a file with " + marked)
	want := []string{
		strings.Replace(strings.Replace(lines[0], `"note":"`+secret, `"note":"`+marked, 1), ":12,",
			`:"`+redact.Marker(redact.NamedSecret)+`",`, 1),
		lines[1],
		strings.Replace(strings.Replace(lines[2], `:1,"contentType"`, fmt.Sprintf(`:%d,"contentType"`, len(now)), 1),
			canon.Sum(data).String(), canon.Sum(now).String(), 1),
	}
	var events []event.Event
	for _, l := range lines {
		e, err := event.Domain.DecodeLine([]byte(l))
		if err != nil || !e.Foreign() {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	out, err := rewrite.NewRedaction(load).Segment(events)
	if err != nil {
		t.Fatal(err)
	}
	seg, err := rewrite.NewChain(manifest.Log{Root: "x", Owner: session, Table: event.Domain}).Next(out)
	if err != nil || string(seg.Bytes) != strings.Join(want, "\n")+"\n" {
		t.Errorf("%v\n got %s\nwant %s", err, seg.Bytes, strings.Join(want, "\n"))
	}
}

func TestRedactedSideLogs(t *testing.T) {
	r := rewrite.NewRedaction(nil)
	clean := `{"v":1, "data":{"note":"fine"},"eventId":"x"}`
	got, err := r.OpaqueLine([]byte(clean))
	if err != nil || string(got) != clean {
		t.Errorf("%s %v", got, err)
	}
	got, err = r.OpaqueLine([]byte(`{"data":{"note":"` + secret + `"},"dedupeKey":"k","actor":{"kind":"human","ref":"` +
		secret + `"}}`))
	if want := `{"actor":{"kind":"human","ref":"` + marked + `"},"data":{"note":"` + marked +
		`"},"dedupeKey":"k"}`; err != nil || string(got) != want || r.Counts()["secret_key"] != 2 {
		t.Errorf("%s %v %v", got, err, r.Counts())
	}
	for _, bad := range []string{`{`, `7`} {
		if _, err := r.OpaqueLine([]byte(bad)); err == nil {
			t.Error(bad)
		}
	}
}

func TestChainRefusesGaps(t *testing.T) {
	session := id.NewSession(id.Seed{1})
	at := func(n int64) []event.Event {
		return []event.Event{event.New(session.String(), n, event.Scope{}, event.Actor{Kind: event.Human}, 1,
			event.SessionCreated{})}
	}
	c := rewrite.NewChain(manifest.SessionEvents(session))
	if _, err := c.Next(at(1)); err == nil {
		t.Error("a log that begins at 1 is accepted")
	}
	if _, err := c.Next(nil); err == nil {
		t.Error("an empty segment is accepted")
	}
	if _, err := c.Next(at(0)); err != nil || c.Head().Next != 1 {
		t.Error(err)
	}
	if _, err := c.Next(at(0)); err == nil {
		t.Error("0 follows 0")
	}
}

// TestReferencesToRedactedContent: an attempt that sends the same artifact again also loses
// its requestDigest, and evidence refers to the new id of an observation.
func TestReferencesToRedactedContent(t *testing.T) {
	data, loads := []byte("a "+secret), 0
	r := rewrite.NewRedaction(func(canon.Digest) ([]byte, error) { loads++; return data, nil })
	run := id.NewRun(id.Seed{1})
	at := event.Scope{RunID: run, NodeID: id.RootNode(run)}
	made := func(n int64, s event.Scope, p event.Payload) event.Event {
		return event.New(id.NewSession(id.Seed{1}).String(), n, s, event.Actor{Kind: event.Agent}, 1, p)
	}
	attempt := event.AdvanceRecorded{AttemptID: id.NextAttempt(at.NodeID, id.OpAck, 0), Intent: event.IntentAckPending,
		RequestDigest: canon.Sum(nil), Outcome: event.AdvancedTo(id.RootNode(id.NewRun(id.Seed{2})))}
	for i := range int64(2) {
		out, err := r.Segment([]event.Event{made(2*i, at, attempt),
			made(2*i+1, at, output(int(i), "", "text/plain", data))})
		if err != nil || !out[0].Data.(event.AdvanceRecorded).RequestDigest.IsZero() {
			t.Errorf("%d: %v %+v", i, err, out)
		}
	}
	if loads != 1 || r.Counts().Total() != 1 {
		t.Errorf("%d loads, %v", loads, r.Counts())
	}
	seen := made(4, event.Scope{}, event.ObservationRecorded{Key: "git_branch", Confidence: "low",
		Value: event.ObservationValue{Type: "short_string", Value: secret}})
	gap := event.GapRecorded{GapID: id.FromStart(at.NodeID).Gap(0), Reason: reason.NeedsApproval, Severity: event.Info,
		Summary: "s", Resolution: event.Resolution{Kind: event.Unresolved},
		EvidenceRefs: []event.EvidenceRef{{Kind: "event", EventID: &seen.ID}}}
	was := seen.ID
	out, err := r.Segment([]event.Event{seen, made(5, at, gap)})
	if err != nil || out[0].ID == was || *out[1].Data.(event.GapRecorded).EvidenceRefs[0].EventID != out[0].ID ||
		*gap.EvidenceRefs[0].EventID != was {
		t.Errorf("%v %+v", err, out)
	}
}
