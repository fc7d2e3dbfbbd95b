// Package suite is the suite that every store passes, and the plans that tests of stores commit. It
// checks the contracts of package ports, independent of how a store keeps them.
package suite

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Store is every port that one store implements.
type Store interface {
	ports.Logs
	ports.Locks
	ports.Objects
	ports.Sessions
	ports.Identity
	ports.Keyring
	ports.HeadCache
	ports.SessionControls
	ports.Arrivals
	ports.Tombstones
}

// World makes a store that does not exist yet, and returns the function that opens it: each call is
// a handle as another process would have it.
type World func(t *testing.T) (open func(lockWait time.Duration) Store)

// Run runs the suite.
func Run(t *testing.T, world World) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, func(time.Duration) Store)
	}{
		{"an absent store reads as empty", absent},
		{"what is appended is read, confirmed and continued", appended},
		{"reading from a head visits what follows it", fromHead},
		{"a head of another history is not on the chain", notOnChain},
		{"a stale head is a conflict", conflict},
		{"a bad plan changes nothing", badPlan},
		{"only a live witness of this log appends", witnesses},
		{"one writer at a time", oneWriter},
		{"many writers lose nothing", manyWriters},
		{"objects are found by their digest", objects},
		{"sessions are listed by id", sessions},
		{"a side log and a log of the store", sideLogs},
		{"identity and keys stay what they are", identity},
		{"keys are replaced one after the other", rotation},
		{"a head cache is kept for each session and format", headCache},
		{"the head cache of a store's log is kept for each format", storeHeadCache},
		{"a session's control files are replaced and dropped", sessionControls},
		{"a session arrives whole", arrives},
		{"a session that does not arrive leaves nothing", arrivesNot},
		{"what arrives is what it is called", arrivesWrong},
		{"a session arrives once", arrivesOnce},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, world(t)) })
	}
}

// Gate appends p behind the current head of the log, as the engine would.
func Gate(s Store, p manifest.Plan) (head manifest.Head, err error) {
	ctx := context.Background()
	err = ports.WithHealthySession(ctx, s, s, p.Log, manifest.Head{}, &Seen{},
		func(w ports.Witness, v manifest.Verdict) error {
			head, err = s.Append(ctx, w, v.Head, p)
			return err
		})
	return head, err
}

// Seen is a visitor that keeps what it was given.
type Seen struct {
	Segments []manifest.Segment
	Heads    []manifest.Head
	Resets   int
}

// Reset implements ports.Visitor.
func (s *Seen) Reset() { *s = Seen{Resets: s.Resets + 1} }

// Visit implements ports.Visitor.
func (s *Seen) Visit(seg manifest.Segment, head manifest.Head) error {
	s.Segments, s.Heads = append(s.Segments, seg), append(s.Heads, head)
	return nil
}

// Read reads a log from a head on, and fails the test when that fails.
func Read(t testing.TB, s Store, log manifest.Log, from manifest.Head) (*Seen, manifest.Verdict) {
	t.Helper()
	seen := &Seen{}
	v, err := s.Read(context.Background(), ports.Reading{Log: log, From: from}, seen)
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return seen, v
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
