package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// VerifyOptions say how a verification goes about it.
type VerifyOptions struct {
	// Digests reads and hashes everything and decodes nothing: that every byte is what
	// was written is checked, and not that what was written fits together.
	Digests bool
	// ExpectHead asks whether a session's log still holds what stood in it when this was
	// its head; zero asks nothing.
	ExpectHead canon.Digest
	// Progress is told how far it is, now and then, by one goroutine at a time; or nil.
	Progress func(VerifyProgress)
}

// VerifyProgress is how far a verification has come.
type VerifyProgress struct {
	Events    int64 // that were checked
	Bytes, Of int64 // of the manifests of all logs: those of their segments keep pace
}

// Verification is the document "verification". OK says that no finding is an error.
type Verification struct {
	OK       bool               `json:"ok"`
	Sessions []SessionVerdict   `json:"sessions"`
	Findings []manifest.Finding `json:"findings"` // of the store as a whole
}

// SessionVerdict is what verification saw of one session.
type SessionVerdict struct {
	SessionID id.Session         `json:"sessionId"`
	Health    manifest.Health    `json:"health"`
	Events    int64              `json:"events"`
	Head      manifest.Head      `json:"head"`
	Findings  []manifest.Finding `json:"findings"`
	// Since says what became of the head that was expected, "" when none was.
	Since HeadRelation `json:"since,omitzero"`
}

// HeadRelation is the closed set of what a log can be to a head that somebody kept.
type HeadRelation string

// The relations.
const (
	HeadSame  HeadRelation = "same"
	HeadAhead HeadRelation = "ahead" // the log went on since
	HeadOther HeadRelation = "other" // the head is not on the log's chain: what it stood for is gone
)

// Verify checks the whole store: every log, every object that one refers to,
// every reference between events, and what else lies in the folder.
func (g *Engine) Verify(ctx context.Context) (Verification, error) {
	return g.VerifyWith(ctx, VerifyOptions{})
}

// VerifyWith is Verify with options.
func (g *Engine) VerifyWith(ctx context.Context, o VerifyOptions) (Verification, error) {
	out := Verification{OK: true, Sessions: []SessionVerdict{}, Findings: []manifest.Finding{}}
	all, err := g.Sessions.Sessions(ctx)
	if err != nil {
		return out, err
	}
	w := newVerifier(ctx, g, o, all)
	inspect := func() ([]manifest.Finding, error) { return g.Inspector.Inspect(ctx) }
	if o.Digests && g.Digests != nil {
		inspect = w.startInspection(ctx)
	}
	rows, errs := make([]*SessionVerdict, len(all)), make([]error, len(all))
	forEach(len(all), func(i int) { rows[i], errs[i] = w.session(ctx, all[i]) })
	found, err := inspect()
	for i, row := range rows {
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case errs[i] != nil:
			out.addUnreadable(all[i], errs[i]) // one session that cannot be read must not hide the others
		case row != nil:
			row.Findings = append(row.Findings, w.unseenPins(ctx, row.SessionID)...)
			out.Sessions = append(out.Sessions, *row)
			out.updateOK(row.Findings)
		}
	}
	var side []manifest.Finding
	if err == nil {
		side, err = w.storeLogs(ctx) // before orphans are looked for: it names objects as well
	}
	if err == nil && !o.Digests && !out.hasUnclear() && !w.unclear {
		// What could not be read may refer to anything.
		var orphans []manifest.Finding
		orphans, err = w.orphans(ctx)
		found = append(found, orphans...)
	}
	found = append(found, side...)
	out.Findings = append(out.Findings, found...)
	out.updateOK(found)
	return out, err
}

// VerifySession checks one session, by session or run id, prefix or @last.
func (g *Engine) VerifySession(ctx context.Context, ref string) (Verification, error) {
	return g.VerifySessionWith(ctx, ref, VerifyOptions{})
}

// VerifySessionWith is VerifySession with options.
func (g *Engine) VerifySessionWith(ctx context.Context, ref string, o VerifyOptions) (Verification, error) {
	out := Verification{OK: true, Sessions: []SessionVerdict{}, Findings: []manifest.Finding{}}
	s, err := g.resolveSession(ctx, ref)
	if err != nil {
		return out, err
	}
	row, err := newVerifier(ctx, g, o, []id.Session{s}).session(ctx, s)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil || row == nil {
		return out, err
	}
	if in, ok := g.Inspector.(sessionInspector); ok {
		found, err := in.InspectSession(ctx, s)
		if err != nil {
			return out, err
		}
		row.Findings = append(row.Findings, found...)
	}
	out.Sessions = append(out.Sessions, *row)
	out.updateOK(row.Findings)
	return out, nil
}

// sessionInspector is an inspector that looks at one session's folder alone. Of a whole
// store it tells the same among the findings of the store.
type sessionInspector interface {
	InspectSession(ctx context.Context, s id.Session) ([]manifest.Finding, error)
}

// session finds a session by its own id or by a run.
func (g *Engine) resolveSession(ctx context.Context, ref string) (id.Session, error) {
	all, err := g.Sessions.Sessions(ctx)
	if err != nil {
		return id.Session{}, err
	}
	if s, err := id.ParseSession(ref); err == nil {
		if slices.Contains(all, s) {
			return s, nil
		}
		return s, fault.New(fault.SessionNotFound, "the store holds no session %s", s)
	}
	at, err := g.lookup(ctx, ref)
	return at.session, err
}

// unclear reports a session that was not read to its end, or not understood.
func (v *Verification) hasUnclear() bool {
	return slices.ContainsFunc(v.Sessions, func(s SessionVerdict) bool { return s.Health != manifest.Healthy })
}

// unread is the verdict over a session that the store refused to read.
func (v *Verification) addUnreadable(s id.Session, cause error) {
	log := manifest.SessionEvents(s)
	found := []manifest.Finding{manifest.NewFinding(manifest.ManifestDamaged, log.Root,
		"the session cannot be read: %s", fault.Of(cause).Message)}
	v.Sessions = append(v.Sessions, SessionVerdict{SessionID: s, Health: manifest.CorruptHead, Findings: found})
	v.updateOK(found)
}

func (v *Verification) updateOK(findings []manifest.Finding) {
	for _, f := range findings {
		v.OK = v.OK && f.Severity != manifest.SeverityError
	}
}
