package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/projections/runs"
)

const scenariosDir = "../../testdata/scenarios"

// TestScenarios plays every scenario of the files, each in a store of its own.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(scenariosDir + "/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		all, err := parseScenarios(string(data))
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			continue
		}
		for _, s := range all {
			t.Run(name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				for _, wrong := range playScenario(t, s) {
					t.Errorf("%s %s", filepath.Base(file), wrong)
				}
			})
		}
	}
}

// TestFiftyRejectedAttempts: only the log grows with them: the answers keep their size, there is
// one gap, and the fifty-first attempt succeeds.
func TestFiftyRejectedAttempts(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	a := w.start(twoSteps)
	first := len(text(t, w.must(a, note("no 00"))))
	a = w.look(a.StateToken)
	for i := 1; i < 50; i++ {
		a = w.must(a, advance.Request{Notes: fmt.Sprintf("no %02d", i), Context: set("what", fmt.Sprint(i%10))})
		if len(a.Blockers) != 1 || a.Status != runs.Blocked {
			t.Fatalf("try %d: %+v", i, a)
		}
		compared := a
		compared.Warnings = nil // from the tenth one on there is a warning
		if got := len(text(t, compared)); got > first+64 {
			t.Fatalf("the answer to try %d has %d bytes, the first had %d", i, got, first)
		}
	}
	seen := w.look(a.StateToken)
	if !strings.Contains(seen.Recap, "no 49") || strings.Contains(seen.Recap, "no 48") ||
		len(seen.Recap) > limits.RecapBytesMax/8 {
		t.Errorf("%s", seen.Recap)
	}
	details, err := w.process().Run(context.Background(), a.Session.RunID.String())
	if err != nil || details.Steps[0].Attempts != 50 || details.OpenCriticalGaps != 1 || len(details.Gaps) != 1 {
		t.Fatalf("%+v, %v", details, err)
	}
	if b := w.must(seen, note("done")); b.Pending.StepID != "second" || b.Status != runs.InProgress {
		t.Fatalf("%+v", b)
	}
	all, _, err := w.process().Events(context.Background(), a.Session.RunID.String())
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range all {
		count[e.Data.Kind()]++
	}
	if count["gap_recorded"] != 2 || count["node_created"] != 2 || count["advance_recorded"] != 51 {
		t.Error(count)
	}
}
