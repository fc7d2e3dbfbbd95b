package filestore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// faultCrashLimit is the limit of crashfs.Crashes after each fault; the exploration without faults
// has a larger one.
const faultCrashLimit = 24

// TestAppendReportsEveryFaultCorrectly: after a fault of any operation the log is as before or as
// after the append, its result states which, and the same call succeeds when it is repeated, in
// the same process and in the next.
func TestAppendReportsEveryFaultCorrectly(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var total crashfs.Count
	t.Cleanup(func() {
		t.Logf("total: %d operations, %d faults, %d crash states after them", total.Ops, total.Faults, total.States)
	})
	for _, sc := range scenarios(t) {
		if sc.name == overOwnCutOff || sc.name == overLongerKilled {
			continue // equivalent here to the two other scenarios with a torn group
		}
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			count := sc.injectAll(sc.base, sample.OneIn(t, 20), func(format string, args ...any) bool {
				t.Fatalf(format, args...)
				return false
			})
			t.Logf("%d operations, %d faults, %d states after them", count.Ops, count.Faults, count.States)
			mu.Lock()
			defer mu.Unlock()
			total.Add(count)
		})
	}
}

// injectAll injects every fault into every operation of the append: first with a process that ends
// after it, then with one that repeats the append.
func (sc scenario) injectAll(base *crashfs.FS, cases *sample.Cases,
	report func(string, ...any) bool) crashfs.Count {
	states := 0
	count := crashfs.InjectFaults(base, cases, sc.act,
		func(flaw crashfs.Fault, op crashfs.Op, err error, after *crashfs.FS) bool {
			if err := checkCode(flaw, err); err != nil {
				return report("%s, %s: %v", op, flaw, err)
			}
			limit := limitFor(flaw)
			if err := sc.checkOutcome(after, err, limit, &states); err != nil {
				return report("%s, %s: %v", op, flaw, err)
			}
			if flaw.For > 0 && sc.noStore {
				return true // the directories of the store itself are in doubt: nothing further is required
			}
			if err := sc.recover(after, limit, &states); err != nil {
				return report("%s, %s, the next process: %v", op, flaw, err)
			}
			return true
		})
	// A process that continues knows what failed when it repeats the append.
	again := crashfs.InjectFaults(base, cases, func(f *crashfs.FS) error {
		s, err := sc.process(f, 1)
		if err != nil {
			return err
		}
		first := sc.append(s)
		if first == nil || f.Fault == nil || f.Fault.Err == nil {
			return first
		}
		second := sc.appendUnlessRecorded(s)
		if second != nil && fault.Is(first, fault.StoreOutcomeUnknown) {
			return first // the second result does not settle the first
		}
		return second
	}, func(flaw crashfs.Fault, op crashfs.Op, err error, after *crashfs.FS) bool {
		if flaw.Err == nil {
			return true // the process was killed
		}
		if err := sc.checkOutcome(after, err, limitFor(flaw), &states); err != nil {
			return report("%s, %s, repeated: %v", op, flaw, err)
		}
		return true
	})
	count.Faults += again.Faults
	count.States = states
	return count
}

// limitFor allows power cuts after one errno only: the store returns another code for the others,
// and does the same.
func limitFor(flaw crashfs.Fault) int {
	if flaw.Err == nil || flaw.Err == syscall.EIO || flaw.Part > 0 {
		return faultCrashLimit
	}
	return 0
}

// checkCode checks that the fault code of the result matches the injected error.
func checkCode(flaw crashfs.Fault, result error) error {
	if result == nil || flaw.Err == nil {
		return nil
	}
	want := []fault.Code{fault.StoreIO, fault.StoreOutcomeUnknown}
	switch flaw.Err {
	case syscall.ENOSPC, syscall.EDQUOT:
		want = []fault.Code{fault.StoreFull, fault.StoreOutcomeUnknown}
	case syscall.EROFS:
		want = append(want, fault.StoreReadOnly)
	}
	if !slices.Contains(want, fault.CodeOf(result)) {
		return fmt.Errorf("the append returned %v; want one of %v", result, want)
	}
	return nil
}

// checkOutcome compares the result of an append with the log, and with every state that a power cut
// can leave of it.
func (sc scenario) checkOutcome(f *crashfs.FS, result error, limit int, states *int) error {
	// After a kill and after STORE_OUTCOME_UNKNOWN either head is correct. Any other error promises
	// that nothing was recorded.
	allowed := map[manifest.Head]bool{sc.before: true, sc.after: true}
	switch {
	case result == nil:
		allowed = map[manifest.Head]bool{sc.after: true}
	case !errors.Is(result, crashfs.ErrKilled) && !fault.Is(result, fault.StoreOutcomeUnknown):
		allowed = map[manifest.Head]bool{sc.before: true}
	}
	head, err := sc.truth(f)
	if err == nil && !allowed[head] {
		err = fmt.Errorf("the append returned %v, and the log is at %d", result, head.Next)
	}
	if err != nil {
		return err
	}
	if limit == 0 {
		return nil
	}
	f.Crashes(limit, func(s crashfs.State) bool {
		*states++
		if head, err = sc.truth(s.FS); err == nil && !allowed[head] {
			err = fmt.Errorf("the append returned %v, and a power cut leaves the log at %d", result, head.Next)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", s.Name, err)
		}
		return err == nil
	})
	return err
}

// recover repeats the append in a new process, as a caller does that received an error or no
// answer. Its result must be correct and durable.
func (sc scenario) recover(f *crashfs.FS, limit int, states *int) error {
	s, err := sc.process(f, 4)
	if err == nil {
		err = sc.appendUnlessRecorded(s)
	}
	if err != nil {
		return err
	}
	return sc.checkOutcome(f, nil, limit, states)
}

// appendUnlessRecorded confirms a plan that is recorded already and appends it otherwise, as the
// engine does.
func (sc scenario) appendUnlessRecorded(s *filestore.Store) error {
	_, v, err := read(s, sc.plan.Log)
	if err != nil {
		return err
	}
	if v.Head == sc.after {
		return s.Confirm(context.Background(), sc.plan.Log, v.Head)
	}
	return sc.append(s)
}
