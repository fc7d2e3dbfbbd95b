package travel

import (
	"context"
	"io"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/session"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/durable/travel/rewrite"
	"github.com/waybill/waybill/ports"
)

// ExportRequest selects what to export, and what the envelope of the bundle
// states.
type ExportRequest struct {
	// Ref is a session id, run id, prefix of a run id, or @last.
	Ref        string
	ExportedAt string // RFC 3339, informative
	AppVersion string
	// Salvage permits to export the valid prefix of a damaged session.
	Salvage bool
	// Redact removes secrets (docs/design.md#redaction).
	Redact bool
}

// Export is the document "export": what the bundle contains.
type Export struct {
	BundleID  id.Bundle  `json:"bundleId"`
	SessionID id.Session `json:"sessionId"`
	// Head is that of the exported log; a redacted one differs from the
	// session's.
	Head      canon.Digest `json:"head"`
	Events    int64        `json:"events"`
	Snapshots int64        `json:"snapshots"`
	Workflows int64        `json:"workflows"`
	Artifacts int64        `json:"artifacts"`
	SideLogs  []string     `json:"sideLogs"`
	// Annotations is the number of exported annotations that are current.
	Annotations int64           `json:"annotations"`
	Bytes       int64           `json:"bytes"` // of the bundle
	Salvage     *bundle.Salvage `json:"salvage,omitzero"`
	// Redacted counts matches by redaction rule.
	Redacted map[string]int64 `json:"redacted,omitzero"`
	File     string           `json:"file,omitzero"` // as the caller named it
	// Warnings are the places of suspected secrets that the bundle holds as they are stored: at most 100, none of
	// them in an artifact. A redacted bundle has none.
	Warnings []SecretWarning `json:"warnings,omitzero"`
	// Signature is the one in a file beside the bundle. Additive.
	Signature *Signature `json:"signature,omitzero"`
}

// Signature is a signature over the bytes of a bundle, in a file of its own
// (docs/format/bundles.md#signatures-beside-bundles).
type Signature struct {
	File        string `json:"file,omitzero"` // as the caller named it
	Fingerprint string `json:"fingerprint"`
	// Principal is the signer of the store whose key it is; "" for a key that is no signer.
	Principal string `json:"principal,omitzero"`
	Touched   bool   `json:"touched,omitzero"` // the signature shows a touch of the key
}

// Export writes one session as a bundle (docs/design.md#bundles). The session
// is read several times, each time up to the head of the first reading, and
// little of it is in memory at a time. Nothing in the store changes. Events of
// another program are exported unchanged.
//
// A damaged session is SESSION_UNHEALTHY unless req.Salvage is set. Then the
// bundle contains the events before the damage, and before the first event of
// which an object is lost, and its envelope records both. STORE_CONFLICT if a
// log is replaced during the export; w has an incomplete bundle then, which no
// import accepts.
func (c *Exchange) Export(ctx context.Context, seed id.Seed, req ExportRequest, w io.Writer) (Export, error) {
	s, err := c.e.ResolveSession(ctx, req.Ref)
	if err != nil {
		return Export{}, err
	}
	x, err := c.surveySession(ctx, s, req)
	if err != nil {
		return Export{}, err
	}
	x.out.BundleID = id.NewBundle(seed)
	count := &countingWriter{w: w}
	if slices.Contains(x.out.SideLogs, feedback.Table.Name) {
		if err := x.countAnnotations(ctx); err != nil {
			return x.out, err
		}
	}
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
	x.out.Bytes, x.out.Warnings = count.n, x.suspected.warnings()
	return x.out, err
}

// exporter is one export in progress.
type exporter struct {
	ex      *Exchange
	session id.Session
	req     ExportRequest
	// logs has the session's own log first, then its side logs.
	logs []exportedLog
	refs *objectRefs
	// unknown reports that the session contains events of another program.
	unknown bool
	w       *bundle.Writer
	out     Export

	// redaction is that of the session's own log, set after its events are
	// written.
	redaction *rewrite.Redaction
	// suspected searches what is exported as it is stored.
	suspected secretSearch
}

// exportedLog is a log with the head up to which it is exported.
type exportedLog struct {
	// name is "" for the session's own log.
	name   string
	log    manifest.Log
	head   manifest.Head
	health manifest.Health
}

