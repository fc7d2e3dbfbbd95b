package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"runtime"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
)

// verifier is one verification. Sessions may be checked in parallel; the fields
// below mu are guarded by it.
type verifier struct {
	g       *Engine
	o       VerifyOptions
	objects *objectCache
	// pins is set if the inspection hashes all objects.
	pins *pinIndex

	mu       sync.Mutex
	done     VerifyProgress
	imported map[string]bool // see auditedImports
	// unclear reports that the log of proposals was not read to its end.
	unclear bool
}

// newVerifier prepares a verification. With Progress set it sums the sizes of
// the manifests, as the total.
func newVerifier(ctx context.Context, g *Engine, o VerifyOptions, all []id.Session) *verifier {
	w := &verifier{g: g, o: o, objects: newObjectCache()}
	if o.Progress != nil && g.Digests != nil {
		for _, s := range all {
			n, _ := g.Digests.LogBytes(ctx, manifest.SessionEvents(s)) // unknown sizes count as 0
			w.done.Of += n
		}
	}
	return w
}

// forEach calls work for 0 to n-1, in parallel for more than parallelMin. It
// returns after all calls.
func forEach(n int, work func(i int)) {
	workers := runtime.GOMAXPROCS(0)
	if n <= parallelMin {
		workers = 1
	}
	var done sync.WaitGroup
	for first := range workers - 1 {
		done.Go(func() {
			for i := first + 1; i < n; i += workers {
				work(i)
			}
		})
	}
	for i := 0; i < n; i += workers {
		work(i)
	}
	done.Wait()
}

const (
	// parallelMin is the number of items above which they are checked in
	// parallel.
	parallelMin = 4
	// inlineObjectsMax is the number of objects of a session that are examined
	// by the goroutine that reads the log. Most sessions have no more.
	inlineObjectsMax = 16
	// objectsAhead bounds the queue of objects to be examined.
	objectsAhead = 256
)

// addProgress reports progress in one log. A reading that starts over reports
// negative numbers.
func (w *verifier) addProgress(events, bytes int64) {
	if w.o.Progress == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done.Events += events
	w.done.Bytes += bytes
	w.o.Progress(w.done)
}

// session verifies one session; nil if nothing was ever committed to it.
func (w *verifier) session(ctx context.Context, s id.Session) (*SessionVerdict, error) {
	log := manifest.SessionEvents(s)
	c := &sessionCheck{w: w, ctx: ctx, log: log, refs: runs.NewReferences(log)}
	c.refs.OnObjectUse = c.referObject
	// Read before the log: a head that is saved while the log is read must not
	// look like a loss.
	claimed, _ := w.g.brief(ctx, s, w.g.headKey(ctx))
	v, err := c.read()
	c.waitObjects()
	v = lostTail(log, v, claimed.Head)
	if err == nil && v.Unborn() {
		return w.missingSessionLog(ctx, s)
	}
	if err != nil {
		return nil, err
	}
	if w.pins != nil {
		w.pins.setPins(s, c.pins)
	}
	row := &SessionVerdict{SessionID: s, Health: v.Health, Events: v.Head.Next, Head: v.Head,
		Findings: []manifest.Finding{}}
	row.Findings = append(append(append(row.Findings, v.Findings...), c.refs.Findings...), c.sortedFindings()...)
	for _, f := range c.objects {
		if f.Code == manifest.UnknownEvents && row.Health == manifest.Healthy {
			row.Health = manifest.UnknownVersion
		}
	}
	if !w.o.ExpectHead.IsZero() {
		row.Since = c.since(v.Head)
	}
	side, err := w.sideLogs(ctx, s)
	row.Findings = append(append(row.Findings, side...), w.missingImportMark(ctx, s, c.from)...)
	return row, err
}

// sessionCheck is a visitor that verifies one session's log. Objects are
// examined by other goroutines, whose results mu guards.
type sessionCheck struct {
	w    *verifier
	ctx  context.Context
	log  manifest.Log
	refs *runs.References
	at   manifest.Head
	// headMet reports that ExpectHead is on the chain.
	headMet bool
	from    *event.ImportedFrom

	requested int // number of objects
	jobs      chan runs.ObjectUse
	work      sync.WaitGroup

	mu      sync.Mutex
	objects []objectFinding
	claims  []manifest.Finding

	// pinned are snapshots to compare with the inspection.
	pinned runs.Fingerprints
	pins   [][sha256.Size]byte
}

// objectFinding is a finding about an object, with the object to sort by.
type objectFinding struct {
	manifest.Finding
	ref runs.ObjectRef
}

// read reads the log: by digests alone if requested, else decoded, with a
// second reading for references that point forward.
func (c *sessionCheck) read() (manifest.Verdict, error) {
	if c.w.o.Digests && c.w.g.Digests != nil {
		return c.w.g.Digests.Digests(c.ctx, c.log, c)
	}
	v, err := c.w.g.Logs.Read(c.ctx, ports.ReadRequest{Log: c.log}, c)
	if err != nil {
		return v, err
	}
	return v, c.refs.Finish(func(visit func(manifest.Segment) error, reset func()) error {
		_, err := c.w.g.Logs.Read(c.ctx, ports.ReadRequest{Log: c.log}, funcVisitor{visit, reset})
		return err
	})
}

