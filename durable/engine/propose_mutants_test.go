package engine_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// TestMutantsOfAnActivation: the exploration notices each sync that is left out.
func TestMutantsOfAnActivation(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("explored without -short only")
	}
	cases := proposalCases(t)
	c := cases[len(cases)-2]
	if c.name != "apply" {
		t.Fatal(c.name)
	}
	before, after := c.wants(t)
	for name, leaves := range map[string]func(crashfs.Op) bool{
		"what is installed is not synced": func(op crashfs.Op) bool {
			return op.Action == "sync" &&
				strings.HasPrefix(op.Name, "installed/")
		},
		"its folder is not synced": func(op crashfs.Op) bool {
			return op.Action == "syncdir" &&
				op.Name == "installed"
		},
		"the record is not synced": func(op crashfs.Op) bool {
			return op.Action == "sync" &&
				strings.HasPrefix(op.Name, "proposals/events/")
		},
		"the folder of records is not synced": func(op crashfs.Op) bool {
			return op.Action == "syncdir" &&
				op.Name == "proposals/events"
		},
		"the group of the record is not synced": func(op crashfs.Op) bool {
			return op.Action == "sync" && op.Name == "proposals/"+manifest.FileName
		},
	} {
		met := false
		mutant := c
		mutant.base = c.base.Reopen()
		mutant.base.Mutation = func(op crashfs.Op) crashfs.Act {
			if leaves(op) {
				met = true
				return crashfs.Skip
			}
			return crashfs.Perform
		}
		// Few states of each moment show most mutants: the rest is explored only for one that survives them.
		_, why := mutant.explore(t, crashfs.ExploreOptions{Limit: 1}, before, after)
		if why == "" {
			_, why = mutant.explore(t, crashfs.ExploreOptions{Limit: 64}, before, after)
		}
		if why == "" || !met {
			t.Errorf("%q survives; met %v", name, met)
		}
	}
}

// TestAnApprovalAgainIsDurable: a process dies between writing an approval and syncing it. The same
// approval again is answered, and must be durable then.
func TestAnApprovalAgainIsDurable(t *testing.T) {
	t.Parallel()
	var c proposalCase
	for _, each := range proposalCases(t) {
		if each.name == "approve" {
			c = each
		}
	}
	commit, learn := -1, c.base.Reopen()
	learn.Before = func(op crashfs.Op) {
		if commit < 0 && op.Action == "sync" && op.Name == "proposals/"+manifest.FileName {
			commit = op.N // a later one belongs to the line of the audit log
		}
	}
	must(t, c.on(learn, 2))
	dying := c.base.Reopen()
	dying.Fault = &crashfs.Fault{At: commit}
	_ = c.on(dying, 2)
	left := dying.Reopen()
	after := proposalStateOf(left)
	if !strings.HasSuffix(after.proposals, "draft 1 1, ") {
		t.Fatalf("the dying process did not get as far as the test needs: %+v", after)
	}
	lost := 0
	count := crashfs.Explore(left, crashfs.ExploreOptions{Limit: sideLimit, Cases: sample.OneIn(t, 20)},
		func(f *crashfs.FS) { must(t, c.on(f, 4)) },
		func(s crashfs.State, done bool) bool {
			at := proposalStateOf(s.FS)
			if at.proposals != after.proposals {
				lost++
			}
			if done && at.proposals != after.proposals || at.wrong != "" {
				t.Errorf("in the state %s: %+v", s.Name, at)
			}
			return !t.Failed()
		})
	if lost == 0 {
		t.Error("the approval was never in danger")
	}
	t.Logf("%d operations, %d crash states", count.Ops, count.States)
}
