package snapshot_test

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/snapshot"
	"pgregory.net/rapid"
)

func ptr[T any](v T) *T { return &v }

var inLoops = []snapshot.Frame{{LoopID: "outer", Iteration: 0, BodyIndex: 2},
	{LoopID: "inner", Iteration: 2, BodyIndex: 0, Count: ptr(int64(3))}}

// TestGoldenSnapshots pins the bytes of stored files, whose digests are their names.
func TestGoldenSnapshots(t *testing.T) {
	tests := []struct {
		name  string
		state snapshot.State
		want  string
	}{
		{"complete", snapshot.Done(),
			`{"enginePayload":{"engineState":{"kind":"complete"},"v":1},"kind":"execution_snapshot","v":1}`},
		{"first step", snapshot.At("first", nil, nil),
			`{"enginePayload":{"engineState":{"completed":{"kind":"set","values":[]},"kind":"running","loopStack":[],` +
				`"pending":{"kind":"some","step":{"loopPath":[],"stepId":"first"}}},"v":1},"kind":"execution_snapshot","v":1}`},
		{"in two loops", snapshot.At("triage", inLoops, []string{"b", "a", "outer@0::x", "b", "a-1"}),
			`{"enginePayload":{"engineState":{"completed":{"kind":"set","values":["a","a-1","b","outer@0::x"]},"kind":"running",` +
				`"loopStack":[{"bodyIndex":2,"iteration":0,"loopId":"outer"},{"bodyIndex":0,"count":3,"iteration":2,"loopId":"inner"}],` +
				`"pending":{"kind":"some","step":{"loopPath":[{"iteration":0,"loopId":"outer"},{"iteration":2,"loopId":"inner"}],"stepId":"triage"}}},"v":1},` +
				`"kind":"execution_snapshot","v":1}`},
	}
	for _, tt := range tests {
		got, err := tt.state.Encode()
		if err != nil || string(got) != tt.want {
			t.Errorf("%s:\n got %s, %v\nwant %s", tt.name, got, err, tt.want)
		}
		if back, err := snapshot.Decode(got); err != nil || !reflect.DeepEqual(back, tt.state) {
			t.Errorf("%s reads back as %+v, %v", tt.name, back, err)
		}
	}
}

// TestDecodedSnapshotsEncodeToTheSameBytes: a snapshot with a changed byte is refused, or read as it is. Those
// outside of loops are read by members of their own.
func TestDecodedSnapshotsEncodeToTheSameBytes(t *testing.T) {
	read := 0
	for _, s := range []snapshot.State{snapshot.Done(), snapshot.At("first", nil, nil), snapshot.At("c", nil, []string{"a", "b"}),
		snapshot.At("triage", inLoops, []string{"b", "outer@0::x"})} {
		text, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		for i := range text {
			for _, with := range []string{"", "a", "b", "\"", "\\", "0", " ", ",", "[", "{", "\x00", "\xff", `\u0061`, `"a",`, `"a":1,`} {
				for cut := range 3 {
					changed := slices.Concat(text[:i], []byte(with), text[min(i+cut, len(text)):])
					got, err := snapshot.Decode(changed)
					if err != nil {
						continue
					}
					if again, err := got.Encode(); err != nil || string(again) != string(changed) {
						t.Fatalf("%s is read as %+v, which is %s, %v", changed, got, again, err)
					}
					read++
				}
			}
		}
	}
	if read < 100 {
		t.Errorf("%d texts were read", read)
	}
}

func TestAccessors(t *testing.T) {
	done, at := snapshot.Done(), snapshot.At("triage", inLoops, []string{"b", "a"})
	if !done.IsComplete() || done.PendingStep() != nil || done.CompletedKeys() != nil {
		t.Errorf("complete: %+v", done)
	}
	if at.IsComplete() || at.PendingStep().Key() != "outer@0/inner@2::triage" ||
		!slices.Equal(at.CompletedKeys(), []string{"a", "b"}) {
		t.Errorf("running: %+v", at)
	}
}

// TestAtCopies: states are shared, and callers continue to use their slices.
func TestAtCopies(t *testing.T) {
	frames, done := slices.Clone(inLoops), []string{"b", "a"}
	s := snapshot.At("x", frames, done)
	before, _ := s.Encode()
	frames[0].LoopID, done[0] = "changed", "changed"
	if after, err := s.Encode(); err != nil || string(after) != string(before) {
		t.Errorf("%s became %s, %v", before, after, err)
	}
}

