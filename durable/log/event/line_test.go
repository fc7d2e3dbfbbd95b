package event_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"pgregory.net/rapid"
)

// line returns an event as it is encoded, without newline.
func line(t testing.TB, s event.Scope, data event.Payload) string {
	t.Helper()
	b, err := event.Domain.AppendLine(nil, event.New(session.String(), 7, s, agent, whenever, data))
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(string(b), "\n")
}

// An event that would be encoded differently keeps its bytes, and is typed only where data and
// scope pass Check (docs/design.md#foreign-stores).
func TestForeignLines(t *testing.T) {
	node := line(t, atChild, event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &root, SnapshotRef: aDigest,
		WorkflowHash: aDigest})
	const typed, unknown = true, false
	tests := []struct {
		name, old, new string
		typed          bool
	}{
		{"unknown kind", `"kind":"node_created"`, `"kind":"node_painted"`, unknown},
		{"unknown member of data", `"nodeKind"`, `"color":1,"nodeKind"`, typed},
		{"missing member of data", `"nodeKind":"step",`, ``, unknown},
		{"unknown word of a closed set", `"nodeKind":"step"`, `"nodeKind":"leap"`, unknown},
		{"id of another shape in data", root.String(), "node_01JH", unknown},
		{"id of another shape in scope", child.String(), "node_01JH", unknown},
		{"no data", `"data"`, `"date"`, unknown},
		{"scope that does not fit", `"nodeId":"` + child.String() + `",`, ``, unknown},
		{"unknown member of scope", `"scope":{`, `"scope":{"loopId":"x",`, unknown},
		{"unknown member of the envelope", `"v":1`, `"v":1,"w":1`, typed},
		{"another version", `"v":1`, `"v":2`, typed},
		{"no version", `,"v":1`, ``, typed},
		{"other dedupeKey", `"dedupeKey":"node_created`, `"dedupeKey":"node_made`, typed},
		{"no dedupeKey", `"dedupeKey"`, `"dedupekeys"`, typed},
		{"eventId of another shape", `"eventId":"evt_`, `"eventId":"EVT_`, typed},
		{"unknown actor kind", `"kind":"agent"`, `"kind":"robot"`, typed},
		{"unknown member of the actor", `"ref"`, `"mood":"good","ref"`, typed},
		{"ignorable is false", `"kind":"node_created"`, `"ignorable":false,"kind":"node_created"`, typed},
		{"time that is no whole number", `1795180649236`, `1795180649236.5`, typed},
		{"time as text", `1795180649236`, `"now"`, typed},
		{"time beyond all counting", `1795180649236`, `1e+300`, typed},
		{"owner of another shape", session.String(), "sess_01JH", typed},
		{"spaces", `":`, `": `, typed},
		{"escapes", `"step"`, `"st\u0065p"`, typed},
		{"carriage return", `"v":1}`, "\"v\":1}\r", typed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.ReplaceAll(node, tt.old, tt.new)
			if text == node {
				t.Fatal("nothing was changed")
			}
			e, err := event.Domain.DecodeLine([]byte(text))
			if err != nil || !e.Foreign() {
				t.Fatalf("foreign %v, %v", e.Foreign(), err)
			}
			if _, isUnknown := e.Data.(event.Unknown); isUnknown == tt.typed {
				t.Errorf("data is %T, want typed: %v", e.Data, tt.typed)
			}
			if again, err := event.Domain.AppendLine(nil, e); err != nil || string(again) != text+"\n" {
				t.Errorf("kept as %s, %v", again, err)
			}
			if e.Index != 7 || e.Owner == "" || e.Data.Kind() == "" {
				t.Errorf("got %+v", e)
			}
		})
	}
}

// A scope with one invalid member is dropped as a whole: folds find runs and nodes by it.
func TestPartlyInvalidScopeIsDropped(t *testing.T) {
	node := line(t, atChild, event.NodeCreated{NodeKind: event.StepNode, SnapshotRef: aDigest, WorkflowHash: aDigest})
	e, err := event.Domain.DecodeLine([]byte(strings.ReplaceAll(node, run.String(), "run_01JH")))
	if err != nil || !e.Foreign() || !e.Scope.IsZero() {
		t.Errorf("got %+v, %v", e.Scope, err)
	}
}

