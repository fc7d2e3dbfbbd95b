package filestore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// importCase is one import to explore: the disk before it, and the session to import.
type importCase struct {
	name string
	base *crashfs.FS
	tr   *suite.ImportFixture
}

// The states of the store before an import.
const (
	intoAbsentStore   = "into an absent store"
	intoExistingStore = "into a store"
	overUnborn        = "over an unborn session"
	overOrphan        = "over a torn first commit"
)

func importCases(t *testing.T) []importCase {
	t.Helper()
	tr := suite.NewImportFixture(t, 1, 1)
	store := crashfs.New()
	other := suite.NewSessionFixture(2)
	commitTo(t, store, other.Start())
	// One object exists and is durable; another one is damaged.
	shared := store.Reopen()
	keep(t, shared, tr.Objects[0], nil)
	keep(t, shared, tr.Objects[1], []byte("wrong"))
	unborn := shared.Reopen()
	s, err := process(unborn, 5)
	fatal(t, err)
	unlock, err := s.Lock(context.Background(), tr.Log)
	fatal(t, err)
	fatal(t, unlock())
	torn := shared.Reopen()
	start := suite.NewSessionFixture(1).Start()
	torn.Fault = &crashfs.Fault{At: manifestWrite(t, shared, manifest.Head{}, start), Part: 2}
	_ = scenario{plan: start, boot: "boot"}.act(torn)
	return []importCase{
		{intoAbsentStore, crashfs.New(), tr}, {intoExistingStore, shared, tr},
		{overUnborn, unborn.Reopen(), tr}, {overOrphan, torn.Reopen(), tr},
	}
}

// extensiveImportCases contain the operations of all other cases, except the creation of a store,
// which the append scenarios explore.
var extensiveImportCases = []string{intoExistingStore, overOrphan}

// keep writes an object to a disk, or the bytes wrong under its name.
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

func (j importCase) act(f *crashfs.FS) error {
	s, err := process(f, 1)
	if err != nil {
		return err
	}
	return j.importInto(s)
}

func (j importCase) importInto(s *filestore.Store) error {
	placed, err := j.tr.Import(s, imported)
	if err == nil && !placed {
		err = errors.New("the session existed already")
	}
	return err
}

// truth reports whether the session exists. The error describes a session that is incomplete or a
// store that is damaged.
func (j importCase) truth(f *crashfs.FS) (exists bool, err error) {
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
		return false, fmt.Errorf("the session is incomplete: %+v", v)
	}
	for _, o := range j.tr.Objects {
		if _, err := s.Object(ctx, o.Kind, o.Ref()); err != nil {
			return true, err
		}
	}
	notes, v, err := read(s, suite.SessionNotes(j.tr.Session))
	if err != nil || v.Health != manifest.Healthy || len(notes.Segments) < len(j.tr.Notes) {
		return true, fmt.Errorf("the side log: %+v, %w", v, err)
	}
	if c, err := s.SessionControl(ctx, j.tr.Session, ports.ImportedFile); err != nil || c.V != 1 {
		return true, fmt.Errorf("the control file: %+v, %w", c, err)
	}
	return true, checkObjects(s, seen)
}

// continues confirms the session, or imports it where it does not exist.
func (j importCase) continues(f *crashfs.FS) error {
	s, err := process(f, 4)
	if err != nil {
		return err
	}
	_, v, err := read(s, j.tr.Log)
	if err != nil {
		return err
	}
	if v.Unborn() {
		return j.importInto(s)
	}
	return s.Confirm(context.Background(), j.tr.Log, v.Head)
}

// importCrashLimit is smaller than crashLimit: an import has many unsynced files at a time, most of
// them in a staged directory that no reader opens.
const importCrashLimit = 48

// TestImportCrashesLeaveAllOrNothing: every state that a power cut can leave of an import has no
// part of the session or all of it, and all of it after Commit has returned nil.
func TestImportCrashesLeaveAllOrNothing(t *testing.T) {
	t.Parallel()
	for _, j := range importCases(t) {
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			count := j.explore(j.base, crashfs.ExploreOptions{Limit: importCrashLimit, Cases: sample.OneIn(t, 8)},
				func(format string, args ...any) bool {
					t.Fatalf(format, args...)
					return false
				})
			t.Logf("%d operations, %d states", count.Ops, count.States)
		})
	}
}

