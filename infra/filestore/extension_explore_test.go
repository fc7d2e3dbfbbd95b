package filestore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	marks "github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// extensionCase is one import that extends a session, to explore.
type extensionCase struct {
	name string
	base *crashfs.FS
	x    *suite.ExtensionFixture
}

func extensionCases(t *testing.T) (out []extensionCase) {
	t.Helper()
	for _, c := range []struct {
		name string
		side int
	}{{"both logs", 1}, {"a side log that is new", 0}, {"its own log only", 2}} {
		x, base := suite.NewExtensionFixture(t, 1, 3, 2, c.side), crashfs.New()
		s, err := process(base, 5)
		fatal(t, err)
		fatal(t, x.Prepare(s))
		out = append(out, extensionCase{c.name, base.Reopen(), x})
	}
	return out
}

func (j extensionCase) act(f *crashfs.FS) error { return j.actAs(f, 1) }

// actAs extends the session in a process with random bytes of its own.
func (j extensionCase) actAs(f *crashfs.FS, n byte) error {
	s, err := process(f, n)
	if err != nil {
		return err
	}
	return j.x.Extend(s)
}

// extended is how much of an extension a disk has.
type extended struct{ own, side bool }

// truth returns which logs are extended. The error describes a log that is neither as before nor as after the
// extension, a side log that is extended without the session's own, an imported event without the mark, or a damaged
// store.
func (j extensionCase) truth(f *crashfs.FS) (is extended, err error) {
	ctx := context.Background()
	s, err := process(f, 3)
	if err != nil {
		return is, fmt.Errorf("open: %w", err)
	}
	found, err := s.Inspect(ctx)
	if err != nil {
		return is, fmt.Errorf("inspect: %w", err)
	}
	for _, one := range found {
		if one.Severity == manifest.SeverityError {
			return is, fmt.Errorf("the store: %+v", one)
		}
	}
	mark, err := j.mark(s)
	if err != nil {
		return is, err
	}
	ownBefore, ownAfter := j.x.OwnHeads()
	sideBefore, sideAfter := j.x.SideHeads()
	own, side := j.x.Came()
	for _, l := range []struct {
		log           manifest.Log
		before, after manifest.Head
		came          marks.Span
		is            *bool
	}{{j.x.Log, ownBefore, ownAfter, own, &is.own}, {suite.SessionNotes(j.x.Session), sideBefore, sideAfter, side, &is.side}} {
		seen, v, err := read(s, l.log)
		if err != nil {
			return is, fmt.Errorf("read: %w", err)
		}
		if v.Health != manifest.Healthy || v.Head != l.before && v.Head != l.after {
			return is, fmt.Errorf("%s is neither as before nor as after: %+v", l.log.Root, v)
		}
		*l.is = v.Head == l.after
		if span := mark.Span(l.log.Table.Name); *l.is && !l.came.IsEmpty() && (span.From > l.came.From || span.Events < l.came.Events) {
			return is, fmt.Errorf("%s is extended, and the mark is %+v", l.log.Root, mark)
		}
		if err := checkObjects(s, seen); err != nil {
			return is, err
		}
	}
	if is.side && !is.own && !side.IsEmpty() {
		return is, errors.New("the side log is extended without the session's own")
	}
	return is, nil
}

func (j extensionCase) mark(s *filestore.Store) (marks.Mark, error) {
	c, err := s.SessionControl(context.Background(), j.x.Session, ports.ImportedFile)
	if err != nil {
		return marks.Mark{}, fmt.Errorf("the mark: %w", err)
	}
	return marks.Read(c.Data)
}

// continues confirms what the logs have, and appends to the session: the new event is not imported. A side log that
// was not extended is then appended to as well.
func (j extensionCase) continues(f *crashfs.FS) error {
	ctx, notes := context.Background(), suite.SessionNotes(j.x.Session)
	s, err := process(f, 4)
	if err != nil {
		return err
	}
	for _, log := range []manifest.Log{j.x.Log, notes} {
		_, v, err := read(s, log)
		if err != nil {
			return err
		}
		if err := s.Confirm(ctx, log, v.Head); err != nil {
			return fmt.Errorf("confirm: %w", err)
		}
		plan := suite.Notes(log, v.Head.Next, "later")
		if log == j.x.Log {
			again := *j.x.SessionFixture
			plan = again.Advance(v.Head.Next)
		}
		if _, err := suite.Gate(s, plan); err != nil {
			return fmt.Errorf("a further append: %w", err)
		}
		mark, err := j.mark(s)
		if err != nil {
			return err
		}
		if mark.Span(log.Table.Name).Has(v.Head.Next) {
			return fmt.Errorf("event %d of %s was made here, and the mark is %+v", v.Head.Next, log.Root, mark)
		}
		_, v, err = read(s, log)
		if err != nil || v.Health != manifest.Healthy || slices.ContainsFunc(v.Findings, unexpected) {
			return fmt.Errorf("after a further append: %+v, %w", v, err)
		}
	}
	return nil
}

