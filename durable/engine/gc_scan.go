package engine

import (
	"context"
	"errors"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/durable/store/retention"
	"github.com/waybill/waybill/ports"
)

// Unclear is something that could not be read, or not be understood: it may need
// anything, so nothing is removed as long as it is there (locks section 2.2).
type Unclear struct {
	Path    string `json:"path"` // relative to the store
	Message string `json:"message"`
}

// scan reads every log of a store for what it names. It can be repeated, and then
// reads only what is new: under the lock that keeps writers out there is no time for
// more.
type logScan struct {
	g        *Engine
	sieve    *retention.Sieve
	skip     func(ports.LogRoot) bool // logs that need not be read
	heads    map[string]manifest.Head // by root, of what was read
	sessions map[id.Session]*scannedSession
	order    []id.Session
	unclear  []Unclear
}

// scanned is what the logs of a session outside the trash come to.
type scannedSession struct {
	retention.Session
	head manifest.Head // of its own log
}

// storedObjects lists what could go.
func (g *Engine) storedObjects(ctx context.Context) (out []retention.Object, err error) {
	for _, kind := range manifest.ObjectKinds() {
		sizes, err := g.Retention.Sizes(ctx, kind)
		if err != nil {
			return nil, err
		}
		for _, o := range sizes {
			out = append(out, retention.Object{Kind: kind, Ref: o.Ref, Bytes: o.Bytes, Erased: o.Erased})
		}
	}
	return out, nil
}

func (g *Engine) newScan(ctx context.Context, pass func(ports.LogRoot) bool) (*logScan, error) {
	// Objects first: one that is stored while the logs are read is no candidate.
	objects, err := g.storedObjects(ctx)
	return &logScan{g: g, sieve: retention.NewSieve(objects), skip: pass, heads: map[string]manifest.Head{},
		sessions: map[id.Session]*scannedSession{}}, err
}

// run reads on in every log. With alone nobody writes, and no lock may be taken.
func (sc *logScan) run(ctx context.Context, exclusive bool) error {
	sc.unclear = nil
	roots, err := sc.g.Retention.LogRoots(ctx)
	if err != nil {
		return err
	}
	for _, r := range roots {
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
	if err := sc.g.Retention.Mentions(ctx, sc.sieve.Keep); err != nil {
		if ctx.Err() != nil {
			return err
		}
		sc.addUnclear(".", fault.Of(err).Message)
	}
	return nil
}

func (sc *logScan) addUnclear(path, message string) {
	sc.unclear = append(sc.unclear, Unclear{path, message})
}

// read reads one log from where it was read to before.
func (sc *logScan) read(ctx context.Context, r ports.LogRoot, exclusive bool) error {
	log := manifest.Log{Root: r.Root, Owner: r.Owner, Table: event.Domain}
	if r.Name != "" {
		// What a side log means is not needed here: whatever it names is kept.
		log.Table = event.Opaque(r.Name, ownerField(r))
	}
	own := r.Name == "" && r.Trash == ""
	var claimed manifest.Head
	if own {
		b, _ := sc.g.brief(ctx, r.Session, sc.g.headKey(ctx)) // before the log; see verifyInto
		claimed = b.Head
	}
	visitor := &mentionVisitor{sieve: sc.sieve, head: sc.heads[r.Root]}
	v, err := sc.g.Logs.Read(ctx, ports.Reading{Log: log, From: visitor.head, Locked: exclusive}, visitor)
	if errors.Is(err, manifest.ErrNotOnChain) {
		visitor.Reset()
		v, err = sc.g.Logs.Read(ctx, ports.Reading{Log: log, Locked: exclusive}, visitor)
	}
	if err != nil {
		return err
	}
	if own {
		v = lostTail(log, v, claimed)
	}
	sc.heads[r.Root] = v.Head
	if v.Damaged() || r.Name == "" && v.Health != manifest.Healthy {
		sc.addUnclear(r.Root, describeHealth(v))
	}
	if r.Trash != "" || r.Session.IsZero() {
		return nil
	}
	return sc.recordSession(ctx, r, v, visitor)
}

func describeHealth(v manifest.Verdict) string {
	out := string(v.Health)
	if len(v.Findings) > 0 {
		out += ": " + v.Findings[len(v.Findings)-1].Message
	}
	return out
}

func ownerField(r ports.LogRoot) string {
	if r.Session.IsZero() {
		return "storeId"
	}
	return "sessionId"
}

// note keeps what retention wants to know about a session: whatever is in its logs,
// what people said about it included, makes it younger.
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
	s.Unborn, s.head = v.Unborn(), v.Head
	err := sc.g.checkNotKept(ctx, r.Session)
	s.Kept = fault.Is(err, fault.SessionKept)
	if err == nil || s.Kept {
		s.LastAtMs = max(s.LastAtMs, sc.g.importedAtMs(ctx, r.Session))
		return nil
	}
	return err
}

// importedAtMs is when a session came as a bundle: what is old elsewhere is new here.
func (g *Engine) importedAtMs(ctx context.Context, s id.Session) int64 {
	if g.Marks == nil {
		return 0
	}
	c, err := g.Marks.SessionControl(ctx, s, ports.ImportedFile)
	if err != nil {
		return 0
	}
	mark, err := imported.Read(c.Data)
	if err != nil {
		return 0
	}
	return mark.AtMs
}

// sift visits a log and keeps whatever it names.
type mentionVisitor struct {
	sieve    *retention.Sieve
	head     manifest.Head
	lastAtMs int64
}

// Reset starts over; what was named stays kept.
func (s *mentionVisitor) Reset() { s.head, s.lastAtMs = manifest.Head{}, 0 }

// Visit looks through a segment, and through the lines that pin its snapshots.
func (s *mentionVisitor) Visit(seg manifest.Segment, head manifest.Head) error {
	s.sieve.Keep(seg.Group)
	s.sieve.Keep(seg.Bytes)
	for _, e := range seg.Events {
		s.lastAtMs = max(s.lastAtMs, e.TimestampMs)
	}
	s.head = head
	return nil
}