// funcVisitor is a visitor made of two functions.
type funcVisitor struct {
	visit func(manifest.Segment) error
	reset func()
}

// Reset implements ports.Visitor.
func (a funcVisitor) Reset() { a.reset() }

// Visit implements ports.Visitor.
func (a funcVisitor) Visit(seg manifest.Segment, _ manifest.Head) error { return a.visit(seg) }

// Reset implements ports.Visitor.
func (c *sessionCheck) Reset() {
	c.waitObjects()
	c.w.addProgress(-c.at.Next, -c.at.Bytes)
	c.refs.Reset()
	c.at, c.headMet, c.from, c.objects, c.claims = manifest.Head{}, false, nil, nil, nil
	c.pinned, c.pins = runs.Fingerprints{}, nil
}

// Visit implements ports.Visitor.
func (c *sessionCheck) Visit(seg manifest.Segment, head manifest.Head) error {
	c.advanceTo(head)
	if p, ok := seg.Events[0].Data.(event.SessionCreated); ok && p.ImportedFrom != nil {
		c.from = p.ImportedFrom
	}
	return c.refs.Visit(seg, head)
}

// Group implements ports.DigestVisitor. Of a log that is not decoded only the
// snapshots that its groups pin are known.
func (c *sessionCheck) Group(pins []canon.Digest, head manifest.Head) error {
	c.advanceTo(head)
	for _, ref := range pins {
		use := runs.ObjectUse{ObjectRef: runs.ObjectRef{Kind: manifest.Snapshot, Ref: ref}, Event: -1,
			First: true}
		if c.w.pins == nil {
			c.referObject(use)
		} else if c.pinned.Add(use.Fingerprint()) {
			c.pins = append(c.pins, ref.Raw())
		}
	}
	return nil
}

// advanceTo records the head that was reached.
func (c *sessionCheck) advanceTo(head manifest.Head) {
	c.w.addProgress(head.Next-c.at.Next, head.Bytes-c.at.Bytes)
	c.at = head
	c.headMet = c.headMet || head.Digest == c.w.o.ExpectHead
}

// since relates the final head to ExpectHead.
func (c *sessionCheck) since(now manifest.Head) HeadRelation {
	switch {
	case now.Digest == c.w.o.ExpectHead:
		return HeadSame
	case c.headMet:
		return HeadAhead
	}
	return HeadOther
}

// referObject examines an object, in other goroutines if the session has many.
func (c *sessionCheck) referObject(use runs.ObjectUse) {
	if c.requested++; c.requested <= inlineObjectsMax {
		c.examineObject(use)
		return
	}
	if c.jobs == nil {
		jobs := make(chan runs.ObjectUse, objectsAhead)
		c.jobs = jobs
		for range runtime.GOMAXPROCS(0) {
			c.work.Go(func() {
				for use := range jobs {
					c.examineObject(use)
				}
			})
		}
	}
	c.jobs <- use
}

// waitObjects waits until all requested objects are examined.
func (c *sessionCheck) waitObjects() {
	if c.jobs != nil {
		close(c.jobs)
		c.work.Wait()
		c.jobs = nil
	}
	c.requested = 0
}

// examineObject examines one object and keeps the findings. It may run in
// several goroutines.
func (c *sessionCheck) examineObject(use runs.ObjectUse) {
	verdict := c.w.objects.verdict(use.ObjectRef, func() objectVerdict {
		if c.w.o.Digests {
			return c.w.g.checkDigest(c.ctx, use.ObjectRef)
		}
		return c.w.g.examine(c.ctx, use.ObjectRef)
	})
	f, wrong := checkClaim(c.log, use, verdict)
	if verdict.finding == nil && !wrong {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if wrong {
		c.claims = append(c.claims, f)
	}
	if verdict.finding != nil && use.First {
		f := *verdict.finding
		if use.Event >= 0 {
			f.Event = &use.Event // the first event of this log that refers to it
		}
		c.objects = append(c.objects, objectFinding{f, use.ObjectRef})
	}
}

// sortedFindings returns the findings about objects by kind and digest, then
// those about claims by event. The result does not depend on the order in which
// goroutines finished.
func (c *sessionCheck) sortedFindings() (out []manifest.Finding) {
	slices.SortFunc(c.objects, func(a, b objectFinding) int {
		return cmp.Or(cmp.Compare(a.ref.Kind, b.ref.Kind), cmp.Compare(a.ref.Ref.String(), b.ref.Ref.String()))
	})
	slices.SortFunc(c.claims, func(a, b manifest.Finding) int { return cmp.Compare(*a.Event, *b.Event) })
	for i, f := range c.objects {
		if i == 0 || f.ref != c.objects[i-1].ref {
			out = append(out, f.Finding)
		}
	}
	return append(out, c.claims...)
}
