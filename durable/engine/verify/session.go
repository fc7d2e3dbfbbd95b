package verify

import (
	"cmp"
	"context"
	"crypto/sha256"
	"runtime"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections/runs"
	"golang.org/x/sync/errgroup"
)

// storeCheck is one verification. Sessions may be checked in parallel; the fields
// below mu are guarded by it.
type storeCheck struct {
	reading
	o       VerifyOptions
	objects *objectCache
	// pins is set if the inspection hashes all objects.
	pins *pinIndex
	// anchored is set for a verification against signers from outside.
	anchored *anchor

	mu       sync.Mutex
	done     VerifyProgress
	imported map[string]bool // see auditedImports
	// unclear reports that the log of proposals was not read to its end.
	unclear bool
}

// newStoreCheck prepares a verification. With Progress set it sums the sizes of
// the manifests, as the total.
func newStoreCheck(ctx context.Context, r reading, o VerifyOptions, all []id.Session) *storeCheck {
	w := &storeCheck{reading: r, o: o, objects: newObjectCache()}
	if o.Progress != nil {
		for _, s := range all {
			n, _ := r.store.LogBytes(ctx, manifest.SessionEvents(s)) // unknown sizes count as 0
			w.done.Of += n
		}
	}
	return w
}

// forEach calls work for 0 to n-1, in parallel for more than parallelMin. It
// returns after all calls.
func forEach(n int, work func(i int)) {
	var all errgroup.Group
	all.SetLimit(runtime.GOMAXPROCS(0))
	if n <= parallelMin {
		all.SetLimit(1)
	}
	for i := range n {
		all.Go(func() error { work(i); return nil })
	}
	_ = all.Wait() // always nil
}

const (
	// parallelMin is the number of items above which they are checked in
	// parallel.
	parallelMin = 4
	// inlineObjectsMax is the number of objects of a session that are examined
	// by the goroutine that reads the log. Most sessions have no more.
	inlineObjectsMax = 16
)

// addProgress reports progress in one log. A reading that starts over reports
// negative numbers.
func (w *storeCheck) addProgress(events, bytes int64) {
	if w.o.Progress == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.done.Events += events
	w.done.Bytes += bytes
	w.o.Progress(w.done)
}

// pass is the reading of a session that a check is part of.
type pass int

const (
	firstPass pass = iota
	// confirmation repeats a check while the session cannot change. Objects that were not valid are
	// examined again, and nothing counts as progress.
	confirmation
)

// session verifies one session; nil if nothing was ever committed to it. What it
// finds was found again while no process could write to the session or move it
// (docs/design.md#reading): a session that goes to the trash, or an artifact
// that is erased, must not look like a loss.
func (w *storeCheck) session(ctx context.Context, s id.Session) (*SessionVerdict, error) {
	row, err := w.sessionOnce(ctx, s, firstPass)
	if ctx.Err() != nil || !isDoubtful(row, err) {
		return row, err
	}
	return w.confirmed(ctx, s)
}

// confirmed verifies a session while it cannot change.
func (w *storeCheck) confirmed(ctx context.Context, s id.Session) (row *SessionVerdict, err error) {
	err = w.store.WithoutChanges(ctx, manifest.SessionEvents(s), func() (err error) {
		row, err = w.sessionOnce(ctx, s, confirmation)
		return err
	})
	return row, err
}

// isDoubtful reports a result that a process may have caused that wrote to the session, moved it or erased one of its
// objects.
func isDoubtful(row *SessionVerdict, err error) bool {
	if err != nil {
		return !isBusy(err)
	}
	return row != nil && slices.ContainsFunc(row.Findings, isTransient)
}

// isTransient reports a finding that an operation in progress may have caused: an append, a move, an import or an
// erasure.
func isTransient(f manifest.Finding) bool {
	return f.Severity == manifest.SeverityError || f.Code == manifest.UncommittedTail ||
		f.Code == manifest.OrphanSegment || f.Code == manifest.ControlMissing
}

// isBusy reports that a lock was not released in time: nothing is known about what it guards.
func isBusy(err error) bool {
	return fault.Is(err, fault.SessionLocked) || fault.Is(err, fault.StoreLocked)
}

// sessionOnce is session for one pass.
func (w *storeCheck) sessionOnce(ctx context.Context, s id.Session, of pass) (*SessionVerdict, error) {
	log := manifest.SessionEvents(s)
	// Read before the log: a head that is saved while the log is read must not
	// look like a loss.
	claimed, _ := w.r.Brief(ctx, s, w.r.HeadKey(ctx))
	c, v, err := w.read(ctx, log, of)
	v = session.LostTail(log, v, claimed.Head)
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
	if w.bundle {
		row.Findings = append(row.Findings, w.reservedIDs(ctx, log, c.reserved)...)
	}
	signed, err := w.decisionFindings(ctx, s, c)
	if err != nil {
		return nil, err
	}
	row.Findings = append(row.Findings, signed...)
	side, err := w.sideLogs(ctx, s)
	row.Findings = append(append(row.Findings, side...), w.missingImportMark(ctx, s, c.from)...)
	return row, err
}

