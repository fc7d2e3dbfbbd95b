package suite

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/fixture"
)

// logRepair is a repair of a log.
func logRepair(log manifest.Log, dryRun bool) ports.LogRepair {
	return ports.LogRepair{Log: log, By: actor, AtMs: atMs, DryRun: dryRun}
}

// otherContent returns all that ReadOtherContent passes.
func otherContent(t testing.TB, s Store) []byte {
	t.Helper()
	var all []byte
	must(t, s.ReadOtherContent(context.Background(), func(b []byte) { all = append(all, b...) }))
	return all
}

// repairTail: a log with a damaged segment is corrupt_tail. A dry run passes what would be lost to Quarantine, lists the
// steps and changes nothing. A repair does them: the log ends before the damage, is healthy and continues; what followed
// is in the quarantine, where a search for references finds it; and the caches of the log are gone. It waits for the
// log's lock.
func repairTail(t testing.TB, b Bench) {
	needs(t, b.Damage != nil, "damage")
	ctx, r := context.Background(), NewSessionFixture(1)
	heads := commit(t, b.Open(0), r, 3)
	lost := NewSessionFixture(1)
	lost.Start()
	pin := []byte(lost.Advance(heads[0].Next).Objects[0].Ref().String())
	must(t, b.Open(0).StoreHead(ctx, r.Log, 1, []byte("a cache of the lost head")))
	b.Damage.Segment(r.Log, heads[0].Next)
	if bytes.Contains(otherContent(t, b.Open(0)), pin) {
		t.Error("other content has the events of a log before its repair")
	}
	var planned ports.RepairResult
	for _, dryRun := range []bool{true, false} {
		call := logRepair(r.Log, dryRun)
		parts := map[string]int{}
		call.Quarantine = func(name string, data []byte) { parts[name] = len(data) }
		if !dryRun {
			unlock, err := b.Open(0).Lock(ctx, r.Log)
			must(t, err)
			if _, err := b.Open(0).RepairLog(ctx, call); !fault.Is(err, fault.SessionLocked) {
				t.Errorf("a repair while a writer holds the log: %v; want SESSION_LOCKED", err)
			}
			must(t, unlock())
		}
		done, err := b.Open(0).RepairLog(ctx, call)
		must(t, err)
		if done.Verdict.Health != manifest.CorruptTail || done.Verdict.Head != heads[0] || done.QuarantinePlace == "" ||
			len(done.Steps) < 3 || len(parts) != 4 || parts[manifest.FileName] == 0 {
			t.Errorf("a repair, dry run %v: %+v, with %v; want corrupt_tail at %+v, and three segments and a manifest", dryRun,
				done, parts, heads[0])
		}
		for _, step := range done.Steps {
			if step.From == "" || step.To == "" || step.Bytes == 0 ||
				step.What != ports.MoveToQuarantine && step.What != ports.KeepPrefix {
				t.Errorf("a step is %+v", step)
			}
		}
		if dryRun {
			planned = done
			if _, v := Read(t, b.Open(0), r.Log, manifest.Head{}); v.Health != manifest.CorruptTail {
				t.Errorf("after a dry run the log is %+v", v)
			}
		} else if done.QuarantinePlace != planned.QuarantinePlace || len(done.Steps) != len(planned.Steps) {
			t.Errorf("a repair does other steps than it announced: %+v; want %+v", done.Steps, planned.Steps)
		}
	}
	if _, v := Read(t, b.Open(0), r.Log, manifest.Head{}); v.Head != heads[0] || v.Health != manifest.Healthy ||
		len(v.Findings) > 0 {
		t.Errorf("the repaired log is %+v; want healthy at %+v", v, heads[0])
	}
	if cached, err := b.Open(0).CachedHead(ctx, r.Log, 1, 100); err != nil || len(cached) > 0 {
		t.Errorf("the repaired log has the cache %q, %v", cached, err)
	}
	if !bytes.Contains(otherContent(t, b.Open(0)), pin) {
		t.Error("other content does not have the events that were moved to the quarantine")
	}
	if _, err := Gate(b.Open(0), lost.Advance(heads[0].Next)); err != nil {
		t.Errorf("the repaired log does not continue: %v", err)
	}
}

