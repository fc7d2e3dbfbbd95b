package audit_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	auditview "github.com/waybill/waybill/projections/audit"
)

var (
	auditStore   = id.NewStore(id.Seed{1})
	auditSession = id.NewSession(id.Seed{2})
	auditRun     = id.NewRun(id.Seed{3})
	auditLog     = manifest.StoreLog(auditStore, audit.Table)
	person       = event.Actor{Kind: event.Human, Ref: "ada"}
)

func auditNodeScope() event.Scope {
	return event.Scope{RunID: auditRun, NodeID: id.RootNode(auditRun)}
}

func auditArtifact(kind string) event.NodeOutputAppended {
	return event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: id.FromStart(id.RootNode(auditRun)).
		Output(0),
		Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, ArtifactKind: kind,
			SHA256: canon.Sum([]byte(kind)), ByteLength: 1, ContentType: "application/json"}}
}

func auditPreferences(source event.PreferenceSource, changes ...event.PreferenceChange) event.PreferencesChanged {
	return event.PreferencesChanged{ChangeID: id.FromStart(id.RootNode(auditRun)).
		Change(0), Delta: changes, Source: source,
		Effective: event.Preferences{Autonomy: event.FullAutoNeverStop, RiskPolicy: event.Conservative}}
}

func TestAuditFactOf(t *testing.T) {
	never := event.PreferenceChange{Key: "autonomy", Value: string(event.FullAutoNeverStop)}
	for _, test := range []struct {
		name  string
		actor event.Actor
		data  event.Payload
		want  audit.Action
	}{
		{"an approval", person, auditArtifact("wr.human_approval"), audit.Approve},
		{"another artifact", person, auditArtifact("wr.review"), ""},
		{"a request to end", person, event.RunCancelRequested{Reason: "r"}, audit.Cancel},
		{"the end that follows it", event.Actor{Kind: event.Engine},
			event.RunClosed{Outcome: event.OutcomeFailed, Reason: "r"}, ""},
		{"an end without a request", person, event.RunClosed{Outcome: event.OutcomeFailed, Reason: "r"}, audit.Cancel},
		{"never stopping", person, auditPreferences(event.FromUser, never), audit.Override},
		{"an agent's never stopping", event.Actor{Kind: event.Agent}, auditPreferences(event.FromUser, never),
			audit.Override},
		{"what a fork takes over", event.Actor{Kind: event.Engine}, auditPreferences(event.FromSystem, never), ""},
		{"another preference in a run that never stops", person,
			auditPreferences(event.FromUser, event.PreferenceChange{Key: "riskPolicy", Value: "balanced"}), ""},
		{"less autonomy", person,
			auditPreferences(event.FromUser,
				event.PreferenceChange{Key: "autonomy", Value: string(event.FullAutoStopOnUserDeps)}), ""},
		{"the beginning", person, event.SessionCreated{}, ""},
	} {
		e := event.New(auditSession.String(), 4, auditNodeScope(), test.actor, 77, test.data)
		f, ok := auditview.FactOf(manifest.SessionEvents(auditSession), e)
		if ok != (test.want != "") || f.Action != test.want {
			t.Errorf("%s: %v, %+v", test.name, ok, f)
			continue
		}
		if !ok {
			continue
		}
		if f.Source != (audit.Source{EventID: e.ID, EventIndex: 4, RunID: auditRun, SessionID: auditSession}) ||
			f.Target.ID != auditRun.String() ||
			f.Actor != test.actor || f.AtMs != 77 {
			t.Errorf("%s: %+v", test.name, f)
		}
		if err := f.Check(event.Scope{}); err != nil {
			t.Errorf("%s: no audit line can be encoded: %v", test.name, err)
		}
		e.ID = id.Event{}
		if _, ok := auditview.FactOf(manifest.SessionEvents(auditSession), e); ok {
			t.Errorf("%s: a line about an event without an id", test.name)
		}
	}
}

// auditFact returns the n-th fact of a session.
func auditFact(s id.Session, n int64) auditview.Fact {
	e := event.New(s.String(), n, event.Scope{RunID: id.NewRun(id.Seed{byte(n), byte(n >> 8)})}, person, n,
		event.RunCancelRequested{Reason: "r"})
	f, _ := auditview.FactOf(manifest.SessionEvents(s), e)
	return f
}