// TestImpossibleStates: they are neither encoded nor decoded.
func TestImpossibleStates(t *testing.T) {
	running := func(change func(*snapshot.State)) snapshot.State {
		s := snapshot.At("triage", slices.Clone(inLoops), []string{"a", "b"})
		change(&s)
		return s
	}
	frame := func(i int, change func(*snapshot.Frame)) snapshot.State {
		return running(func(s *snapshot.State) { change(&(*s.LoopStack)[i]) })
	}
	step := func(change func(*snapshot.PendingStep)) snapshot.State {
		return running(func(s *snapshot.State) { change(s.Pending.Step) })
	}
	done := func(keys ...string) snapshot.State {
		return running(func(s *snapshot.State) { s.Completed.Values = keys })
	}
	const path, someNone = "the pending step's path is not the loop stack", "with the wrong members"
	tests := []struct {
		name  string
		state snapshot.State
		want  string
	}{
		{"no kind", snapshot.State{}, `unknown engine state ""`},
		{"unknown kind", running(func(s *snapshot.State) { s.Kind = "blocked" }), `unknown engine state "blocked"`},
		{"complete and running", running(func(s *snapshot.State) { s.Kind = snapshot.Complete }),
			"a complete state has no other members"},
		{"no completed", running(func(s *snapshot.State) { s.Completed = nil }),
			"a running state wants completed, loopStack and pending"},
		{"no stack", running(func(s *snapshot.State) { s.LoopStack = nil }),
			"a running state wants completed, loopStack and pending"},
		{"no pending", running(func(s *snapshot.State) { s.Pending = nil }),
			"a running state wants completed, loopStack and pending"},
		{"completed is a list", running(func(s *snapshot.State) { s.Completed.Kind = "list" }),
			`completed is a "list", want a set`},
		{"completed unsorted", done("b", "a"), `completed is not sorted by bytes at "a"`},
		{"completed twice", done("a", "a"), `completed is not sorted by bytes at "a"`},
		{"completed in capitals", done("A"), `step instance key "A"`},
		{"pending is completed", done("outer@0/inner@2::triage"),
			`step "outer@0/inner@2::triage" is pending and completed`},
		{"loop twice", frame(1, func(f *snapshot.Frame) { f.LoopID = "outer" }),
			`loop "outer" occurs twice on the stack`},
		{"loop without name", frame(0, func(f *snapshot.Frame) { f.LoopID = "" }), `loop id ""`},
		{"loop with a separator", frame(0, func(f *snapshot.Frame) { f.LoopID = "a@0" }), `loop id "a@0"`},
		{"iteration below zero", frame(0, func(f *snapshot.Frame) { f.Iteration = -1 }),
			`loop "outer": negative position`},
		{"position below zero", frame(0, func(f *snapshot.Frame) { f.BodyIndex = -1 }),
			`loop "outer": negative position`},
		{"iteration of no more", frame(1, func(f *snapshot.Frame) { f.Count = ptr(int64(2)) }),
			`loop "inner": iteration 2 of 2`},
		{"path too short", step(func(p *snapshot.PendingStep) { p.LoopPath = p.LoopPath[:1] }), path},
		{"path of another loop", step(func(p *snapshot.PendingStep) { p.LoopPath[1].LoopID = "other" }), path},
		{"path of another iteration", step(func(p *snapshot.PendingStep) { p.LoopPath[1].Iteration = 1 }), path},
		{"step in capitals", step(func(p *snapshot.PendingStep) { p.StepID = "Triage" }), `step id "Triage"`},
		{"some without a step", running(func(s *snapshot.State) { s.Pending.Step = nil }), someNone},
		{"none with a step", running(func(s *snapshot.State) { s.Pending.Kind = "none" }), someNone},
		{"pending of unknown kind", running(func(s *snapshot.State) { s.Pending.Kind = "maybe" }), someNone},
	}
	for _, tt := range tests {
		err := tt.state.Check()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
		if b, err := tt.state.Encode(); err == nil {
			t.Errorf("%s is written as %s", tt.name, b)
		}
	}
	if err := running(func(s *snapshot.State) { s.Pending = &snapshot.Pending{Kind: "none"} }).Check(); err != nil {
		t.Errorf("a running state without a pending step: %v", err)
	}
}

func TestDecodeRefusesOtherShapes(t *testing.T) {
	good, err := snapshot.At("triage", inLoops, []string{"a", "b"}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ old, new string }{
		"kind": {"execution_snapshot", "other_snapshot"}, "version": {`"v":1}`, `"v":2}`},
		"payload version": {`"v":1},`, `"v":2},`},
		"state kind":      {`"kind":"running"`, `"kind":"blocked"`},
		"unknown member":  {`"kind":"running"`, `"blockers":[],"kind":"running"`},
		"missing member":  {`"loopStack"`, `"loopstack"`}, "null stack": {`"count":3`, `"count":null`},
		"spelling": {`":`, `": `},
		"order":    {`["a","b"]`, `["b","a"]`}, "newline": {"", "\n"}, "nothing": {string(good), ""},
		"text":     {string(good), "x"},
		"fraction": {`"iteration":2`, `"iteration":2.5`},
	} {
		text := strings.Replace(string(good), tt.old, tt.new, 1)
		if s, err := snapshot.Decode([]byte(text)); !errors.Is(err, snapshot.ErrUnknownShape) ||
			!reflect.DeepEqual(s, snapshot.State{}) {
			t.Errorf("%s: got %+v, %v", name, s, err)
		}
	}
}