// repairHead: a log without a valid beginning is moved to the quarantine as a whole, with its side logs. It reads as
// unborn then, and begins again.
func repairHead(t testing.TB, b Bench) {
	needs(t, b.Damage != nil, "damage")
	ctx, r := context.Background(), NewSessionFixture(1)
	commit(t, b.Open(0), r, 1)
	_, err := Gate(b.Open(0), Notes(SessionNotes(r.Session), 0, "one"))
	must(t, err)
	b.Damage.Manifest(r.Log)
	done, err := b.Open(0).RepairLog(ctx, logRepair(r.Log, false))
	if err != nil || done.Verdict.Health != manifest.CorruptHead || len(done.Steps) < 4 {
		t.Errorf("the repair of a log without a valid beginning: %+v, %v", done, err)
	}
	for _, log := range []manifest.Log{r.Log, SessionNotes(r.Session)} {
		if _, v := Read(t, b.Open(0), log, manifest.Head{}); !v.Unborn() || len(v.Findings) > 0 {
			t.Errorf("%s is %+v; want unborn", log.Root, v)
		}
	}
	commit(t, b.Open(0), NewSessionFixture(1), 0)
}

// notRepaired: a log that is sound, and one that does not exist, have no steps and are not changed. A log that is known
// to have had more events is damaged. A log with events that its table does not know is SESSION_UNHEALTHY.
func notRepaired(t testing.TB, open func(time.Duration) Store) {
	ctx, s, r := context.Background(), open(0), NewSessionFixture(1)
	nothing := func(what string) {
		t.Helper()
		if done, err := open(0).RepairLog(ctx, logRepair(r.Log, false)); err != nil || len(done.Steps) > 0 ||
			done.Verdict.Damaged() {
			t.Errorf("the repair of %s: %+v, %v; want no steps", what, done, err)
		}
	}
	nothing("a log of an absent store")
	heads := commit(t, s, r, 1)
	nothing("a sound log")
	if done, err := open(0).RepairLog(ctx, logRepair(r.Log, false)); err != nil || done.Verdict.Head != heads[1] {
		t.Errorf("the repair of a sound log has the verdict %+v, %v", done.Verdict, err)
	}
	call := logRepair(r.Log, true)
	call.ExpectedNext = heads[1].Next + 1
	if done, err := open(0).RepairLog(ctx, call); err != nil || done.Verdict.Health != manifest.CorruptTail ||
		len(done.Steps) == 0 {
		t.Errorf("the repair of a log that lost events: %+v, %v", done, err)
	}
	later := SessionNotes(r.Session)
	later.Table = fixture.LaterNotes
	p := Notes(later, 0, "one")
	p.Events[0].Data = fixture.LaterNote{}
	_, err := Gate(s, p)
	must(t, err)
	unknown := SessionNotes(r.Session)
	if _, err := open(0).RepairLog(ctx, logRepair(unknown, false)); !fault.Is(err, fault.SessionUnhealthy) {
		t.Errorf("the repair of a log with unknown events: %v; want SESSION_UNHEALTHY", err)
	}
	if _, v := Read(t, open(0), later, manifest.Head{}); v.Head.Next != 1 || v.Health != manifest.Healthy {
		t.Errorf("the log with unknown events is %+v", v)
	}
	if _, v := Read(t, open(0), r.Log, manifest.Head{}); v.Head != heads[1] || v.Health != manifest.Healthy {
		t.Errorf("the log is %+v; want head %+v", v, heads[1])
	}
}

// repairControl: a control file that check refuses, or that cannot be read, is moved to the quarantine, unless it is a dry
// run: it is absent from then on. A sound file, and an absent one, are not changed. An error that says that the file is
// newer is returned.
func repairControl(t testing.TB, b Bench) {
	ctx := context.Background()
	refusal := errors.New("not valid")
	put := func() {
		t.Helper()
		must(t, b.Open(0).UpdateControl(ctx, configFile,
			func(ports.Control) (ports.Control, error) { return control(t, 3), nil }))
	}
	call := func(dryRun bool, check func(ports.Control) error) ports.RepairResult {
		t.Helper()
		done, err := b.Open(0).RepairControl(ctx,
			ports.ControlRepair{File: configFile, By: actor, AtMs: atMs, DryRun: dryRun}, check)
		must(t, err)
		return done
	}
	has := func(what string, n int64) {
		t.Helper()
		if c, err := b.Open(0).Control(ctx, configFile); err != nil || number(c) != n || n < 0 && c.V != 0 {
			t.Errorf("%s: the file is %+v, %v; want %d", what, c, err, n)
		}
	}
	sound := func(c ports.Control) error {
		if number(c) != 3 {
			t.Errorf("check received %+v", c)
		}
		return nil
	}
	refuse := func(ports.Control) error { return refusal }
	put()
	if done := call(false, sound); len(done.Steps) > 0 {
		t.Errorf("the repair of a sound file: %+v", done)
	}
	has("after the repair of a sound file", 3)
	if _, err := b.Open(0).RepairControl(ctx, ports.ControlRepair{File: configFile, By: actor, AtMs: atMs},
		func(ports.Control) error { return fault.New(fault.StoreNewer, "newer") }); !fault.Is(err, fault.StoreNewer) {
		t.Errorf("the repair of a newer file: %v; want STORE_NEWER", err)
	}
	for _, dryRun := range []bool{true, false} {
		has("before the repair of a file that is refused", 3)
		done := call(dryRun, refuse)
		if len(done.Steps) != 1 || done.Steps[0].What != ports.MoveToQuarantine || done.QuarantinePlace == "" ||
			len(done.Verdict.Findings) != 1 {
			t.Errorf("the repair of a file that is refused, dry run %v: %+v", dryRun, done)
		}
	}
	has("after the repair", -1)
	if done := call(false, refuse); len(done.Steps) > 0 {
		t.Errorf("the repair of an absent file: %+v", done)
	}
	needs(t, b.Damage != nil, "damage")
	put()
	b.Damage.Control(configFile)
	if done, err := b.Open(0).RepairControl(ctx, ports.ControlRepair{File: configFile, By: actor, AtMs: atMs + 1},
		sound); err != nil || len(done.Steps) != 1 {
		t.Errorf("the repair of a file that cannot be read: %+v, %v", done, err)
	}
	has("after the repair of a file that cannot be read", -1)
}

