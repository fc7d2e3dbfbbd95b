package event_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

// Check accepts exactly the scopes of each kind.
func TestScopes(t *testing.T) {
	scopes := map[string]event.Scope{"none": noScope, "run": atRun, "node": atRoot, "node alone": {NodeID: root}}
	allowed := map[string]string{
		"session_created": "none", "run_started": "run", "edge_created": "run", "context_set": "run",
		"run_cancel_requested": "run",
		"run_closed":           "run", "node_created": "node", "advance_recorded": "node",
		"preferences_changed":  "node",
		"node_output_appended": "node", "gap_recorded": "node", "decision_trace_appended": "node",
		"capability_observed": "node",
		"divergence_recorded": "node", "observation_recorded": "none node", "guard_noted": "node", "run_event_recorded": "node",
		"session_handed_over": "none", "session_taken_back": "none", "run_paused": "run", "run_resumed": "run",
	}
	for _, s := range samples {
		if strings.Contains(s.file, ".") {
			continue
		}
		for name, scope := range scopes {
			want := slices.Contains(strings.Fields(allowed[s.file]), name)
			err := event.New(session.String(), 0, scope, agent, 0, s.data).Check(event.Domain)
			if (err == nil) != want {
				t.Errorf("%s with scope %s: %v", s.file, name, err)
			}
		}
	}
}

func TestEventCheck(t *testing.T) {
	closed := event.RunClosed{Outcome: event.OutcomeFailed, Reason: "r"}
	actor := func(kind event.ActorKind, ref string) event.Event {
		return event.New(session.String(), 3, atRun, event.Actor{Kind: kind, Ref: ref}, 0, closed)
	}
	owner := func(s string) event.Event { return event.New(s, 3, noScope, agent, 0, event.SessionCreated{}) }
	foreign, err := event.Domain.DecodeLine([]byte(`{"eventIndex":3,"kind":"new","sessionId":"s"}`))
	if err != nil {
		t.Fatal(err)
	}
	fits := limits.DedupeKeyMax - len("session_created:")
	tests := []struct {
		name string
		e    event.Event
		want string
	}{
		{"human", actor(event.Human, text(limits.ActorRefMax)), ""},
		{"engine", actor(event.Engine, ""), ""},
		{"actor of 129 bytes", actor(event.Human, text(129)),
			"event 3 (run_closed): actor ref of 129 bytes: want at most 128"},
		{"unknown actor", actor("robot", ""), `event 3 (run_closed): unknown actor kind "robot"`},
		{"no actor", actor("", ""), `event 3 (run_closed): unknown actor kind ""`},
		{"unknown kind", foreign, `event 3: kind "new" is not of this log`},
		{"kind of another log", event.New("s", 3, noScope, agent, 0, noted{}),
			`event 3: kind "noted" is not of this log`},
		{"bad scope", event.New(session.String(), 3, noScope, agent, 0, closed),
			"event 3 (run_closed): scope does not fit the kind"},
		{"bad data", event.New(session.String(), 3, atRun, agent, 0, event.RunClosed{}),
			`event 3 (run_closed): unknown outcome ""`},
		{"dedupeKey of 256", owner(text(fits)), ""},
		{"dedupeKey of 257", owner(text(fits + 1)),
			"event 3 (session_created): dedupeKey of 257 characters: want 1 to 256"},
		{"dedupeKey in capitals", owner("S"),
			"event 3 (session_created): dedupeKey holds 'S': want only a-z 0-9 _ : > -"},
		{"dedupeKey with a space", owner("a b"),
			"event 3 (session_created): dedupeKey holds ' ': want only a-z 0-9 _ : > -"},
	}
	for _, tt := range tests {
		got := ""
		if err := tt.e.Check(event.Domain); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
	}
}

// A side log has another table and owner field, and the same envelope (docs/design.md#side-logs).
type noted struct {
	Text string `json:"text"`
}

func (noted) Kind() string                                   { return "noted" }
func (n noted) DedupeKey(owner string, _ event.Scope) string { return "noted:" + owner + ":" + n.Text }
func (noted) Check(event.Scope) error                        { return nil }

var notesTable = event.NewTable("notes", "storeId", event.Row[noted](event.NoScope))

