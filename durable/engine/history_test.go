package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
)

func TestTimelineNamesTheSteps(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	w.must(w.must(w.must(a, note("not yet")), note("done")), note("done too"))
	h, err := timelineOf(w.process(), a.Session.RunID.String())
	if err != nil {
		t.Fatal(err)
	}
	all := ""
	for i, m := range h.Moments {
		all += m.Text + "\n"
		if m.Index != int64(i) {
			t.Errorf("moment %d is of event %d", i, m.Index)
		}
	}
	for _, want := range []string{"“First” was not accepted: ", "“First” was done\n", "“Second” was done\n",
		"Advanced from “First” to “Second”\n",
		"Advanced from “Second” to the end\n", "Notes on “First”: done\n"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
	if h.Title != "Two steps" || h.RunID != a.Session.RunID {
		t.Errorf("of %s (%s)", h.Title, h.RunID)
	}
	if _, err := timelineOf(w.process(), "nothing"); !fault.Is(err, fault.RunNotFound) {
		t.Errorf("an unknown run: %v", err)
	}
}

func TestTimelineWithoutSnapshotsAndWorkflow(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	for _, dir := range []string{"snapshots", "workflows/pinned"} {
		if err := os.RemoveAll(filepath.Join(w.dir, dir)); err != nil {
			t.Fatal(err)
		}
	}
	h, err := timelineOf(w.process(), a.Session.RunID.String())
	if err != nil || len(h.Moments) != w.events(a) {
		t.Fatalf("%d moments, %v", len(h.Moments), err)
	}
	if !strings.Contains(h.Moments[2].Text, "cannot be read") {
		t.Errorf("got %q", h.Moments[2].Text)
	}
}