func (j importCase) explore(base *crashfs.FS, how crashfs.ExploreOptions,
	report func(string, ...any) bool) crashfs.Count {
	var acked error
	return crashfs.Explore(base, how, func(f *crashfs.FS) { acked = j.act(f) }, func(s crashfs.State, done bool) bool {
		exists, err := j.truth(s.FS)
		switch {
		case err != nil:
			return report("%s: %v", s.Name, err)
		case done && acked != nil:
			return report("the import failed: %v", acked)
		case done && !exists:
			return report("%s: the import was acknowledged and is lost", s.Name)
		}
		err = j.continues(s.FS)
		if err == nil {
			exists, err = j.truth(s.FS)
		}
		if err != nil || !exists {
			return report("%s, after continuing: the session exists: %v, %v", s.Name, exists, err)
		}
		return true
	})
}

// importFaultLimit covers each single loss with all other values kept, which detects an
// acknowledgement before its syncs, and few further states.
const importFaultLimit = 4

// TestImportReportsEveryFaultCorrectly: after a fault of any operation the result of the import is
// correct, and the next process finds the session or imports it, durably.
func TestImportReportsEveryFaultCorrectly(t *testing.T) {
	t.Parallel()
	for _, j := range importCases(t) {
		if !slices.Contains(extensiveImportCases, j.name) {
			continue
		}
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			count := j.injectAll(j.base, sample.OneIn(t, 8), func(format string, args ...any) bool {
				t.Fatalf(format, args...)
				return false
			})
			t.Logf("%d operations, %d faults, %d states after them", count.Ops, count.Faults, count.States)
		})
	}
}

func (j importCase) injectAll(base *crashfs.FS, cases *sample.Cases,
	report func(string, ...any) bool) crashfs.Count {
	states := 0
	count := crashfs.InjectFaults(base, cases, j.act, func(flaw crashfs.Fault, op crashfs.Op, err error,
		after *crashfs.FS) bool {
		if err := checkCode(flaw, err); err != nil {
			return report("%s, %s: %v", op, flaw, err)
		}
		limit := min(limitFor(flaw), importFaultLimit)
		first := limit
		if flaw.Err == nil && flaw.Part == 0 || flaw.For == 1 || flaw.For == 2 {
			first = 0 // covered by the exploration without faults, or by TestImportOnTemporarilyFailingDisk
		}
		if err := j.checkOutcome(after, err, first, &states); err != nil {
			return report("%s, %s: %v", op, flaw, err)
		}
		if limit == 0 {
			return true // the next process behaves the same after every error
		}
		err = j.continues(after)
		if err == nil {
			err = j.checkOutcome(after, nil, limit, &states)
		}
		if err != nil {
			return report("%s, %s, the next process: %v", op, flaw, err)
		}
		return true
	})
	count.States = states
	return count
}

// checkOutcome compares the result of an import with the disk, and with every state that a power
// cut can leave of it.
func (j importCase) checkOutcome(f *crashfs.FS, result error, limit int, states *int) error {
	allowed := []bool{false, true}
	switch {
	case result == nil:
		allowed = []bool{true}
	case !errors.Is(result, crashfs.ErrKilled) && !fault.Is(result, fault.StoreOutcomeUnknown):
		allowed = []bool{false}
	}
	exists, err := j.truth(f)
	if err == nil && !slices.Contains(allowed, exists) {
		err = fmt.Errorf("the import returned %v, and the session exists: %v", result, exists)
	}
	if err != nil || limit == 0 {
		return err
	}
	f.Crashes(limit, func(s crashfs.State) bool {
		*states++
		if exists, err = j.truth(s.FS); err == nil && !slices.Contains(allowed, exists) {
			err = fmt.Errorf("the import returned %v, and after a power cut the session exists: %v", result, exists)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", s.Name, err)
		}
		return err == nil
	})
	return err
}

// TestImportQuarantinesUnbornSession: files of a torn first commit are moved to the quarantine.
func TestImportQuarantinesUnbornSession(t *testing.T) {
	t.Parallel()
	j := importCases(t)[3]
	var orphan []byte
	for name, b := range j.base.Files() {
		if strings.HasPrefix(name, j.tr.Log.Root+"/events/") {
			orphan = b
		}
	}
	run := j.base.Reopen()
	fatal(t, j.act(run))
	kept := false
	for name, b := range run.Files() {
		kept = kept || strings.HasPrefix(name, "quarantine/"+j.tr.Session.String()+".") && bytes.Equal(b, orphan)
		if strings.Contains(name, ".tmp-") || strings.HasPrefix(name, "sessions/") &&
			strings.HasSuffix(name, "/suspect") {
			t.Errorf("%s was not removed", name)
		}
	}
	if orphan == nil || !kept {
		t.Error("the orphan segment is not in the quarantine")
	}
}
