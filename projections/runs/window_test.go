package runs_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/projections/runs"
)

// segmentWriter writes segments of events without a workflow: shapes of runs that take many
// attempts to produce, and some that only other programs write.
type segmentWriter struct {
	fold  *runs.Fold
	run   id.Run
	owner string
	count int
	gaps  []id.Gap
	segs  []manifest.Segment
	heads []manifest.Head
}

func newSegmentWriter(t testing.TB) *segmentWriter {
	d := newDriver(t, gated)
	s := &segmentWriter{fold: runs.NewFold(), run: d.run, owner: d.fold.ID}
	s.commit(d.events)
	return s
}

func (s *segmentWriter) r() *runs.Run { return s.fold.Runs[s.run] }

func (s *segmentWriter) commit(events []event.Event) {
	seg := manifest.Segment{First: events[0].Index, Last: events[len(events)-1].Index, Events: events}
	head := manifest.Head{Digest: canon.Sum([]byte(fmt.Sprint(seg.Last))), Next: seg.Last + 1, Bytes: 1}
	_ = s.fold.Visit(seg, head)
	s.segs, s.heads = append(s.segs, seg), append(s.heads, head)
}

// write commits payloads at nodes as one segment.
func (s *segmentWriter) write(facts ...fact) {
	var events []event.Event
	for i, f := range facts {
		scope := event.Scope{RunID: s.run, NodeID: f.at}
		events = append(events, event.New(s.owner, s.fold.Next+int64(i), scope, event.Actor{Kind: event.Agent},
			1000+s.fold.Next, f.what))
	}
	s.commit(events)
}

type fact struct {
	at   id.Node
	what event.Payload
}

func (s *segmentWriter) from() id.Origin {
	s.count++
	return id.FromStart(id.RootNode(id.NewRun(id.Seed{byte(s.count), byte(s.count >> 8), 9})))
}

func (s *segmentWriter) recap(at id.Node) fact {
	return fact{at, event.NodeOutputAppended{OutputChannel: event.Recap, OutputID: s.from().Output(0),
		Payload: event.OutputPayload{PayloadKind: event.Notes,
			NotesMarkdown: fmt.Sprintf("note \"%d\"\n\tdone", s.count)}}}
}

func (s *segmentWriter) artifact(at id.Node) fact {
	return fact{at, event.NodeOutputAppended{OutputChannel: event.Artifact, OutputID: s.from().Output(0),
		Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, ContentType: "application/json", ByteLength: 3,
			SHA256: canon.Sum([]byte(fmt.Sprint(s.count)))}}}
}

func (s *segmentWriter) gap(at id.Node, severity event.Severity) fact {
	g := s.from().Gap(0)
	s.gaps = append(s.gaps, g)
	return fact{at, event.GapRecorded{GapID: g, Reason: reason.NeedsApproval, Severity: severity, Summary: "open",
		Resolution: event.Resolution{Kind: event.Unresolved}}}
}

func (s *segmentWriter) resolve(at id.Node, g id.Gap) fact {
	return fact{at, event.GapRecorded{GapID: s.from().Gap(0), Reason: reason.NeedsApproval, Severity: event.Info,
		Summary:    "done",
		Resolution: event.Resolution{Kind: event.Resolves, ResolvesGapID: &g}}}
}

// advance advances from a node to a new one.
func (s *segmentWriter) advance(at id.Node, more ...fact) id.Node {
	n := s.r().Node(at)
	attempt := n.NextAttempt()
	child := id.ChildNode(at, attempt, id.OpAck)
	facts := []fact{{at, event.AdvanceRecorded{AttemptID: attempt, Outcome: event.AdvancedTo(child),
		RequestDigest: canon.Sum([]byte("r"))}}}
	if s.count%3 == 0 {
		facts = append(facts, fact{at, event.ContextSet{Context: context("k", fmt.Sprint(s.count)), NodeID: &child}})
	}
	facts = append(facts,
		fact{child, event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &at,
			SnapshotRef: canon.Sum([]byte(child.String()))}},
		fact{id.Node{}, event.EdgeCreated{EdgeKind: event.AckedStepEdge, FromNodeID: at, ToNodeID: child}})
	s.write(append(facts, more...)...)
	return child
}

