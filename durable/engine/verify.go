package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// VerifyOptions selects what a verification does.
type VerifyOptions struct {
	// Digests reads and hashes every byte and decodes nothing. It detects
	// changed bytes, and not that what was written is inconsistent.
	Digests bool
	// ExpectHead is a head that the session's log had earlier; the verdict
	// reports whether the log still contains it. Zero: none.
	ExpectHead canon.Digest
	// Progress is called at times with the state so far, by one goroutine at a
	// time; nil: not called.
	Progress func(VerifyProgress)
}

// VerifyProgress is the progress of a verification.
type VerifyProgress struct {
	Events int64 // checked so far
	// Bytes, Of: of all manifests; segments progress at the same rate.
	Bytes, Of int64
}

// Verification is the document "verification". OK reports that no finding is an
// error.
type Verification struct {
	OK       bool               `json:"ok"`
	Sessions []SessionVerdict   `json:"sessions"`
	Findings []manifest.Finding `json:"findings"` // of the store as a whole
}

// SessionVerdict is the result for one session.
type SessionVerdict struct {
	SessionID id.Session         `json:"sessionId"`
	Health    manifest.Health    `json:"health"`
	Events    int64              `json:"events"`
	Head      manifest.Head      `json:"head"`
	Findings  []manifest.Finding `json:"findings"`
	// Since relates the log to VerifyOptions.ExpectHead; "" without one.
	Since HeadRelation `json:"since,omitzero"`
}

// HeadRelation is the closed set of relations of a log to an earlier head.
type HeadRelation string

// The relations of a log to an earlier head.
const (
	HeadSame HeadRelation = "same"
	// HeadAhead means that the log contains the head and was continued.
	HeadAhead HeadRelation = "ahead"
	// HeadOther means that the log lacks the head: its events are gone.
	HeadOther HeadRelation = "other"
)

// Verify verifies the whole store: every log, every object that one refers to,
// every reference between events, and unknown files in its directory. It takes
// no lock and changes nothing. Damage is a finding and not an error.
func (g *Engine) Verify(ctx context.Context) (Verification, error) {
	return g.VerifyWith(ctx, VerifyOptions{})
}

// VerifyWith is Verify with options. Sessions are checked in parallel if they
// are many; the order of the result does not depend on it.
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
			out.addUnreadable(all[i], errs[i]) // an unreadable session must not hide the others
		case row != nil:
			row.Findings = append(row.Findings, w.unseenPins(ctx, row.SessionID)...)
			out.Sessions = append(out.Sessions, *row)
			out.updateOK(row.Findings)
		}
	}
	var side []manifest.Finding
	if err == nil {
		side, err = w.storeLogs(ctx) // before orphans, because it records references too
	}
	if err == nil && !o.Digests && !out.hasUnclear() && !w.unclear {
		// A log that could not be read may refer to any object, so orphans are
		// reported only if all were read.
		var orphans []manifest.Finding
		orphans, err = w.orphans(ctx)
		found = append(found, orphans...)
	}
	found = append(found, side...)
	out.Findings = append(out.Findings, found...)
	out.updateOK(found)
	return out, err
}

// VerifySession verifies one session, by session id, run id, prefix of a run id
// or @last. Errors: SESSION_NOT_FOUND, RUN_NOT_FOUND, RUN_AMBIGUOUS.
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

// sessionInspector is an inspector that can inspect the directory of one
// session. For a whole store the same findings are among those of the store.
type sessionInspector interface {
	InspectSession(ctx context.Context, s id.Session) ([]manifest.Finding, error)
}

// resolveSession finds a session by its own id or by a run in it.
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

// hasUnclear reports that a session was not read to its end, or not understood.
func (v *Verification) hasUnclear() bool {
	return slices.ContainsFunc(v.Sessions, func(s SessionVerdict) bool { return s.Health != manifest.Healthy })
}

// addUnreadable adds the verdict over a session that the store refused to read.
func (v *Verification) addUnreadable(s id.Session, cause error) {
	log := manifest.SessionEvents(s)
	found := []manifest.Finding{manifest.NewFinding(manifest.ManifestDamaged, log.Root,
		"the session cannot be read: %s", fault.Of(cause).Message)}
	v.Sessions = append(v.Sessions, SessionVerdict{SessionID: s, Health: manifest.CorruptHead, Findings: found})
	v.updateOK(found)
}

// updateOK clears OK if a finding is an error.
func (v *Verification) updateOK(findings []manifest.Finding) {
	for _, f := range findings {
		v.OK = v.OK && f.Severity != manifest.SeverityError
	}
}
