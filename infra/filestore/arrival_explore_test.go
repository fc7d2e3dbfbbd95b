package filestore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	mark "github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// journey is one arrival to explore: what lies on the disk, and who arrives.
type journey struct {
	name string
	base *crashfs.FS
	tr   *suite.ImportFixture
}

var imported = ports.Control{V: 1, Data: mark.Mark{BundleID: "b", Events: 6, Head: canon.Sum(nil)}.Value()}

// Where a session may arrive.
const (
	intoNothing = "into a store that is not there"
	intoAStore  = "into a store"
	overUnborn  = "over an unborn session"
	overOrphan  = "over a torn first commit"
)

func journeys(t *testing.T) []journey {
	t.Helper()
	tr := suite.NewImportFixture(t, 1, 1)
	store := crashfs.New()
	other := suite.NewSessionFixture(2)
	grow(t, store, other.Start())
	// One object is there already, and durable; another one is damaged.
	shared := store.Revive()
	keep(t, shared, tr.Objects[0], nil)
	keep(t, shared, tr.Objects[1], []byte("wrong"))
	unborn := shared.Revive()
	s, err := process(unborn, 5)
	fatal(t, err)
	unlock, err := s.Lock(context.Background(), tr.Log)
	fatal(t, err)
	fatal(t, unlock())
	torn := shared.Revive()
	start := suite.NewSessionFixture(1).Start()
	torn.Fault = &crashfs.Fault{At: manifestWrite(t, shared, manifest.Head{}, start), Part: 2}
	_ = scenario{plan: start, boot: "boot"}.act(torn)
	return []journey{
		{intoNothing, crashfs.New(), tr}, {intoAStore, shared, tr},
		{overUnborn, unborn.Revive(), tr}, {overOrphan, torn.Revive(), tr},
	}
}

// hardJourneys are those that the others are a part of, but for making a store, which
// is explored with appends.
var hardJourneys = []string{intoAStore, overOrphan}

// keep puts an object on a disk, or other bytes under its name.
func keep(t *testing.T, f *crashfs.FS, o manifest.Object, wrong []byte) {
	t.Helper()
	b := o.Bytes
	if wrong != nil {
		b = wrong
	}
	dir := manifest.ObjectDir(o.Kind)
	file, err := f.Open(dir+"/"+manifest.ObjectName(o.Kind, o.Ref()), osfs.New)
	fatal(t, err)
	_, err = file.Write(b)
	fatal(t, errors.Join(err, file.Sync(osfs.Durable), file.Close(), f.SyncDir(dir, osfs.Durable)))
}

func (j journey) act(f *crashfs.FS) error {
	s, err := process(f, 1)
	if err != nil {
		return err
	}
	return j.arrive(s)
}

func (j journey) arrive(s *filestore.Store) error {
	placed, err := j.tr.Import(s, imported)
	if err == nil && !placed {
		err = errors.New("somebody else was there")
	}
	return err
}

// truth reports whether the session is there, and what is wrong with it or with the
// store around it.
func (j journey) truth(f *crashfs.FS) (there bool, err error) {
	ctx := context.Background()
	s, err := process(f, 3)
	if err != nil {
		return false, fmt.Errorf("open: %w", err)
	}
	found, err := s.Inspect(ctx)
	if err != nil {
		return false, fmt.Errorf("inspect: %w", err)
	}
	for _, one := range found {
		if one.Severity == manifest.SeverityError && one.Code != manifest.ObjectDamaged {
			return false, fmt.Errorf("the store: %+v", one)
		}
	}
	seen, v, err := read(s, j.tr.Log)
	if err != nil {
		return false, fmt.Errorf("read: %w", err)
	}
	if v.Unborn() {
		return false, nil
	}
	if v.Health != manifest.Healthy || v.Head != j.tr.Head() {
		return false, fmt.Errorf("half of it: %+v", v)
	}
	for _, o := range j.tr.Objects {
		if _, err := s.Object(ctx, o.Kind, o.Ref()); err != nil {
			return true, err
		}
	}
	notes, v, err := read(s, suite.SessionNotes(j.tr.Session))
	if err != nil || v.Health != manifest.Healthy || len(notes.Segments) < len(j.tr.Notes) {
		return true, fmt.Errorf("its side log: %+v, %w", v, err)
	}
	if c, err := s.SessionControl(ctx, j.tr.Session, ports.ImportedFile); err != nil || c.V != 1 {
		return true, fmt.Errorf("its control file: %+v, %w", c, err)
	}
	return true, allThere(s, seen)
}