func (s *segmentWriter) checkpoint(at id.Node) {
	point := id.ChildNode(at, id.NextAttempt(at, id.OpCheckpoint, len(s.r().Node(at).Checkpoints)), id.OpCheckpoint)
	s.write(fact{point, event.NodeCreated{NodeKind: event.CheckpointNode, ParentNodeID: &at,
		SnapshotRef: canon.Sum([]byte("c"))}},
		fact{id.Node{}, event.EdgeCreated{EdgeKind: event.CheckpointEdge, FromNodeID: at, ToNodeID: point}},
		s.recap(point))
}

// open returns the nodes that windows keep at any age.
func (s *segmentWriter) open() []id.Node {
	out := []id.Node{s.r().Root}
	for _, nodeID := range s.r().Order {
		if n := s.r().Node(nodeID); len(n.OpenGaps) > 0 || n.AckedChildren == 0 {
			out = append(out, nodeID)
		}
	}
	return out
}

// randomStep writes a random step, most often at the tip.
func (s *segmentWriter) randomStep(t *rapid.T) {
	at := s.r().Tip
	if rapid.IntRange(0, 3).Draw(t, "elsewhere") == 0 {
		order := s.r().Order
		at = order[len(order)-1-rapid.IntRange(0, min(len(order)-1, 12)).Draw(t, "back")]
		if open := s.open(); rapid.Bool().Draw(t, "open") {
			at = rapid.SampledFrom(open).Draw(t, "at")
		}
	}
	switch rapid.IntRange(0, 17).Draw(t, "what") {
	case 0:
		s.checkpoint(at)
	case 1:
		s.write(s.gap(at, event.Critical))
	case 2:
		s.write(s.gap(at, event.Warning), s.artifact(at))
	case 3:
		if len(s.gaps) > 0 {
			s.write(s.resolve(at, rapid.SampledFrom(s.gaps).Draw(t, "gap")))
		}
	case 4:
		s.write(fact{at, event.PreferencesChanged{ChangeID: s.from().
			Change(0), Effective: event.Preferences{Autonomy: event.FullAutoNeverStop,
			RiskPolicy: event.Conservative}}})
	case 5:
		s.write(fact{at, event.CapabilityObserved{Capability: "web",
			Status:     rapid.SampledFrom([]string{"available", "unavailable"}).Draw(t, "status"),
			Provenance: event.Provenance{EnforcementGrade: "strong"}}})
	case 6:
		s.write(fact{at, event.AdvanceRecorded{AttemptID: s.r().Node(at).
			NextAttempt(), Outcome: event.BlockedBy(reason.Report{})}}, s.recap(at))
	case 7:
		// A duplicate node, which only other programs write.
		n := s.r().Node(at)
		s.write(fact{at, event.NodeCreated{NodeKind: n.Kind, ParentNodeID: n.Parent,
			SnapshotRef: canon.Sum([]byte("again"))}})
	case 8:
		// A duplicate edge, and a recap that replaces nothing.
		n := s.r().Node(at)
		if n.Parent != nil {
			s.write(fact{id.Node{}, event.EdgeCreated{EdgeKind: event.AckedStepEdge, FromNodeID: *n.Parent,
				ToNodeID: at}})
		}
		if o, ok := n.Recap(); ok {
			gone := s.artifact(at).what.(event.NodeOutputAppended)
			gone.SupersedesOutputID = &o.ID
			s.write(fact{at, gone})
		}
	case 9, 10, 11:
		s.advance(at, s.recap(at))
	case 12:
		s.write(fact{at, event.GuardNoted{Client: "codex", Chat: canon.Sum([]byte{byte(s.count % 3)}), Refusals: 1,
			Verdict: rapid.SampledFrom([]event.GuardVerdict{event.GuardRefused, event.GuardLetGo}).Draw(t, "verdict")}})
	default:
		s.advance(at)
	}
}