// again imports once more what is not extended yet.
func (j extensionCase) again(f *crashfs.FS, is extended) error {
	if is.own {
		return nil
	}
	if err := j.actAs(f, 9); err != nil {
		return fmt.Errorf("the import again: %w", err)
	}
	is, err := j.truth(f)
	if err == nil && (!is.own || !is.side) {
		err = fmt.Errorf("imported again: %+v", is)
	}
	return err
}

// TestExtensionCrashesLeaveBeforeOrAfter: every state that a power cut can leave of an import that extends a session has
// each log as before or as after it, the session's own first, and both as after it once Commit has returned nil. Nothing of
// a later append counts as imported, and the import can be repeated.
func TestExtensionCrashesLeaveBeforeOrAfter(t *testing.T) {
	t.Parallel()
	for _, j := range extensionCases(t) {
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			count := j.explore(j.base, crashfs.ExploreOptions{Limit: importCrashLimit, Cases: sample.OneIn(t, 48)},
				func(format string, args ...any) bool {
					t.Errorf(format, args...) // not Fatalf: the import in progress holds its locks
					return false
				})
			t.Logf("%d operations, %d states", count.Ops, count.States)
		})
	}
}

func (j extensionCase) explore(base *crashfs.FS, how crashfs.ExploreOptions, report func(string, ...any) bool) crashfs.Count {
	var acked error
	return crashfs.Explore(base, how, func(f *crashfs.FS) { acked = j.act(f) }, func(s crashfs.State, done bool) bool {
		is, err := j.truth(s.FS)
		switch {
		case err != nil:
			return report("%s: %v", s.Name, err)
		case done && acked != nil:
			return report("the import failed: %v", acked)
		case done && is != extended{true, true}:
			return report("%s: the import was acknowledged and is lost: %+v", s.Name, is)
		}
		if err := j.again(s.FS.Reopen(), is); err != nil {
			return report("%s: %v", s.Name, err)
		}
		if err := j.continues(s.FS); err != nil {
			return report("%s: %v", s.Name, err)
		}
		return true
	})
}

// TestExtensionReportsEveryFaultCorrectly: after a fault of any operation no log is extended unless the result says that
// this is unknown, and the next process continues or imports again.
func TestExtensionReportsEveryFaultCorrectly(t *testing.T) {
	t.Parallel()
	for _, j := range extensionCases(t)[:2] {
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			states := 0
			count := crashfs.InjectFaults(j.base, sample.OneIn(t, 400), j.act, func(flaw crashfs.Fault, op crashfs.Op, err error,
				after *crashfs.FS) bool {
				wrong := checkCode(flaw, err)
				if wrong == nil {
					wrong = j.checkOutcome(after, err, min(limitFor(flaw), importFaultLimit), &states)
				}
				if wrong != nil {
					t.Errorf("%s, %s: %v", op, flaw, wrong)
				}
				return wrong == nil
			})
			t.Logf("%d operations, %d faults, %d states after them", count.Ops, count.Faults, states)
		})
	}
}

// checkOutcome compares the result of an import with the disk, and with every state that a power cut can leave of it.
func (j extensionCase) checkOutcome(f *crashfs.FS, result error, limit int, states *int) error {
	check := func(f *crashfs.FS) error {
		is, err := j.truth(f)
		unknown := errors.Is(result, crashfs.ErrKilled) || fault.Is(result, fault.StoreOutcomeUnknown)
		switch {
		case err != nil:
			return err
		case result == nil && is != extended{true, true}, result != nil && !unknown && is.own:
			return fmt.Errorf("the import returned %w, and the logs are extended: %+v", result, is)
		}
		if err := j.again(f.Reopen(), is); err != nil {
			return err
		}
		return j.continues(f)
	}
	err := check(f.Reopen())
	if err != nil || limit == 0 {
		return err
	}
	f.Crashes(limit, func(s crashfs.State) bool {
		*states++
		if err = check(s.FS); err != nil {
			err = fmt.Errorf("%s: %w", s.Name, err)
		}
		return err == nil
	})
	return err
}
