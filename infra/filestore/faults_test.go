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

// faultCrashLimit bounds what is looked at behind each single fault; the plain
// exploration looks closer.
const faultCrashLimit = 24

// TestExploreFaults: whichever operation fails, is torn or is the last one, the
// log is as before or as after, the append said truthfully which, and the same
// call again comes through, in the same process and in the next.
func TestExploreFaults(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var total crashfs.Count
	t.Cleanup(func() {
		t.Logf("in all: %d operations, %d faults, %d crash states behind them", total.Ops, total.Faults, total.States)
	})
	for _, sc := range scenarios(t) {
		if sc.name == overOwnCutOff || sc.name == overLongerKilled {
			continue // as near to the two others as makes no difference here
		}
		t.Run(sc.name, func(t *testing.T) {
			t.Parallel()
			count := sc.breakAll(sc.base, sample.OneIn(t, 10), func(format string, args ...any) bool {
				t.Fatalf(format, args...)
				return false
			})
			t.Logf("%d operations, %d faults, %d states behind them", count.Ops, count.Faults, count.States)
			mu.Lock()
			defer mu.Unlock()
			total.Add(count)
		})
	}
}

// breakAll breaks every operation of the append, once with a process that ends
// there and once with one that tries again.
func (sc scenario) breakAll(base *crashfs.FS, cases *sample.Cases,
	report func(string, ...any) bool) crashfs.Count {
	states := 0
	count := crashfs.Break(base, cases, sc.act, func(flaw crashfs.Fault, op crashfs.Op, err error, after *crashfs.FS) bool {
		if err := rightCode(flaw, err); err != nil {
			return report("%s, %s: %v", op, flaw, err)
		}
		limit := limitFor(flaw)
		if err := sc.judge(after, err, limit, &states); err != nil {
			return report("%s, %s: %v", op, flaw, err)
		}
		if flaw.For > 0 && sc.noStore {
			return true // that the store's own folders are in doubt, nothing is left to say
		}
		if err := sc.recover(after, limit, &states); err != nil {
			return report("%s, %s, the next process: %v", op, flaw, err)
		}
		return true
	})
	// A process that lives on knows what failed, and tries again with that knowledge.
	again := crashfs.Break(base, cases, func(f *crashfs.FS) error {
		s, err := sc.process(f, 1)
		if err != nil {
			return err
		}
		first := sc.append(s)
		if first == nil || f.Fault == nil || f.Fault.Err == nil {
			return first
		}
		second := sc.appendUnlessThere(s)
		if second != nil && fault.Is(first, fault.StoreOutcomeUnknown) {
			return first // the second says nothing about the first
		}
		return second
	}, func(flaw crashfs.Fault, op crashfs.Op, err error, after *crashfs.FS) bool {
		if flaw.Err == nil {
			return true // nobody is left to try again
		}
		if err := sc.judge(after, err, limitFor(flaw), &states); err != nil {
			return report("%s, %s, tried again: %v", op, flaw, err)
		}
		return true
	})
	count.Faults += again.Faults
	count.States = states
	return count
}

// limitFor looks at power cuts behind one errno only: to the store they differ in
// what it says, not in what it does.
func limitFor(flaw crashfs.Fault) int {
	if flaw.Err == nil || flaw.Err == syscall.EIO || flaw.Part > 0 {
		return faultCrashLimit
	}
	return 0
}

// rightCode checks that the caller is told what kind of trouble it was.
func rightCode(flaw crashfs.Fault, said error) error {
	if said == nil || flaw.Err == nil {
		return nil
	}
	want := []fault.Code{fault.StoreIO, fault.StoreOutcomeUnknown}
	switch flaw.Err {
	case syscall.ENOSPC, syscall.EDQUOT:
		want = []fault.Code{fault.StoreFull, fault.StoreOutcomeUnknown}
	case syscall.EROFS:
		want = append(want, fault.StoreReadOnly)
	}
	if !slices.Contains(want, fault.CodeOf(said)) {
		return fmt.Errorf("it said %v; want one of %v", said, want)
	}
	return nil
}

// judge holds what an append said against what is there now and what a power cut
// leaves of it.
func (sc scenario) judge(f *crashfs.FS, said error, limit int, states *int) error {
	// Nobody was told anything, or that it is not known: either may be true. Any other
	// error is a promise that nothing was recorded.
	allowed := map[manifest.Head]bool{sc.before: true, sc.after: true}
	switch {
	case said == nil:
		allowed = map[manifest.Head]bool{sc.after: true}
	case !errors.Is(said, crashfs.ErrKilled) && !fault.Is(said, fault.StoreOutcomeUnknown):
		allowed = map[manifest.Head]bool{sc.before: true}
	}
	head, err := sc.truth(f)
	if err == nil && !allowed[head] {
		err = fmt.Errorf("it said %v, and the log is at %d", said, head.Next)
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
			err = fmt.Errorf("it said %v, and a power cut leaves the log at %d", said, head.Next)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", s.Name, err)
		}
		return err == nil
	})
	return err
}

// recover is what a caller does who got an error or no answer: the same call once
// more. Its answer must hold whatever comes.
func (sc scenario) recover(f *crashfs.FS, limit int, states *int) error {
	s, err := sc.process(f, 4)
	if err == nil {
		err = sc.appendUnlessThere(s)
	}
	if err != nil {
		return err
	}
	return sc.judge(f, nil, limit, states)
}

// appendUnlessThere is the engine's own way: what is recorded is confirmed, what
// is not is appended.
func (sc scenario) appendUnlessThere(s *filestore.Store) error {
	_, v, err := read(s, sc.plan.Log)
	if err != nil {
		return err
	}
	if v.Head == sc.after {
		return s.Confirm(context.Background(), sc.plan.Log, v.Head)
	}
	return sc.append(s)
}
