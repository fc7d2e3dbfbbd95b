package filestore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/ports/porttest/suite"
	"pgregory.net/rapid"
)

// damageFiles flips a bit of, shortens, lengthens or removes up to three files.
func damageFiles(rt *rapid.T, damaged map[string][]byte, names []string) {
	for range rapid.IntRange(1, 3).Draw(rt, "times") {
		name := rapid.SampledFrom(names).Draw(rt, "file")
		b, exists := damaged[name]
		if !exists || len(b) == 0 {
			continue
		}
		at := rapid.IntRange(0, len(b)-1).Draw(rt, "at")
		switch rapid.IntRange(0, 3).Draw(rt, "how") {
		case 0:
			b[at] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
		case 1:
			damaged[name] = b[:at]
		case 2:
			damaged[name] = append(b, bytes.Repeat([]byte{byte(at)}, at%700+1)...)
		default:
			delete(damaged, name)
		}
	}
}

// TestRepairOfRandomDamageLosesNothing: after the repair of a log with random damage the
// log is healthy, and every file is at its path or in the quarantine.
func TestRepairOfRandomDamageLosesNothing(t *testing.T) {
	files, _ := base(t)
	log := suite.NewSessionFixture(1).Log
	var names []string
	for name := range files {
		if strings.HasPrefix(name, log.Root) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	repaired := 0
	rapid.Check(t, func(rt *rapid.T) {
		damaged := map[string][]byte{}
		for name, b := range files {
			damaged[name] = bytes.Clone(b)
		}
		damageFiles(rt, damaged, names)
		f := diskWith(t, damaged)
		s, err := process(f, 1)
		fatal(t, err)
		_, v, err := read(s, log)
		fatal(t, err)
		if v.Health == manifest.UnknownVersion ||
			slices.ContainsFunc(v.Findings, func(f manifest.Finding) bool { return f.Code == manifest.UnknownEvents }) {
			return
		}
		done, err := s.RepairLog(context.Background(), repairOf(log))
		if err != nil {
			rt.Fatal(err)
		}
		if v.Damaged() != (len(done.Steps) > 0) {
			rt.Fatalf("%s, and %d steps", v.Health, len(done.Steps))
		}
		if err := checkNothingLost(damaged, f.Files()); err != nil {
			rt.Fatal(err)
		}
		if v.Damaged() {
			repaired++
		}
		_, after, err := read(s, log)
		if err != nil || after.Health != manifest.Healthy || after.Head != v.Head {
			rt.Fatalf("%+v, %v", after, err)
		}
		for _, f := range after.Findings {
			if f.Severity == manifest.SeverityError {
				rt.Fatalf("%+v", after.Findings)
			}
		}
	})
	if repaired == 0 {
		t.Error("nothing was ever repaired")
	}
}

// TestRepairCrashesLoseNothing: every state that a power cut can leave of a repair is as damaged as
// before or repaired, nothing of the old bytes is gone, and a second repair completes.
func TestRepairCrashesLoseNothing(t *testing.T) {
	t.Parallel()
	log := suite.NewSessionFixture(1).Log
	for _, name := range []string{"flipped-middle-group", "missing-segment", "lost-two-groups", "lost-manifest",
		"flipped-first-segment", "zeros-beyond-the-group"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := damagedStores(t)
			ex := all[slices.IndexFunc(all, func(ex damagedStore) bool { return ex.name == name })]
			base := diskWith(t, ex.files)
			look := crashfs.ExploreOptions{Limit: crashLimit / 8, Cases: sample.OneIn(t, 20)}
			count := exploreRepair(base, ex, log, nil, look, func(format string, args ...any) bool {
				t.Fatalf(format, args...)
				return false
			})
			t.Logf("%d operations, %d states", count.Ops, count.States)
		})
	}
}

func exploreRepair(base *crashfs.FS, ex damagedStore, log manifest.Log, m crashfs.Mutation, look crashfs.ExploreOptions,
	report func(string, ...any) bool) crashfs.Count {
	before := base.Files()
	base = base.Reopen()
	base.Mutation = m
	var acked error
	return crashfs.Explore(base, look, func(f *crashfs.FS) {
		s, err := process(f, 1)
		if err == nil {
			_, err = s.RepairLog(context.Background(), repairOf(log))
		}
		acked = err
	}, func(state crashfs.State, done bool) bool {
		if err := errors.Join(checkNothingLost(before, state.FS.Files()),
			checkRepairNote(before, state.FS.Files())); err != nil {
			return report("%s: %v", state.Name, err)
		}
		s, err := process(state.FS, 2)
		if err != nil {
			return report("%s: %v", state.Name, err)
		}
		_, v, err := read(s, log)
		switch {
		case err != nil:
			return report("%s: %v", state.Name, err)
		case v.Head.Next != ex.want.Next || v.Health != manifest.Healthy && v.Health != ex.want.Health:
			return report("%s: %+v", state.Name, v)
		case done && (acked != nil || v.Health != manifest.Healthy || len(v.Findings) > 0):
			return report("%s: after the repair: %v, %+v", state.Name, acked, v)
		}
		if _, err := s.RepairLog(context.Background(), repairOf(log)); err != nil {
			return report("%s: a second repair: %v", state.Name, err)
		}
		_, v, err = read(s, log)
		if err != nil || v.Health != manifest.Healthy || v.Head.Next != ex.want.Next {
			return report("%s: after a second repair: %+v, %v", state.Name, v, err)
		}
		if err := checkNothingLost(before, state.FS.Files()); err != nil {
			return report("%s: after a second repair: %v", state.Name, err)
		}
		fixture := suite.NewSessionFixture(1)
		plan := fixture.Start()
		if v.Head.Next > 0 {
			plan = fixture.Advance(v.Head.Next)
		}
		if _, err := suite.Gate(s, plan); err != nil {
			return report("%s: appending after the repair: %v", state.Name, err)
		}
		return true
	})
}

