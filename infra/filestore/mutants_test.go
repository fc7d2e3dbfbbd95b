package filestore_test

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/infra/crashfs"
	"github.com/waybill/waybill/infra/osfs"
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
	{"only the manifest is synced", "advance", pretend(func(op crashfs.Op) bool { return op.Do == "syncdir" || op.Do == "sync" && !isManifest(op) })},
	{"syncs for order do nothing", "advance", pretend(func(op crashfs.Op) bool { return strings.HasPrefix(op.Do, "sync") && op.Kind == osfs.Order })},
	{"syncs for durability do nothing", "advance", pretend(func(op crashfs.Op) bool { return strings.HasPrefix(op.Do, "sync") && op.Kind == osfs.Durable })},
	{"files are placed before they are synced", "advance", act(crashfs.Postpone, func(op crashfs.Op) bool { return op.Do == "sync" && !isManifest(op) })},
	{"the group is written before folders are synced", "advance", act(crashfs.Postpone, doing("syncdir"))},
	{"the group is written before folders are synced", "start in a store", act(crashfs.Postpone, doing("syncdir"))},
	{"the tail is not cut", overLongerCutOff, pretend(doing("truncate"))},
	{"the way to a new session is not synced", "start in a store", pretend(func(op crashfs.Op) bool { return op.Do == "syncdir" && strings.HasPrefix(op.Name, "sessions") })},
	{"a new store is not synced", "start in a store that is not there", pretend(func(op crashfs.Op) bool { return op.Do == "syncdir" && op.Name == "." })},
}

// spare are single syncs without which nothing is lost in one scenario, because
// another one covers it there. Each has its reason.
var spare = map[string]string{
	"start in a store: syncdir .":                           "the store's folders were durable before store.json was; counts when one was removed by hand",
	"start in a store: syncdir workflows":                   "the same",
	"start in a store that is not there: syncdir workflows": "the commit syncs the way to its objects as well",
	"start in a store that is not there: syncdir .":         "the commit syncs the store's folder once more",
	"advance over a torn group, killed: sync of the cut":    "renewing replaces the file instead",
	overOwnKilled + ": syncdir quarantine":                  "it keeps the orphan, which no log needs",
	overLongerKilled + ": syncdir quarantine":               "the same",
	overOwnCutOff + ": syncdir quarantine":                  "the same",
	overLongerCutOff + ": syncdir quarantine":               "the same",
	overOwnKilled + ": syncdir events of quarantining":      "the commit syncs the folder once more",
	overLongerKilled + ": syncdir events of quarantining":   "the same",
	overOwnCutOff + ": syncdir events of quarantining":      "the same",
	overLongerCutOff + ": syncdir events of quarantining":   "the same",
}

var errCaught = errors.New("caught")

// caught explores a mutant until something is wrong.
func (sc scenario) caught(m crashfs.Mutation) (why string, n crashfs.Count) {
	base := sc.base.Revive()
	base.Mutation = m
	n = sc.explore(base, crashLimit, func(format string, args ...any) bool {
		why = fmt.Sprintf(format, args...)
		return false
	})
	return why, n
}

// TestExploreMutants: the exploration is worth something only if it sees what it
// is there to see.
func TestExploreMutants(t *testing.T) {
	all := scenarios(t)
	count := 0
	for _, m := range mutants {
		at := slices.IndexFunc(all, func(sc scenario) bool { return sc.name == m.in })
		why, _ := all[at].caught(m.mutate)
		if why == "" {
			t.Errorf("%q in %q survives", m.name, m.in)
		}
		count++
	}
	for _, sc := range all {
		for _, op := range syncsOf(sc) {
			why, _ := sc.caught(pretend(func(o crashfs.Op) bool { return o.N == op.N }))
			count++
			if why == "" {
				t.Logf("survives: %s: %s %s", sc.name, op.Do, op.Name)
			}
		}
	}
	t.Logf("%d mutants", count)
}

// syncsOf lists the syncs of an append.
func syncsOf(sc scenario) (out []crashfs.Op) {
	run := sc.base.Revive()
	run.Before = func(op crashfs.Op) {
		if strings.HasPrefix(op.Do, "sync") {
			out = append(out, op)
		}
	}
	if err := sc.act(run); err != nil {
		panic(err)
	}
	return out
}
