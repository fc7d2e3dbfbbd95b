package upkeep

import (
	"context"

	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/durable/store/retention"
	"github.com/waybill/waybill/ports"
)

// Unclear is a log that could not be read or not be understood. It may refer to
// any object, so nothing is removed as long as it exists
// (docs/design.md#retention).
type Unclear struct {
	Path    string `json:"path"` // relative to the store
	Message string `json:"message"`
}

// logScan reads every log of a store for the digests in it. It can be repeated
// and then reads only what is new, because the repetition holds the lock that
// blocks all writers.
type logScan struct {
	u     *Upkeep
	sieve *retention.ObjectFilter
	// skip selects logs whose references do not count.
	skip func(ports.LogRoot) bool
	// heads has the last head that was read, by directory.
	heads    map[string]manifest.Head
	sessions map[id.Session]*scannedSession
	order    []id.Session
	unclear  []Unclear
	progress func(part GCPart, done, all int64)
}

// scannedSession is the result for a session outside the trash.
type scannedSession struct {
	retention.Session
	head manifest.Head // of its own log
}

// storedObjects lists the objects of all kinds with their sizes: the candidates
// for removal.
func (u *Upkeep) storedObjects(ctx context.Context) (*retention.Objects, error) {
	out := &retention.Objects{}
	for _, kind := range manifest.ObjectKinds() {
		if err := u.store.EachSize(ctx, kind, func(o ports.SizedObject) {
			out.Add(retention.Object{Kind: kind, Ref: o.Ref, Bytes: o.Bytes, Erased: o.Erased})
		}); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// newScan lists the candidates. Logs for which skip returns true are not read.
func (u *Upkeep) newScan(ctx context.Context, pass func(ports.LogRoot) bool) (*logScan, error) {
	// The objects are listed before any log is read: one that is stored later
	// is no candidate.
	objects, err := u.storedObjects(ctx)
	return &logScan{u: u, sieve: retention.NewObjectFilter(objects), skip: pass, heads: map[string]manifest.Head{},
		sessions: map[id.Session]*scannedSession{}}, err
}

// run continues the reading of every log. With exclusive no process writes, and
// no lock may be taken.
func (sc *logScan) run(ctx context.Context, exclusive bool) error {
	sc.unclear = nil
	if err := sc.findUnread(ctx); err != nil || len(sc.unclear) > 0 {
		return err
	}
	roots, err := sc.u.store.LogRoots(ctx)
	if err != nil {
		return err
	}
	for i, r := range roots {
		sc.progress(GCReadsLogs, int64(i), int64(len(roots)))
		if sc.skip(r) {
			continue
		}
		if err := sc.read(ctx, r, exclusive); err != nil {
			if ctx.Err() != nil {
				return err
			}
			sc.addUnclear(r.Root, "it cannot be read: "+fault.Of(err).Message)
		}
	}
	if err := sc.u.store.ReadOtherContent(ctx, sc.sieve.MarkReferenced); err != nil {
		if ctx.Err() != nil {
			return err
		}
		sc.addUnclear(".", fault.Of(err).Message)
	}
	return nil
}

// findUnread records the entries that are not read and may refer to anything.
func (sc *logScan) findUnread(ctx context.Context) error {
	all, err := sc.u.store.UnreadEntries(ctx)
	for _, e := range all {
		sc.addUnclear(e.Place, e.Message)
	}
	return err
}

// addUnclear records a log that may refer to anything.
func (sc *logScan) addUnclear(path, message string) {
	sc.unclear = append(sc.unclear, Unclear{path, message})
}

// read reads one log from where the previous run ended.
func (sc *logScan) read(ctx context.Context, r ports.LogRoot, exclusive bool) error {
	log := manifest.Log{Root: r.Root, Owner: r.Owner, Table: event.Domain}
	if r.Name != "" {
		// The events of a side log are not decoded; every digest in it counts.
		log.Table = event.Opaque(r.Name, ownerField(r))
	}
	own := r.Name == "" && r.TrashName == ""
	var claimed manifest.Head
	if own {
		// Before the log: a head that is saved meanwhile is no loss.
		b, _ := sc.u.e.Brief(ctx, r.Session, sc.u.e.HeadKey(ctx))
		claimed = b.Head
	}
	visitor := &mentionVisitor{sieve: sc.sieve}
	from := sc.heads[r.Root]
	// Objects that were found in use remain so when the reading starts over.
	v, err := ports.Continue(ctx, sc.u.store, ports.ReadRequest{Log: log, From: from, Locked: exclusive},
		ports.Into(&visitor, func() *mentionVisitor { return &mentionVisitor{sieve: sc.sieve} }))
	if err != nil {
		return err
	}
	if own {
		v = session.LostTail(log, v, claimed)
	}
	// A later run continues behind this head.
	sc.heads[r.Root] = v.Head
	// Unknown events of a side log do no harm: digests were found in its text.
	if v.Damaged() || r.Name == "" && v.Health != manifest.Healthy {
		sc.addUnclear(r.Root, describeHealth(v))
	}
	if r.TrashName != "" || r.Session.IsZero() {
		return nil
	}
	return sc.recordSession(ctx, r, v, visitor)
}

// describeHealth is a verdict in words, with its last finding.
func describeHealth(v manifest.Verdict) string {
	out := string(v.Health)
	if len(v.Findings) > 0 {
		out += ": " + v.Findings[len(v.Findings)-1].Message
	}
	return out
}

// ownerField is the name of the member that carries the owner in a log's lines.
func ownerField(r ports.LogRoot) string {
	if r.Session.IsZero() {
		return "storeId"
	}
	return "sessionId"
}

// recordSession records what the retention policy needs to know about a
// session. Every event in its logs counts as activity, annotations included, but for ignorable ones.
func (sc *logScan) recordSession(ctx context.Context, r ports.LogRoot, v manifest.Verdict,
	visitor *mentionVisitor) error {
	s := sc.sessions[r.Session]
	if s == nil {
		s = &scannedSession{Session: retention.Session{ID: r.Session}}
		sc.sessions[r.Session] = s
		sc.order = append(sc.order, r.Session)
	}
	s.LastAtMs = max(s.LastAtMs, visitor.lastAtMs)
	if r.Name != "" {
		s.Unborn = s.Unborn && v.Unborn()
		return nil
	}
	// The head is compared before the session is moved to the trash.
	s.Unborn, s.head = v.Unborn(), v.Head
	err := sc.u.checkNotKept(ctx, r.Session)
	s.Kept = fault.Is(err, fault.SessionKept)
	if err == nil || s.Kept {
		s.LastAtMs = max(s.LastAtMs, sc.u.importedAtMs(ctx, r.Session))
		return nil
	}
	return err
}

// importedAtMs is the time at which a session was imported, 0 if it was not.
// Retention begins with the import, however old the events are.
func (u *Upkeep) importedAtMs(ctx context.Context, s id.Session) int64 {
	c, err := u.store.SessionControl(ctx, s, ports.ImportedFile)
	if err != nil {
		return 0
	}
	mark, err := imported.Read(c.Data)
	if err != nil {
		return 0
	}
	return mark.AtMs
}

// mentionVisitor is a visitor that removes from the candidates every object
// whose digest is in a log, in event lines or in group records.
type mentionVisitor struct {
	sieve    *retention.ObjectFilter
	lastAtMs int64
}

// Visit implements ports.Visitor.
func (s *mentionVisitor) Visit(seg manifest.Segment, _ manifest.Head) error {
	s.sieve.MarkReferenced(seg.Group)
	s.sieve.MarkReferenced(seg.Bytes)
	for _, e := range seg.Events {
		if !e.Ignorable {
			s.lastAtMs = max(s.lastAtMs, e.TimestampMs)
		}
	}
	return nil
}