// goesOn relies on what is there, or brings it again; either must hold whatever comes.
func (j journey) goesOn(f *crashfs.FS) error {
	s, err := process(f, 4)
	if err != nil {
		return err
	}
	_, v, err := read(s, j.tr.Log)
	if err != nil {
		return err
	}
	if v.Unborn() {
		return j.arrive(s)
	}
	return s.Confirm(context.Background(), j.tr.Log, v.Head)
}

// arrivalLimit is smaller than crashLimit: an arrival has many files on their way at
// a time, most of which nobody looks at.
const arrivalLimit = 48

// TestExploreArrivalCrashes: whatever a power cut leaves of an arrival is nothing of
// the session or all of it, and all of it once the arrival has said so.
func TestExploreArrivalCrashes(t *testing.T) {
	t.Parallel()
	for _, j := range journeys(t) {
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			count := j.explore(j.base, crashfs.Look{Limit: arrivalLimit, Cases: sample.OneIn(t, 8)}, func(format string, args ...any) bool {
				t.Fatalf(format, args...)
				return false
			})
			t.Logf("%d operations, %d states", count.Ops, count.States)
		})
	}
}

func (j journey) explore(base *crashfs.FS, how crashfs.Look, report func(string, ...any) bool) crashfs.Count {
	var acked error
	return crashfs.Explore(base, how, func(f *crashfs.FS) { acked = j.act(f) }, func(s crashfs.State, done bool) bool {
		there, err := j.truth(s.FS)
		switch {
		case err != nil:
			return report("%s: %v", s.Name, err)
		case done && acked != nil:
			return report("the arrival failed: %v", acked)
		case done && !there:
			return report("%s: the arrival was acknowledged and is lost", s.Name)
		}
		err = j.goesOn(s.FS)
		if err == nil {
			there, err = j.truth(s.FS)
		}
		if err != nil || !there {
			return report("%s, and then: %v, %v", s.Name, there, err)
		}
		return true
	})
}

// arrivalFaultLimit: each single loss against all others kept, which is where an
// acknowledgement that came too early shows, and not much more.
const arrivalFaultLimit = 4

// TestExploreArrivalFaults: whichever operation fails, is torn or is the last one, the
// arrival says truthfully what became of it, and the next process either finds the
// session or brings it; what it says then holds.
func TestExploreArrivalFaults(t *testing.T) {
	t.Parallel()
	for _, j := range journeys(t) {
		if !slices.Contains(hardJourneys, j.name) {
			continue
		}
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			count := j.breakAll(j.base, sample.OneIn(t, 8), func(format string, args ...any) bool {
				t.Fatalf(format, args...)
				return false
			})
			t.Logf("%d operations, %d faults, %d states behind them", count.Ops, count.Faults, count.States)
		})
	}
}

func (j journey) breakAll(base *crashfs.FS, cases *sample.Cases,
	report func(string, ...any) bool) crashfs.Count {
	states := 0
	count := crashfs.Break(base, cases, j.act, func(flaw crashfs.Fault, op crashfs.Op, err error, after *crashfs.FS) bool {
		if err := rightCode(flaw, err); err != nil {
			return report("%s, %s: %v", op, flaw, err)
		}
		limit := min(limitFor(flaw), arrivalFaultLimit)
		first := limit
		if flaw.Err == nil && flaw.Part == 0 || flaw.For == 1 || flaw.For == 2 {
			first = 0 // the plain exploration looked there, or that of dying disks does
		}
		if err := j.judge(after, err, first, &states); err != nil {
			return report("%s, %s: %v", op, flaw, err)
		}
		if limit == 0 {
			return true // to the next process the kinds of errors are one
		}
		err = j.goesOn(after)
		if err == nil {
			err = j.judge(after, nil, limit, &states)
		}
		if err != nil {
			return report("%s, %s, the next process: %v", op, flaw, err)
		}
		return true
	})
	count.States = states
	return count
}

// judge holds what was said against what is there, and what a power cut leaves of it.
func (j journey) judge(f *crashfs.FS, said error, limit int, states *int) error {
	allowed := []bool{false, true}
	switch {
	case said == nil:
		allowed = []bool{true}
	case !errors.Is(said, crashfs.ErrKilled) && !fault.Is(said, fault.StoreOutcomeUnknown):
		allowed = []bool{false}
	}
	there, err := j.truth(f)
	if err == nil && !slices.Contains(allowed, there) {
		err = fmt.Errorf("it said %v, and the session is there: %v", said, there)
	}
	if err != nil || limit == 0 {
		return err
	}
	f.Crashes(limit, func(s crashfs.State) bool {
		*states++
		if there, err = j.truth(s.FS); err == nil && !slices.Contains(allowed, there) {
			err = fmt.Errorf("it said %v, and after a power cut the session is there: %v", said, there)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", s.Name, err)
		}
		return err == nil
	})
	return err
}
