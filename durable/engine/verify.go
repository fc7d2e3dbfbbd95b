package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/waybill/waybill/durable/compile"
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
			return out, err
		}
	}
	found, err := g.Inspector.Inspect(ctx)
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
	_, _, s, err := g.lookup(ctx, ref)
	return s, err
}

func (v *Verification) judge(findings []manifest.Finding) {
	for _, f := range findings {
		v.OK = v.OK && f.Severity != manifest.SeverityError
	}
}

// objectVerdicts remembers what was wrong with an object, nil for nothing: many
// sessions share snapshots and workflows.
type objectVerdicts map[projections.ObjectRef]*manifest.Finding

func (g *Engine) verifyInto(ctx context.Context, out *Verification, s id.Session, objects objectVerdicts) error {
	log := manifest.SessionEvents(s)
	refs := projections.NewReferences(log)
	v, err := g.Logs.Read(ctx, ports.Reading{Log: log}, refs)
	if err != nil {
		return err
	}
	row := SessionVerdict{SessionID: s, Health: v.Health, Events: v.Head.Next, Head: v.Head, Findings: []manifest.Finding{}}
	row.Findings = append(append(row.Findings, v.Findings...), refs.Findings...)
	for _, ref := range sortedRefs(refs.Objects) {
		why, seen := objects[ref]
		if !seen {
			why = g.checkObject(ctx, ref)
			objects[ref] = why
		}
		if why != nil {
			index := refs.Objects[ref]
			f := *why
			f.Event = &index // the first one that refers to it here
			row.Findings = append(row.Findings, f)
		}
	}
	out.Sessions = append(out.Sessions, row)
	out.judge(row.Findings)
	return nil
}

func sortedRefs(refs map[projections.ObjectRef]int64) []projections.ObjectRef {
	out := make([]projections.ObjectRef, 0, len(refs))
	for ref := range refs {
		out = append(out, ref)
	}
	slices.SortFunc(out, func(a, b projections.ObjectRef) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Ref.String(), b.Ref.String()))
	})
	return out
}

// checkObject reads an object, which recomputes its digest. A pinned workflow
// must be one; a snapshot of a foreign form is for the session's health to say.
func (g *Engine) checkObject(ctx context.Context, ref projections.ObjectRef) *manifest.Finding {
	at := manifest.ObjectDir(ref.Kind) + "/" + manifest.ObjectName(ref.Kind, ref.Ref)
	data, err := g.Objects.Object(ctx, ref.Kind, ref.Ref)
	if err == nil && ref.Kind == manifest.Workflow {
		if _, decodeErr := compile.Decode(data); fault.Is(decodeErr, fault.StoreCorrupt) {
			err = decodeErr
		}
	}
	if err == nil {
		return nil
	}
	code := manifest.ObjectDamaged
	if fault.Of(err).Details["missing"] == true {
		code = manifest.ObjectMissing
	}
	f := manifest.NewFinding(code, at, "%s", fault.Of(err).Message)
	return &f
}
