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

// mutant is a store that leaves something undone, as a careless change would.
type mutant struct {
	name   string
	in     string // the scenario that must catch it
	mutate func(crashfs.Op) crashfs.Act
}

// pretend leaves out every operation that fits.
func pretend(fits func(crashfs.Op) bool) crashfs.Mutation { return act(crashfs.Pretend, fits) }

func act(a crashfs.Act, fits func(crashfs.Op) bool) crashfs.Mutation {
	return func(op crashfs.Op) crashfs.Act {
		if fits(op) {
			return a
		}
		return crashfs.Perform
	}
}

func doing(do string) func(crashfs.Op) bool {
	return func(op crashfs.Op) bool { return op.Do == do }
}

func isManifest(op crashfs.Op) bool { return path.Base(op.Name) == "manifest.jsonl" }

// mutants of whole kinds. Every single sync is a mutant besides; see below.
var mutants = []mutant{
	{"no file is synced", "advance", pretend(doing("sync"))},
	{"no folder is synced", "advance", pretend(doing("syncdir"))},
	{"only the manifest is synced", "advance",
		pretend(func(op crashfs.Op) bool { return op.Do == "syncdir" || op.Do == "sync" && !isManifest(op) })},
	{"syncs for order do nothing", "advance",
		pretend(func(op crashfs.Op) bool { return strings.HasPrefix(op.Do, "sync") && op.Kind == osfs.Order })},
	{"syncs for durability do nothing", "advance",
		pretend(func(op crashfs.Op) bool { return strings.HasPrefix(op.Do, "sync") && op.Kind == osfs.Durable })},
	{"files are placed before they are synced", "advance",
		act(crashfs.Postpone, func(op crashfs.Op) bool { return op.Do == "sync" && !isManifest(op) })},
	{"the group is written before folders are synced", "advance", act(crashfs.Postpone, doing("syncdir"))},
	{"the group is written before folders are synced", existingStore, act(crashfs.Postpone, doing("syncdir"))},
	{"the tail is not cut", overLongerCutOff, pretend(doing("truncate"))},
	{"the tail is not cut", overOwnCutOff, pretend(doing("truncate"))},
	{"the way to a new session is not synced", existingStore,
		pretend(func(op crashfs.Op) bool { return op.Do == "syncdir" && strings.HasPrefix(op.Name, "sessions") })},
	{"a new store is not synced", absentStore,
		pretend(func(op crashfs.Op) bool { return op.Do == "syncdir" && op.Name == "." })},
}

// spare are single syncs without which nothing is lost in one scenario: what they
// promise is promised by another one there, or is no part of a log's truth.
var spare = []struct{ reason, in, op string }{
	{"the store's file is synced with the same folder", absentStore, "syncdir .#0"},
	{"the folders were durable before store.json was; it counts when a hand removed one", absentStore, "syncdir .#2"},
	{"the same", existingStore, "syncdir .#0"},
	{"the commit syncs the way to its objects as well", absentStore, "syncdir workflows#0"},
	{"making the store did", absentStore, "syncdir workflows#1"},
	{"the same", existingStore, "syncdir workflows#0"},
	{"it keeps an orphan, which no log needs", "advance over", "syncdir quarantine#0"},
	{"the commit syncs the folder once more", "advance over", "syncdir events#0"},
	{"the torn append left the object there, durable", "advance over", "syncdir snapshots#0"},
	{"the session's first append did", firstAnnotation, "syncdir .#0"},
	{"the same", firstAnnotation, "syncdir sessions#0"},
}

func isSpare(sc scenario, op string) bool {
	for _, s := range spare {
		if strings.HasPrefix(sc.name, s.in) && s.op == op {
			return true
		}
	}
	return false
}

// mutantLimit is smaller than crashLimit: most mutants show in the first states.
const mutantLimit = 128

// caught explores a mutant until something is wrong.
func (sc scenario) caught(m crashfs.Mutation, from int) (why string) {
	base := sc.base.Revive()
	base.Mutation = m
	return soonCaught(from, mutantLimit, func(look crashfs.Look) (why string) {
		sc.explore(base, look, func(format string, args ...any) bool {
			why = fmt.Sprintf(format, args...)
			return false
		})
		return why
	})
}

// soonCaught explores a mutant with few states of each moment first: everything lost,
// everything kept, each cut in time and each single choice show most mutants. Only one
// that survives these is explored up to the limit.
func soonCaught(from, limit int, explore func(crashfs.Look) (why string)) (why string) {
	if why = explore(crashfs.Look{Limit: 1, From: from}); why == "" {
		why = explore(crashfs.Look{Limit: limit, From: from})
	}
	return why
}

// TestExploreMutants: the exploration is worth something only if it sees what it
// is there to see: each mutant, and each single sync left out, must be caught.
func TestExploreMutants(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("explored without -short only")
	}
	all := scenarios(t)
	count, spared := 0, 0
	for _, m := range mutants {
		at := slices.IndexFunc(all, func(sc scenario) bool { return sc.name == m.in })
		if all[at].caught(m.mutate, 0) == "" {
			t.Errorf("%q survives in %q", m.name, m.in)
		}
		count++
	}
	for _, sc := range all {
		for op, name := range syncsOf(t, sc) {
			if isSpare(sc, name) {
				spared++
				continue
			}
			if sc.caught(pretend(func(o crashfs.Op) bool { return o.N == op }), op) == "" {
				t.Errorf("%q without %s survives", sc.name, name)
			}
			count++
		}
	}
	for _, m := range raceMutants {
		if m.run(advanceScenario(t), m.mutate) == nil {
			t.Errorf("%q survives", m.name)
		}
		count++
	}
	t.Logf("cases: %d of %[1]d mutants; %[2]d single syncs are known to be covered by another", count, spared)
}

// raceMutants leave out a check that tells writers apart whose locks do not.
var raceMutants = []struct {
	name   string
	run    func(scenario, crashfs.Mutation) error
	mutate crashfs.Mutation
}{
	{"the size behind the group is not checked", twoWriters,
		act(crashfs.Flatter, func(op crashfs.Op) bool { return op.Do == "stat" && isManifest(op) })},
	{"a segment's name is taken from another", twoWritersOfOneRange,
		act(crashfs.Overwrite, func(op crashfs.Op) bool {
			return op.Do == "place" &&
				strings.Contains(op.Name, "/events/")
		})},
	{"store.json is replaced, not placed", twoMakersOf,
		act(crashfs.Overwrite, func(op crashfs.Op) bool { return op.Name == "store.json" })},
	{"the keyring is replaced, not placed", twoMakersOf,
		act(crashfs.Overwrite, func(op crashfs.Op) bool { return op.Name == "keys/keyring.json" })},
}

func twoMakersOf(_ scenario, m crashfs.Mutation) error { return twoMakers(m) }

// syncsOf names the syncs of an append, by their operation: what is synced, and
// the how manieth time.
func syncsOf(t *testing.T, sc scenario) map[int]string {
	t.Helper()
	out, times := map[int]string{}, map[string]int{}
	run := sc.base.Revive()
	run.Before = func(op crashfs.Op) {
		if !strings.HasPrefix(op.Do, "sync") {
			return
		}
		name := op.Name
		if strings.HasPrefix(name, "sessions/") {
			name = path.Base(name)
		}
		name = op.Do + " " + name
		out[op.N] = fmt.Sprintf("%s#%d", name, times[name])
		times[name]++
	}
	fatal(t, sc.act(run))
	return out
}
