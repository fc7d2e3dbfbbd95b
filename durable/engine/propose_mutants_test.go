package engine_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/infra/crashfs"
)

// TestMutantsOfAnActivation: what the exploration is there to see, it sees.
func TestMutantsOfAnActivation(t *testing.T) {
	if testing.Short() {
		t.Skip("explored without -short only")
	}
	cases := learningCases(t)
	c := cases[len(cases)-2]
	if c.name != "apply" {
		t.Fatal(c.name)
	}
	before, after := c.wants(t)
	for name, leaves := range map[string]func(crashfs.Op) bool{
		"what is installed is not synced":     func(op crashfs.Op) bool { return op.Do == "sync" && strings.HasPrefix(op.Name, "installed/") },
		"its folder is not synced":            func(op crashfs.Op) bool { return op.Do == "syncdir" && op.Name == "installed" },
		"the record is not synced":            func(op crashfs.Op) bool { return op.Do == "sync" && strings.HasPrefix(op.Name, "proposals/events/") },
		"the folder of records is not synced": func(op crashfs.Op) bool { return op.Do == "syncdir" && op.Name == "proposals/events" },
		"the group of the record is not synced": func(op crashfs.Op) bool {
			return op.Do == "sync" && op.Name == "proposals/"+manifest.FileName
		},
	} {
		met := false
		mutant := c
		mutant.base = c.base.Revive()
		mutant.base.Mutation = func(op crashfs.Op) crashfs.Act {
			if leaves(op) {
				met = true
				return crashfs.Pretend
			}
			return crashfs.Perform
		}
		if _, why := mutant.explore(t, crashfs.Look{Limit: 64}, before, after); why == "" || !met {
			t.Errorf("%q survives; met %v", name, met)
		}
	}
}

// TestAnApprovalAgainIsDurable: a process dies between writing
// an approval and syncing it. The same approval again is answered, and must hold.
func TestAnApprovalAgainIsDurable(t *testing.T) {
	var c learningCase
	for _, each := range learningCases(t) {
		if each.name == "approve" {
			c = each
		}
	}
	last, learn := -1, c.base.Revive()
	learn.Before = func(op crashfs.Op) {
		if op.Do == "sync" && op.Name == "proposals/"+manifest.FileName {
			last = op.N
		}
	}
	must(t, c.on(learn, 2))
	dying := c.base.Revive()
	dying.Fault = &crashfs.Fault{At: last}
	_ = c.on(dying, 2)
	left := dying.Revive()
	after := learnedOn(left)
	if !strings.HasSuffix(after.proposals, "draft 1 1, ") {
		t.Fatalf("the dying process did not get as far as the test needs: %+v", after)
	}
	count := crashfs.Explore(left, crashfs.Look{Limit: crashLimit() / 8}, func(f *crashfs.FS) { must(t, c.on(f, 4)) },
		func(s crashfs.State, done bool) bool {
			if at := learnedOn(s.FS); done && at.proposals != after.proposals || at.wrong != "" {
				t.Errorf("in the state %s: %+v", s.Name, at)
			}
			return !t.Failed()
		})
	t.Logf("%d operations, %d crash states", count.Ops, count.States)
}
