package verify

import (
	"context"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/ports"
	auditview "github.com/waybill/waybill/projections/audit"
)

// AuditEntry is the document "audit_entry": one recorded act, and the consent that was signed for it.
type AuditEntry struct {
	auditview.Entry
	Signature *AuditSignature `json:"signature,omitzero"`
	// Erased reports that the artifact of the decision was erased, and a signature in it with it.
	Erased bool `json:"erased,omitzero"`
}

// AuditSignature is a stored signature, with what was signed.
type AuditSignature struct {
	// Verifies reports that the signature is one over the payload, that the payload is about this act, and
	// that a signer then in force made it. Why is the reason where it does not.
	Verifies bool   `json:"verifies"`
	Why      string `json:"why,omitzero"`
	// Principal is the signer whose key it is, by the settings in force at the time of the act.
	Principal   string       `json:"principal,omitzero"`
	Fingerprint string       `json:"fingerprint,omitzero"`
	Touched     bool         `json:"touched,omitzero"`
	SignedAtMs  int64        `json:"signedAtMs"`
	SHA256      canon.Digest `json:"sha256"` // of the payload in canonical form
	Payload     canon.Value  `json:"payload"`
	Armoured    string       `json:"armoured"`
}

// AuditShow returns the recorded act with an id: that of its line in the audit log, or of the event that the
// line is about, or a unique prefix of either. TARGET_NOT_FOUND, or VALIDATION_ERROR for a prefix of several.
func (a *Auditor) AuditShow(ctx context.Context, ref string) (AuditEntry, error) {
	list, err := a.AuditList(ctx, AuditQuery{})
	if err != nil {
		return AuditEntry{}, err
	}
	found, err := selectEntry(list, ref)
	if err != nil {
		return AuditEntry{}, err
	}
	out, recorded := AuditEntry{Entry: found}, a
	if a.Settings != nil {
		own, err := a.Settings.list(ctx, AuditQuery{})
		if err != nil {
			return AuditEntry{}, err
		}
		if slices.ContainsFunc(own.Entries, func(e auditview.Entry) bool { return e.EventID == found.EventID }) {
			recorded = a.Settings
		}
	}
	given, of, err := recorded.consentOf(ctx, found)
	switch {
	case fault.Is(err, fault.ArtifactErased):
		out.Erased = true
		return out, nil
	case err != nil || !given.IsSigned():
		return out, err
	}
	signers, err := a.ofSettings().signersAt(ctx, found)
	if err != nil {
		return out, err
	}
	s := &AuditSignature{SignedAtMs: given.SignedAtMs(), SHA256: given.SignedDigest(), Payload: given.Signed,
		Armoured: given.Signature}
	by, why := signers.CheckSignature(given.Signed.JCS(), given.Signature, given.SignedAtMs())
	if subjectErr := inspected(given, of); subjectErr != nil {
		why = subjectErr
	}
	if s.Principal, s.Fingerprint, s.Touched = by.Principal, by.Fingerprint, by.Touched; why != nil {
		s.Why = fault.Of(why).Message
	}
	s.Verifies = why == nil
	out.Signature = s
	return out, nil
}

// selectEntry returns the entry that a reference names.
func selectEntry(list AuditTrail, ref string) (auditview.Entry, error) {
	var found []auditview.Entry
	for _, e := range list.Entries {
		ids := []string{e.EventID.String()}
		if e.Source != nil {
			ids = append(ids, e.Source.EventID.String())
		}
		if slices.Contains(ids, ref) {
			return e, nil
		}
		if slices.ContainsFunc(ids, func(id string) bool { return hasPrefix(id, ref) }) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		f := fault.New(fault.TargetNotFound, "the audit log records no action whose id begins with %q", ref)
		if !list.Complete {
			f.Message += "; it could not be read completely"
		}
		return auditview.Entry{}, f.Suggest("See the ids with %s.", fault.Command{"audit", "list", "--details"})
	}
	return auditview.Entry{}, fault.New(fault.ValidationError, "the ids of %d actions begin with %q", len(found), ref).
		Suggest("Give more characters of the id.")
}

// hasPrefix reports that the id of an event begins with a reference, which may leave out the prefix of its kind.
func hasPrefix(of, ref string) bool {
	const kind = "evt_"
	return ref != "" && ref != kind && (strings.HasPrefix(of, ref) || strings.HasPrefix(of, kind+ref))
}