// A foreign event keeps its bytes when the caller reuses the buffer.
func TestForeignEventsOwnTheirBytes(t *testing.T) {
	buffer := []byte(`{"eventIndex":0,"kind":"x","sessionId":"s"}`)
	e, err := event.Domain.DecodeLine(buffer)
	if err != nil {
		t.Fatal(err)
	}
	clear(buffer)
	if got, err := event.Domain.AppendLine(nil, e); err != nil || !bytes.HasPrefix(got, []byte(`{"eventIndex"`)) {
		t.Errorf("kept as %q, %v", got, err)
	}
}

// The snapshot of a foreign node_created is pinned by its group, and must not be removed; the pin
// line has the event's id in the form in which it was read.
func TestForeignEventsPin(t *testing.T) {
	node := line(t, atChild, event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &root, SnapshotRef: aDigest,
		WorkflowHash: aDigest})
	evt := event.New(session.String(), 7, atChild, agent, 0, event.NodeCreated{}).ID.String()
	tests := []struct {
		name, old, new string
		pin            canon.Digest
		id             string
	}{
		{"unchanged", "", "", aDigest, evt},
		{"unknown member", `"nodeKind"`, `"color":1,"nodeKind"`, aDigest, evt},
		{"scope of another shape", child.String(), "node_01JH", aDigest, evt},
		{"eventId of another shape", evt, "evt_01JH", aDigest, "evt_01JH"},
		{"no eventId", `"eventId"`, `"eventID"`, aDigest, ""},
		{"no reference", `"snapshotRef"`, `"snapshotref"`, canon.Digest{}, evt},
		{"reference of another shape", "snapshotRef\":\"sha256:", "snapshotRef\":\"sha512:", canon.Digest{}, evt},
		{"kind that pins nothing", `"kind":"node_created"`, `"kind":"node_painted"`, canon.Digest{}, evt},
	}
	for _, tt := range tests {
		e, err := event.Domain.DecodeLine([]byte(strings.ReplaceAll(node, tt.old, tt.new)))
		if err != nil {
			t.Fatal(err)
		}
		var pin canon.Digest
		if p, ok := e.Data.(event.Pinner); ok {
			pin = p.Pin()
		}
		if pin != tt.pin || e.IDText() != tt.id {
			t.Errorf("%s: event %q pins %q, want %q and %q", tt.name, e.IDText(), pin, tt.id, tt.pin)
		}
	}
}

// A binary may skip events that are marked as ignorable, also where it can decode nothing else of
// them (docs/design.md#lines-and-files).
func TestIgnorable(t *testing.T) {
	for _, text := range []string{
		`{"eventIndex":0,"ignorable":true,"kind":"new","sessionId":"s"}`,
		`{"actor":{"kind":"robot"},"eventIndex":0,"ignorable":true,"kind":"new","scope":{"loopId":"l"},"sessionId":"s"}`,
	} {
		if e, err := event.Domain.DecodeLine([]byte(text)); err != nil || !e.Foreign() || !e.Ignorable {
			t.Errorf("%s: foreign %v, ignorable %v, %v", text, e.Foreign(), e.Ignorable, err)
		}
	}
	e := event.New(session.String(), 0, noScope, agent, 0, event.SessionCreated{})
	e.Ignorable = true
	b, err := event.Domain.AppendLine(nil, e)
	if err != nil || !bytes.Contains(b, []byte(`,"ignorable":true,"kind"`)) {
		t.Fatalf("got %s, %v", b, err)
	}
	if back, err := event.Domain.DecodeLine(bytes.TrimSpace(b)); err != nil || back.Foreign() || !back.Ignorable {
		t.Errorf("read back as foreign %v, ignorable %v, %v", back.Foreign(), back.Ignorable, err)
	}
}

