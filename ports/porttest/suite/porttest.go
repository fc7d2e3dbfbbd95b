// Package suite is the conformance suite of the store ports, and the fixtures that tests of stores
// commit. Cases has every contract of package ports, and needs no knowledge of how a store keeps
// its data: what a case does behind the back of a store, such as damage and power cuts, is done by the hooks of its
// Bench. Each implementation runs them in its own tests. Ports that are implemented beside a store have their suites in
// package adapters.
//
// A test of this package breaks each method of a store, one after the other, and requires that a case
// fails. Crashes between two steps of one store are its own matter: tests of package filestore enumerate them over
// package crashfs.
//
// Main types: Store (the ports under test), Setup and Bench (how a test gets a store), SessionFixture (a
// session that is committed plan by plan), ImportFixture (a whole session to import). Start reading
// at Cases.
package suite

import (
	"context"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Store is the set of ports that every store implements. Capabilities that a store may lack are asserted where they are
// checked: ports.UnknownEntries, ports.Availability and ports.Briefs. Ports that are implemented beside a store have suites of their
// own in package adapters.
type Store interface {
	ports.Logs
	ports.Locks
	ports.Objects
	ports.ObjectStreams
	ports.Sessions
	ports.SideLogs
	ports.Identity
	ports.Tenancy
	ports.Keyring
	ports.HeadCache
	ports.Controls
	ports.SessionControls
	ports.SessionImporter
	ports.Tombstones
	ports.Trash
	ports.Retention
	ports.Repairs
	ports.Inspector
	ports.Digests
	ports.PerformerStatus
	// Performers gives the leases of performers; see Leases for stores that have them.
	Performers() ports.Performers
}

// Setup prepares a store that does not exist yet. It closes the handles when the test ends.
type Setup func(t testing.TB) Bench

// Case is one requirement of the suite.
type Case struct {
	Name string // the requirement
	// Run checks it with a store of its own that does not exist yet.
	Run func(t testing.TB, b Bench)
}

// opened is the Run of a case that only opens the store.
func opened(run func(testing.TB, func(time.Duration) Store)) func(testing.TB, Bench) {
	return func(t testing.TB, b Bench) { run(t, b.Open) }
}

// Run runs all cases as subtests of t, each with a store of its own that does not exist yet. They
// run one after the other and need no files, network or environment variables of their own.
func Run(t *testing.T, setup Setup) {
	for _, c := range Cases() {
		t.Run(c.Name, func(t *testing.T) { c.Run(t, setup(t)) })
	}
}

// Cases lists the cases of the suite. The comment of a case's function has the details of its requirement. A
// case uses several handles of one store, since most requirements are about what other processes see.
func Cases() []Case {
	out := []Case{
		{"an absent store reads as empty", opened(absentStore)},
		{"appended events are read and confirmed", opened(appendAndRead)},
		{"reading from a head visits the segments after it", opened(readFromHead)},
		{"a head of another log is not on the chain", opened(foreignHead)},
		{"a stale head is a conflict", opened(staleHead)},
		{"an invalid plan changes nothing", opened(invalidPlan)},
		{"only a live witness of this log appends", opened(witnesses)},
		{"a log has one writer at a time", opened(exclusiveLock)},
		{"concurrent writers lose nothing", opened(concurrentWriters)},
		{"a session has one performer at a time", opened(onePerformer)},
		{"a token orders leases where a store has them", opened(leaseTokens)},
		{"an append under a lease that is not present is refused", opened(staleLease)},
		{"an extension under a lease that is not present is refused", opened(staleExtension)},
		{"the tokens of leases grow", opened(growingTokens)},
		{"a late release does not end the next lease", opened(lateRelease)},
		{"a lease is renewed while its holder lives", opened(renewal)},
		{"the lease of a holder that hangs ends", opened(hungHolder)},
		{"a session says whether it is performed", opened(performerStatus)},
		{"objects are found by their digest", opened(objects)},
		{"sessions are listed by id", opened(sessions)},
		{"side logs and logs of the store are independent", opened(sideLogs)},
		{"identity and keys are stable", opened(identity)},
		{"keys are rotated one after the other", opened(rotation)},
		{"a head cache is kept for each session and format", opened(headCache)},
		{"the head cache of a store's log is kept for each format", opened(storeHeadCache)},
		{"a session's control files are replaced and dropped", opened(sessionControls)},
		{"a session is imported as a whole", opened(importSession)},
		{"an import that is not committed leaves no session", opened(abandonedImport)},
		{"invalid imports are rejected", opened(invalidImport)},
		{"tombstones of a bundle do not replace what is stored", opened(importTombstones)},
		{"a session is imported once", opened(concurrentImports)},
		{"a session is extended as a whole", opened(extensions)},
		{"objects are streams that end with their digest", objectStreams},
		{"side logs are listed by their owner", opened(listedSideLogs)},
		{"a store has one tenant", opened(tenant)},
		{"control files of the store are replaced one after the other", controls},
		{"a keyring that cannot be read is replaced", damagedKeyring},
		{"a session is moved to the trash and back", opened(trash)},
		{"a session in use is not moved to the trash", opened(trashInUse)},
		{"the trash is emptied for good", opened(emptyTrash)},
		{"every log is listed", opened(logRoots)},
		{"everything that is stored has a size", opened(sizes)},
		{"erased bytes leave a tombstone", opened(erase)},
		{"a cleanup excludes commits", opened(exclusive)},
		{"a cleanup removes what it names", opened(sweeps)},
		{"a side log of the store is removed at its head", opened(removeLogs)},
		{"what is left over is listed and removed", leftovers},
		{"what cannot be read is listed", unread},
		{"a damaged log keeps its valid beginning", repairTail},
		{"a log without a valid beginning is moved away", repairHead},
		{"a log that is sound or unknown is not repaired", opened(notRepaired)},
		{"a control file that cannot be used is moved away", repairControl},
		{"an inspection finds what is damaged", inspection},
		{"nothing changes while a log is examined", opened(withoutChanges)},
		{"digests are verified without events", digests},
		{"logs of unknown names are reported", unknownEntries},
		{"what could not be opened is counted", descriptors},
		{"a brief is kept in the commit", catalogued(briefOfCommit)},
		{"a session without a brief of its logs changed", catalogued(changedBriefs)},
		{"runs are selected by their briefs", catalogued(selectedBriefs)},
		{"pages of briefs follow each other", catalogued(pagesOfBriefs)},
		{"what is not durable is not acknowledged, and confirmed when it is", weakAppend},
	}
	for _, p := range promises() {
		out = append(out, Case{"a power cut after " + p.name + " loses nothing", durable(p.name)},
			Case{p.name + " does not acknowledge what may be lost", weak(p.name)})
	}
	return out
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