func TestSideLogTable(t *testing.T) {
	store := id.NewStore(id.Seed{1}).String()
	e := event.New(store, 0, noScope, agent, 0, noted{"x"})
	b, err := notesTable.AppendLine(nil, e)
	if err != nil || !bytes.Contains(b, []byte(`"storeId":"`+store+`"`)) || bytes.Contains(b, []byte("sessionId")) {
		t.Fatalf("got %s, %v", b, err)
	}
	line := bytes.TrimSpace(b)
	if back, err := notesTable.DecodeLine(line); err != nil || back.Foreign() || back.Owner != store ||
		back.Data != (noted{"x"}) {
		t.Errorf("got %+v, %v", back, err)
	}
	if _, err := event.Domain.DecodeLine(line); !errors.Is(err, event.ErrNotAnEvent) {
		t.Errorf("a line of a store log decodes as a session's event: %v", err)
	}
	domain := event.New(store, 0, noScope, agent, 0, event.SessionCreated{})
	if b, err = notesTable.AppendLine(nil, domain); err != nil {
		t.Fatal(err)
	}
	if back, err := notesTable.DecodeLine(bytes.TrimSpace(b)); err != nil || !back.Foreign() ||
		back.Data.Kind() != "session_created" {
		t.Errorf("a kind of another table: foreign %v, %v", back.Foreign(), err)
	}
	defer func() {
		if recover() == nil {
			t.Error("NewTable accepts a kind twice")
		}
	}()
	event.NewTable("twice", "storeId", event.Row[noted](event.NoScope), event.Row[noted](event.NoScope))
}

func TestCheckContext(t *testing.T) {
	value := func(text string) canon.Value {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	nested := func(n int) canon.Value { return value(strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n)) }
	sized := func(n int) canon.Value { return value(`{"a":"` + text(n-len(`{"a":""}`)) + `"}`) }
	tests := []struct {
		name string
		v    canon.Value
		want string
	}{
		{"empty", value(`{}`), ""},
		{"members that delete", value(`{"a":null}`), ""},
		{"no object", value(`[]`), "context: want an object, got array"},
		{"absent", canon.Value{}, "context: want an object, got null"},
		{"reserved", value(`{"__proto__":1}`), `context: key "__proto__" is reserved`},
		{"reserved too", value(`{"constructor":1}`), `context: key "constructor" is reserved`},
		{"reserved as well", value(`{"prototype":1}`), `context: key "prototype" is reserved`},
		{"256 KiB", sized(256 << 10), ""},
		{"256 KiB and a byte", sized(256<<10 + 1),
			"context is 262145 bytes, at most 262144 are allowed (measured as RFC 8785 UTF-8 bytes)"},
		{"48 levels", nested(48), ""},
		{"49 levels", nested(49), "context: nested deeper than 48 levels at " + strings.Repeat("/a", 48) + ", line 1"},
		{"case collision by merging", event.MergeContext(value(`{"id":1}`), value(`{"ID":2}`)),
			`context: keys "ID" and "id" differ only in case at the document`},
		{"invalid text", canon.OfMembers(canon.Member{Name: "a", Value: canon.OfString("\xff")}),
			"canon: text is not valid UTF-8"},
	}
	for _, tt := range tests {
		err := event.CheckContext(tt.v)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.name, got, tt.want)
		}
		if over := strings.Contains(tt.want, "are allowed"); event.IsContextBudget(err) != over {
			t.Errorf("%s: IsContextBudget is %v", tt.name, !over)
		}
	}
}

func TestMergeContext(t *testing.T) {
	tests := []struct{ base, delta, want string }{
		{`{"a":1,"b":2}`, `{"b":3,"c":4}`, `{"a":1,"b":3,"c":4}`},
		{`{"a":1,"b":2}`, `{"a":null,"x":null}`, `{"b":2}`},
		{`{"a":{"x":1}}`, `{"a":{"y":2}}`, `{"a":{"y":2}}`},
		{`null`, `{"a":1,"b":null}`, `{"a":1}`},
		{`{"a":1}`, `{}`, `{"a":1}`},
	}
	for _, tt := range tests {
		base, err := canon.Parse([]byte(tt.base))
		if err != nil {
			t.Fatal(err)
		}
		delta, err := canon.Parse([]byte(tt.delta))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(event.MergeContext(base, delta).JCS()); got != tt.want || string(base.JCS()) != tt.base {
			t.Errorf("%s and %s: got %s, want %s", tt.base, tt.delta, got, tt.want)
		}
	}
}