// TestImportsOfTheLog: a session counts as imported from the intention on, and its annotations from the outcome on.
func TestImportsOfTheLog(t *testing.T) {
	s := id.NewSession(id.Seed{1})
	l, n := auditview.NewLedger(), int64(0)
	line := func(p event.Payload) id.Event {
		e := event.New(auditStore.String(), n, event.Scope{}, person, n, p)
		n++
		_ = l.Visit(manifest.Segment{Events: []event.Event{e}}, manifest.Head{Next: n})
		doc, err := l.Save()
		if err == nil {
			l, err = auditview.LoadLedger(doc)
		}
		if err != nil {
			t.Fatal(err)
		}
		return e.ID
	}
	want := func(events, notes int64) {
		t.Helper()
		got := [2]int64{l.Imports.Span(manifest.SessionEvents(s).Root).Events, l.Imports.Span(feedback.LogOf(s).Root).Events}
		if got != [2]int64{events, notes} {
			t.Errorf("%d, want %d and %d", got, events, notes)
		}
	}
	begin := func(action audit.Action, target, events string) id.Event {
		return line(audit.Intend(audit.Act{Action: action, Target: audit.Target{Kind: audit.OfSession, ID: target},
			Details: map[string]string{"events": events}}, n))
	}
	begin(audit.Delete, s.String(), "7")
	begin(audit.Import, "another", "7")
	want(0, 0)
	first := begin(audit.Import, s.String(), "7")
	want(7, 0)
	line(audit.Conclude(first, map[string]string{"annotations": "2"}, nil))
	want(7, 2)
	line(audit.Conclude(begin(audit.Import, s.String(), "9"), map[string]string{"annotations": "x"}, nil))
	want(9, 2)
	line(audit.Conclude(id.EventOf("x", "y"), map[string]string{"annotations": "5"}, nil))
	begin(audit.Import, s.String(), "many")
	want(9, 2)
}

// A ledger that was saved and continued equals one that was folded at once, and Missing reports
// exactly the facts without a line.
func TestReloadedLedgerEqualsFold(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		whole, saved := auditview.NewLedger(), auditview.NewLedger()
		var all []auditview.Fact
		recorded := map[id.Event]bool{}
		var importing []id.Event
		for i := range rapid.IntRange(1, 20).Draw(rt, "lines") {
			s := id.NewSession(id.Seed{byte(rapid.IntRange(0, 2).Draw(rt, "session"))})
			f := auditFact(s, int64(rapid.IntRange(0, 5).Draw(rt, "fact")))
			all = append(all, f)
			if rapid.Bool().Draw(rt, "unrecorded") {
				continue
			}
			line := event.New(auditStore.String(), int64(i), event.Scope{}, f.Actor, f.AtMs, f.Recorded)
			switch kind := rapid.IntRange(0, 3).Draw(rt, "kind"); {
			case kind == 0:
				line.Data = audit.Intend(audit.Act{Action: audit.Import, Target: audit.Target{Kind: audit.OfSession, ID: s.String()},
					Details: map[string]string{"events": fmt.Sprint(rapid.IntRange(-1, 9).Draw(rt, "imported"))}}, int64(i))
				importing = append(importing, line.ID)
			case kind == 1 && len(importing) > 0:
				line.Data = audit.Conclude(rapid.SampledFrom(importing).Draw(rt, "of"),
					map[string]string{"annotations": fmt.Sprint(i)}, nil)
			default:
				recorded[f.Source.EventID] = true
			}
			seg := manifest.Segment{Events: []event.Event{line}}
			head := manifest.Head{Digest: canon.Sum([]byte{byte(i)}), Next: int64(i + 1), Bytes: int64(i),
				NextRecord: int64(i)}
			_ = whole.Visit(seg, head)
			_ = saved.Visit(seg, head)
			root := manifest.SessionEvents(s).Root
			whole.Seen[root], saved.Seen[root] = head, head
			doc, err := saved.Save()
			if err != nil {
				rt.Fatal(err)
			}
			if saved, err = auditview.LoadLedger(doc); err != nil {
				rt.Fatal(err)
			}
		}
		if !reflect.DeepEqual(whole, saved) {
			rt.Fatalf("%+v\n%+v", whole, saved)
		}
		want := map[id.Event]bool{}
		for _, f := range all {
			want[f.Source.EventID] = !recorded[f.Source.EventID]
		}
		for _, f := range whole.Missing(append(all, all...)) {
			if !want[f.Source.EventID] {
				rt.Fatalf("%+v has its line, or is missing twice", f)
			}
			want[f.Source.EventID] = false
		}
		for fact, missing := range want {
			if missing {
				rt.Fatalf("%s has no line and is not missing", fact)
			}
		}
	})
	if _, err := auditview.LoadLedger([]byte(`{"head":{},"logs":[{"root":1}]}`)); err == nil {
		t.Error("a ledger of another form was loaded")
	}
}