// Events of a kind that is ignorable have the member: without it a line is foreign, and such an event is not written.
func TestIgnorableKind(t *testing.T) {
	e := event.New(session.String(), 0, atRoot, agent, 0,
		event.GuardNoted{Chat: aDigest, Client: "codex", Refusals: 1, Verdict: event.GuardRefused})
	b, err := event.Domain.AppendLine(nil, e)
	if err != nil || !e.Ignorable || e.Check(event.Domain) != nil {
		t.Fatalf("%+v, %v", e, err)
	}
	if back, err := event.Domain.DecodeLine(bytes.TrimSpace(b)); err != nil || back.Foreign() || !back.Ignorable {
		t.Errorf("read back as foreign %v, ignorable %v, %v", back.Foreign(), back.Ignorable, err)
	}
	bare := bytes.Replace(bytes.TrimSpace(b), []byte(`,"ignorable":true`), nil, 1)
	if back, err := event.Domain.DecodeLine(bare); err != nil || !back.Foreign() || back.Ignorable {
		t.Errorf("without the member: foreign %v, ignorable %v, %v", back.Foreign(), back.Ignorable, err)
	}
	e.Ignorable = false
	if err := e.Check(event.Domain); err == nil {
		t.Error("an event without the member passes Check")
	}
}

// Additive members of the envelope may be absent (docs/design.md#lines-and-files).
func TestAdditiveMembersMayBeAbsent(t *testing.T) {
	e := event.New(session.String(), 0, noScope, event.Actor{}, 0, event.SessionCreated{})
	b, err := event.Domain.AppendLine(nil, e)
	if err != nil || bytes.Contains(b, []byte("actor")) || bytes.Contains(b, []byte("timestampMs")) {
		t.Fatalf("got %s, %v", b, err)
	}
	if back, err := event.Domain.DecodeLine(bytes.TrimSpace(b)); err != nil || back.Foreign() {
		t.Errorf("read back as foreign %v, %v", back.Foreign(), err)
	}
}

func TestNotAnEvent(t *testing.T) {
	for name, text := range map[string]string{
		"nothing": "", "no JSON": "x", "no object": "[]", "two documents": `{}{}`,
		"duplicate key":    `{"kind":"a","kind":"a"}`,
		"no kind":          `{"eventIndex":0,"sessionId":"s"}`,
		"kind is a number": `{"eventIndex":0,"kind":1,"sessionId":"s"}`,
		"no index":         `{"kind":"x","sessionId":"s"}`,
		"index as text":    `{"eventIndex":"0","kind":"x","sessionId":"s"}`,
		"index below zero": `{"eventIndex":-1,"kind":"x","sessionId":"s"}`,
		"index in between": `{"eventIndex":0.5,"kind":"x","sessionId":"s"}`,
		"index too large":  `{"eventIndex":1e+300,"kind":"x","sessionId":"s"}`,
		"no owner":         `{"eventIndex":0,"kind":"x"}`,
		"owner of a store": `{"eventIndex":0,"kind":"x","storeId":"s"}`,
	} {
		if e, err := event.Domain.DecodeLine([]byte(text)); !errors.Is(err, event.ErrNotAnEvent) {
			t.Errorf("%s: got %+v, %v", name, e, err)
		}
	}
}

