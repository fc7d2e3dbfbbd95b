package suite_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/storetest"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// TestDurabilityMutants: a store that acknowledges before it is durable, whose Confirm is no barrier, that ignores the
// warning of its storage, that has no lock or does not compare the head, each fails a case.
func TestDurabilityMutants(t *testing.T) {
	const late = "what is not durable is not acknowledged, and confirmed when it is"
	mutants := []storetest.Mutant{
		{Name: "Confirm is no barrier", In: late, Setup: storetest.Late{Early: map[string]bool{"Confirm": true}}.Bench},
		{Name: "Append ignores a warning", In: late, Setup: storetest.Late{Deaf: true}.Bench},
		{Name: "a lock is taken for the append only", In: "a log has one writer at a time", Setup: wrapped(unlocked)},
		{Name: "Append does not compare the head", In: "a stale head is a conflict", Setup: wrapped(uncompared)},
	}
	for _, c := range suite.Cases() {
		op, ok := strings.CutPrefix(c.Name, "a power cut after ")
		if op, _ = strings.CutSuffix(op, " loses nothing"); ok {
			mutants = append(mutants,
				storetest.Mutant{Name: op + " acknowledges early", In: c.Name,
					Setup: storetest.Late{Early: map[string]bool{op: true}}.Bench},
				storetest.Mutant{Name: op + " ignores a warning", In: op + " does not acknowledge what may be lost",
					Setup: storetest.Late{Deaf: true}.Bench})
		}
	}
	if len(mutants) < 30 {
		t.Errorf("there are %d mutants only: operations are missing", len(mutants))
	}
	storetest.DetectMutants(t, storetest.Late{}.Bench, mutants)
}

// wrapped is a bench whose handles are changed.
func wrapped(wrap func(suite.Store) suite.Store) suite.Setup { return storetest.Late{Wrap: wrap}.Bench }

// unlocked returns a handle that takes no lock before it appends.
func unlocked(s suite.Store) suite.Store { return lockless{s} }

type lockless struct{ suite.Store }

// Lock implements ports.Locks without a lock.
func (lockless) Lock(context.Context, manifest.Log) (func() error, error) {
	return sync.OnceValue(func() error { return nil }), nil
}

// Append implements ports.Logs under a lock of its own.
func (s lockless) Append(ctx context.Context, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error) {
	unlock, err := s.Store.Lock(ctx, p.Log)
	if err != nil {
		return at, err
	}
	defer func() { _ = unlock() }()
	return s.Store.Append(ctx, w, at, p)
}

// uncompared returns a handle that appends a plan for another head at the end.
func uncompared(s suite.Store) suite.Store { return careless{s} }

type careless struct{ suite.Store }

// Append implements ports.Logs without a comparison of the head.
func (s careless) Append(ctx context.Context, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error) {
	head, err := s.Store.Append(ctx, w, at, p)
	if !fault.Is(err, fault.StoreConflict) {
		return head, err
	}
	v, err := s.Read(ctx, ports.ReadRequest{Log: p.Log, Locked: true}, ports.Skip)
	if err != nil {
		return at, err
	}
	for i := range p.Events {
		p.Events[i].Index = v.Head.Next + int64(i)
	}
	return s.Store.Append(ctx, w, v.Head, p)
}