// surveySession reads every log of the session once, for health, heads and
// references. Later readings stop at the heads that it found, so that
// concurrent appends do not enter the bundle.
func (c *Exchange) surveySession(ctx context.Context, s id.Session, req ExportRequest) (*exporter, error) {
	x := &exporter{ex: c, session: s, req: req, out: Export{SessionID: s, SideLogs: []string{}}}
	own := manifest.SessionEvents(s)
	// The side logs are read first: an annotation names events that the session's own log has already.
	sides, err := c.readSideLogs(ctx, s)
	if err != nil {
		return nil, err
	}
	v, err := c.store.Read(ctx, ports.ReadRequest{Log: own}, ports.Into(&x.refs, newObjectRefs))
	if err != nil {
		return nil, err
	}
	// The saved head is read after the log: a writer may save a later head
	// meanwhile, which is no loss, so the log is read again in that case.
	claimed, _ := c.e.Brief(ctx, s, c.e.HeadKey(ctx))
	// Either the log lost its end, or it grew since it was read.
	if claimed.Head.Next > v.Head.Next {
		if v, err = c.store.Read(ctx, ports.ReadRequest{Log: own}, ports.Into(&x.refs, newObjectRefs)); err != nil {
			return nil, err
		}
		v = session.LostTail(own, v, claimed.Head)
	}
	if v.Unborn() {
		return nil, fault.New(fault.SessionNotFound, "session %s has no events", s)
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
	x.logs = []exportedLog{{"", own, v.Head, v.Health}}
	x.out.Head, x.out.Events = v.Head.Digest, v.Head.Next
	return x, x.addSideLogs(sides)
}

// sideLogRead is a side log with the verdict over it.
type sideLogRead struct {
	name string
	log  manifest.Log
	v    manifest.Verdict
}

// readSideLogs reads the side logs of a session, in the order of their names.
func (c *Exchange) readSideLogs(ctx context.Context, s id.Session) (out []sideLogRead, err error) {
	names, err := c.store.SideLogs(ctx, s.String())
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		log := manifest.SessionSide(s, event.Opaque(name, "sessionId"))
		v, err := c.store.Read(ctx, ports.ReadRequest{Log: log}, ports.Skip)
		if err != nil {
			return nil, err
		}
		out = append(out, sideLogRead{name, log, v})
	}
	return out, nil
}

// addSideLogs adds the side logs that are not empty. A damaged one is refused, unless a salvage was requested.
func (x *exporter) addSideLogs(sides []sideLogRead) error {
	for _, side := range sides {
		if err := x.checkHealth(side.log, side.v); err != nil {
			return err
		}
		if !side.v.Head.IsZero() {
			x.logs = append(x.logs, exportedLog{side.name, side.log, side.v.Head, side.v.Health})
			x.out.SideLogs = append(x.out.SideLogs, side.name)
		}
	}
	return nil
}

// countAnnotations counts the current annotations of the session's runs.
func (x *exporter) countAnnotations(ctx context.Context) error {
	t, _, err := x.ex.e.Tally(ctx, x.session)
	for run := range t.Runs {
		sums := t.Of(run)
		x.out.Annotations += sums.Count()
	}
	return err
}

// checkHealth refuses a damaged log, or records the damage if a salvage was
// requested. A session whose own log has no valid prefix cannot be salvaged.
func (x *exporter) checkHealth(log manifest.Log, v manifest.Verdict) error {
	if !v.Damaged() {
		return nil
	}
	if !x.req.Salvage || v.Head.IsZero() && log.Root == manifest.SessionEvents(x.session).Root {
		err := fault.Of(ports.Unhealthy(log, v))
		if !v.Head.IsZero() {
			return err.Suggest("Export the events before the damage with %s.",
				fault.Command{"export", x.session.String(), "--salvage"})
		}
		return err
	}
	x.noteSalvage(v.Health, v.Findings)
	return nil
}

// noteSalvage records why the bundle is incomplete. Health and findings become
// a part of its envelope.
func (x *exporter) noteSalvage(health manifest.Health, found []manifest.Finding) {
	if x.out.Salvage == nil {
		x.out.Salvage = &bundle.Salvage{Health: health}
	}
	x.out.Salvage.Findings = append(x.out.Salvage.Findings, found...)
}

// countingWriter counts the bytes written through it.
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