// auditHistory folds lines, each in its own segment.
func auditHistory(data ...event.Payload) *auditview.History {
	history := auditview.NewHistory(auditLog)
	for i, d := range data {
		e := event.New(auditStore.String(), int64(i), event.Scope{}, person, int64(100-i), d)
		_ = history.Visit(manifest.Segment{Events: []event.Event{e}}, manifest.Head{Next: int64(i + 1)})
	}
	return history
}

func intention(ordinal int64) (audit.Intended, id.Event) {
	p := audit.Intend(audit.Act{Action: audit.GC, Target: audit.Target{Kind: audit.OfStore},
		Details: map[string]string{"a": "1", "b": "1"}}, ordinal)
	return p, event.New(auditStore.String(), ordinal, event.Scope{}, person, 0, p).ID
}

func TestAuditTrail(t *testing.T) {
	first, firstID := intention(0)
	second, secondID := intention(2)
	f := auditFact(auditSession, 3)
	history := auditHistory(first, f.Recorded, second,
		audit.Conclude(secondID, map[string]string{"b": "2"}, nil),
		audit.Conclude(firstID, nil, fault.New(fault.StoreFull, "x")))
	if len(history.Findings) > 0 || len(history.Entries) != 3 || !history.Has(f) ||
		history.Has(auditFact(auditSession, 4)) {
		t.Fatalf("%+v", history)
	}
	a, b, c := history.Entries[0], history.Entries[1], history.Entries[2]
	if a.Outcome != audit.Failed || a.Code != "STORE_FULL" || b.Outcome != audit.Succeeded || *b.Source != f.Source ||
		c.Outcome != audit.Succeeded {
		t.Errorf("%+v", history.Entries)
	}
	if c.Details["a"] != "1" || c.Details["b"] != "2" || a.Details["b"] != "1" {
		t.Errorf("details: %v and %v", a.Details, c.Details)
	}
	if second.Details["b"] != "1" {
		t.Error("a record was changed by folding it")
	}
	history.AddUnwritten(f)
	late := auditFact(auditSession, 5)
	history.AddUnwritten(late)
	history.AddUnwritten(late)
	if n := len(history.Entries); n != 4 || !history.Entries[3].Unwritten {
		t.Errorf("%d entries", n)
	}
	line := event.New(auditStore.String(), 9, event.Scope{}, late.Actor, late.AtMs, late.Recorded)
	if history.Entries[3].EventID != line.ID {
		t.Error("the entry has not the id that the line will get")
	}
	var times []int64
	for _, e := range history.EntriesByTime() {
		times = append(times, e.AtMs)
	}
	if want := []int64{5, 98, 99, 100}; !reflect.DeepEqual(times, want) {
		t.Errorf("newest last: %v, want %v", times, want)
	}
}

func TestAuditTrailFindings(t *testing.T) {
	first, firstID := intention(0)
	f := auditFact(auditSession, 3)
	recorded := event.New(auditStore.String(), 0, event.Scope{}, f.Actor, 0, f.Recorded).ID
	for want, data := range map[string][]event.Payload{
		"is the outcome of":            {audit.Conclude(firstID, nil, nil)},
		"which is not an intention":    {f.Recorded, audit.Conclude(recorded, nil, nil)},
		"has the dedupeKey of event 0": {f.Recorded, f.Recorded},
		"has the dedupeKey of event 1": {first, audit.Conclude(firstID, nil, nil), audit.Conclude(firstID, nil, nil)},
		"event 1 has the ordinal 0":    {f.Recorded, first},
	} {
		history := auditHistory(data...)
		if len(history.Findings) != 1 || !strings.Contains(history.Findings[0].Message, want) ||
			history.Findings[0].Severity != manifest.SeverityError {
			t.Errorf("%s: %+v", want, history.Findings)
		}
	}
}
