package runs_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/projections/runs"
	"pgregory.net/rapid"
)

// checkResult is the result of the check of a log.
type checkResult struct {
	Findings []manifest.Finding
	Objects  map[runs.ObjectRef]int64
	Claims   []artifactClaim
}

// check runs the check over events cut into segments, and panics if it differs from the check by
// names.
func check(events []event.Event, owner string) checkResult {
	log := manifest.Log{Root: "sessions/x", Owner: owner, Table: event.Domain}
	out := checkResult{Objects: map[runs.ObjectRef]int64{}}
	r, names := runs.NewReferences(log), newByName(log)
	r.OnObjectUse = func(u runs.ObjectUse) {
		if u.First {
			out.Objects[u.ObjectRef] = u.Event
		}
		if u.Kind == manifest.Artifact {
			out.Claims = append(out.Claims, artifactClaim{u.Event, u.Output})
		}
	}
	read := func(visit func(manifest.Segment) error) error {
		start := 0
		for i := 1; i <= len(events); i++ {
			if i == len(events) || startsSegment(events[i]) {
				if err := visit(manifest.Segment{Events: events[start:i]}); err != nil {
					return err
				}
				start = i
			}
		}
		return nil
	}
	_ = read(func(s manifest.Segment) error {
		_ = names.Visit(s, manifest.Head{})
		return r.Visit(s, manifest.Head{})
	})
	if err := r.Finish(func(visitor func() func(manifest.Segment) error) error { return read(visitor()) }); err != nil {
		panic(err)
	}
	out.Findings = r.Findings
	if !reflect.DeepEqual(out.Objects, names.Objects) || !reflect.DeepEqual(out.Claims, names.Claims) ||
		!sameFindings(out.Findings, names.Findings) {
		panic(fmt.Sprintf("by fingerprints:\n%+v\nby names:\n%+v", out, names))
	}
	return out
}

func sameFindings(a, b []manifest.Finding) bool {
	return slices.EqualFunc(a, b, func(a, b manifest.Finding) bool {
		x, y := *a.Event, *b.Event
		a.Event, b.Event = nil, nil
		return x == y && a == b
	})
}

// Logs with randomly exchanged names give the same findings as the check by names; check panics
// otherwise.
func TestReferencesMatchTheCheckByName(t *testing.T) {
	found := map[manifest.FindingCode]bool{}
	rapid.Check(t, func(rt *rapid.T) {
		d := randomDriver(rt, t)
		events := slices.Clone(d.events)
		for range rapid.IntRange(1, 4).Draw(rt, "changes") {
			i, j := rapid.IntRange(0, len(events)-1).Draw(rt, "event"), rapid.IntRange(0, len(events)-1).
				Draw(rt, "other")
			switch rapid.IntRange(0, 3).Draw(rt, "change") {
			case 0: // two events change places, as far as they are about something
				events[i].Data, events[j].Data = events[j].Data, events[i].Data
				events[i].Scope, events[j].Scope = events[j].Scope, events[i].Scope
				events[i].ID, events[j].ID = events[j].ID, events[i].ID
			case 1:
				events[i].Data, events[i].ID, events[i].Scope = events[j].Data, events[j].ID, events[j].Scope
			case 2:
				events[i].ID = events[j].ID
			case 3:
				if a, ok := events[i].Data.(event.EdgeCreated); ok {
					a.Cause.EventID = events[j].ID
					events[i].Data = a
				}
			}
		}
		for _, f := range check(events, d.fold.ID).Findings {
			found[f.Code] = true
		}
	})
	for _, code := range []manifest.FindingCode{manifest.DuplicateKey, manifest.BrokenReference,
		manifest.EventIDMismatch} {
		if !found[code] {
			t.Errorf("no change produced a %s finding", code)
		}
	}
}

