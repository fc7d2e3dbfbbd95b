package filestore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/ports/porttest/crashfs"
)

// spareArrivalSyncs are single syncs without which nothing is lost in any journey.
var spareArrivalSyncs = []struct{ reason, in, op string }{
	{"making the store synced it; it counts when a hand removed a folder of the skeleton", "", "syncdir .#0"},
	{"the same", "", "syncdir .#1"},
	{"the same", "", "syncdir workflows#0"},
	{"it keeps what is no log's", "", "syncdir quarantine#0"},
	{"the torn commit left the object there, durable", overOrphan, "syncdir workflows/pinned#0"},
}

func (j journey) caught(m crashfs.Mutation, from int) (why string) {
	base := j.base.Revive()
	base.Mutation = m
	return soonCaught(from, arrivalLimit, func(look crashfs.Look) (why string) {
		j.explore(base, look, func(format string, args ...any) bool {
			why = fmt.Sprintf(format, args...)
			return false
		})
		return why
	})
}

// syncs names the syncs of an arrival, by their first operation. Those of one staged
// file are one: where it was opened twice, each would do.
func (j journey) syncs(t *testing.T) (names map[int]string, same map[int]string) {
	t.Helper()
	names, same = map[int]string{}, map[int]string{}
	times := map[string]int{}
	run := j.base.Revive()
	run.Before = func(op crashfs.Op) {
		if !strings.HasPrefix(op.Do, "sync") {
			return
		}
		name := op.Do + " " + op.Name
		if times[name]++; strings.Contains(op.Name, "/.tmp-") && times[name] > 1 {
			return
		}
		names[op.N], same[op.N] = fmt.Sprintf("%s#%d", name, times[name]-1), op.Name
	}
	fatal(t, j.act(run))
	return names, same
}

// TestExploreArrivalMutants: each single sync left out must be caught, and so must
// each of its kinds.
func TestExploreArrivalMutants(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("explored without -short only")
	}
	count, spared := 0, 0
	for _, j := range journeys(t) {
		if !slices.Contains(hardJourneys, j.name) {
			continue
		}
		names, same := j.syncs(t)
		for op, name := range names {
			spare := slices.ContainsFunc(spareArrivalSyncs, func(s struct{ reason, in, op string }) bool {
				return s.op == name && (s.in == "" || s.in == j.name)
			})
			if spare {
				spared++
				continue
			}
			mutant := pretend(func(o crashfs.Op) bool {
				return o.N == op || o.Do == "sync" && o.Name == same[op]
			})
			if j.caught(mutant, op) == "" {
				t.Errorf("%q without %s survives", j.name, name)
			}
			count++
		}
	}
	j := journeys(t)[1]
	for name, m := range map[string]crashfs.Mutation{
		"no file is synced":   pretend(doing("sync")),
		"no folder is synced": pretend(doing("syncdir")),
		"no staged folder is synced": pretend(func(op crashfs.Op) bool {
			return op.Do == "syncdir" &&
				strings.Contains(op.Name, ".tmp-")
		}),
	} {
		if j.caught(m, 0) == "" {
			t.Errorf("%q survives", name)
		}
		count++
	}
	t.Logf("cases: %d of %[1]d mutants; %[2]d single syncs are known to be covered by another", count, spared)
}