// consentOf returns what was signed for an act, and the subject that it has to be about in a store.
func (a *Auditor) consentOf(ctx context.Context, act auditview.Entry) (consent.Given, func(id.Store) consent.Subject,
	error) {
	store, err := a.store.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		return consent.Given{}, nil, err
	}
	log, eventID := audit.LogOf(store), act.EventID
	if act.Source != nil {
		all, err := a.ledger.Logs(ctx, store)
		if err != nil {
			return consent.Given{}, nil, err
		}
		i := slices.IndexFunc(all, func(l manifest.Log) bool { return l.Root == act.Source.Root() })
		if i < 0 {
			return consent.Given{}, nil, nil // the session was deleted since
		}
		log, eventID = all[i], act.Source.EventID
	}
	e, applied, err := a.findEvent(ctx, log, eventID)
	if err != nil {
		return consent.Given{}, nil, err
	}
	switch p := e.Data.(type) {
	case audit.Intended:
		return p.Given, func(s id.Store) consent.Subject { return p.Subject(s.String(), signedPolicy(p.Given)) }, nil
	case proposal.Record:
		g, subject := recordConsent(e.Owner, p, applied)
		return g, func(id.Store) consent.Subject { return subject }, nil
	case event.NodeOutputAppended:
		return a.decisionConsent(ctx, act, e, p)
	}
	return consent.Given{}, nil, nil
}

// findEvent returns an event of a log, the zero one if the log does not have it. applied are the artifacts that
// proposals had installed before it.
func (a *Auditor) findEvent(ctx context.Context, log manifest.Log, wanted id.Event) (found event.Event,
	applied map[id.Proposal]canon.Digest, err error) {
	visit := func(seg manifest.Segment, _ manifest.Head) error {
		for _, e := range seg.Events {
			switch p, ok := e.Data.(proposal.Applied); {
			case !found.ID.IsZero():
			case e.ID == wanted:
				found = e
			case ok:
				applied[p.ProposalID] = p.ArtifactSHA256
			}
		}
		return nil
	}
	_, err = a.store.Read(ctx, ports.ReadRequest{Log: log}, func(manifest.Head) ports.Visitor {
		found, applied = event.Event{}, map[id.Proposal]canon.Digest{}
		return ports.VisitorFunc(visit)
	})
	return found, applied, err
}

// recordConsent returns the consent in a record of the log of proposals, and its subject.
func recordConsent(store string, r proposal.Record, applied map[id.Proposal]canon.Digest) (consent.Given,
	consent.Subject) {
	at := proposal.Place{Store: store, Proposal: r.About().ProposalID}
	switch r := r.(type) {
	case proposal.Approved:
		return r.Given, r.Consented(at)
	case proposal.Applied:
		return r.Given, r.Consented(at)
	case proposal.RolledBack:
		return r.Given, proposal.RollBackSubject(at, r.PolicyDigest, applied[at.Proposal], r.Reason)
	}
	return consent.Given{}, consent.Subject{}
}

// decisionConsent returns the consent in the artifact of a decision about a step. That of an approval has no
// policy: the one that was signed is compared with nothing.
func (a *Auditor) decisionConsent(ctx context.Context, act auditview.Entry, e event.Event, p event.NodeOutputAppended) (
	consent.Given, func(id.Store) consent.Subject, error) {
	data, err := a.store.Object(ctx, manifest.Artifact, p.Payload.SHA256)
	if err != nil {
		return consent.Given{}, nil, err
	}
	v, err := canon.Parse(data)
	if err != nil || p.Decision == nil {
		return consent.Given{}, nil, nil // no artifact of a decision that could be signed
	}
	// Both kinds of artifacts state what they are bound to in the same members.
	step, _ := v.Get("stepInstanceKey")
	ref, _ := v.Get("snapshotRef")
	bound := decision.Bound{StepInstanceKey: step.Text()}
	bound.Outputs, _ = v.Get("outputs")
	bound.SnapshotRef, _ = canon.ParseDigest(ref.Text()) // one that is none equals no snapshot
	g := consent.Parse(v)
	r := decision.Record{StepDecision: *p.Decision, Bound: bound, PolicyDigest: signedPolicy(g)}
	if whole, err := decision.Decode(v); err == nil {
		r.PolicyDigest = whole.PolicyDigest
	}
	return g, func(s id.Store) consent.Subject {
		return r.Subject(decision.Place{Store: s, Session: act.Source.SessionID, Run: e.Scope.RunID, Node: e.Scope.NodeID})
	}, nil
}

// signedPolicy returns the policy that a signed text names, zero for none.
func signedPolicy(g consent.Given) canon.Digest {
	named, _ := g.Signed.Get("policy")
	digest, _ := canon.ParseDigest(named.Text())
	return digest
}

// signersAt returns the signers in force when an act was recorded.
func (a *Auditor) signersAt(ctx context.Context, act auditview.Entry) (signers consent.Signers, err error) {
	store, err := a.store.StoreID(ctx, ports.ReadOnly)
	if err != nil {
		return signers, err
	}
	last, reached := auditview.Confirmed{}, false
	visit := func(seg manifest.Segment, _ manifest.Head) error {
		for _, e := range seg.Events {
			reached = reached || e.ID == act.EventID || act.Source != nil && e.TimestampMs > act.AtMs
			if !reached {
				last.VisitConfirmed(manifest.Segment{Events: []event.Event{e}})
			}
		}
		return nil
	}
	_, err = a.store.Read(ctx, ports.ReadRequest{Log: audit.LogOf(store)}, func(manifest.Head) ports.Visitor {
		last, reached = auditview.Confirmed{}, false
		return ports.VisitorFunc(visit)
	})
	return last.Signers(), err
}
