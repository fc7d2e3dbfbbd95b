// Package suite is the conformance suite of the store ports, and the fixtures that tests of stores
// commit. Run checks every contract of package ports that needs no knowledge of how a store keeps
// its data, and Schedules and Work every contract of the port of that name; each implementation runs them in its
// own tests.
//
// It does not cut the power or make disks fail: tests of package filestore do so over package
// crashfs. It has no test of retention, trash, repair or inspection, which one store implements.
//
// Main types: Store (the ports under test), Setup (how a test gets a store), SessionFixture (a
// session that is committed plan by plan), ImportFixture (a whole session to import). Start reading
// at Run.
package suite

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Store is the set of ports that one store implements and the suite checks. Optional ports, such as
// ports.SideLogs, ports.ObjectStreams and ports.Trash, are tested where they are implemented.
type Store interface {
	ports.Logs
	ports.Locks
	ports.Objects
	ports.Sessions
	ports.Identity
	ports.Keyring
	ports.HeadCache
	ports.SessionControls
	ports.SessionImporter
	ports.Tombstones
}

// Setup prepares a store that does not exist yet, and returns the function that opens it. Each call
// of open returns a new handle, as another process would have it; handles share the data and
// exclude each other by locks. lockWait is how long the handle waits for a lock; with 0 it tries
// once. Setup closes the handles when the test ends.
type Setup func(t *testing.T) (open func(lockWait time.Duration) Store)

// Run runs the suite as subtests of t, each with a store of its own that does not exist yet. They
// run one after the other and need no files, network or environment variables of their own. The
// name of a subtest is the requirement; the comment of its function has the details. A test uses
// several handles of one store, since most requirements are about what other processes see.
func Run(t *testing.T, setup Setup) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, func(time.Duration) Store)
	}{
		{"an absent store reads as empty", absentStore},
		{"appended events are read and confirmed", appendAndRead},
		{"reading from a head visits the segments after it", readFromHead},
		{"a head of another log is not on the chain", foreignHead},
		{"a stale head is a conflict", staleHead},
		{"an invalid plan changes nothing", invalidPlan},
		{"only a live witness of this log appends", witnesses},
		{"a log has one writer at a time", exclusiveLock},
		{"concurrent writers lose nothing", concurrentWriters},
		{"objects are found by their digest", objects},
		{"sessions are listed by id", sessions},
		{"side logs and logs of the store are independent", sideLogs},
		{"identity and keys are stable", identity},
		{"keys are rotated one after the other", rotation},
		{"a head cache is kept for each session and format", headCache},
		{"the head cache of a store's log is kept for each format", storeHeadCache},
		{"a session's control files are replaced and dropped", sessionControls},
		{"a session is imported as a whole", importSession},
		{"an import that is not committed leaves no session", abandonedImport},
		{"invalid imports are rejected", invalidImport},
		{"a session is imported once", concurrentImports},
		{"a session is extended as a whole", extensions},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, setup(t)) })
	}
}

// Gate commits p at the current end of its log, as the engine does: it locks the log, reads it, and
// appends with the witness of the gate. It returns the head after p. The error is that of the lock,
// of the reading, of the gate (SESSION_UNHEALTHY) or of the append.
func Gate(s Store, p manifest.Plan) (head manifest.Head, err error) {
	ctx := context.Background()
	// From the zero head: a fixture keeps no state of the log, so each commit verifies all of it.
	err = ports.WithHealthySession(ctx, s, s, p.Log, manifest.Head{}, ports.Skip,
		func(w ports.Witness, v manifest.Verdict) error {
			head, err = s.Append(ctx, w, v.Head, p)
			return err
		})
	return head, err
}

// Seen is a visitor that records the segments of one reading.
type Seen struct {
	Segments []manifest.Segment
	Heads    []manifest.Head // after each of Segments
}

// NewSeen returns a visitor that has received nothing.
func NewSeen() *Seen { return &Seen{} }

// Visit implements ports.Visitor.
func (s *Seen) Visit(seg manifest.Segment, head manifest.Head) error {
	s.Segments, s.Heads = append(s.Segments, seg), append(s.Heads, head)
	return nil
}

// Read reads a log from a head on (the zero Head: all of it) and fails the test on an error. A
// damaged log is no error: the verdict describes it.
func Read(t testing.TB, s Store, log manifest.Log, from manifest.Head) (*Seen, manifest.Verdict) {
	t.Helper()
	seen := NewSeen()
	v, err := s.Read(context.Background(), ports.ReadRequest{Log: log, From: from}, ports.Into(&seen, NewSeen))
	if err != nil {
		t.Fatalf("read: %v", err)
	}
	return seen, v
}

// must fails the test at once on an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
