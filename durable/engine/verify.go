package engine

import (
	"context"
	"slices"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/projections"
)

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
}

// Verify checks the whole store: every log, every object that one refers to,
// every reference between events, and what else lies in the folder.
func (g *Engine) Verify(ctx context.Context) (Verification, error) {
	out := Verification{OK: true, Sessions: []SessionVerdict{}, Findings: []manifest.Finding{}}
	all, err := g.Sessions.Sessions(ctx)
	if err != nil {
		return out, err
	}
	objects := objectVerdicts{}
	for _, s := range all {
		if err := g.verifyInto(ctx, &out, s, objects); err != nil {
			if ctx.Err() != nil {
				return out, err
			}
			out.unread(s, err) // one session that cannot be read must not hide the others
		}
	}
	found, err := g.Inspector.Inspect(ctx)
	if err == nil && !out.unclear() {
		// What could not be read may refer to anything.
		var orphans []manifest.Finding
		orphans, err = g.orphans(ctx, objects)
		found = append(found, orphans...)
	}
	out.Findings = append(out.Findings, found...)
	out.judge(found)
	return out, err
}

// VerifySession checks one session, by session or run id, prefix or @last.
func (g *Engine) VerifySession(ctx context.Context, ref string) (Verification, error) {
	out := Verification{OK: true, Sessions: []SessionVerdict{}, Findings: []manifest.Finding{}}
	s, err := g.session(ctx, ref)
	if err != nil {
		return out, err
	}
	return out, g.verifyInto(ctx, &out, s, objectVerdicts{})
}

// session finds a session by its own id or by a run.
func (g *Engine) session(ctx context.Context, ref string) (id.Session, error) {
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
func (v *Verification) unclear() bool {
	return slices.ContainsFunc(v.Sessions, func(s SessionVerdict) bool { return s.Health != manifest.Healthy })
}

// unread is the verdict over a session that the store refused to read.
func (v *Verification) unread(s id.Session, cause error) {
	log := manifest.SessionEvents(s)
	found := []manifest.Finding{manifest.NewFinding(manifest.ManifestDamaged, log.Root, "the session cannot be read: %s", fault.Of(cause).Message)}
	v.Sessions = append(v.Sessions, SessionVerdict{SessionID: s, Health: manifest.CorruptHead, Findings: found})
	v.judge(found)
}

func (v *Verification) judge(findings []manifest.Finding) {
	for _, f := range findings {
		v.OK = v.OK && f.Severity != manifest.SeverityError
	}
}

func (g *Engine) verifyInto(ctx context.Context, out *Verification, s id.Session, objects objectVerdicts) error {
	log := manifest.SessionEvents(s)
	refs := projections.NewReferences(log)
	// Looked at before the log is: a writer who is at work meanwhile is no loss.
	claimed, _ := g.brief(ctx, s, g.headKey(ctx))
	v, err := g.Logs.Read(ctx, ports.Reading{Log: log}, refs)
	v = lostTail(log, v, claimed.Head)
	if err != nil || v.Unborn() {
		return err // a session that nothing was committed to is none yet
	}
	row := SessionVerdict{SessionID: s, Health: v.Health, Events: v.Head.Next, Head: v.Head, Findings: []manifest.Finding{}}
	row.Findings = append(append(row.Findings, v.Findings...), refs.Findings...)
	for _, ref := range sortedRefs(refs.Objects) {
		verdict := g.look(ctx, ref, objects)
		if verdict.finding == nil {
			continue
		}
		index := refs.Objects[ref]
		f := *verdict.finding
		f.Event = &index // the first one that refers to it here
		row.Findings = append(row.Findings, f)
		if f.Code == manifest.UnknownEvents && row.Health == manifest.Healthy {
			row.Health = manifest.UnknownVersion
		}
	}
	row.Findings = append(row.Findings, claims(log, refs.Claims, objects)...)
	out.Sessions = append(out.Sessions, row)
	out.judge(row.Findings)
	return nil
}
