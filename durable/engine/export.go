package engine

import (
	"context"
	"io"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/durable/travel/rewrite"
	"github.com/waybill/waybill/ports"
)

// ExportRequest says what to export, and what the bundle says about itself.
type ExportRequest struct {
	Ref        string // a session or run, prefix or @last
	ExportedAt string // RFC 3339, for people
	AppVersion string
	Salvage    bool // of a damaged session, what stands before the damage
	Redact     bool // with the secrets taken out (R30)
}

// Export is the document "export".
type Export struct {
	BundleID  id.Bundle    `json:"bundleId"`
	SessionID id.Session   `json:"sessionId"`
	Head      canon.Digest `json:"head"` // of the session's log as it is exported
	Events    int64        `json:"events"`
	Snapshots int64        `json:"snapshots"`
	Workflows int64        `json:"workflows"`
	Artifacts int64        `json:"artifacts"`
	SideLogs  []string     `json:"sideLogs"`
	// Annotations is how many of those that travel stand.
	Annotations int64            `json:"annotations"`
	Bytes       int64            `json:"bytes"` // of the bundle
	Salvage     *bundle.Salvage  `json:"salvage,omitzero"`
	Redacted    map[string]int64 `json:"redacted,omitzero"` // how often each rule was met
	File        string           `json:"file,omitzero"`     // where it was written, as the caller named it
}

// Export writes one session as a bundle (locks section 1.3). The session is read
// several times, each time up to the head that it had at first, and little of it is
// in memory at any moment. One that is not whole is SESSION_UNHEALTHY, unless a
// salvage was asked for: then what stands before the damage, and before the first event
// of which an object is gone, is exported, and the bundle says so. Facts of another program travel
// as they are. Nothing is changed.
func (g *Engine) Export(ctx context.Context, seed id.Seed, req ExportRequest, w io.Writer) (Export, error) {
	s, err := g.resolveSession(ctx, req.Ref)
	if err != nil {
		return Export{}, err
	}
	x, err := g.surveySession(ctx, s, req)
	if err != nil {
		return Export{}, err
	}
	x.out.BundleID = id.NewBundle(seed)
	count := &countingWriter{w: w}
	envelope := bundle.Envelope{BundleID: x.out.BundleID.String(), ExportedAt: req.ExportedAt,
		Producer: bundle.Producer{AppVersion: req.AppVersion}, Salvage: x.out.Salvage, SessionID: s.String()}
	if req.Redact {
		if x.out.Redacted, err = x.countRedactions(ctx); err != nil {
			return x.out, err
		}
		envelope.Redacted = &bundle.Redacted{Rules: x.out.Redacted}
	}
	if x.w, err = bundle.NewWriter(count, envelope); err != nil {
		return x.out, err
	}
	if err := x.write(ctx); err != nil {
		return x.out, err
	}
	err = x.w.Close()
	x.out.Bytes = count.n
	return x.out, err
}

// export is one export under way.
type exporter struct {
	g       *Engine
	session id.Session
	req     ExportRequest
	logs    []exportedLog // the session's own first, then the side logs
	refs    *objectRefs
	unknown bool // it holds facts of another program
	w       *bundle.Writer
	out     Export

	redaction *rewrite.Redaction // of the session's own log, once its events are written
}

// travelling is a log up to the head at which it is exported.
type exportedLog struct {
	name string // "" is the session's own
	log  manifest.Log
	head manifest.Head
}

// survey reads everything once: how healthy it is, where it ends, what it refers to.
func (g *Engine) surveySession(ctx context.Context, s id.Session, req ExportRequest) (*exporter, error) {
	x := &exporter{g: g, session: s, req: req, refs: newObjectRefs(), out: Export{SessionID: s, SideLogs: []string{}}}
	own := manifest.SessionEvents(s)
	v, err := g.Logs.Read(ctx, ports.Reading{Log: own}, x.refs)
	if err != nil {
		return nil, err
	}
	// Looked at behind the log: a brief that a writer keeps meanwhile names no loss.
	claimed, _ := g.brief(ctx, s, g.headKey(ctx))
	if claimed.Head.Next > v.Head.Next {
		if v, err = g.Logs.Read(ctx, ports.Reading{Log: own}, x.refs); err != nil {
			return nil, err
		}
		v = lostTail(own, v, claimed.Head)
	}
	if v.Unborn() {
		return nil, fault.New(fault.SessionNotFound, "nothing was ever committed to session %s", s)
	}
	if err := x.checkHealth(own, v); err != nil {
		return nil, err
	}
	x.unknown = v.Health == manifest.UnknownVersion
	if req.Salvage {
		if v, err = x.salvagePrefix(ctx, own, v); err != nil {
			return nil, err
		}
	}
	x.logs = []exportedLog{{"", own, v.Head}}
	x.out.Head, x.out.Events = v.Head.Digest, v.Head.Next
	return x, x.surveySideLogs(ctx)
}

func (x *exporter) surveySideLogs(ctx context.Context) error {
	if x.g.SideLogs == nil {
		return nil
	}
	names, err := x.g.SideLogs.SideLogs(ctx, x.session.String())
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		log := manifest.SessionSide(x.session, event.Opaque(name, "sessionId"))
		v, err := x.g.Logs.Read(ctx, ports.Reading{Log: log}, &verdictVisitor{})
		if err != nil {
			return err
		}
		if err := x.checkHealth(log, v); err != nil {
			return err
		}
		if !v.Head.IsZero() {
			x.logs = append(x.logs, exportedLog{name, log, v.Head})
			x.out.SideLogs = append(x.out.SideLogs, name)
			if name == feedback.Table.Name {
				if err := x.countAnnotations(ctx); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// countAnnotations counts what stands of what people said of the session's runs.
func (x *exporter) countAnnotations(ctx context.Context) error {
	t, _, err := x.g.tally(ctx, x.session)
	for run := range t.Runs {
		sums := t.Of(run)
		x.out.Annotations += sums.Count()
	}
	return err
}

// judge refuses damage, or notes it where a salvage was asked for.
func (x *exporter) checkHealth(log manifest.Log, v manifest.Verdict) error {
	if !v.Damaged() {
		return nil
	}
	if !x.req.Salvage || v.Head.IsZero() && log.Root == manifest.SessionEvents(x.session).Root {
		err := fault.Of(ports.Unhealthy(log, v))
		if !v.Head.IsZero() {
			return err.Suggest("Export what stands before the damage with --salvage.")
		}
		return err
	}
	x.noteSalvage(v.Health, v.Findings)
	return nil
}

// salvage notes what the bundle is not whole for.
func (x *exporter) noteSalvage(health manifest.Health, found []manifest.Finding) {
	if x.out.Salvage == nil {
		x.out.Salvage = &bundle.Salvage{Health: health}
	}
	x.out.Salvage.Findings = append(x.out.Salvage.Findings, found...)
}

// counted counts what is written.
type countingWriter struct {
	w io.Writer
	n int64
}

// Write implements io.Writer.
func (c *countingWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}

// ignored visits nothing.
type verdictVisitor struct{}

// Reset implements ports.Visitor.
func (*verdictVisitor) Reset() {}

// Visit implements ports.Visitor.
func (*verdictVisitor) Visit(manifest.Segment, manifest.Head) error { return nil }
