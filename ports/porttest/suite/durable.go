package suite

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

// promise is one operation whose nil promises durability.
type promise struct {
	name string
	// prepare makes what the operation needs; it is durable before the operation begins.
	prepare func(t testing.TB, b Bench)
	// do carries it out.
	do func(t testing.TB, s Store) error
	// check checks that its effect exists.
	check func(t testing.TB, s Store)
}

// promises has every operation of a store whose nil promises durability, apart from Confirm. Objects that only Sweeper
// removes, and what Trash.Empty removes, may exist again after a power cut.
func promises() []promise {
	return slices.Concat(promisesOfStores(), promisesOfSessions(), promisesOfTrash(), promisesOfImports(), promisesOfRepairs())
}

// setTo returns a change of a control file to a number.
func setTo(t testing.TB, n int64) func(ports.Control) (ports.Control, error) {
	return func(ports.Control) (ports.Control, error) { return control(t, n), nil }
}

// erasable is an artifact of the session that prepareSession commits.
var erasable = manifest.Object{Kind: manifest.Artifact, Bytes: []byte("an artifact")}

// prepareSession commits a session.
func prepareSession(t testing.TB, b Bench) {
	t.Helper()
	p := NewSessionFixture(1).Start()
	p.Objects = append(p.Objects, erasable)
	_, err := Gate(b.Open(0), p)
	must(t, err)
}

// promisesOfStores are those about what a store has once.
func promisesOfStores() []promise {
	ctx := context.Background()
	var store canon.Digest
	var keys token.Keys
	keysAre := func(t testing.TB, s Store) {
		t.Helper()
		if got, err := s.Keys(ctx, ports.ReadOnly); err != nil || got.Current != keys.Current {
			t.Errorf("the keyring is another one: %v", err)
		}
	}
	return []promise{
		{"StoreID", nil, func(_ testing.TB, s Store) error {
			got, err := s.StoreID(ctx, ports.MayCreate)
			store = canon.Sum([]byte(got.String()))
			return err
		}, func(t testing.TB, s Store) {
			if got, err := s.StoreID(ctx, ports.ReadOnly); err != nil || canon.Sum([]byte(got.String())) != store {
				t.Errorf("the store has another id: %q, %v", got, err)
			}
		}},
		{"Keys", nil, func(_ testing.TB, s Store) (err error) {
			keys, err = s.Keys(ctx, ports.MayCreate)
			return err
		}, keysAre},
		{"Rotate", func(t testing.TB, b Bench) {
			var err error
			keys, err = b.Open(0).Keys(ctx, ports.MayCreate)
			must(t, err)
		}, func(_ testing.TB, s Store) error {
			from := keys.Current
			out, err := s.Rotate(ctx, ports.Rotation{By: actor, AtMs: atMs, From: &from})
			keys = out.Keys
			return err
		}, keysAre},
		{"UpdateControl", nil, func(t testing.TB, s Store) error { return s.UpdateControl(ctx, configFile, setTo(t, 4)) },
			func(t testing.TB, s Store) {
				if c, err := s.Control(ctx, configFile); err != nil || number(c) != 4 {
					t.Errorf("the control file is %+v, %v", c, err)
				}
			}},
	}
}

