package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/advance"
)

const named = `{"id":"test.named","name":"Named","description":"d","version":"1.0.0",
 "functionDefinitions":[{"name":"look","definition":"look closely"},{"name":"far","definition":"go far"}],
 "steps":[
 {"id":"one","title":"Begin","prompt":"p","functionReferences":["look()"]},
 {"id":"two","title":"Continue","prompt":"p","functionReferences":["far()","look()"]},
 {"id":"three","title":"End","prompt":"p"}]}`

// TestRecapDescribesThePast for a caller that rehydrates; an advance has none.
func TestRecapDescribesThePast(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(named)
	if w.look(a.StateToken).Recap != "" {
		t.Error("the root has a recap")
	}
	b := w.must(a, note("began well"))
	c := w.must(b, advance.Request{})
	if a.Recap+b.Recap+c.Recap != "" {
		t.Error("an advance brings a recap")
	}
	want := "## Done before this step\n\nSteps done so far: 2. The notes of the latest follow, the latest last.\n\n" +
		"### Begin (one)\n\nbegan well"
	if got := w.look(c.StateToken).Recap; got != want {
		t.Errorf("got:\n%s", got)
	}
}

func TestRecapListsCheckpointsAndGaps(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.must(w.start(twoSteps), note("not yet"))
	a = w.mustKeep(a, advance.Request{Notes: "half way", Artifacts: []advance.Artifact{report("draft", "1")}})
	got := w.look(a.StateToken).Recap
	for _, want := range []string{"- critical: The notes do not meet",
		"### Sent with an attempt at this step\n\nnot yet", "### Checkpoint 1 of 1\n\nhalf way\n\n- draft, application/json, 28 bytes, whole: `waybill artifacts get sha256:",
		"`\n  > {\"kind\":\"draft\",\"value\":\"1\"}"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
}

// TestRecapOfARewind: the existing branches, the preferred one first, and the functions that they
// name and the prompt does not.
func TestRecapOfARewind(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(named)
	first := w.must(a, note("the long way"))
	end := w.must(w.must(first, note("continued")), note("ended"))
	again := w.look(a.StateToken)
	second := w.must(again, note("the short way"))
	got := w.look(a.StateToken).Recap
	parts := []string{
		"### Sent with an attempt at this step\n\nthe short way",
		"### Branch to " + second.NodeID.String() + ": in_progress, the preferred one\n\nPending there: Continue (two)",
		"### Branch to " + end.NodeID.String() + ": complete\n\nLast notes, on End (three):\n\nended",
		"## Functions named in the branches\n\n- far(): go far",
	}
	at := 0
	for _, want := range parts {
		i := strings.Index(got[at:], want)
		if i < 0 {
			t.Fatalf("%q is missing, or not in order:\n%s", want, got)
		}
		at += i
	}
	if strings.Contains(got, "look()") {
		t.Error("a function of the prompt is named twice")
	}
	// An older branch that is advanced again is the preferred one, and listed first.
	older := w.must(w.look(first.StateToken), note("again"))
	newer := w.must(second, note("on"))
	w.mustKeep(older, note("so far"))
	got = w.look(a.StateToken).Recap
	p, n := strings.Index(got, older.NodeID.String()+": in_progress, the preferred one"),
		strings.Index(got, newer.NodeID.String()+": in_progress\n")
	if p < 0 || n < p {
		t.Errorf("%s", got)
	}
}

// TestRecapOfManyBranches: the list is bounded, and the rest is counted.
func TestRecapOfManyBranches(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	for i := range 9 {
		w.must(w.must(w.look(a.StateToken), note("fork")), note(fmt.Sprintf("<%d>%s", i, strings.Repeat("é", 2000))))
	}
	got := w.look(a.StateToken).Recap
	if len(got) > limits.RecapBytesMax || strings.Count(got, "### Branch to") > limits.RecapBranchesMax ||
		!strings.Contains(got, "Further branches:") {
		t.Errorf("%d bytes:\n%s", len(got), got)
	}
	if !strings.Contains(got, "<8>") || strings.Contains(got, "<0>") {
		t.Error("not the newest first")
	}
}

// TestRecapOfALongRun: the text is bounded for any length of the run, and the same for the same
// log.
func TestRecapOfALongRun(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(longOne)
	for i := range 11 {
		a = w.must(a, note(fmt.Sprintf("<%d>%s", i, strings.Repeat("é", 1000))))
	}
	got := w.look(a.StateToken).Recap
	if len(got) > limits.RecapBytesMax || strings.Contains(got, "<2>") || !strings.Contains(got, "<10>") ||
		!strings.Contains(got, "Steps done so far: 11.") {
		t.Errorf("%d bytes:\n%.400s", len(got), got)
	}
	w.g = w.process()
	if again := w.look(a.StateToken).Recap; again != got {
		t.Error("another process gives another text")
	}
}
