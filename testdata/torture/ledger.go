//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/fixture"
)

// outcome is what an append returned to its caller.
type outcome string

const (
	pending      outcome = "pending"
	acknowledged outcome = "acknowledged"
	refused      outcome = "refused"
	unknown      outcome = "unknown"
)

// operation is one append. Its marker is the digest of its snapshot.
type operation struct {
	marker canon.Digest
	log    manifest.Log
	token  int64
	result outcome
	head   manifest.Head // behind it, as it was acknowledged
	err    error
	found  int // how often it is recorded
}

// ledger has what appends and other calls returned. It is safe for concurrent use.
type ledger struct {
	mu        sync.Mutex // guards the fields below
	all       map[canon.Digest]*operation
	logs      map[string]manifest.Log
	heads     map[string][]manifest.Head // by root: those that were confirmed
	grants    map[string]int             // by session and token
	codes     map[string]int             // of the errors of appends
	examples  map[string]error           // one of each of codes
	unstarted int                        // calls that ended before a plan was made
}

func newLedger() *ledger {
	return &ledger{all: map[canon.Digest]*operation{}, logs: map[string]manifest.Log{}, heads: map[string][]manifest.Head{},
		grants: map[string]int{}, codes: map[string]int{}, examples: map[string]error{}}
}

// begin notes an append before it is sent.
func (l *ledger) begin(p manifest.Plan, s *fixture.SessionFixture) *operation {
	o := &operation{marker: p.Objects[0].Ref(), log: s.Log, token: p.Lease, result: pending}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all[o.marker] != nil {
		panic("a marker is used twice")
	}
	l.all[o.marker], l.logs[s.Log.Root] = o, s.Log
	return o
}

// end notes the result of an append.
func (l *ledger) end(o *operation, head manifest.Head, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o.err = err
	switch {
	case err == nil:
		o.result, o.head = acknowledged, head
	case fault.Is(err, fault.StoreOutcomeUnknown):
		o.result = unknown
	default:
		o.result = refused
	}
	l.count(err)
}

// notBegun notes a call that ended before a plan was made.
func (l *ledger) notBegun(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unstarted++
	l.count(err)
}

// count counts an error by its code.
func (l *ledger) count(err error) {
	if err != nil {
		code := string(fault.Of(err).Code)
		if errors.Is(err, manifest.ErrNotOnChain) { // a server that was replaced does not have the head that is read from
			code = "not on the chain"
		}
		l.codes[code]++
		l.examples[code] = err
	}
}

// confirmed notes a head that was confirmed.
func (l *ledger) confirmed(log manifest.Log, head manifest.Head) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heads[log.Root] = append(l.heads[log.Root], head)
}

// granted notes the grant of a lease.
func (l *ledger) granted(s id.Session, token int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.grants[fmt.Sprintf("%s %d", s, token)]++
}

// store is what the result is read from.
type store interface {
	ports.Logs
	ports.Objects
}

// result is what the ledger and the store say together.
type result struct {
	counts                                       map[outcome]int
	unknownRecorded, unstarted, confirmed        int
	lost, doubled, unsaid, unhealthy, lease, odd []string // a description each
}

// failed reports that a promise is broken.
func (r result) failed() bool {
	return len(r.lost)+len(r.doubled)+len(r.unsaid)+len(r.unhealthy)+len(r.lease)+len(r.odd) > 0
}

// compare reads every log, and compares what is recorded with what the callers received.
func (l *ledger) compare(ctx context.Context, s store) (r result, err error) {
	r.counts, r.unstarted = map[outcome]int{}, l.unstarted
	for _, root := range slices.Sorted(maps.Keys(l.logs)) {
		if err := l.compareLog(ctx, s, l.logs[root], &r); err != nil {
			return r, err
		}
	}
	for _, o := range l.all {
		r.counts[o.result]++
		text := fmt.Sprintf("%s of %s: %v", o.marker, o.log.Owner, o.err)
		switch {
		case o.result == acknowledged && o.found == 0:
			r.lost = append(r.lost, text)
		case o.result == refused && o.found > 0:
			r.unsaid = append(r.unsaid, text)
		case o.result == unknown && o.found > 0:
			r.unknownRecorded++
		}
		if o.found > 1 {
			r.doubled = append(r.doubled, text)
		}
	}
	for grant, n := range l.grants {
		if n > 1 {
			r.lease = append(r.lease, fmt.Sprintf("the lease %s was granted %d times", grant, n))
		}
	}
	for _, code := range []fault.Code{fault.SessionUnhealthy, fault.StoreCorrupt, fault.Internal} {
		if n := l.codes[string(code)]; n > 0 {
			r.odd = append(r.odd, fmt.Sprintf("%d errors %s, such as: %v", n, code, l.examples[string(code)]))
		}
	}
	return r, nil
}

// compareLog counts the operations that a log has, and examines its chain, its objects and the order of its leases.
func (l *ledger) compareLog(ctx context.Context, s store, log manifest.Log, r *result) error {
	var markers []canon.Digest
	heads := map[manifest.Head]bool{}
	visit := func(seg manifest.Segment, head manifest.Head) error {
		heads[head] = true
		for _, e := range seg.Events {
			if node, ok := e.Data.(event.NodeCreated); ok {
				markers = append(markers, node.SnapshotRef)
			}
		}
		return nil
	}
	v, err := s.Read(ctx, ports.ReadRequest{Log: log}, func(manifest.Head) ports.Visitor {
		markers = nil
		return ports.VisitorFunc(visit)
	})
	if err != nil {
		return err
	}
	if v.Health != manifest.Healthy || len(v.Findings) > 0 {
		r.unhealthy = append(r.unhealthy, fmt.Sprintf("%s is %s: %v", log.Owner, v.Health, v.Findings))
	}
	token := int64(0)
	for _, marker := range markers {
		o := l.all[marker]
		if o == nil {
			r.unsaid = append(r.unsaid, fmt.Sprintf("%s of %s, which no writer sent", marker, log.Owner))
			continue
		}
		o.found++
		if o.token != 0 && o.token < token {
			r.lease = append(r.lease, fmt.Sprintf("%s has an append of the lease %d behind one of %d", log.Owner, o.token, token))
		}
		token = max(token, o.token)
		if o.result == acknowledged && !heads[o.head] {
			r.lost = append(r.lost, fmt.Sprintf("the place of %s in %s", marker, log.Owner))
		}
		if _, err := s.Object(ctx, manifest.Snapshot, marker); err != nil {
			r.lost = append(r.lost, fmt.Sprintf("the snapshot of %s: %v", log.Owner, err))
		}
	}
	for _, head := range l.heads[log.Root] {
		r.confirmed++
		if !heads[head] {
			r.lost = append(r.lost, fmt.Sprintf("what was confirmed of %s up to event %d", log.Owner, head.Next))
		}
	}
	return nil
}