// promisesOfSessions are those about one session.
func promisesOfSessions() []promise {
	ctx, r := context.Background(), NewSessionFixture(1)
	keep := func(t testing.TB, s Store, n int64) {
		t.Helper()
		if c, err := s.SessionControl(ctx, r.Session, ports.KeepFile); err != nil || number(c) != n {
			t.Errorf("the control file of the session is %+v, %v; want %d", c, err, n)
		}
	}
	return []promise{
		{"Append", prepareSession, func(_ testing.TB, s Store) error {
			next := NewSessionFixture(1)
			next.Start()
			_, err := Gate(s, next.Advance(3))
			return err
		}, func(t testing.TB, s Store) {
			if _, v := Read(t, s, r.Log, manifest.Head{}); v.Head.Next != 6 || v.Health != manifest.Healthy {
				t.Errorf("the log is %+v; want 6 events", v)
			}
			snapshot := r.Snapshot(1)
			if _, err := s.Object(ctx, snapshot.Kind, snapshot.Ref()); err != nil {
				t.Errorf("the snapshot of the attempt: %v", err)
			}
		}},
		{"UpdateSessionControl", prepareSession, func(t testing.TB, s Store) error {
			return s.UpdateSessionControl(ctx, r.Session, ports.KeepFile, setTo(t, 4))
		}, func(t testing.TB, s Store) { keep(t, s, 4) }},
		{"DropSessionControl", func(t testing.TB, b Bench) {
			prepareSession(t, b)
			must(t, b.Open(0).UpdateSessionControl(ctx, r.Session, ports.KeepFile, setTo(t, 4)))
		}, func(t testing.TB, s Store) error { return s.DropSessionControl(ctx, r.Session, ports.KeepFile) },
			func(t testing.TB, s Store) { keep(t, s, -1) }},
		{"Erase", prepareSession, func(t testing.TB, s Store) error {
			_, err := s.Erase(ctx, erasable.Ref(), func(int64) canon.Value { return control(t, 1).Data })
			return err
		}, func(t testing.TB, s Store) {
			if _, err := s.Object(ctx, erasable.Kind, erasable.Ref()); !fault.Is(err, fault.ArtifactErased) {
				t.Errorf("the erased artifact: %v", err)
			}
		}},
	}
}

// promisesOfTrash are those of the trash.
func promisesOfTrash() []promise {
	ctx, r := context.Background(), NewSessionFixture(1)
	sessions := func(t testing.TB, s Store, n int) {
		t.Helper()
		if list, err := s.Sessions(ctx); err != nil || len(list) != n {
			t.Errorf("sessions: %v, %v; want %d", list, err, n)
		}
	}
	var entry ports.TrashEntry
	return []promise{
		{"Discard", prepareSession, func(t testing.TB, s Store) (err error) {
			entry, err = s.Discard(ctx, r.Session, atMs, control(t, 1).Data, allow)
			return err
		}, func(t testing.TB, s Store) { sessions(t, s, 0); checkTrash(t, s, entry) }},
		{"Restore", func(t testing.TB, b Bench) { prepareSession(t, b); entry = discard(t, b.Open(0), r, 1) },
			func(t testing.TB, s Store) error { _, err := s.Restore(ctx, entry.Name); return err },
			func(t testing.TB, s Store) { sessions(t, s, 1); checkTrash(t, s) }},
	}
}

// promisesOfImports are those of imports.
func promisesOfImports() []promise {
	ctx, tr := context.Background(), func(t testing.TB) *ImportFixture { return NewImportFixture(t, 2, 2) }
	x := func(t testing.TB) *ExtensionFixture { return NewExtensionFixture(t, 3, 3, 2, 1) }
	return []promise{
		{"SessionImport.Commit", nil, func(t testing.TB, s Store) error {
			a, err := s.BeginImport(ctx, tr(t).Session)
			if err == nil {
				err = tr(t).PassTo(ctx, a, control(t, 1))
			}
			if err == nil {
				_, err = a.Commit(ctx)
			}
			return err
		}, func(t testing.TB, s Store) { checkImported(t, tr(t), handles(s)) }},
		{"SessionImport.Commit of an extension", func(t testing.TB, b Bench) { must(t, x(t).Prepare(b.Open(0))) },
			func(t testing.TB, s Store) error { return x(t).Extend(s) },
			func(t testing.TB, s Store) { checkImported(t, x(t).ImportFixture, handles(s)) }},
	}
}