// compare compares a windowed fold with the full one: its answers must be equal, and it may not
// report that a node does not exist. misses counts the questions that it cannot answer.
func compare(full, part *runs.Fold, run id.Run) (misses int, err error) {
	if part.Missed() {
		return len(full.Runs[run].Order), nil
	}
	f, p := full.Runs[run], part.Runs[run]
	for name, pair := range map[string][2]any{
		"brief": {full.Brief(), part.Brief()}, "tips": {f.Tips(), p.Tips()}, "tip": {f.Tip, p.Tip},
		"root": {f.Root, p.Root},
		"next": {full.Next, part.Next}, "last": {full.Last, part.Last}, "closed": {f.Closed, p.Closed},
		"at": {f.LastAtMs, p.LastAtMs},
	} {
		if !reflect.DeepEqual(pair[0], pair[1]) {
			return 0, fmt.Errorf("%s: %v, full %v", name, pair[1], pair[0])
		}
	}
	below := map[id.Node][]id.Node{}
	for _, nodeID := range f.Order {
		for _, above := range f.Path(nodeID) {
			below[above] = append(below[above], nodeID)
		}
	}
	for _, nodeID := range f.Order {
		if p.Node(nodeID) != nil {
			if err := compareNode(f, p, nodeID); err != nil {
				return 0, err
			}
		}
		if !part.Covers(run, nodeID) {
			misses++
			continue
		}
		// Everything that an answer about the node may read: its ancestors and its descendants.
		path := f.Path(nodeID)
		around := slices.Clone(path[max(0, len(path)-1-limits.RecapAncestorsMax):])
		around = append(around, below[nodeID]...)
		for _, other := range around {
			if p.Node(other) == nil {
				return 0, fmt.Errorf("node %s is known, and %s is not", nodeID, other)
			}
		}
	}
	return misses, nil
}

func compareNode(f, p *runs.Run, nodeID id.Node) error {
	a, errA := canon.Marshal(f.Node(nodeID).Bare())
	b, errB := canon.Marshal(p.Node(nodeID).Bare())
	if errA != nil || errB != nil || string(a) != string(b) {
		return fmt.Errorf("node\n%s (%v)\nfull\n%s (%v)", b, errB, a, errA)
	}
	for _, tip := range []runs.TipState{{}, {Complete: true}} {
		if f.StatusAt(nodeID, tip) != p.StatusAt(nodeID, tip) {
			return fmt.Errorf("status at %s: %s, full %s", nodeID, p.StatusAt(nodeID, tip), f.StatusAt(nodeID, tip))
		}
	}
	if x, y := f.CriticalOnPath(nodeID), p.CriticalOnPath(nodeID); !reflect.DeepEqual(x, y) {
		return fmt.Errorf("gaps on the path of %s: %v, full %v", nodeID, y, x)
	}
	x, okX := f.RecapOnPath(nodeID)
	if y, okY := p.RecapOnPath(nodeID); x != y || okX != okY {
		return fmt.Errorf("recap of %s: %v, full %v", nodeID, y, x)
	}
	return nil
}