func TestLineBudgets(t *testing.T) {
	// A short context event, which is extended with text up to the payload's limit.
	set := func(n int) event.ContextSet {
		return event.ContextSet{ContextID: origin.Context(0), Source: event.ContextInitial,
			Context: canon.OfMembers(canon.Member{Name: "a", Value: canon.OfString(text(n))})}
	}
	data, err := canon.Marshal(set(0))
	if err != nil {
		t.Fatal(err)
	}
	space := limits.PayloadBytesMax - len(data)
	e := event.New(session.String(), 7, atRun, agent, 0, set(space))
	if _, err := event.Domain.AppendLine(nil, e); err != nil {
		t.Errorf("data of exactly the limit: %v", err)
	}
	e.Data = set(space + 1)
	if got, err := event.Domain.AppendLine([]byte("kept"), e); err == nil || string(got) != "kept" {
		t.Errorf("data over the budget is written after %q: %v", got[:4], err)
	}
	foreign := func(n int) event.Event {
		head := `{"eventIndex":0,"kind":"x","sessionId":"s","x":"`
		e, err := event.Domain.DecodeLine([]byte(head + text(n-len(head)-2) + `"}`))
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	if _, err := event.Domain.AppendLine(nil, foreign(limits.LineBytesMax-1)); err != nil {
		t.Errorf("the longest line: %v", err)
	}
	if _, err := event.Domain.AppendLine(nil, foreign(limits.LineBytesMax)); err == nil {
		t.Error("a line over the budget is written")
	}
}

// An event that passes Check is decoded as it was encoded, else a commit would become damage:
// hostile texts, and context of every accepted form.
func TestCheckedEventsRoundTrip(t *testing.T) {
	words := rapid.StringOfN(rapid.RuneFrom([]rune("aA\"\\\x00\x7f\n\u2028é😀\ufb33")), 1, 30, -1)
	rapid.Check(t, func(t *rapid.T) {
		var data event.Payload
		scope := atRoot
		switch rapid.IntRange(0, 3).Draw(t, "kind") {
		case 0:
			data = notes(words.Draw(t, "notes"))
		case 1:
			data = open(words.Draw(t, "summary"))
		case 2:
			scope, data = atRun, event.RunStarted{WorkflowID: words.Draw(t, "workflow"), WorkflowHash: aDigest,
				WorkflowSourceKind: event.SourcePlugin, Title: words.Draw(t, "title"),
				Tags: []string{words.Draw(t, "tag")}}
		case 3:
			scope, data = atRun, event.ContextSet{ContextID: origin.Context(0), Source: event.ContextMerge,
				Context: context(t, words)}
		}
		e := event.New(session.String(), rapid.Int64Range(0, limits.EventIndexMax).Draw(t, "index"), scope, agent,
			whenever, data)
		if e.Check(event.Domain) != nil {
			t.Skip("refused before it is written")
		}
		b, err := event.Domain.AppendLine(nil, e)
		if err != nil {
			t.Fatal(err)
		}
		back, err := event.Domain.DecodeLine(bytes.TrimSuffix(b, []byte("\n")))
		if err != nil || back.Foreign() {
			t.Fatalf("%s is decoded as foreign %v, %v", b, back.Foreign(), err)
		}
	})
}

// context draws members that differ in case, any number, and nesting about the limit.
func context(t *rapid.T, words *rapid.Generator[string]) canon.Value {
	v := canon.OfFloat(rapid.Float64().Draw(t, "number"))
	for range rapid.SampledFrom([]int{0, 1, limits.ContextDepthMax - 1, limits.ContextDepthMax, limits.JSONDepthMax}).
		Draw(t, "depth") {
		v = canon.OfList(v)
	}
	out := canon.OfMembers(canon.Member{Name: "deep", Value: v})
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		out = out.With(words.Draw(t, "name"), canon.OfString(words.Draw(t, "value")))
	}
	return out
}

func FuzzDecodeLine(f *testing.F) {
	for i, s := range samples {
		b, err := event.Domain.AppendLine(nil, event.New(session.String(), int64(i), s.scope, agent, whenever, s.data))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.TrimSuffix(b, []byte("\n")))
		f.Add(bytes.Replace(b, []byte(`":`), []byte(`": `), 1))
	}
	f.Add([]byte(`{"eventIndex":0,"ignorable":true,"kind":"new","sessionId":"s"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := event.Domain.DecodeLine(text)
		if err != nil {
			if !errors.Is(err, event.ErrNotAnEvent) {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		if again, err := event.Domain.AppendLine(nil, e); err == nil &&
			!bytes.Equal(again, append(bytes.Clone(text), '\n')) {
			t.Fatalf("foreign %v: %q is written as %q", e.Foreign(), text, again)
		} else if err != nil && len(text) < limits.LineBytesMax {
			t.Fatalf("%q cannot be written again: %v", text, err)
		}
		if e.Actor = agent; !e.Foreign() && e.Check(event.Domain) != nil {
			t.Fatalf("%q is not foreign and does not pass Check: %v", text, e.Check(event.Domain))
		}
	})
}

// Event ids do not depend on actor and time, so that a retry derives them again.
func TestNewDerivesID(t *testing.T) {
	a := event.New(session.String(), 1, atRun, agent, 1, event.RunClosed{Outcome: event.OutcomeFailed, Reason: "a"})
	b := event.New(session.String(), 2, atRun, event.Actor{Kind: event.Human}, 2,
		event.RunClosed{Outcome: event.OutcomeCancelled, Reason: "b"})
	if a.ID != b.ID || a.ID != id.EventOf(session.String(), "run_closed:"+session.String()+":"+run.String()) {
		t.Errorf("got %s and %s", a.ID, b.ID)
	}
}
