package pgstore_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/sample"
	"github.com/waybill/waybill/ports/porttest/suite"
)

// damage returns what changes the rows of a store.
func damage(t testing.TB, s *pgstore.Store) *suite.Damage {
	flipped := func(column, at string) string {
		return column + " = set_byte(" + column + ", " + at + ", get_byte(" + column + ", " + at + ") # 1)"
	}
	ofLog := "log = (select log from @.logs where root = $1)"
	control := func(place string) {
		s.Exec(t, "update @.controls set "+flipped("content", "10")+" where place = $1", place)
	}
	return &suite.Damage{
		Manifest: func(log manifest.Log) {
			s.Exec(t, "update @.groups set "+flipped("lines", "10")+" where at = 0 and "+ofLog, log.Root)
		},
		Segment: func(log manifest.Log, first int64) {
			s.Exec(t, "update @.groups set "+flipped("segment", "octet_length(segment) / 2")+" where first = $2 and "+ofLog, log.Root, first)
		},
		Object: func(kind manifest.ObjectKind, ref canon.Digest) {
			s.Exec(t, "update @.objects set "+flipped("bytes", "0")+" where kind = $1 and ref = $2 and part = 0", string(kind), ref.String())
		},
		Control: func(f ports.ControlFile) { control(f.Name) },
		SessionControl: func(session id.Session, f ports.ControlFile) {
			control(manifest.SessionEvents(session).Root + "/" + f.Name)
		},
		Keyring: func() { s.Exec(t, "update @.keyring set "+flipped("current", "0")) },
	}
}

// digestVisitor counts groups.
type digestVisitor struct{ n int }

func (d *digestVisitor) Group([]canon.Digest, manifest.Head) error { d.n++; return nil }

// session commits a session of three groups.
func session(t testing.TB, s *pgstore.Store) (*suite.SessionFixture, []manifest.Head) {
	t.Helper()
	r := suite.NewSessionFixture(1)
	head, err := suite.Gate(s, r.Start())
	heads := []manifest.Head{head}
	for len(heads) < 3 && err == nil {
		head, err = suite.Gate(s, r.Advance(head.Next))
		heads = append(heads, head)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r, heads
}

// Each change of a row of a log by hand is damage, for Read and for Digests, from the beginning and from a head. A writer refuses the
// log; a repair keeps what is valid and puts the rest into the quarantine; then the log continues.
func TestChangedRowsOfLogsAreDamage(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	flip := func(column string) string {
		return "update @.groups set " + column + " = set_byte(" + column + ", 30, get_byte(" + column + ", 30) # 1) where at = $1"
	}
	tests := []struct {
		name, sql string
		at        int // the group whose offset is $1; -1: the statement has no parameter
		kept      int // the groups that are valid
		code      manifest.FindingCode
	}{
		{"a segment", flip("segment"), 1, 1, manifest.SegmentDamaged},
		{"the last segment", flip("segment"), 2, 2, manifest.SegmentDamaged},
		{"lines", flip("lines"), 1, 1, manifest.ManifestDamaged},
		{"the first lines", flip("lines"), 0, 0, manifest.ManifestDamaged},
		{"the first event of a group", "update @.groups set first = first + 1 where at = $1", 1, 1, manifest.SegmentMissing},
		{"the place of the last group", "update @.groups set at = at + 1 where at = $1", 2, 2, manifest.ManifestDamaged},
		{"the place of a group, before the end of another one", "update @.groups set at = at - 1 where at = $1", 2, 2, manifest.ManifestDamaged},
		{"the last lines, cut", "update @.groups set lines = substr(lines, 1, 100) where at = $1", 2, 2, manifest.LostTail},
		{"the last group, deleted", "delete from @.groups where at = $1", 2, 2, manifest.LostTail},
		{"a group, deleted", "delete from @.groups where at = $1", 1, 1, manifest.ManifestDamaged},
		{"all groups, deleted", "delete from @.groups", -1, 0, manifest.LostTail},
		{"a group before the first", "insert into @.groups select log, -5, 0, 0, lines, segment from @.groups where at = $1", 0, 0, manifest.ManifestDamaged},
		{"a group without lines behind the last", "insert into @.groups select g.log, l.bytes, 0, 0, '', segment from @.groups g join @.logs l using (log) " +
			"where at = $1", 0, 3, manifest.ManifestDamaged},
		{"the last lines, cut, and the head before them", "with cut as (update @.groups set lines = substr(lines, 1, 100) where at = $1 returning log) " +
			"update @.logs l set digest = 'sha256:' || encode(sha256(g.lines), 'hex'), group_at = g.at, bytes = $1, next = g.last + 1, next_record = 4 " +
			"from @.groups g, cut where g.at = (select max(at) from @.groups where at < $1)", 2, 2, manifest.ManifestDamaged},
		{"the digest of the head", "update @.logs set digest = 'x'", -1, 3, manifest.ManifestDamaged},
		{"the digest of the head, of no group", "update @.logs set digest = replace(digest, right(digest, 4), '0000')", -1, 3, manifest.ManifestDamaged},
		{"the bytes of the head", "update @.logs set bytes = bytes + 1", -1, 3, manifest.ManifestDamaged},
		{"the events of the head", "update @.logs set next = next + 3", -1, 3, manifest.LostTail},
		{"the head of an earlier group", "update @.logs set group_at = 0, bytes = $1", 1, 3, manifest.ManifestDamaged},
	}
	cases := sample.OneIn(t, 3)
	for _, tt := range tests {
		if !cases.Try() {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			s := opener(t)(time.Second)
			r, heads := session(t, s)
			s.Exec(t, "update @.logs set changed = false") // as with a brief
			if tt.at >= 0 {
				s.Exec(t, tt.sql, heads[tt.at].GroupAt)
			} else {
				s.Exec(t, tt.sql)
			}
			kept := manifest.Head{}
			if tt.kept > 0 {
				kept = heads[tt.kept-1]
			}
			_, read := suite.Read(t, s, r.Log, manifest.Head{})
			digests, err := s.Digests(ctx, r.Log, func() ports.DigestVisitor { return &digestVisitor{} })
			for _, v := range []manifest.Verdict{read, digests} {
				if err != nil || !v.Damaged() || v.Head != kept || len(v.Findings) != 1 || v.Findings[0].Code != tt.code || v.Findings[0].Message == "" {
					t.Fatalf("the log is %+v, %v; want %s behind %+v", v, err, tt.code, kept)
				}
			}
			v, err := s.Read(ctx, ports.ReadRequest{Log: r.Log, From: heads[0]}, ports.Skip)
			if err == nil && !v.Damaged() && tt.kept > 0 { // what precedes the head is not read
				t.Errorf("from its first head the log is %+v", v)
			}
			if _, err := suite.Gate(s, r.Advance(heads[2].Next)); !fault.Is(err, fault.SessionUnhealthy) {
				t.Errorf("an append to the damaged log: %v; want SESSION_UNHEALTHY", err)
			}
			checkRepair(t, s, r, kept)
		})
	}
}