// promisesOfRepairs are those of repairs.
func promisesOfRepairs() []promise {
	ctx, r := context.Background(), NewSessionFixture(1)
	return []promise{
		{"RepairLog", func(t testing.TB, b Bench) {
			needs(t, b.Damage != nil, "damage")
			commit(t, b.Open(0), NewSessionFixture(1), 1)
			b.Damage.Segment(r.Log, 3)
		}, func(_ testing.TB, s Store) error { _, err := s.RepairLog(ctx, logRepair(r.Log, false)); return err },
			func(t testing.TB, s Store) {
				if _, v := Read(t, s, r.Log, manifest.Head{}); v.Head.Next != 3 || v.Health != manifest.Healthy {
					t.Errorf("the repaired log is %+v", v)
				}
			}},
		{"RepairControl", func(t testing.TB, b Bench) { must(t, b.Open(0).UpdateControl(ctx, configFile, setTo(t, 4))) },
			func(_ testing.TB, s Store) error {
				_, err := s.RepairControl(ctx, ports.ControlRepair{File: configFile, By: actor, AtMs: atMs},
					func(ports.Control) error { return errors.New("not valid") })
				return err
			}, func(t testing.TB, s Store) {
				if c, err := s.Control(ctx, configFile); err != nil || c.V != 0 {
					t.Errorf("the repaired control file is %+v, %v", c, err)
				}
			}},
	}
}

// durable: what an operation acknowledged exists after a power cut that follows at once.
func durable(of string) func(testing.TB, Bench) {
	return func(t testing.TB, b Bench) {
		needs(t, b.Power != nil, "power to cut")
		p := promised(of)
		if p.prepare != nil {
			p.prepare(t, b)
		}
		must(t, p.do(t, b.Open(0)))
		b.Power.Cut()
		p.check(t, b.Open(0))
	}
}

// weak: while the storage warns that what it writes may not be durable, an operation reports an error, or what it
// acknowledged exists after a power cut.
func weak(of string) func(testing.TB, Bench) {
	return func(t testing.TB, b Bench) {
		needs(t, b.Power != nil, "power to cut")
		p := promised(of)
		if p.prepare != nil {
			p.prepare(t, b)
		}
		restore := b.Power.Weaken()
		err := p.do(t, b.Open(0))
		restore()
		b.Power.Cut()
		if err == nil {
			p.check(t, b.Open(0))
		}
	}
}

// promised returns the promise of a name.
func promised(name string) promise {
	for _, p := range promises() {
		if p.name == name {
			return p
		}
	}
	panic(name)
}

// weakAppend: an append that the storage did not acknowledge as durable is STORE_OUTCOME_UNKNOWN, or the log is
// unchanged. A reader that finds it confirms it before it relies on it: Confirm returns nil only for what a power cut
// leaves, and does so once the storage is sound.
func weakAppend(t testing.TB, b Bench) {
	needs(t, b.Power != nil, "power to cut")
	ctx, r := context.Background(), NewSessionFixture(1)
	heads := commit(t, b.Open(0), r, 0)
	restore := b.Power.Weaken()
	_, err := Gate(b.Open(0), r.Advance(heads[0].Next))
	_, v := Read(t, b.Open(0), r.Log, manifest.Head{})
	if err == nil || v.Head != heads[0] && !fault.Is(err, fault.StoreOutcomeUnknown) {
		t.Errorf("an append to storage that warns returned %v, and the log is at %d; want STORE_OUTCOME_UNKNOWN, or no change",
			err, v.Head.Next)
	}
	early := b.Open(0).Confirm(ctx, r.Log, v.Head)
	restore()
	if early != nil {
		must(t, b.Open(0).Confirm(ctx, r.Log, v.Head))
	}
	b.Power.Cut()
	if _, after := Read(t, b.Open(0), r.Log, manifest.Head{}); after.Head != v.Head || after.Health != manifest.Healthy {
		t.Errorf("a power cut left the log at %+v; %d events were confirmed", after, v.Head.Next)
	}
	if _, err := Gate(b.Open(0), r.Advance(v.Head.Next)); v.Head != heads[0] && err != nil {
		t.Errorf("the log does not continue: %v", err)
	}
}
