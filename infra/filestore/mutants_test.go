package filestore_test

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports/porttest/crashfs"
)

// mutant is a store that skips or delays operations, as a wrong change of the code would.
type mutant struct {
	name   string
	in     string // the scenario that must detect it
	mutate func(crashfs.Op) crashfs.Act
}

// skipping returns a mutation that skips every operation that fits.
func skipping(fits func(crashfs.Op) bool) crashfs.Mutation { return act(crashfs.Skip, fits) }

func act(a crashfs.Act, fits func(crashfs.Op) bool) crashfs.Mutation {
	return func(op crashfs.Op) crashfs.Act {
		if fits(op) {
			return a
		}
		return crashfs.Perform
	}
}

func doing(do string) func(crashfs.Op) bool {
	return func(op crashfs.Op) bool { return op.Action == do }
}

func isManifest(op crashfs.Op) bool { return path.Base(op.Name) == "manifest.jsonl" }

// mutants change all operations of a kind. Each single sync that is skipped is a further mutant.
var mutants = []mutant{
	{"no file is synced", "advance", skipping(doing("sync"))},
	{"no directory is synced", "advance", skipping(doing("syncdir"))},
	{"only the manifest is synced", "advance",
		skipping(func(op crashfs.Op) bool { return op.Action == "syncdir" || op.Action == "sync" && !isManifest(op) })},
	{"syncs for order do nothing", "advance",
		skipping(func(op crashfs.Op) bool { return strings.HasPrefix(op.Action, "sync") && op.Kind == osfs.Order })},
	{"syncs for durability do nothing", "advance",
		skipping(func(op crashfs.Op) bool { return strings.HasPrefix(op.Action, "sync") && op.Kind == osfs.Durable })},
	{"files are placed before they are synced", "advance",
		act(crashfs.Postpone, func(op crashfs.Op) bool { return op.Action == "sync" && !isManifest(op) })},
	{"the group is written before directories are synced", "advance", act(crashfs.Postpone, doing("syncdir"))},
	{"the group is written before directories are synced", existingStore, act(crashfs.Postpone, doing("syncdir"))},
	{"the tail is not cut", overLongerCutOff, skipping(doing("truncate"))},
	{"the tail is not cut", overOwnCutOff, skipping(doing("truncate"))},
	{"the parent directories of a new session are not synced", existingStore,
		skipping(func(op crashfs.Op) bool { return op.Action == "syncdir" && strings.HasPrefix(op.Name, "sessions") })},
	{"a new store is not synced", absentStore,
		skipping(func(op crashfs.Op) bool { return op.Action == "syncdir" && op.Name == "." })},
}

// redundantSyncs are single syncs without which one scenario loses nothing: another sync covers
// them there, or they protect files that no log refers to.
var redundantSyncs = []struct{ reason, in, op string }{
	{"a later sync of the same directory covers store.json", absentStore, "syncdir .#0"},
	{"the directories were durable before store.json; needed where a user removed one", absentStore, "syncdir .#2"},
	{"the same", existingStore, "syncdir .#0"},
	{"the commit syncs the parent directories of its objects too", absentStore, "syncdir workflows#0"},
	{"creating the store synced it", absentStore, "syncdir workflows#1"},
	{"the same", existingStore, "syncdir workflows#0"},
	{"it makes a quarantined orphan durable, which no log refers to", "advance over", "syncdir quarantine#0"},
	{"the commit syncs the directory again", "advance over", "syncdir events#0"},
	{"the torn append left the object, durable", "advance over", "syncdir snapshots#0"},
	{"the first append of the session synced it", firstAnnotation, "syncdir .#0"},
	{"the same", firstAnnotation, "syncdir sessions#0"},
}

func isRedundant(sc scenario, op string) bool {
	for _, s := range redundantSyncs {
		if strings.HasPrefix(sc.name, s.in) && s.op == op {
			return true
		}
	}
	return false
}

// mutantLimit is smaller than crashLimit: most mutants are detected in the first states.
const mutantLimit = 128