// checkRepair repairs a damaged log, and checks that the repair is what its dry run announced, and that no byte is lost.
func checkRepair(t *testing.T, s *pgstore.Store, r *suite.SessionFixture, kept manifest.Head) {
	t.Helper()
	ctx := context.Background()
	all := func(what string) (out []string) {
		return append(s.Texts(t, "select encode(lines, 'escape') from @."+what), s.Texts(t, "select encode(segment, 'escape') from @."+what)...)
	}
	before := all("groups")
	call := ports.LogRepair{Log: r.Log, By: event.Actor{Kind: event.Human}, AtMs: 1_760_000_000_000, DryRun: true}
	planned, err := s.RepairLog(ctx, call)
	if after := all("groups"); err != nil || !slices.Equal(after, before) {
		t.Fatalf("a dry run changed groups, or failed: %v", err)
	}
	call.DryRun = false
	done, err := s.RepairLog(ctx, call)
	if err != nil || !slices.Equal(done.Steps, planned.Steps) || done.QuarantinePlace != planned.QuarantinePlace || len(done.Steps) == 0 {
		t.Fatalf("the repair did %+v, %v; want %+v", done, err, planned)
	}
	after := strings.Join(append(all("groups"), s.Texts(t, "select encode(content, 'escape') from @.quarantine order by place")...), "")
	for _, b := range before {
		if !strings.Contains(after, b) {
			t.Errorf("bytes are lost: %.80s", b)
		}
	}
	if _, v := suite.Read(t, s, r.Log, manifest.Head{}); v.Damaged() || v.Head != kept || len(v.Findings) > 0 {
		t.Errorf("the repaired log is %+v; want healthy at %+v", v, kept)
	}
	if changed := s.Texts(t, "select root from @.logs where changed"); (len(changed) == 1) == kept.IsZero() {
		t.Errorf("sessions that changed: %q", changed)
	}
	again := suite.NewSessionFixture(1)
	next := again.Start()
	for at := int64(3); at <= kept.Next; at += 3 {
		next = again.Advance(at)
	}
	if head, err := suite.Gate(s, next); err != nil || head.Next <= kept.Next {
		t.Errorf("the repaired log does not continue: %+v, %v", head, err)
	}
}

