package filestore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/ports/porttest/crashfs"
)

// redundantImportSyncs are single syncs without which no import case loses anything, with the
// reason.
var redundantImportSyncs = []struct{ reason, in, op string }{
	{"creating the store synced it; needed where a user removed a directory of the store", "", "syncdir .#0"},
	{"the same", "", "syncdir .#1"},
	{"the same", "", "syncdir workflows#0"},
	{"it makes quarantined files durable, which no log contains", "", "syncdir quarantine#0"},
	{"the torn commit left the object, durable", overOrphan, "syncdir workflows/pinned#0"},
}

func (j importCase) detects(m crashfs.Mutation, from int) (why string) {
	base := j.base.Reopen()
	base.Mutation = m
	return detect(from, importCrashLimit, func(look crashfs.ExploreOptions) (why string) {
		j.explore(base, look, func(format string, args ...any) bool {
			why = fmt.Sprintf(format, args...)
			return false
		})
		return why
	})
}

// syncs returns the names of an import's syncs by the number of the operation. The syncs of one
// staged file count as one: where it is opened twice, each of them suffices.
func (j importCase) syncs(t *testing.T) (names map[int]string, same map[int]string) {
	t.Helper()
	names, same = map[int]string{}, map[int]string{}
	times := map[string]int{}
	run := j.base.Reopen()
	run.Before = func(op crashfs.Op) {
		if !strings.HasPrefix(op.Action, "sync") {
			return
		}
		name := op.Action + " " + op.Name
		if times[name]++; strings.Contains(op.Name, "/.tmp-") && times[name] > 1 {
			return
		}
		names[op.N], same[op.N] = fmt.Sprintf("%s#%d", name, times[name]-1), op.Name
	}
	fatal(t, j.act(run))
	return names, same
}

// TestImportMutantsAreDetected: the exploration detects each mutant that skips a single sync, and
// those that skip all syncs of one kind.
func TestImportMutantsAreDetected(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("not with -short")
	}
	count, spared := 0, 0
	for _, j := range importCases(t) {
		if !slices.Contains(extensiveImportCases, j.name) {
			continue
		}
		names, same := j.syncs(t)
		for op, name := range names {
			redundantSyncs := slices.ContainsFunc(redundantImportSyncs, func(s struct{ reason, in, op string }) bool {
				return s.op == name && (s.in == "" || s.in == j.name)
			})
			if redundantSyncs {
				spared++
				continue
			}
			mutant := skipping(func(o crashfs.Op) bool {
				return o.N == op || o.Action == "sync" && o.Name == same[op]
			})
			if j.detects(mutant, op) == "" {
				t.Errorf("%q without %s is not detected", j.name, name)
			}
			count++
		}
	}
	j := importCases(t)[1]
	for name, m := range map[string]crashfs.Mutation{
		"no file is synced":      skipping(doing("sync")),
		"no directory is synced": skipping(doing("syncdir")),
		"no staged directory is synced": skipping(func(op crashfs.Op) bool {
			return op.Action == "syncdir" &&
				strings.Contains(op.Name, ".tmp-")
		}),
	} {
		if j.detects(m, 0) == "" {
			t.Errorf("%q is not detected", name)
		}
		count++
	}
	t.Logf("cases: %d of %[1]d mutants; %[2]d single syncs are redundant", count, spared)
}