// sessionCheck is a visitor that verifies one session's log. Objects are
// examined by other goroutines, whose results mu guards.
type sessionCheck struct {
	w    *storeCheck
	of   pass
	log  manifest.Log
	refs *runs.References
	at   manifest.Head
	// headMet reports that ExpectHead is on the chain.
	headMet bool
	from    *event.ImportedFrom
	// replays reports a session that replays another one.
	replays bool
	// reserved are the runs with a reserved workflow id of a source that may not have it.
	reserved []event.Event
	// decisions are the events with the artifacts of people's decisions.
	decisions []event.Event

	refer     func(runs.ObjectUse) // examines an object
	requested int                  // number of objects
	work      errgroup.Group

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

// newSessionCheck returns the check of one reading of a log.
func (w *storeCheck) newSessionCheck(ctx context.Context, log manifest.Log, of pass) *sessionCheck {
	c := &sessionCheck{w: w, of: of, log: log, refs: runs.NewReferences(log)}
	c.work.SetLimit(runtime.GOMAXPROCS(0))
	c.refer = func(use runs.ObjectUse) {
		if c.requested++; c.requested <= inlineObjectsMax {
			c.examineObject(ctx, use)
			return
		}
		c.work.Go(func() error { c.examineObject(ctx, use); return nil })
	}
	c.refs.OnObjectUse = c.refer
	return c
}

// read reads a log: by digests alone if requested, else decoded, with a second
// reading for references that point forward. It returns after all objects were
// examined.
func (w *storeCheck) read(ctx context.Context, log manifest.Log, of pass) (c *sessionCheck, v manifest.Verdict,
	err error) {
	c = w.newSessionCheck(ctx, log, of)
	fresh := func() *sessionCheck {
		if !c.at.IsZero() { // the reading starts over
			_ = c.work.Wait()
			c.addProgress(manifest.Head{})
			c = w.newSessionCheck(ctx, log, of)
		}
		return c
	}
	defer func() { _ = c.work.Wait() }() // always nil
	if w.o.Digests {
		v, err = w.store.Digests(ctx, log, func() ports.DigestVisitor { return fresh() })
		return c, v, err
	}
	v, err = w.store.Read(ctx, ports.ReadRequest{Log: log}, func(manifest.Head) ports.Visitor { return fresh() })
	if err != nil {
		return c, v, err
	}
	return c, v, c.refs.Finish(func(visitor func() func(manifest.Segment) error) error {
		_, err := w.store.Read(ctx, ports.ReadRequest{Log: log}, func(manifest.Head) ports.Visitor {
			visit := visitor()
			return ports.VisitorFunc(func(seg manifest.Segment, _ manifest.Head) error { return visit(seg) })
		})
		return err
	})
}

// Visit implements ports.Visitor.
func (c *sessionCheck) Visit(seg manifest.Segment, head manifest.Head) error {
	c.advanceTo(head)
	if p, ok := seg.Events[0].Data.(event.SessionCreated); ok && p.ImportedFrom != nil {
		c.from = p.ImportedFrom
	}
	for _, e := range seg.Events {
		p, ok := e.Data.(event.RunStarted)
		if ok && source.Reserved(p.WorkflowID) && !source.MayReserve(source.SourceKind(p.WorkflowSourceKind)) {
			c.reserved = append(c.reserved, e)
		}
		c.replays = c.replays || p.ForkedFrom.IsReplay()
		if isDecisionEvent(e) {
			c.decisions = append(c.decisions, e)
		}
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
		if c.w.pins == nil || c.of == confirmation {
			c.refer(use)
		} else if c.pinned.Add(use.Fingerprint()) {
			c.pins = append(c.pins, ref.Raw())
		}
	}
	return nil
}

// advanceTo records the head that was reached.
func (c *sessionCheck) advanceTo(head manifest.Head) {
	c.addProgress(head)
	c.at = head
	c.headMet = c.headMet || head.Digest == c.w.o.ExpectHead
}

// addProgress reports the progress to a head; a reading that starts over goes back to the zero Head.
func (c *sessionCheck) addProgress(to manifest.Head) {
	if c.of == firstPass {
		c.w.addProgress(to.Next-c.at.Next, to.Bytes-c.at.Bytes)
	}
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

// examineObject examines one object and keeps the findings. It may run in
// several goroutines.
func (c *sessionCheck) examineObject(ctx context.Context, use runs.ObjectUse) {
	if c.of == confirmation {
		c.w.objects.forgetBad(use)
	}
	verdict := c.w.objects.verdict(use, func() objectVerdict {
		if c.w.o.Digests {
			return c.w.checkDigest(ctx, use.ObjectRef)
		}
		return c.w.examine(ctx, use)
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
	sorting.By(c.objects, func(a, b objectFinding) int {
		return cmp.Or(cmp.Compare(a.ref.Kind, b.ref.Kind), cmp.Compare(a.ref.Ref.String(), b.ref.Ref.String()))
	})
	sorting.By(c.claims, func(a, b manifest.Finding) int { return cmp.Compare(*a.Event, *b.Event) })
	for i, f := range c.objects {
		if i == 0 || f.ref != c.objects[i-1].ref {
			out = append(out, f.Finding)
		}
	}
	return append(out, c.claims...)
}
