package logs

import (
	"context"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/pgstore/db"
	"github.com/waybill/waybill/infra/pgstore/rows"
	"github.com/waybill/waybill/ports"
)

// Read implements ports.Logs.
func (s *Logs) Read(ctx context.Context, r ports.ReadRequest, visit ports.NewVisitor) (manifest.Verdict, error) {
	return s.confirmed(ctx, r, func(r ports.ReadRequest, run db.Runner) (manifest.Verdict, error) {
		visitor := visit(r.From)
		return s.Once(ctx, r, run, func(in manifest.Input) (manifest.Verdict, error) { return manifest.Read(in, visitor.Visit) })
	})
}

// Digests implements ports.Digests.
func (s *Logs) Digests(ctx context.Context, log manifest.Log, visit func() ports.DigestVisitor) (manifest.Verdict, error) {
	return s.confirmed(ctx, ports.ReadRequest{Log: log}, func(r ports.ReadRequest, run db.Runner) (manifest.Verdict, error) {
		visitor := visit()
		return s.Once(ctx, r, run, func(in manifest.Input) (manifest.Verdict, error) { return manifest.Digests(in, visitor.Group) })
	})
}

// LogBytes implements ports.Digests.
func (s *Logs) LogBytes(ctx context.Context, log manifest.Log) (n int64, err error) {
	err = s.db.Run(ctx, db.Query("select bytes from @.logs where root = $1", log.Root).Into(func(r db.Row) error { n = r.Int(0); return nil }))
	return n, err
}

// confirmed calls once for a reading. What looks damaged is read again behind the shared lock, since a repair may have changed it
// meanwhile.
func (s *Logs) confirmed(ctx context.Context, r ports.ReadRequest, once func(ports.ReadRequest, db.Runner) (manifest.Verdict, error)) (
	manifest.Verdict, error) {
	v, err := once(r, s.runOf(r))
	if err != nil || !v.Damaged() || r.Locked {
		return v, err
	}
	c, _, err := s.Begin(ctx, r.Log, true)
	if fault.Is(err, fault.SessionLocked) || fault.Is(err, fault.StoreLocked) {
		return v, nil // a writer holds it: the verdict is that of the first reading
	}
	if err != nil {
		return v, err
	}
	defer s.db.Rollback(c)
	r.From, r.Locked = manifest.Head{}, true
	return once(r, db.On(c))
}

// Once reads a log from a head on, with read, which is Read or Digests of package manifest, and statements that a runner runs. What looks
// damaged is not read again. Errors are those of read and of the runner.
func (s *Logs) Once(ctx context.Context, r ports.ReadRequest, run db.Runner, read func(manifest.Input) (manifest.Verdict, error)) (
	manifest.Verdict, error) {
	g := &groups{ctx: ctx, run: run, log: r.Log, after: math.MinInt64, next: r.From.GroupAt, limit: firstPage}
	if !r.From.IsZero() {
		g.after = r.From.GroupAt - 1
	}
	v, err := read(manifest.Input{Log: r.Log, From: r.From, Manifest: g, Names: g.names, Open: g.open, Hash: g.hash, Trusted: r.Trusted,
		TrustedEvents: r.TrustedEvents, Ahead: r.Ahead})
	if err != nil {
		return v, db.Failure(ctx, err)
	}
	return g.judge(v), nil
}

// runOf returns what runs the statements of a reading: on the connection that has locked the log, if the caller has, which spares a
// second one.
func (s *Logs) runOf(r ports.ReadRequest) db.Runner {
	h := s.Held(r.Log)
	if h == nil || !r.Locked {
		return s.db.Run
	}
	return func(ctx context.Context, all ...db.Statement) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.conn == nil {
			return s.db.Run(ctx, all...)
		}
		return db.On(h.conn)(ctx, all...)
	}
}

// The number of groups in the first page of a reading, and the bytes that a later one is to have; a page ends with the group that reaches
// the most bytes.
const (
	firstPage = 32
	mostPage  = 1024
	pageBytes = 2 << 20
	pageMost  = 8 << 20
)

// groups reads the rows of a log page by page: as the text of a manifest, and as segments by their names. manifest.Read asks for a
// segment in the order of the groups, but reads lines ahead: a page is kept until a segment of a later one is asked for. It is used by
// one goroutine.
type groups struct {
	ctx   context.Context
	run   db.Runner
	log   manifest.Log
	after int64 // where the last row begins that was read
	next  int64 // where the next one begins if no row is missing
	limit int64 // how many groups the next page has
	ended bool

	lines     []byte // of the present page, not read yet
	pages     []map[string][]byte
	head      manifest.Head // as the row of the log states it, in the snapshot of the last page
	misplaced bool          // a row does not begin where the one before it ends: it is not read, and none behind it
}