// A cause far before its edge is searched by its id.
func TestDistantCauseIsFoundInSecondPass(t *testing.T) {
	d := newDriver(t, gated)
	d.must(d.r().Root, advance.Request{Notes: "ok", Context: context("ticket", "T")})
	edge := slices.IndexFunc(d.events, func(e event.Event) bool { return e.Data.Kind() == "edge_created" })
	far := slices.Clone(d.events[:edge])
	for i := range int64(200) {
		e := event.New(d.fold.ID, int64(edge)+i, event.Scope{}, event.Actor{Kind: event.Engine}, 1,
			event.ObservationRecorded{Key: "git_branch", Confidence: "high",
				Value: event.ObservationValue{Type: "short_string", Value: fmt.Sprint("branch-", i)}})
		far = append(far, e)
	}
	e := d.events[edge]
	e.Index += 200
	if got := check(append(far, e), d.fold.ID).Findings; len(got) != 0 {
		t.Fatal(got)
	}
	p := e.Data.(event.EdgeCreated)
	p.Cause.EventID = id.EventOf("x", "y")
	e.Data = p
	if got := check(append(far, e), d.fold.ID).Findings; len(got) != 1 ||
		!strings.Contains(got[0].Message, "not an event of the log") {
		t.Fatal(got)
	}
}

// Each case changes one event of a valid log; the change must be reported with the right finding.
func TestBrokenReferences(t *testing.T) {
	unknownNode := id.RootNode(id.NewRun(id.Seed{7}))
	gap := id.FromStart(unknownNode).Gap(3)
	output := id.FromStart(unknownNode).Output(3)
	for name, tc := range map[string]struct {
		kind   string
		change func(event.Event) event.Event
		want   string
	}{
		"node of no run": {"decision_trace_appended",
			func(e event.Event) event.Event { e.Scope.NodeID = unknownNode; return e }, "does not belong to the run"},
		"unknown run": {"gap_recorded",
			func(e event.Event) event.Event { e.Scope.RunID = id.NewRun(id.Seed{8}); return e }, "never started"},
		"parent": {"node_created", func(e event.Event) event.Event {
			p := e.Data.(event.NodeCreated)
			p.ParentNodeID = &unknownNode
			e.Data = p
			return e
		}, "not a node of the run"},
		"second root": {"node_created", func(e event.Event) event.Event {
			p := e.Data.(event.NodeCreated)
			p.ParentNodeID = nil
			e.Data = p
			return e
		}, "second root"},
		"edge": {"edge_created", func(e event.Event) event.Event {
			p := e.Data.(event.EdgeCreated)
			p.FromNodeID = unknownNode
			e.Data = p
			return e
		}, "do not both belong to its run"},
		"cause": {"edge_created", func(e event.Event) event.Event {
			p := e.Data.(event.EdgeCreated)
			p.Cause.EventID = id.EventOf("x", "y")
			e.Data = p
			return e
		}, "not an event of the log"},
		"resolved gap": {"gap_recorded", func(e event.Event) event.Event {
			p := e.Data.(event.GapRecorded)
			p.Resolution = event.Resolution{Kind: event.Resolves, ResolvesGapID: &gap}
			e.Data = p
			return e
		}, "never recorded"},
		"superseded output": {"node_output_appended", func(e event.Event) event.Event {
			p := e.Data.(event.NodeOutputAppended)
			p.SupersedesOutputID = &output
			e.Data = p
			return e
		}, "is not an output of its node"},
		"outcome": {"advance_recorded", func(e event.Event) event.Event {
			p := e.Data.(event.AdvanceRecorded)
			p.Outcome = event.AdvancedTo(unknownNode)
			e.Data = p
			return e
		}, "does not create"},
		"context": {"context_set", func(e event.Event) event.Event {
			p := e.Data.(event.ContextSet)
			p.NodeID = &unknownNode
			e.Data = p
			return e
		}, "does not belong to the run"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDriver(t, gated)
			d.try(d.r().Root, notes("no"))
			d.must(d.r().Root, advance.Request{Notes: "ok", Context: context("ticket", "T")})
			events := append([]event.Event{}, d.events...)
			last := -1
			for i, e := range events {
				if e.Data.Kind() == tc.kind {
					last = i
				}
			}
			events[last] = tc.change(events[last])
			got := check(events, d.fold.ID).Findings
			if !slices.ContainsFunc(got, func(f manifest.Finding) bool {
				return f.Code == manifest.BrokenReference && f.Severity == manifest.SeverityError &&
					strings.Contains(f.Message, tc.want)
			}) {
				t.Fatalf("want a finding with %q, got %+v", tc.want, got)
			}
		})
	}
}