// TestRepairMutantsAreDetected: the exploration detects each mutant that skips a sync of a
// repair.
func TestRepairMutantsAreDetected(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("not with -short")
	}
	log, count := suite.NewSessionFixture(1).Log, 0
	for _, name := range []string{"flipped-middle-group", "flipped-first-segment"} {
		all := damagedStores(t)
		ex := all[slices.IndexFunc(all, func(ex damagedStore) bool { return ex.name == name })]
		base := diskWith(t, ex.files)
		run := base.Reopen()
		ops, times := map[int]string{}, map[string]int{}
		run.Before = func(op crashfs.Op) {
			if strings.HasPrefix(op.Action, "sync") {
				what := op.Action + " " +
					strings.NewReplacer(log.Root, "LOG", fmt.Sprintf("quarantine/%s.%d", log.Owner, repairMs),
						"QUARANTINE").
						Replace(op.Name)
				ops[op.N] = fmt.Sprintf("%s#%d", what, times[what])
				times[what]++
			}
		}
		s, err := process(run, 1)
		fatal(t, err)
		_, err = s.RepairLog(context.Background(), repairOf(log))
		fatal(t, err)
		for _, op := range slices.Sorted(maps.Keys(ops)) {
			if redundantRepairSyncs[ops[op]] != "" {
				continue
			}
			mutant := skipping(func(o crashfs.Op) bool { return o.N == op })
			if detect(op, 128, func(look crashfs.ExploreOptions) (why string) {
				exploreRepair(base, ex, log, mutant, look, func(format string, args ...any) bool {
					why = fmt.Sprintf(format, args...)
					return false
				})
				return why
			}) == "" {
				t.Errorf("%s without %s is not detected", name, ops[op])
			}
			count++
		}
	}
	t.Logf("cases: %d of %[1]d mutants", count)
}

// redundantRepairSyncs are syncs without which nothing is lost, with the reason why they exist.
var redundantRepairSyncs = map[string]string{
	"syncdir .#0":          "the quarantine was durable before; needed where a user removed it",
	"syncdir QUARANTINE#0": "the directory is synced again with the files in it; keeps the note where those syncs fail",
	"syncdir LOG/events#0": "a restored entry is as damaged as before, and in the quarantine too",
	"syncdir LOG#0":        "the same",
	"syncdir sessions#0":   "a restored entry is an empty directory",
}

// TestRepairFaultsLoseNothing: after a fault of any operation no file is lost, and the next
// repair completes.
func TestRepairFaultsLoseNothing(t *testing.T) {
	t.Parallel()
	cases := sample.OneIn(t, 30)
	log := suite.NewSessionFixture(1).Log
	for _, name := range []string{"flipped-middle-group", "flipped-first-segment"} {
		all := damagedStores(t)
		ex := all[slices.IndexFunc(all, func(ex damagedStore) bool { return ex.name == name })]
		base := diskWith(t, ex.files)
		before := base.Files()
		crashfs.InjectFaults(base, cases, func(f *crashfs.FS) error {
			s, err := process(f, 1)
			if err == nil {
				_, err = s.RepairLog(context.Background(), repairOf(log))
			}
			return err
		}, func(flaw crashfs.Fault, op crashfs.Op, err error, after *crashfs.FS) bool {
			fail := func(format string, args ...any) bool {
				t.Errorf("%s, %s, %s: %s", name, op, flaw, fmt.Sprintf(format, args...))
				return false
			}
			if gone := checkNothingLost(before, after.Files()); gone != nil {
				return fail("%v", gone)
			}
			s, openErr := process(after, 2)
			fatal(t, openErr)
			_, v, readErr := read(s, log)
			fatal(t, readErr)
			if err == nil && v.Health != manifest.Healthy || v.Head.Next != ex.want.Next {
				return fail("the repair returned %v, and the log is %+v", err, v)
			}
			if _, err := s.RepairLog(context.Background(), repairOf(log)); err != nil {
				return fail("the next repair: %v", err)
			}
			if _, v, err := read(s, log); err != nil || v.Health != manifest.Healthy {
				return fail("after the next repair: %+v, %v", v, err)
			}
			ok := true
			after.Crashes(16, func(state crashfs.State) bool {
				if gone := checkNothingLost(before, state.FS.Files()); gone != nil {
					ok = fail("after a power cut: %v", gone)
				}
				return ok
			})
			return ok
		})
	}
}