var _ io.Reader = (*groups)(nil)

// Read returns lines of the manifest.
func (g *groups) Read(p []byte) (int, error) {
	for len(g.lines) == 0 {
		if g.ended {
			return 0, io.EOF
		}
		if err := g.page(); err != nil {
			return 0, err
		}
	}
	n := copy(p, g.lines)
	g.lines = g.lines[n:]
	return n, nil
}

// page reads the next page, with the head of the log in the same snapshot. A log without a further group has one row, without a group.
func (g *groups) page() error {
	page, size, count := map[string][]byte{}, int64(0), int64(0)
	g.head = manifest.Head{}
	err := g.run(g.ctx, db.Query("select g.at, g.first, g.last, g.lines, g.segment, "+rows.HeadColumns+" from @.logs l left join lateral "+
		"(select * from (select *, sum(octet_length(lines) + octet_length(segment)) over (order by at rows unbounded preceding) "+
		"- octet_length(lines) - octet_length(segment) as before from @.groups where log = l.log and at > $2 order by at limit $3) p "+
		"where before < "+strconv.Itoa(pageMost)+") g on true where l.root = $1",
		g.log.Root, g.after, g.limit).Into(func(r db.Row) error {
		g.head = rows.StatedHead(r, 5)
		if r.IsNull(0) {
			return nil
		}
		count++
		if g.misplaced = g.misplaced || r.Int(0) != g.next || len(r[3]) == 0; g.misplaced {
			return nil
		}
		g.after, g.next = r.Int(0), r.Int(0)+int64(len(r[3]))
		g.lines = append(g.lines, r[3]...)
		page[manifest.SegmentName(r.Int(1), r.Int(2))] = r.Bytes(4)
		size += int64(len(r[3]) + len(r[4]))
		return nil
	}))
	g.ended = count < g.limit && size < pageMost || g.misplaced
	g.pages = append(g.pages, page)
	if count > 0 {
		g.limit = min(mostPage, max(1, pageBytes*count/max(1, size)))
	}
	return err
}

// judge returns a verdict corrected for what the rows show beside their lines. A commit changes the row of the log together with
// the last group, and rows are whole: a head that is not the end of the groups, and lines that commit nothing, do not result from a
// crash.
func (g *groups) judge(v manifest.Verdict) manifest.Verdict {
	torn := v.TailBytes > 0 || len(v.Orphans) > 0
	if v.Damaged() || !g.misplaced && !torn && v.Head == g.head {
		return v
	}
	v.Health, v.TailBytes, v.Orphans = manifest.CorruptTail, 0, nil
	if v.Head.IsZero() {
		v.Health = manifest.CorruptHead
	}
	var f manifest.Finding
	switch {
	case g.misplaced:
		f = manifest.NewFinding(manifest.ManifestDamaged, g.log.Root, "behind byte %d of the manifest is a group of another place", v.Head.Bytes)
	case g.head.Next > v.Head.Next:
		f = manifest.NewFinding(manifest.LostTail, g.log.Root,
			"the log ends before event %d, and its row says that it reached event %d: what was committed between is lost",
			v.Head.Next, g.head.Next-1)
	default:
		f = manifest.NewFinding(manifest.ManifestDamaged, g.log.Root, "the row of the log does not have the head of its last group, which ends "+
			"before event %d", v.Head.Next)
	}
	f.At = v.Head.Bytes
	// No writer removes what is torn here.
	v.Findings = append(slices.DeleteFunc(v.Findings, func(f manifest.Finding) bool {
		return f.Code == manifest.UncommittedTail || f.Code == manifest.OrphanSegment
	}), f)
	return v
}

// names lists the segments of the pages that are kept: each row has its lines, so there are no others.
func (g *groups) names() (out []string, err error) {
	for _, page := range g.pages {
		for name := range page {
			out = append(out, name)
		}
	}
	return out, nil
}

// open returns a segment, and drops the pages before it.
func (g *groups) open(name string) (b []byte, ok bool, err error) {
	for i, page := range g.pages {
		if b, ok = page[name]; ok {
			g.pages = slices.Delete(g.pages, 0, i)
			return b, true, nil
		}
	}
	return nil, false, nil
}

// hash returns the digest of a segment.
func (g *groups) hash(name string) (canon.Digest, int64, bool, error) {
	b, ok, err := g.open(name)
	return canon.Sum(b), int64(len(b)), ok, err
}