// TestSnapshotBudget: what is too large to read is not encoded.
func TestSnapshotBudget(t *testing.T) {
	sized := func(n int) snapshot.State { return snapshot.At("s", nil, []string{strings.Repeat("x", n)}) }
	least, err := sized(1).Encode()
	if err != nil {
		t.Fatal(err)
	}
	size := limits.SnapshotBytesMax - len(least) + 1
	b, err := sized(size).Encode()
	if err != nil || len(b) != limits.SnapshotBytesMax {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	if _, err := snapshot.Decode(b); err != nil {
		t.Errorf("the largest snapshot: %v", err)
	}
	if _, err := sized(size + 1).Encode(); err == nil {
		t.Error("a snapshot over the budget is encoded")
	}
	if _, err := snapshot.Decode(append(b, ' ')); !errors.Is(err, snapshot.ErrUnknownShape) {
		t.Errorf("a file over the budget: %v", err)
	}
}

func TestKeys(t *testing.T) {
	loop := func(elements ...snapshot.PathElement) []snapshot.PathElement { return elements }
	for key, want := range map[string]snapshot.PendingStep{
		"triage": {StepID: "triage"}, "a-b_9": {StepID: "a-b_9"},
		"l@0::s": {LoopPath: loop(snapshot.PathElement{LoopID: "l"}), StepID: "s"},
		"outer@0/inner@12::triage": {LoopPath: loop(snapshot.PathElement{LoopID: "outer"},
			snapshot.PathElement{LoopID: "inner", Iteration: 12}), StepID: "triage"},
	} {
		path, stepID, err := snapshot.ParseKey(key)
		if err != nil || stepID != want.StepID || !slices.Equal(path, want.LoopPath) || want.Key() != key {
			t.Errorf("%s: got %v %s, %v", key, path, stepID, err)
		}
	}
	for _, key := range []string{"", "::s", "l@0::", "l@::s", "l::s", "@0::s", "l@00::s", "l@+1::s", "l@-1::s", "l@0:s",
		"l@0/::s", "/l@0::s",
		"l@0::m@1::s", "l@0::s@1", "l@0", "S", "a b", "s\n", "l@9223372036854775808::s", "l@0::s\n", "l@1e2::s",
		"l@0//m@0::s"} {
		if path, stepID, err := snapshot.ParseKey(key); err == nil {
			t.Errorf("%q is the key of %v %s", key, path, stepID)
		}
	}
}

func TestKeysRoundTrip(t *testing.T) {
	name := rapid.StringMatching(`[a-z0-9_-]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		step := snapshot.PendingStep{StepID: name.Draw(t, "step")}
		for range rapid.IntRange(0, 4).Draw(t, "depth") {
			step.LoopPath = append(step.LoopPath,
				snapshot.PathElement{LoopID: name.Draw(t, "loop"), Iteration: rapid.Int64Min(0).Draw(t, "iteration")})
		}
		path, stepID, err := snapshot.ParseKey(step.Key())
		if err != nil || stepID != step.StepID || !slices.Equal(path, step.LoopPath) {
			t.Fatalf("%s reads back as %v %s, %v", step.Key(), path, stepID, err)
		}
	})
}

func FuzzParseKey(f *testing.F) {
	f.Add("outer@0/inner@2::triage")
	f.Add("l@00::s")
	f.Fuzz(func(t *testing.T, key string) {
		if path, stepID, err := snapshot.ParseKey(key); err == nil && snapshot.InstanceKey(path, stepID) != key {
			t.Fatalf("%q is read as %v %s", key, path, stepID)
		}
	})
}

// FuzzDecode: decoded states are possible and encode to the same bytes.
func FuzzDecode(f *testing.F) {
	for _, s := range []snapshot.State{snapshot.Done(), snapshot.At("a", nil, nil),
		snapshot.At("triage", inLoops, []string{"a"})} {
		b, err := s.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"enginePayload":{"engineState":{"kind":"blocked"},"v":1},"kind":"execution_snapshot","v":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := snapshot.Decode(data)
		if err != nil {
			if !errors.Is(err, snapshot.ErrUnknownShape) {
				t.Fatalf("%q: %v", data, err)
			}
			return
		}
		if again, err := s.Encode(); err != nil || string(again) != string(data) {
			t.Fatalf("%q is written as %q, %v", data, again, err)
		}
	})
}

// TestRealForeignSnapshots reads snapshots by another program, where available: each decodes
// or is of an unknown shape, and both occur.
func TestRealForeignSnapshots(t *testing.T) {
	paths, err := filepath.Glob("../../../../shared/data/workrail/stores/*/snapshots/*.json")
	if err != nil || len(paths) == 0 {
		t.Skip("no foreign stores at ../shared/data next to the checkout")
	}
	known, unknown := 0, 0
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		switch s, err := snapshot.Decode(data); {
		case err == nil:
			known++
			if again, err := s.Encode(); err != nil || string(again) != string(data) {
				t.Errorf("%s is written as %s, %v", path, again, err)
			}
		case errors.Is(err, snapshot.ErrUnknownShape):
			unknown++
			if !strings.Contains(string(data), `"kind":"blocked"`) {
				t.Logf("%s: %v", filepath.Base(path), err)
			}
		default:
			t.Errorf("%s: %v", path, err)
		}
	}
	if known == 0 || unknown == 0 {
		t.Errorf("%d snapshots are read, %d are of another shape", known, unknown)
	}
}
