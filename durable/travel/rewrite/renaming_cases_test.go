package rewrite_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/travel/rewrite"
)

func TestForeignEventsAreNotRenamed(t *testing.T) {
	session := id.NewSession(id.Seed{1})
	e, err := event.Domain.DecodeLine([]byte(`{"kind":"strange","eventIndex":0,"sessionId":"` + session.String() +
		`"}`))
	if err != nil {
		t.Fatal(err)
	}
	r := rewrite.NewRenaming(session, id.NewSession(id.Seed{2}), store, canon.Sum(nil))
	if _, err := r.Segment([]event.Event{e}); !fault.Is(err, fault.BundleUnsupportedVersion) {
		t.Error(err)
	}
	other := event.New(id.NewSession(id.Seed{3}).String(), 0, event.Scope{}, event.Actor{Kind: event.Human}, 1,
		event.SessionCreated{})
	if _, err := r.Segment([]event.Event{other}); !fault.Is(err, fault.Invariant) {
		t.Error(err)
	}
}

// TestReferencesToOtherSessionsAreKept: forkedFrom and a parent in another session are kept;
// importedFrom of an earlier import is replaced.
func TestReferencesToOtherSessionsAreKept(t *testing.T) {
	session, to := id.NewSession(id.Seed{1}), id.NewSession(id.Seed{2})
	run, other := id.NewRun(id.Seed{1}), id.NewRun(id.Seed{5})
	actor := event.Actor{Kind: event.Human}
	from := &event.ForkedFrom{SessionID: id.NewSession(id.Seed{5}), RunID: other, NodeID: id.RootNode(other),
		Head: canon.Sum(nil)}
	started := event.RunStarted{WorkflowID: "w", WorkflowHash: canon.Sum(nil), WorkflowSourceKind: event.SourceUser,
		ForkedFrom: from, Parent: &other}
	inside := started
	inside.Parent = &run
	second := id.NewRun(id.Seed{6})
	all := []event.Event{
		event.New(session.String(), 0, event.Scope{}, actor, 1,
			event.SessionCreated{ImportedFrom: &event.ImportedFrom{StoreID: id.NewStore(id.Seed{8}), SessionID: to,
				Head: canon.Sum([]byte("x"))}}),
		event.New(session.String(), 1, event.Scope{RunID: run}, actor, 1, started),
		event.New(session.String(), 2, event.Scope{RunID: second}, actor, 1, inside),
	}
	r := rewrite.NewRenaming(session, to, store, canon.Sum(nil))
	out, err := r.Segment(all)
	if err != nil {
		t.Fatal(err)
	}
	if p := out[0].Data.(event.SessionCreated).ImportedFrom; p.SessionID != session || p.StoreID != store {
		t.Errorf("%+v", p)
	}
	if p := out[1].Data.(event.RunStarted); *p.ForkedFrom != *from || *p.Parent != other {
		t.Errorf("%+v", p)
	}
	if p := out[2].Data.(event.RunStarted); *p.Parent != id.ImportedRun(store, canon.Sum(nil).String(), run) {
		t.Errorf("%+v", p)
	}
	if !out[1].ID.IsZero() && out[1].ID != id.EventOf(to.String(), out[1].DedupeKey()) {
		t.Error("the event id is not derived from its dedupeKey")
	}
}