// Rows that are not those of a store are findings, each at its place.
func TestUnexpectedRowsAreFound(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	some := "(select ref from @.objects where kind = 'snapshot' limit 1)"
	tests := []struct {
		sql  string
		code manifest.FindingCode
	}{
		{"update @.objects set bytes = 'x' where part = 1", manifest.ObjectDamaged},
		{"update @.objects set size = size + 1 where part = 1", manifest.ObjectDamaged},
		{"update @.objects set size = size + 1", manifest.ObjectDamaged},
		{"delete from @.objects where part = 1", manifest.ObjectDamaged},
		{"delete from @.objects where part = 2", manifest.ObjectDamaged},
		{"insert into @.objects select kind, ref, part + 3, size, '' from @.objects where ref = " + some, manifest.ObjectDamaged},
		{"update @.objects set kind = 'other' where ref = " + some, manifest.UnknownFile},
		{"update @.objects set ref = 'other' where ref = " + some, manifest.UnknownFile},
		{"insert into @.controls values ('sessions/other/keep', 'x')", manifest.UnknownFile},
		{"insert into @.controls values ('other', 'x')", manifest.UnknownFile},
		{"insert into @.controls values ('trust.json', 'x')", manifest.ControlDamaged},
		{"insert into @.tombstones values ('sha256:00', 'x')", manifest.UnknownFile},
		{"insert into @.tombstones select ref, 'x' from @.objects where part = 2", manifest.ControlDamaged},
		{"update @.logs set owner = 'other'", manifest.UnknownFile},
		{"update @.logs set place = 'store'", manifest.UnknownFile},
		{"update @.logs set root = root || 'x'", manifest.UnknownFile},
		{"update @.store set id = 'other'", manifest.ControlDamaged},
		{"delete from @.store", manifest.ControlMissing},
		{"update @.keyring set sum = 'x'", manifest.ControlDamaged},
		{"delete from @.keyring", manifest.ControlMissing},
	}
	cases := sample.OneIn(t, 3)
	for _, tt := range tests {
		if !cases.Try() {
			continue
		}
		t.Run(tt.sql, func(t *testing.T) {
			s := opener(t)(time.Second)
			if _, err := s.Keys(ctx, ports.MayCreate); err != nil {
				t.Fatal(err)
			}
			p := suite.NewSessionFixture(1).Start()
			p.Objects = append(p.Objects, manifest.Object{Kind: manifest.Artifact, Bytes: bytes.Repeat([]byte("part"), 5<<17)})
			if _, err := suite.Gate(s, p); err != nil {
				t.Fatal(err)
			}
			if found, err := s.Inspect(ctx); err != nil || len(found) > 0 {
				t.Fatalf("a sound store has findings: %+v, %v", found, err)
			}
			s.Exec(t, tt.sql)
			found, err := s.Inspect(ctx)
			if err != nil || len(found) == 0 {
				t.Fatalf("no finding, %v", err)
			}
			for _, f := range found {
				if f.Code != tt.code || f.Path == "" || f.Message == "" {
					t.Errorf("a finding is %+v; want %s", f, tt.code)
				}
			}
		})
	}
}

