package verify

import (
	"context"
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// Stored signatures are checked in every verification: each has to be one over the text beside it, and the
// text about what it is stored with. Whose keys they are is judged by the anchor, signers from outside of the
// store (VerifyOptions.Signers): without one, a store that was rewritten as a whole vouches for itself
// (docs/design.md#signed-consent).

// anchor is what a verification against signers from outside knows of the store.
type anchor struct {
	signers consent.Signers
	// before are the decisions that the audit log recorded before the store had signers.
	before  map[id.Event]bool
	imports *auditview.Ledger
	policy  auditview.Confirmed
}

// readAnchor reads the audit log for the options; nil without signers.
func (w *storeCheck) readAnchor(ctx context.Context) (*anchor, error) {
	if w.o.Signers == nil {
		return nil, nil
	}
	out := &anchor{signers: consent.Signers{List: w.o.Signers}, before: map[id.Event]bool{}, imports: auditview.NewLedger()}
	store, err := w.store.StoreID(ctx, ports.ReadOnly)
	if err != nil || store.IsZero() {
		return out, err
	}
	_, err = w.store.Read(ctx, ports.ReadRequest{Log: audit.LogOf(store)},
		ports.Each(func(seg manifest.Segment, head manifest.Head) error {
			for _, e := range seg.Events {
				if p, ok := e.Data.(audit.Recorded); ok && !out.imports.Confirmed.HadSigners() {
					out.before[p.Source.EventID] = true
				}
			}
			return out.imports.Visit(seg, head)
		}))
	out.policy = out.imports.Confirmed
	return out, err
}

// policyFindings compares the signers of the store with the anchor.
func (a *anchor) policyFindings() (out []manifest.Finding) {
	now := a.policy.Signers()
	if now.IsZero() {
		return []manifest.Finding{manifest.NewFinding(manifest.PolicyMismatch, audit.Table.Name,
			"the store has no signers, and signers are expected")}
	}
	for _, s := range now.List {
		if !a.signers.Has(s.PublicKey) {
			out = append(out, manifest.NewFinding(manifest.PolicyMismatch, audit.Table.Name,
				"the signer %s with the key %s is none of the expected ones", s.Principal, s.Fingerprint()))
		}
	}
	return out
}

// unsigned is the finding about a decision without a signature that counts. It is a warning if the audit log
// recorded the decision before the store had signers.
func (a *anchor) unsigned(log manifest.Log, e event.Event, what string, cause error) manifest.Finding {
	f := manifest.NewFinding(manifest.SignatureMissing, log.Root, "%s in event %d has no signature that counts: %s", what,
		e.Index, fault.Of(cause).Message).AtEvent(e.Index)
	if a.before[e.ID] {
		f.Severity = manifest.SeverityWarn
		f.Message = fmt.Sprintf("%s in event %d was recorded before the store had signers, and is not signed", what, e.Index)
	}
	return f
}

// importedSpan returns which events of a session came with bundles: decisions among them do not count here. The audit
// log has to record it. The mark can only narrow that, since an import that was recorded may have failed.
func (w *storeCheck) importedSpan(ctx context.Context, s id.Session) imported.Span {
	if w.anchored == nil {
		return imported.Span{}
	}
	span := w.anchored.imports.Imports.Span(manifest.SessionEvents(s).Root)
	if c, err := w.store.SessionControl(ctx, s, ports.ImportedFile); err == nil && c.V == imported.Version {
		if mark, err := imported.Read(c.Data); err == nil {
			span = imported.Span{From: max(span.From, mark.From), Events: min(span.Events, mark.Events)}
		}
	}
	return span
}

// decisionFindings checks the signatures of the decisions in a session's log.
//
// A session that was imported under other ids, or replays another one, has the texts of the ids that were signed: there
// only the signatures themselves are checked.
func (w *storeCheck) decisionFindings(ctx context.Context, s id.Session, c *sessionCheck) (out []manifest.Finding, err error) {
	log, all := c.log, c.decisions
	renamed, came := c.replays || c.from != nil && c.from.SessionID != s, w.importedSpan(ctx, s)
	if len(all) == 0 {
		return nil, nil
	}
	store, err := w.store.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		return nil, err
	}
	for _, e := range all {
		data, err := w.store.Object(ctx, manifest.Artifact, e.Data.(event.NodeOutputAppended).Payload.SHA256)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		v, parseErr := canon.Parse(data)
		if err != nil || parseErr != nil {
			continue // the object is a finding of its own, or was erased
		}
		r, err := decision.Decode(v)
		if err != nil {
			continue // written by another program
		}
		place := decision.Place{Store: store, Session: s, Run: e.Scope.RunID, Node: e.Scope.NodeID}
		if renamed {
			if _, err := consent.Inspect(r.Signed.JCS(), r.Signature); r.IsSigned() && err != nil {
				out = append(out, invalid(log, e, err))
			}
			continue
		}
		out = append(out, w.decisionFinding(log, e, r, place, came)...)
	}
	return out, nil
}