// detects explores a mutant and returns the first failure; "" means that the mutant is not
// detected.
func (sc scenario) detects(m crashfs.Mutation, from int) (why string) {
	base := sc.base.Reopen()
	base.Mutation = m
	return detect(from, mutantLimit, func(look crashfs.ExploreOptions) (why string) {
		sc.explore(base, look, func(format string, args ...any) bool {
			why = fmt.Sprintf(format, args...)
			return false
		})
		return why
	})
}

// detect explores a mutant with few states at each point first: everything lost, everything kept,
// prefixes in time and single losses detect most mutants. Only a mutant that passes these is
// explored up to the limit.
func detect(from, limit int, explore func(crashfs.ExploreOptions) (why string)) (why string) {
	if why = explore(crashfs.ExploreOptions{Limit: 1, From: from}); why == "" {
		why = explore(crashfs.ExploreOptions{Limit: limit, From: from})
	}
	return why
}

// TestAppendMutantsAreDetected: the exploration detects each mutant, and each single sync that is
// skipped unless it is listed as redundant.
func TestAppendMutantsAreDetected(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("not with -short")
	}
	all := scenarios(t)
	count, spared := 0, 0
	for _, m := range mutants {
		at := slices.IndexFunc(all, func(sc scenario) bool { return sc.name == m.in })
		if all[at].detects(m.mutate, 0) == "" {
			t.Errorf("%q is not detected in %q", m.name, m.in)
		}
		count++
	}
	for _, sc := range all {
		for op, name := range syncsOf(t, sc) {
			if isRedundant(sc, name) {
				spared++
				continue
			}
			if sc.detects(skipping(func(o crashfs.Op) bool { return o.N == op }), op) == "" {
				t.Errorf("%q without %s is not detected", sc.name, name)
			}
			count++
		}
	}
	for _, m := range raceMutants {
		if m.run(advanceScenario(t), m.mutate) == nil {
			t.Errorf("%q is not detected", m.name)
		}
		count++
	}
	t.Logf("cases: %d of %[1]d mutants; %[2]d single syncs are redundant", count, spared)
}

// raceMutants skip a check that detects a concurrent writer where locks do not work.
var raceMutants = []struct {
	name   string
	run    func(scenario, crashfs.Mutation) error
	mutate crashfs.Mutation
}{
	{"the size after the group is not checked", twoWriters,
		act(crashfs.HandleSize, func(op crashfs.Op) bool { return op.Action == "stat" && isManifest(op) })},
	{"a segment replaces another one of the same name", twoWritersOfOneRange,
		act(crashfs.Overwrite, func(op crashfs.Op) bool {
			return op.Action == "place" &&
				strings.Contains(op.Name, "/events/")
		})},
	{"store.json is replaced, not placed", concurrentCreationOf,
		act(crashfs.Overwrite, func(op crashfs.Op) bool { return op.Name == "store.json" })},
	{"the keyring is replaced, not placed", concurrentCreationOf,
		act(crashfs.Overwrite, func(op crashfs.Op) bool { return op.Name == "keys/keyring.json" })},
}

func concurrentCreationOf(_ scenario, m crashfs.Mutation) error { return concurrentCreation(m) }

// syncsOf returns the names of an append's syncs by the number of the operation: "sync PATH#N" for
// the N-th sync of a path, from 0.
func syncsOf(t *testing.T, sc scenario) map[int]string {
	t.Helper()
	out, times := map[int]string{}, map[string]int{}
	run := sc.base.Reopen()
	run.Before = func(op crashfs.Op) {
		if !strings.HasPrefix(op.Action, "sync") {
			return
		}
		name := op.Name
		if strings.HasPrefix(name, "sessions/") {
			name = path.Base(name)
		}
		name = op.Action + " " + name
		out[op.N] = fmt.Sprintf("%s#%d", name, times[name])
		times[name]++
	}
	fatal(t, sc.act(run))
	return out
}