func reload(t interface{ Fatal(...any) }, f *runs.Fold, newest int) *runs.Fold {
	data, ok := f.SaveNewest(newest)
	if !ok {
		t.Fatal("not saved")
	}
	out, err := runs.LoadFold(data)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A window of a random run is saved, loaded and continued, repeatedly: after every segment it
// answers as the full fold does, or reports that it cannot.
func TestWindowAnswersLikeAFullFold(t *testing.T) {
	nodes, misses := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		s := newSegmentWriter(t)
		newest := rapid.IntRange(1, 16).Draw(rt, "newest")
		for range rapid.IntRange(0, 30).Draw(rt, "before") {
			s.randomStep(rt)
		}
		part := reload(rt, s.fold, newest)
		for range rapid.IntRange(0, 20).Draw(rt, "after") {
			have := len(s.segs)
			s.randomStep(rt)
			for i := have; i < len(s.segs); i++ {
				_ = part.Visit(s.segs[i], s.heads[i])
			}
			if rapid.IntRange(0, 1).Draw(rt, "look") == 0 || part.Missed() {
				n, err := compare(s.fold, part, s.run)
				if err != nil {
					rt.Fatal(err)
				}
				nodes, misses = nodes+len(s.r().Order), misses+n
			}
			if part.Missed() {
				part = reload(rt, s.fold, newest)
			} else if rapid.IntRange(0, 3).Draw(rt, "again") == 0 {
				part = reload(rt, part, newest)
			}
		}
	})
	t.Logf("%d questions, %d misses", nodes, misses)
	if misses*10 > nodes*9 {
		t.Errorf("%d of %d questions are misses: too few are compared", misses, nodes)
	}
}

// Continuing at the tip never needs a node outside of the window, and the saved state does not
// grow.
func TestWindowOfALongRunStaysSmall(t *testing.T) {
	s := newSegmentWriter(t)
	for range 200 {
		s.advance(s.r().Tip, s.recap(s.r().Tip))
	}
	first, _, _ := s.fold.Save(1 << 20)
	part, err := runs.LoadFold(first)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		have := len(s.segs)
		s.advance(s.r().Tip, s.recap(s.r().Tip))
		_ = part.Visit(s.segs[have], s.heads[have])
		if i%20 > 0 {
			// Compared at intervals, since each comparison reads the whole run.
		} else if _, err := compare(s.fold, part, s.run); err != nil || part.Missed() ||
			!part.Covers(s.run, part.Runs[s.run].Tip) {
			t.Fatalf("step %d: %v, missed %v", i, err, part.Missed())
		}
		data, _, ok := part.Save(1 << 20)
		if !ok || len(data) > len(first)+len(first)/10 {
			t.Fatalf("step %d: %d bytes, first %d", i, len(data), len(first))
		}
		if part, err = runs.LoadFold(data); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(part.Runs[s.run].Order); n > runs.WindowNodes+2 {
		t.Errorf("%d nodes are kept", n)
	}
}

// Too many open nodes, and contexts too long for any window.
func TestSaveRefusesLargeWindows(t *testing.T) {
	s := newSegmentWriter(t)
	for range 60 {
		s.advance(s.r().Tip, s.recap(s.r().Tip))
	}
	wide, _, _ := s.fold.Save(1 << 20)
	narrow, w, ok := s.fold.Save(len(wide) / 2)
	if !ok || len(narrow) > len(wide)/2 || len(w.Runs[s.run].Order) > 40 {
		t.Errorf("a window of %d bytes, %v", len(narrow), ok)
	}
	if _, _, ok := s.fold.Save(1000); ok {
		t.Error("a window was saved in 1,000 bytes")
	}
	root := s.r().Root
	for range 300 {
		s.advance(root)
	}
	if _, _, ok := s.fold.Save(1 << 20); ok {
		t.Error("a run with 300 tips was saved")
	}
	if len(s.r().Order) != 361 {
		t.Errorf("saving changed the fold: %d nodes", len(s.r().Order))
	}
}

// Loading a modified saved fold must return an error or a fold, never panic.
func TestLoadFoldNeverPanics(t *testing.T) {
	s := newSegmentWriter(t)
	s.advance(s.r().Tip, s.recap(s.r().Tip), s.gap(s.r().Tip, event.Critical))
	data, _, _ := s.fold.Save(1 << 20)
	for i := range data {
		bad := slices.Clone(data)
		bad[i] ^= 0x15
		_, _ = runs.LoadFold(bad)
		_, _ = runs.LoadFold(data[:i])
	}
	for _, text := range []string{"", "{}", `{"contexts":[],"head":{},"last":0,"session":null}`,
		strings.Repeat("\t", 17)} {
		if _, err := runs.LoadFold([]byte(text)); err == nil {
			t.Errorf("%q was loaded", text)
		}
	}
}