// decisionFinding checks the signature of one decision.
func (w *storeCheck) decisionFinding(log manifest.Log, e event.Event, r decision.Record, at decision.Place,
	came imported.Span) []manifest.Finding {
	if r.IsSigned() {
		err := inspected(r.Given, func(store id.Store) consent.Subject {
			at := at
			at.Store = store // that of the text: the session may have been imported
			return r.Subject(at)
		})
		if err != nil {
			return []manifest.Finding{invalid(log, e, err)}
		}
	}
	a := w.anchored
	if a == nil || r.Decision == event.SentBack || came.Has(e.Index) {
		return nil
	}
	if _, err := r.Signer(a.signers, at); err != nil {
		return []manifest.Finding{a.unsigned(log, e, "the decision", err)}
	}
	return nil
}

// inspected checks that a signature is one over its text, and that the text is about a subject in the store
// that the text names.
func inspected(g consent.Given, of func(id.Store) consent.Subject) error {
	named, _ := g.Signed.Get("store")
	store, err := id.ParseStore(named.Text())
	if err != nil || !of(store).IsOf(g.Signed) {
		return consent.Refused(consent.WhySubject, "its text is about something else")
	}
	_, err = consent.Inspect(g.Signed.JCS(), g.Signature)
	return err
}

// invalid is the finding about a stored signature.
func invalid(log manifest.Log, e event.Event, cause error) manifest.Finding {
	return manifest.NewFinding(manifest.SignatureInvalid, log.Root, "the signature in event %d does not count: %s", e.Index,
		fault.Of(cause).Message).AtEvent(e.Index)
}

// signedRecords checks the signatures in the log of proposals.
func (w *storeCheck) signedRecords(c *proposalCheck) (out []manifest.Finding) {
	for _, e := range c.signed {
		r := e.Data.(proposal.Record)
		place := proposal.Place{Store: e.Owner, Proposal: r.About().ProposalID}
		var g consent.Given
		var subject consent.Subject
		switch r := r.(type) {
		case proposal.Approved:
			g, subject = r.Given, r.Consented(place)
		case proposal.Applied:
			g, subject = r.Given, r.Consented(place)
		case proposal.RolledBack:
			g, subject = r.Given, proposal.RollBackSubject(place, r.PolicyDigest, c.applied[place.Proposal], r.Reason)
		}
		if err := inspected(g, func(id.Store) consent.Subject { return subject }); err != nil {
			out = append(out, invalid(c.log, e, err))
		}
	}
	if w.anchored == nil {
		return out
	}
	for _, i := range c.fold.InstalledAnywhere() {
		if !w.anchored.policy.IsInstalledUnsigned(i.Record(), i.Ref) && (!c.fold.IsSigned(i, w.anchored.signers) ||
			!c.fold.IsPermitted(i, proposal.PolicyOf(w.anchored.policy.InstallSettings(i.Record(), i.Ref)))) {
			out = append(out, manifest.NewFinding(manifest.SignatureMissing, c.log.Root,
				"what %s installed (%s) has no signature that counts", i.ProposalID, i.Ref))
		}
	}
	return out
}

// actFindings are the findings about changes of the settings that no signer then in force signed.
func actFindings(acts *auditview.History) []manifest.Finding {
	if n := acts.Confirmed.Unsigned; n > 0 {
		return []manifest.Finding{manifest.NewFinding(manifest.SignatureMissing, audit.Table.Name,
			"%d changes of the settings were recorded that no signer then in force signed; they have no effect", n)}
	}
	return nil
}

// isDecisionEvent reports an event with the artifact of a decision.
func isDecisionEvent(e event.Event) bool {
	p, ok := e.Data.(event.NodeOutputAppended)
	return ok && p.Decision != nil && p.Payload.ArtifactKind == event.DecisionKind
}

// hasSignature reports a record of the log of proposals that is signed.
func hasSignature(e event.Event) bool {
	r, ok := e.Data.(interface{ IsSigned() bool })
	return ok && r.IsSigned()
}
