// Package audit defines the records of the audit log: a side log of the store with the
// administrative actions on it, such as approvals, deletions and imports
// (docs/design.md#side-logs).
//
// It holds the event types and their checks. It does not append to the log, does not fold it, and
// does not decide which events of other logs have an audit record; projections do. Records are made
// by Intend, Conclude and Record, which redact all texts.
package audit

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/id"
)

// Action is the closed set of audited actions. The words are stored: never renamed.
type Action string

// The actions.
const (
	Approve    Action = "approve"
	Override   Action = "override"
	Repair     Action = "repair"
	Keep       Action = "keep"
	Delete     Action = "delete"
	Restore    Action = "restore"
	EmptyTrash Action = "empty_trash"
	GC         Action = "gc"
	Erase      Action = "erase"
	Import     Action = "import"
	Rotate     Action = "rotate"
	Trust      Action = "trust"
	Untrust    Action = "untrust"
	Cancel     Action = "cancel"
	Annotate   Action = "annotate"
	Retract    Action = "retract"
	Propose    Action = "propose"
	Revise     Action = "revise"
	Apply      Action = "apply"
	Reject     Action = "reject"
	Archive    Action = "archive"
	RollBack   Action = "roll_back"
	Configure  Action = "configure"
	SendBack   Action = "send_back"
	Deny       Action = "deny"
)

// Actions returns the closed set, in the order of docs/format.md.
func Actions() []Action {
	return []Action{Approve, Override, Repair, Keep, Delete, Restore, EmptyTrash, GC, Erase, Import, Rotate, Trust,
		Untrust, Cancel,
		Annotate, Retract, Propose, Revise, Apply, Reject, Archive, RollBack, Configure, SendBack, Deny}
}

// CreatesStore reports whether the action may create a store. Recording any other action in a
// directory without a store must fail instead of creating one.
func (a Action) CreatesStore() bool { return a == Import || a == Trust || a == Configure }

// Details of Configure, Trust and Untrust. Those of their outcomes state what a person confirmed, those
// of their intentions what a file will contain (docs/design.md#settings).
const (
	// DetailPolicy is the digest of the settings that decide who may do what, after the action.
	DetailPolicy = "policy"
	// DetailSettings is the canonical text of these settings, where it is short enough.
	DetailSettings = "settings"
	// DetailTrusted is the digest of the list of trusted workflow versions, after the action.
	DetailTrusted = "trusted"
	// DetailPolicyAfter is DetailPolicy as the intention expects it.
	DetailPolicyAfter = "policyAfter"
	// DetailTrustedAfter is DetailTrusted as the intention expects it. A concurrent change of the list
	// leads to another one.
	DetailTrustedAfter = "trustedAfter"
	// DetailKeys are the names of the settings that are confirmed, each with a space before the next.
	DetailKeys = "keys"
	// DetailSources is the digest of the attached folders of the machine, after the action.
	DetailSources = "sources"
	// DetailSourcesAfter is DetailSources as the intention expects it.
	DetailSourcesAfter = "sourcesAfter"
	// DetailHTTPKeys is the digest of the keys of programs that call the server, after the action.
	DetailHTTPKeys = "httpKeys"
	// DetailHTTPKeysAfter is DetailHTTPKeys as the intention expects it, as DetailTrustedAfter.
	DetailHTTPKeysAfter = "httpKeysAfter"
)

// DetailInstalled is the detail of Apply and Override that states what a proposal installed.
const DetailInstalled = "installed"

// AfterDetails maps each detail of an outcome that states what a person confirmed to the one with which
// the intention states it.
var AfterDetails = map[string]string{DetailPolicy: DetailPolicyAfter, DetailTrusted: DetailTrustedAfter,
	DetailSources: DetailSourcesAfter, DetailHTTPKeys: DetailHTTPKeysAfter}

// TargetKind is the closed set of kinds of targets.
type TargetKind string

// The kinds of targets. The words are stored.
const (
	OfStore    TargetKind = "store"
	OfSession  TargetKind = "session"
	OfRun      TargetKind = "run"
	OfArtifact TargetKind = "artifact"
	OfWorkflow TargetKind = "workflow"
	OfKeyring  TargetKind = "keyring"
	OfProposal TargetKind = "proposal"
)

// Check returns an error for an unknown kind, and for an ID that is not the id or digest that the
// kind requires. Ids and digests need no redaction; other text would.
func (t Target) Check() error {
	var err error
	switch t.Kind {
	case OfStore, OfKeyring:
		if t.ID != "" {
			return fmt.Errorf("a target of kind %q has no id", t.Kind)
		}
	case OfSession:
		_, err = id.ParseSession(t.ID)
	case OfRun:
		_, err = id.ParseRun(t.ID)
	case OfProposal:
		_, err = id.ParseProposal(t.ID)
	case OfArtifact, OfWorkflow:
		_, err = canon.ParseDigest(t.ID)
	default:
		return fmt.Errorf("unknown kind of target %q", t.Kind)
	}
	if err != nil {
		return fmt.Errorf("target of kind %q: %w", t.Kind, err)
	}
	return nil
}

// Target is the object of an action. ID is an id, a digest, or "" for the store and the keyring.
type Target struct {
	Kind TargetKind `json:"kind"`
	ID   string     `json:"id,omitzero"`
}

// Act is an action as the caller requests it, before redaction.
type Act struct {
	Action  Action
	Target  Target
	Reason  string            // a person's text, "" for none
	Details map[string]string // further facts by short names, such as counts
	// Consent is a person's signature over Subject, zero where none is required.
	Consent consent.Given
}

// Subject is what a person signs to consent to an act that changes what decides who may do what, in a
// store under a policy (docs/design.md#signed-consent). shown are the values of the change, for the
// reader of the payload: the digests in the details are what binds.
func (a Act) Subject(store string, policy canon.Digest, shown canon.Value) consent.Subject {
	return subject(store, policy, Intend(a, 0), shown)
}

// Subject is that of the act which the intention records. Of the values of the change it takes those
// that were signed.
func (i Intended) Subject(store string, policy canon.Digest) consent.Subject {
	shown, _ := i.Signed.Get(memberChanges)
	return subject(store, policy, i, shown)
}

// memberChanges is the member of a payload with the values of the change.
const memberChanges = "changes"

func subject(store string, policy canon.Digest, i Intended, shown canon.Value) consent.Subject {
	details := make([]canon.Member, 0, len(i.Details))
	for name, text := range i.Details {
		details = append(details, consent.Text(name, text))
	}
	return consent.NewSubject(consent.ChangeSettings, store, policy, consent.Text("action", string(i.Action)),
		consent.Text("target", i.Target.ID), canon.Member{Name: "details", Value: canon.OfMembers(details...)},
		canon.Member{Name: memberChanges, Value: shown})
}