// With an id that is not derived from its key, a retry would not find what it wrote
// (docs/design.md#ids). Events without an actor are of other programs, which derive ids
// differently.
func TestEventIDsAreDerivedFromDedupeKeys(t *testing.T) {
	d := newDriver(t, gated)
	events := slices.Clone(d.events)
	last := &events[len(events)-1]
	last.ID = id.EventOf("x", "y")
	if got := check(events, d.fold.ID).Findings; len(got) != 1 || got[0].Code != manifest.EventIDMismatch ||
		*got[0].Event != last.Index {
		t.Fatal(got)
	}
	last.Actor = event.Actor{}
	if got := check(events, d.fold.ID).Findings; len(got) != 0 {
		t.Fatal(got)
	}
}

func TestDuplicateDedupeKeyIsFound(t *testing.T) {
	d := newDriver(t, gated)
	twice := append(append([]event.Event{}, d.events...), d.events[len(d.events)-1])
	got := check(twice, d.fold.ID).Findings
	if len(got) != 1 || got[0].Code != manifest.DuplicateKey {
		t.Fatal(got)
	}
}

// Every fold accepts every kind of event in a scope of an unknown run: nothing may panic, and
// nothing may be treated as existing.
func TestConsumersKnowEveryKind(t *testing.T) {
	d := newDriver(t, gated)
	payloads := []event.Payload{event.SessionCreated{}, event.RunStarted{}, event.NodeCreated{}, event.EdgeCreated{},
		event.AdvanceRecorded{},
		event.ContextSet{}, event.PreferencesChanged{}, event.NodeOutputAppended{},
		event.GapRecorded{Resolution: event.Resolution{Kind: event.Unresolved}},
		event.DecisionTraceAppended{}, event.CapabilityObserved{}, event.DivergenceRecorded{},
		event.ObservationRecorded{}, event.GuardNoted{}, event.RunEventRecorded{},
		event.RunCancelRequested{}, event.RunClosed{}, event.RunPaused{}, event.RunResumed{}, event.SessionHandedOver{}, event.SessionReclaimed{}}
	if len(payloads) != len(event.Domain.Kinds()) {
		t.Fatalf("%d payloads for %d kinds: add the new one", len(payloads), len(event.Domain.Kinds()))
	}
	unknown := event.Scope{RunID: d.run, NodeID: id.RootNode(id.NewRun(id.Seed{6}))}
	for _, p := range payloads {
		e := event.Event{Index: d.fold.Next, Owner: d.fold.ID, Scope: unknown, Data: p}
		d.fold.Apply(e)
		_ = check([]event.Event{e}, d.fold.ID)
	}
}

// An event that could not be read may have created what later events refer to: that is an unknown
// version, not damage (docs/design.md#foreign-stores).
func TestUnreadableEventSuppressesBrokenReferences(t *testing.T) {
	d := newDriver(t, gated)
	line, err := event.Domain.AppendLine(nil, d.events[1])
	if err != nil {
		t.Fatal(err)
	}
	strange, err := event.Domain.DecodeLine([]byte(strings.Replace(strings.TrimSpace(string(line)), `"data":{`,
		`"data":{"added":1,`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	events := append([]event.Event{}, d.events...)
	events[1] = strange
	if got := check(events, d.fold.ID).Findings; len(got) != 0 {
		t.Fatal(got)
	}
}
