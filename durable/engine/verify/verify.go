// Package verify implements the use cases that check what a store has on record:
// logs, objects and references, the audit log, and the recorded decisions, which
// Replayer makes again. It changes nothing.
//
// Start reading at Verifier.Verify.
package verify

import (
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
)

// Store is what a verification requires of a store.
type Store interface {
	session.Source
	ports.Identity
	ports.Inspector
	ports.Digests
	ports.SideLogs
	ports.SessionControls
}

// reading is what a verification reads: a store, or a bundle as one.
type reading struct {
	r     *session.Reader
	store Store
	// bundle: there is no import mark and no audit log.
	bundle bool
}

// Verifier verifies a store. It is safe for concurrent use.
type Verifier struct {
	reading
	audit *Auditor
}

// New returns the verifier of a store.
func New(r *session.Reader, s Store, audit *Auditor) *Verifier {
	return &Verifier{reading{r: r, store: s}, audit}
}

// VerifyOptions selects what a verification does.
type VerifyOptions struct {
	// Digests reads and hashes every byte and decodes nothing. It detects
	// changed bytes, and not that what was written is inconsistent.
	Digests bool
	// ExpectHead is a head that the session's log had earlier; the verdict
	// reports whether the log still contains it. Zero: none.
	ExpectHead canon.Digest
	// Signers are the keys whose consents count, from outside of the store. nil: the store's own settings are
	// believed, and decisions without signatures are no finding.
	Signers []consent.Signer
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
// no lock and changes nothing. Damage is a finding and not an error;
// STORE_IO if the process had no file descriptor left for a part.
func (x *Verifier) Verify(ctx context.Context) (Verification, error) {
	return x.VerifyWith(ctx, VerifyOptions{})
}

// VerifyWith is Verify with options. Sessions are checked in parallel if they
// are many; the order of the result does not depend on it.
func (x *Verifier) VerifyWith(ctx context.Context, o VerifyOptions) (Verification, error) {
	return session.Whole(x.store, func() (Verification, error) { return x.verify(ctx, o, x.storeLogs) })
}

// Bundle verifies a bundle as Verify does a store, and more strictly: a workflow
// beyond the limits of every compiler is an error. progress is VerifyOptions.Progress.
func Bundle(ctx context.Context, b ports.Bundle, progress func(VerifyProgress)) (Verification, error) {
	source := session.ReadOnly(b)
	noLogs := func(context.Context, *storeCheck) ([]manifest.Finding, error) { return nil, nil }
	return session.Whole(source, func() (Verification, error) {
		return reading{session.NewReader(source), source, true}.verify(ctx, VerifyOptions{Progress: progress}, noLogs)
	})
}

// verify checks every session and object; storeLogs checks the logs of the store
// itself.
func (x reading) verify(ctx context.Context, o VerifyOptions,
	storeLogs func(context.Context, *storeCheck) ([]manifest.Finding, error)) (Verification, error) {
	out := Verification{OK: true, Sessions: []SessionVerdict{}, Findings: []manifest.Finding{}}
	all, err := x.store.Sessions(ctx)
	if err != nil {
		return out, err
	}
	w := newStoreCheck(ctx, x, o, all)
	if w.anchored, err = w.readAnchor(ctx); err != nil {
		return out, err
	}
	inspect := func() ([]manifest.Finding, error) { return x.store.Inspect(ctx) }
	if o.Digests {
		inspect = w.startInspection(ctx)
	}
	rows, errs := make([]*SessionVerdict, len(all)), make([]error, len(all))
	forEach(len(all), func(i int) { rows[i], errs[i] = w.session(ctx, all[i]) })
	found, err := inspect()
	if err == nil {
		err = w.confirmPins(ctx, all, rows, errs)
	}
	for i, row := range rows {
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case errs[i] != nil && isBusy(errs[i]):
			return out, errs[i]
		case errs[i] != nil:
			out.addUnreadable(all[i], errs[i]) // an unreadable session must not hide the others
		case row != nil:
			out.Sessions = append(out.Sessions, *row)
			out.updateOK(row.Findings)
		}
	}
	var side []manifest.Finding
	if err == nil {
		side, err = storeLogs(ctx, w) // before orphans, because it records references too
	}
	if err == nil && !o.Digests && !out.hasUnclear() && !w.unclear && !slices.ContainsFunc(found, isUnreadSession) {
		// A log that could not be read may refer to any object, so orphans are
		// reported only if all were read.
		var orphans []manifest.Finding
		orphans, err = w.orphans(ctx, out.checked())
		found = append(found, orphans...)
	}
	found = append(found, side...)
	out.Findings = append(out.Findings, found...)
	out.updateOK(found)
	return out, err
}

// VerifySession verifies one session, by session id, run id, prefix of a run id
// or @last. Errors: SESSION_NOT_FOUND, RUN_NOT_FOUND, RUN_AMBIGUOUS.
func (x *Verifier) VerifySession(ctx context.Context, ref string) (Verification, error) {
	return x.VerifySessionWith(ctx, ref, VerifyOptions{})
}

// VerifySessionWith is VerifySession with options.
func (x *Verifier) VerifySessionWith(ctx context.Context, ref string, o VerifyOptions) (Verification, error) {
	return session.Whole(x.store, func() (Verification, error) { return x.verifySession(ctx, ref, o) })
}

// verifySession is VerifySessionWith, with findings where no file descriptor was left.
func (x *Verifier) verifySession(ctx context.Context, ref string, o VerifyOptions) (Verification, error) {
	out := Verification{OK: true, Sessions: []SessionVerdict{}, Findings: []manifest.Finding{}}
	s, err := x.r.ResolveSession(ctx, ref)
	if err != nil {
		return out, err
	}
	w := newStoreCheck(ctx, x.reading, o, []id.Session{s})
	if w.anchored, err = w.readAnchor(ctx); err != nil {
		return out, err
	}
	row, err := w.session(ctx, s)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil || row == nil {
		return out, err
	}
	found, err := x.store.InspectSession(ctx, s)
	if err != nil {
		return out, err
	}
	row.Findings = append(row.Findings, found...)
	out.Sessions = append(out.Sessions, *row)
	out.updateOK(row.Findings)
	return out, nil
}

// isUnreadSession reports a finding about an entry under a session's name that
// is no session, such as a link: what it leads to may refer to any object.
func isUnreadSession(f manifest.Finding) bool {
	name, inSessions := strings.CutPrefix(f.Path, "sessions/")
	_, err := id.ParseSession(name)
	return inSessions && err == nil && (f.Code == manifest.UnknownFile || f.Code == manifest.ManifestDamaged)
}

// hasUnclear reports that a session was not read to its end, or not understood.
func (v *Verification) hasUnclear() bool {
	return slices.ContainsFunc(v.Sessions, func(s SessionVerdict) bool { return s.Health != manifest.Healthy })
}

// checked returns the sessions that have a verdict.
func (v *Verification) checked() (out []id.Session) {
	for _, s := range v.Sessions {
		out = append(out, s.SessionID)
	}
	return out
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