// An inspection passes objects of many pages once each: many of them, and some that are longer than a page.
func TestManyObjectsAreInspected(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := opener(t)(time.Second)
	p := suite.NewSessionFixture(1).Start()
	long := manifest.Object{Kind: manifest.Artifact, Bytes: bytes.Repeat([]byte("long"), 5<<20)}
	p.Objects = append(p.Objects, long)
	if _, err := suite.Gate(s, p); err != nil {
		t.Fatal(err)
	}
	const many = 2500
	s.Exec(t, "insert into @.objects select 'snapshot', 'sha256:' || encode(sha256(b), 'hex'), 0, octet_length(b), b from "+
		"(select convert_to(n::text, 'UTF8') as b from generate_series(1, $1::bigint) n) all_of", int64(many))
	want := many + len(p.Objects)
	type object struct {
		kind manifest.ObjectKind
		ref  canon.Digest
	}
	seen := map[object]int{}
	found, err := s.InspectWithObjects(ctx, func(kind manifest.ObjectKind, ref canon.Digest) { seen[object{kind, ref}]++ })
	// The keyring was never needed.
	if err != nil || len(found) != 1 || found[0].Code != manifest.ControlMissing || len(seen) != want || seen[object{long.Kind, long.Ref()}] != 1 {
		t.Errorf("an inspection saw %d objects, and found %+v, %v; want %d objects", len(seen), found, err, want)
	}
	stored := 0
	if err := s.EachStored(ctx, manifest.Snapshot, func(canon.Digest) { stored++ }); err != nil || stored != many+1 {
		t.Errorf("%d snapshots are stored, %v; want %d", stored, err, many+1)
	}
}

// A log whose groups are larger than a page is read to its end.
func TestLongGroupsAreReadInPages(t *testing.T) {
	t.Parallel()
	s := opener(t)(time.Second)
	log := suite.SessionNotes(suite.NewSessionFixture(1).Session)
	var heads []manifest.Head
	for range 3 {
		at, next := manifest.Head{}, int64(0)
		if n := len(heads); n > 0 {
			at, next = heads[n-1], heads[n-1].Next
		}
		texts := slices.Repeat([]string{strings.Repeat("x", 500_000)}, 18)
		head, err := suite.Gate(s, suite.Notes(log, next, texts...))
		if err != nil || head.Bytes <= at.Bytes {
			t.Fatalf("%+v, %v", head, err)
		}
		heads = append(heads, head)
	}
	if seen, v := suite.Read(t, s, log, manifest.Head{}); v.Damaged() || !slices.Equal(seen.Heads, heads) {
		t.Errorf("the log is %+v; want %+v", v, heads[2])
	}
	d := &digestVisitor{}
	v, err := s.Digests(context.Background(), log, func() ports.DigestVisitor { return d })
	if err != nil || v.Damaged() || v.Head != heads[2] || d.n != 3 {
		t.Errorf("by digests the log is %+v, %v, with %d groups", v, err, d.n)
	}
}

