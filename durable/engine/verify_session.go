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
	"github.com/waybill/waybill/projections"
)

// verifier is one verification. Its sessions may be checked side by side.
type verifier struct {
	g       *Engine
	o       VerifyOptions
	objects *objectCache
	pins    *pinIndex // nil but where the inspection of the store hashes all objects

	mu       sync.Mutex
	done     VerifyProgress
	imported map[string]bool // see imports
	unclear  bool            // the log of the proposals could not be read to its end
}

func newVerifier(ctx context.Context, g *Engine, o VerifyOptions, all []id.Session) *verifier {
	w := &verifier{g: g, o: o, objects: newObjectBook()}
	if o.Progress != nil && g.Digests != nil {
		for _, s := range all {
			n, _ := g.Digests.LogBytes(ctx, manifest.SessionEvents(s)) // what cannot be told is not waited for
			w.done.Of += n
		}
	}
	return w
}

// each calls work for 0 to n-1: side by side where they are many.
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
	// manySessions is from how many sessions on they are checked side by side.
	parallelMin = 4
	// fewObjects is how many objects of a session are examined as they come: most
	// sessions have no more.
	inlineObjectsMax = 16
	// objectsAhead bounds how many wait to be examined.
	objectsAhead = 256
)

// moved tells of progress in one log.
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

// session checks one session; nil is one to which nothing was ever committed.
func (w *verifier) session(ctx context.Context, s id.Session) (*SessionVerdict, error) {
	log := manifest.SessionEvents(s)
	c := &sessionCheck{w: w, ctx: ctx, log: log, refs: projections.NewReferences(log)}
	c.refs.Refer = c.referObject
	// Looked at before the log is: a writer who is at work meanwhile is no loss.
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

// sessionCheck is the check of one session's log: a visitor of it.
type sessionCheck struct {
	w       *verifier
	ctx     context.Context
	log     manifest.Log
	refs    *projections.References
	at      manifest.Head
	headMet bool // the head that was expected stood here once
	from    *event.ImportedFrom

	requested int // objects
	jobs      chan projections.ObjectUse
	work      sync.WaitGroup

	mu      sync.Mutex
	objects []objectFinding
	claims  []manifest.Finding

	pinned projections.Fingerprints // where pins are held against the inspection
	pins   [][sha256.Size]byte
}

// objectFinding is a finding about an object, with what it is ordered by.
type objectFinding struct {
	manifest.Finding
	ref projections.ObjectRef
}

func (c *sessionCheck) read() (manifest.Verdict, error) {
	if c.w.o.Digests && c.w.g.Digests != nil {
		return c.w.g.Digests.Digests(c.ctx, c.log, c)
	}
	v, err := c.w.g.Logs.Read(c.ctx, ports.Reading{Log: c.log}, c)
	if err != nil {
		return v, err
	}
	return v, c.refs.Finish(func(visit func(manifest.Segment) error, reset func()) error {
		_, err := c.w.g.Logs.Read(c.ctx, ports.Reading{Log: c.log}, funcVisitor{visit, reset})
		return err
	})
}

// lookAgain is a visitor made of functions.
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
	c.pinned, c.pins = projections.Fingerprints{}, nil
}

// Visit implements ports.Visitor.
func (c *sessionCheck) Visit(seg manifest.Segment, head manifest.Head) error {
	c.advanceTo(head)
	if p, ok := seg.Events[0].Data.(event.SessionCreated); ok && p.ImportedFrom != nil {
		c.from = p.ImportedFrom
	}
	return c.refs.Visit(seg, head)
}

// Group implements ports.DigestVisitor: of a log that is not decoded only the snapshots
// are known that its groups pin.
func (c *sessionCheck) Group(pins []canon.Digest, head manifest.Head) error {
	c.advanceTo(head)
	for _, ref := range pins {
		use := projections.ObjectUse{ObjectRef: projections.ObjectRef{Kind: manifest.Snapshot, Ref: ref}, Event: -1,
			First: true}
		if c.w.pins == nil {
			c.referObject(use)
		} else if c.pinned.Add(use.Fingerprint()) {
			c.pins = append(c.pins, ref.Raw())
		}
	}
	return nil
}

func (c *sessionCheck) advanceTo(head manifest.Head) {
	c.w.addProgress(head.Next-c.at.Next, head.Bytes-c.at.Bytes)
	c.at = head
	c.headMet = c.headMet || head.Digest == c.w.o.ExpectHead
}

func (c *sessionCheck) since(now manifest.Head) HeadRelation {
	switch {
	case now.Digest == c.w.o.ExpectHead:
		return HeadSame
	case c.headMet:
		return HeadAhead
	}
	return HeadOther
}

// refer has an object examined, beside the reading where there are many.
func (c *sessionCheck) referObject(use projections.ObjectUse) {
	if c.requested++; c.requested <= inlineObjectsMax {
		c.examineObject(use)
		return
	}
	if c.jobs == nil {
		jobs := make(chan projections.ObjectUse, objectsAhead)
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

// settle waits for the objects that were asked for.
func (c *sessionCheck) waitObjects() {
	if c.jobs != nil {
		close(c.jobs)
		c.work.Wait()
		c.jobs = nil
	}
	c.requested = 0
}

func (c *sessionCheck) examineObject(use projections.ObjectUse) {
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
			f.Event = &use.Event // the first one that refers to it here
		}
		c.objects = append(c.objects, objectFinding{f, use.ObjectRef})
	}
}

// inOrder are the findings about objects, by their names, then those about claims, by
// events: whoever came first examined, the answer is the same.
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