func TestSideLogLinesAreRenamed(t *testing.T) {
	few(t, "1")
	rapid.Check(t, func(rt *rapid.T) {
		w := newFixture(t)
		session := w.drive(rt)[0]
		r := rename(t, w, session)
		m := r.Mapping()
		run, node := m.Runs[0], m.Nodes[0]
		first := read(t, w.store, manifest.SessionEvents(session))[0].Events[0]
		firstIs := r.segments[0].Events[0].ID
		key := func(s, n string) string {
			return "noted:" + s + ":" + n + "->trace_zfbdrurdu2zxl45wcw3lxe4kgq"
		}
		text := func(s id.Session, run id.Run, n id.Node, seen, own, before id.Event, key string) string {
			return fmt.Sprintf(
				`{"data":{"about":[%q,%q],"node_%s":1,"note":"see %s","seen":%q,"supersedes":%q},"dedupeKey":%q,"eventId":%q,"eventIndex":0,"kind":"noted","scope":{"nodeId":%q,"runId":%q},"sessionId":%q,"v":1}`,
				n, "node_aaaaaaaaaaaaaaaaaaaaaaaaaa", "x", node.Old, seen, before, key, own, n, run, s)
		}
		was := key(session.String(), node.Old.String())
		is := key(r.to.String(), node.New.String())
		own, ownIs := id.EventOf(session.String(), was), id.EventOf(r.to.String(), is)
		// Their references are collected; runs and nodes are always known.
		r = rename(t, w, session, []byte(text(session, run.Old, node.Old, first.ID, own, own, was)))
		for i, names := range [][2]id.Event{{own, own}, {own, ownIs}} { // the second line refers to the first
			got, err := r.OpaqueLine([]byte(text(session, run.Old, node.Old, first.ID, own, names[0], was)))
			want := text(r.to, run.New, node.New, firstIs, ownIs, names[1], is)
			if err != nil || string(got) != string(parse(want).JCS()) {
				rt.Fatalf("%d %v\n got %s\nwant %s", i, err, got, want)
			}
		}
		for _, bad := range []string{`{`, `[]`} {
			if _, err := r.OpaqueLine([]byte(bad)); err == nil {
				rt.Error(bad)
			}
		}
		if got, err := r.OpaqueLine([]byte(`{"eventId":"7","dedupeKey":"k","sessionId":"` + session.String() +
			`"}`)); err != nil || !strings.Contains(string(got), `"eventId":"7"`) {
			rt.Errorf("%s %v", got, err)
		}
	})
}

// TestEvidenceIsRenamed: evidence may refer to a later event of its segment, or to none.
func TestEvidenceIsRenamed(t *testing.T) {
	session, to, run := id.NewSession(id.Seed{1}), id.NewSession(id.Seed{2}), id.NewRun(id.Seed{1})
	root := id.RootNode(run)
	at := event.Scope{RunID: run, NodeID: root}
	origin := id.FromStart(root)
	made := func(n int64, s event.Scope, p event.Payload) event.Event {
		return event.New(session.String(), n, s, event.Actor{Kind: event.Engine}, 1, p)
	}
	notes := made(2, at, event.NodeOutputAppended{OutputChannel: event.Recap, OutputID: origin.Output(0),
		Payload: event.OutputPayload{PayloadKind: event.Notes, NotesMarkdown: "n"}})
	output, nowhere := origin.Output(0), origin.Output(7)
	gap := event.GapRecorded{GapID: origin.Gap(0), Reason: reason.NeedsApproval, Severity: event.Info, Summary: "s",
		Resolution: event.Resolution{Kind: event.Unresolved},
		EvidenceRefs: []event.EvidenceRef{{Kind: "event", EventID: &notes.ID}, {Kind: "output", OutputID: &output},
			{Kind: "output", OutputID: &nowhere}}}
	r := rewrite.NewRenaming(session, to, store, canon.Sum(nil))
	all := []event.Event{made(0, at, event.NodeCreated{NodeKind: event.StepNode, SnapshotRef: canon.Sum(nil),
		WorkflowHash: canon.Sum(nil)}), made(1, at, gap), notes}
	r.CollectReferences(all)
	out, err := r.Segment(all)
	if err != nil {
		t.Fatal(err)
	}
	refs := out[1].Data.(event.GapRecorded).EvidenceRefs
	is := id.FromStart(id.RootNode(id.ImportedRun(store, canon.Sum(nil).String(), run))).Output(0)
	if *refs[0].EventID != out[2].ID || *refs[1].OutputID != is ||
		out[2].Data.(event.NodeOutputAppended).OutputID != is {
		t.Errorf("%+v", refs)
	}
	if *refs[2].OutputID != nowhere.Imported(store, canon.Sum(nil).String()) {
		t.Errorf("a reference without target became %s", refs[2].OutputID)
	}
}