// A log without a valid beginning is moved with all that belongs to it, unless a writer has one of its side logs.
func TestWholeLogIsMoved(t *testing.T) {
	ctx := context.Background()
	s := opener(t)(0)
	r := suite.NewSessionFixture(1)
	p := r.Start()
	p.Brief = &manifest.Brief{Runs: []manifest.BriefRun{{ID: r.RunID, LastAtMs: 1, States: []string{"running"}, Data: "what a list shows"}}}
	_, err := suite.Gate(s, p)
	notes := suite.SessionNotes(r.Session)
	if err == nil {
		_, err = suite.Gate(s, suite.Notes(notes, 0, "a note"))
	}
	if err == nil {
		_, err = suite.Gate(s, suite.NewSessionFixture(2).Start())
	}
	if err == nil {
		err = s.UpdateSessionControl(ctx, r.Session, ports.KeepFile, func(ports.Control) (ports.Control, error) { return ports.Control{V: 1}, nil })
	}
	for _, log := range []manifest.Log{r.Log, notes} {
		if err == nil {
			err = s.StoreHead(ctx, log, 1, []byte("a cache of "+log.Root))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	damage(t, s).Manifest(r.Log)
	call := ports.LogRepair{Log: r.Log, By: event.Actor{Kind: event.Human}, AtMs: 1}
	unlock, err := s.Lock(ctx, notes)
	if err != nil {
		t.Fatal(err)
	}
	if done, err := s.RepairLog(ctx, call); !fault.Is(err, fault.SessionLocked) {
		t.Errorf("a repair while a writer has a side log: %+v, %v; want SESSION_LOCKED", done, err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if rows := s.Texts(t, "select place from @.quarantine"); len(rows) > 0 {
		t.Errorf("a repair that was refused moved %q", rows)
	}
	done, err := s.RepairLog(ctx, call)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, step := range done.Steps {
		want = append(want, step.To)
	}
	want = append(want, done.QuarantinePlace+"/repair.json")
	slices.Sort(want)
	// Two segments, manifests, heads of logs and caches, the control file, the brief and the record.
	if rows := s.Texts(t, "select place from @.quarantine order by place"); len(rows) != 11 || !slices.Equal(rows, want) {
		t.Errorf("the quarantine has %q; want %q", rows, want)
	}
	for _, bytes := range []string{"what a list shows", "a note", "a cache of " + r.Log.Root, "a cache of " + notes.Root, "running", `"keep"`} {
		if rows := s.Texts(t, "select place from @.quarantine where position(convert_to($1, 'UTF8') in content) > 0", bytes); len(rows) == 0 {
			t.Errorf("the quarantine does not have %q", bytes)
		}
	}
	for table, n := range map[string]int{"logs": 1, "groups": 1, "heads": 0, "controls": 0, "briefs": 0, "brief_runs": 0} {
		if rows := s.Texts(t, "select '' from @."+table); len(rows) != n {
			t.Errorf("the table %s has %d rows; want %d", table, len(rows), n)
		}
	}
}

// An examination whose lock was lost with its connection is no examination.
func TestLostLockOfExamination(t *testing.T) {
	ctx := context.Background()
	s := opener(t)(0)
	r, _ := session(t, s)
	err := s.WithoutChanges(ctx, r.Log, func() error {
		s.Exec(t, "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and mode = 'ShareLock' and "+
			"((classid::bigint << 32) | objid::bigint) = $1", db.LockName(r.Log.Root))
		return nil
	})
	if !fault.Is(err, fault.StoreUnreachable) {
		t.Errorf("an examination without its lock returned %v; want STORE_UNREACHABLE", err)
	}
	if err := s.WithoutChanges(ctx, r.Log, func() error { return nil }); err != nil {
		t.Errorf("the next examination: %v", err)
	}
}

// A keyring that is created while a missing one is replaced has the keys that both calls return, or the rotation is refused.
func TestRotationBesideCreation(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for range 10 {
		s := opener(t)(time.Minute)
		if _, err := s.StoreID(ctx, ports.MayCreate); err != nil {
			t.Fatal(err)
		}
		created := make(chan [2]any, 1)
		go func() {
			keys, err := s.Keys(ctx, ports.MayCreate)
			created <- [2]any{keys.Current, err}
		}()
		rotated, err := s.Rotate(ctx, ports.Rotation{By: event.Actor{Kind: event.Human}, AtMs: 1})
		if err != nil && !fault.Is(err, fault.StoreConflict) {
			t.Fatal(err)
		}
		got := <-created
		have, readErr := s.Keys(ctx, ports.ReadOnly)
		if got[1] != nil || readErr != nil || got[0] != any(have.Current) || err == nil && rotated.Keys.Current != have.Current || have.Previous != nil {
			t.Errorf("the keys are not those that were returned: %v, %v, %v", got[1], readErr, err)
		}
	}
}

// A repair whose result would not be sound changes nothing: a row that has the lines of two groups is not cut.
func TestRepairIsVerified(t *testing.T) {
	ctx := context.Background()
	s := opener(t)(time.Second)
	r, heads := session(t, s)
	s.Exec(t, "update @.groups g set lines = g.lines || n.lines from @.groups n where g.at = 0 and n.at = $1", heads[1].GroupAt)
	s.Exec(t, "delete from @.groups where at = $1", heads[1].GroupAt)
	before := s.Texts(t, "select g::text from @.groups g order by at")
	done, err := s.RepairLog(ctx, ports.LogRepair{Log: r.Log, By: event.Actor{Kind: event.Human}, AtMs: 1})
	if !fault.Is(err, fault.StoreCorrupt) || len(done.Steps) > 0 {
		t.Errorf("the repair did %+v, %v; want STORE_CORRUPT", done, err)
	}
	after := s.Texts(t, "select g::text from @.groups g order by at")
	if moved := s.Texts(t, "select place from @.quarantine"); !slices.Equal(after, before) || len(moved) > 0 {
		t.Errorf("the repair changed rows, and moved %q", moved)
	}
}

// TestLongRowsAreNotRead: a row that no store has takes no memory of who reads it.
func TestLongRowsAreNotRead(t *testing.T) {
	s := opener(t)(0)
	s.Exec(t, "insert into @.controls (place, content) values ('config.json', convert_to(repeat('x', 70000000), 'UTF8'))")
	if _, err := s.Control(t.Context(), ports.ControlFile{Name: "config.json", Kind: "config"}); !fault.Is(err, fault.StoreCorrupt) ||
		!strings.Contains(fault.Of(err).Message, "a store has none above") {
		t.Errorf("a row of 70 MB: %v", err)
	}
}