// inspection: a sound store has no findings. A damaged object is object_damaged, and a damaged control file
// control_damaged, at its place; that of a session is a finding about this session and no other. InspectWithObjects calls
// seen for the objects that are whole. An absent store has no findings.
func inspection(t testing.TB, b Bench) {
	ctx, s, r, other := context.Background(), b.Open(0), NewSessionFixture(1), NewSessionFixture(2)
	want := func(what string, codes ...manifest.FindingCode) (found []manifest.Finding) {
		t.Helper()
		found, err := b.Open(0).Inspect(ctx)
		var got []manifest.FindingCode
		for _, f := range found {
			got = append(got, f.Code)
		}
		if err != nil || len(got) != len(codes) {
			t.Errorf("the findings %s: %+v, %v; want %v", what, found, err, codes)
			return nil
		}
		for i, f := range found {
			if f.Code != codes[i] || f.Path == "" || f.Message == "" {
				t.Errorf("a finding %s is %+v; want %s", what, f, codes[i])
			}
		}
		return found
	}
	session := func(what string, of id.Session, n int) {
		t.Helper()
		if found, err := b.Open(0).InspectSession(ctx, of); err != nil || len(found) != n ||
			n == 1 && found[0].Code != manifest.ControlDamaged {
			t.Errorf("findings about %s: %+v, %v; want %d", what, found, err, n)
		}
	}
	want("of an absent store")
	session("a session of an absent store", r.Session, 0)
	_, err := s.Keys(ctx, ports.MayCreate)
	must(t, err)
	commit(t, s, r, 1)
	commit(t, s, other, 0)
	want("of a sound store")
	var seen trackedObjects
	_, err = b.Open(0).InspectWithObjects(ctx, seen.add)
	must(t, err)
	if n := seen.len(); n != 5 {
		t.Errorf("an inspection saw %d whole objects; want 5", n)
	}
	needs(t, b.Damage != nil, "damage")
	must(t, s.UpdateSessionControl(ctx, r.Session, ports.KeepFile,
		func(ports.Control) (ports.Control, error) { return control(t, 1), nil }))
	b.Damage.SessionControl(r.Session, ports.KeepFile)
	if c, err := b.Open(0).SessionControl(ctx, r.Session, ports.KeepFile); !fault.Is(err, fault.StoreCorrupt) {
		t.Errorf("a damaged control file of a session is %+v, %v; want STORE_CORRUPT", c, err)
	}
	session("the session with a damaged control file", r.Session, 1)
	session("another session", other.Session, 0)
	broken := r.Snapshot(1)
	b.Damage.Object(broken.Kind, broken.Ref())
	found := want("of a damaged store", manifest.ControlDamaged, manifest.ObjectDamaged)
	var whole trackedObjects
	again, err := b.Open(0).InspectWithObjects(ctx, whole.add)
	if err != nil || len(again) != len(found) || whole.len() != 4 || whole.has(broken.Kind, broken.Ref()) {
		t.Errorf("an inspection of a damaged store saw %d whole objects, and found %+v, %v", whole.len(), again, err)
	}
	must(t, b.Open(0).DropSessionControl(ctx, r.Session, ports.KeepFile))
	session("the session without its control file", r.Session, 0)
}
