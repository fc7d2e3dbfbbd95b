package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
)

// say records a label of a run, and returns its id.
func (w *fixture) say(a engine.Answer, label string) id.Annotation {
	w.Helper()
	w.seeds++
	at := engine.Position{Session: a.Session.SessionID, Run: a.Session.RunID}
	annotated, err := w.g.Annotate(context.Background(), w.by(), id.Seed{w.seeds}, at,
		feedback.Request{Create: feedback.Create{Signal: feedback.Label(label)}})
	if err != nil {
		w.Fatal(err)
	}
	return annotated.AnnotationID
}

// followed is what a follower gets, as labels with the step that they are about.
func followed(t *testing.T, f *views.Follower) string {
	t.Helper()
	all, err := f.NextAnnotations(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range all {
		out = append(out, s.Signal.Label+" of "+s.Step)
	}
	return strings.Join(out, ", ")
}

// TestFollowReportsAnnotations: each once and from now on, also where the facts are reported from
// the beginning; a retraction is no annotation.
func TestFollowReportsAnnotations(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newFixture(t)
	a, other := w.start(twoSteps), w.start(longOne)
	w.say(a, "before")
	f, err := w.process().Follow(ctx, a.Session.RunID.String(), true)
	if err != nil {
		t.Fatal(err)
	}
	if got := followed(t, f); got != "" {
		t.Errorf("reported an earlier one: %s", got)
	}
	if _, err := nextFacts(f); err != nil {
		t.Fatal(err)
	}
	w.say(a, "x")
	back := w.say(a, "y")
	w.say(other, "elsewhere")
	if got := followed(t, f); got != "x of First, y of First" {
		t.Errorf("reported %q", got)
	}
	at := engine.Position{Session: a.Session.SessionID, Run: a.Session.RunID}
	if _, err := w.g.Retract(ctx, w.by(), at, learning.RetractRequest{Annotation: back}); err != nil {
		t.Fatal(err)
	}
	if got := followed(t, f); got != "" {
		t.Errorf("reported twice, or a retraction: %s", got)
	}

	// Another history in its place: it is not reported, and what is appended to it is.
	folder := filepath.Join(w.dir, "sessions", a.Session.SessionID.String())
	for _, name := range []string{"annotations", "cache"} {
		if err := os.RemoveAll(filepath.Join(folder, name)); err != nil {
			t.Fatal(err)
		}
	}
	w.g = w.process()
	w.say(a, "restored")
	if got := followed(t, f); got != "" {
		t.Errorf("reported another history: %s", got)
	}
	w.say(a, "z")
	if got := followed(t, f); got != "z of First" {
		t.Errorf("reported %q", got)
	}
}

// TestDamagedAnnotationsAreNotFollowed: the run is followed, and what was reported before stays
// valid.
func TestDamagedAnnotationsAreNotFollowed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newFixture(t)
	a := w.start(twoSteps)
	f, err := w.process().Follow(ctx, a.Session.RunID.String(), false)
	if err != nil {
		t.Fatal(err)
	}
	w.say(a, "x")
	if got := followed(t, f); got != "x of First" {
		t.Errorf("reported %q", got)
	}
	w.say(a, "y")
	w.flipLastAnnotation(a)
	all, err := f.NextAnnotations(ctx)
	if !fault.Is(err, fault.SessionUnhealthy) || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
	w.must(a, note("done"))
	if facts, err := nextFacts(f); err != nil || len(facts) == 0 {
		t.Errorf("the run is not followed any more: %v", err)
	}
	// Damage before the saved sums does not concern a list; without the sums it does.
	if err := os.RemoveAll(filepath.Join(w.dir, "sessions", a.Session.SessionID.String(), "cache")); err != nil {
		t.Fatal(err)
	}
	list, err := w.process().Runs(ctx)
	if err != nil || list.Runs[0].Annotations.Count != 1 || !list.Runs[0].Annotations.Incomplete {
		t.Errorf("%v, %+v", err, list.Runs)
	}
}

// flipLastAnnotation damages the newest segment of a session's annotations.
func (w *fixture) flipLastAnnotation(a engine.Answer) {
	w.Helper()
	names, err := filepath.Glob(filepath.Join(w.dir, "sessions", a.Session.SessionID.String(), "annotations", "events",
		"*"))
	if err != nil || len(names) == 0 {
		w.Fatal(err, names)
	}
	last := names[len(names)-1]
	b, err := os.ReadFile(last)
	if err != nil {
		w.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(last, b, 0o600); err != nil {
		w.Fatal(err)
	}
}

// TestRunsCountTheirAnnotations: a list counts the current annotations; a run without any has a
// count of zero.
func TestRunsCountTheirAnnotations(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	w := newFixture(t)
	a, quiet := w.start(twoSteps), w.start(longOne)
	at := engine.Position{Session: a.Session.SessionID, Run: a.Session.RunID}
	var last id.Annotation
	for _, signal := range []feedback.Signal{feedback.Rating(5), feedback.Rating(2), feedback.Flag(),
		feedback.Label("l"), feedback.Rating(4)} {
		w.seeds++
		annotated, err := w.g.Annotate(ctx, w.by(), id.Seed{w.seeds}, at,
			feedback.Request{Create: feedback.Create{Signal: signal}})
		if err != nil {
			t.Fatal(err)
		}
		last = annotated.AnnotationID
	}
	if _, err := w.g.Retract(ctx, w.by(), at, learning.RetractRequest{Annotation: last}); err != nil {
		t.Fatal(err)
	}
	list, err := w.process().Runs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list.Runs {
		shown, err := w.process().Run(ctx, r.RunID.String())
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []views.AnnotationCounts{r.Annotations, shown.Annotations} {
			switch r.RunID {
			case quiet.Session.RunID:
				if got != (views.AnnotationCounts{}) {
					t.Errorf("%+v of a run without annotations", got)
				}
			default:
				if got.Count != 4 || got.MeanRating == nil || *got.MeanRating != 3.5 || got.Flags != 1 ||
					got.Incomplete {
					t.Errorf("%+v", got)
				}
			}
		}
	}
}
