// Package audit is the log of what people decided about a store: approvals,
// deletions, imports and the like (R10). It is a side log of the store, in the same
// form as every other log; this package holds its records and their checks. Which
// facts have a line, and what the lines come to, is folded by projections.
package audit

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
)

// Action is the closed set of what is put on record.
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
)

// Actions lists the closed set, in the order of docs/format.md.
func Actions() []Action {
	return []Action{Approve, Override, Repair, Keep, Delete, Restore, EmptyTrash, GC, Erase, Import, Rotate, Trust,
		Untrust, Cancel,
		Annotate, Retract, Propose, Revise, Apply, Reject, Archive, RollBack}
}

// MakesStore reports an action that brings a store into being where there is none: only
// then may putting it on record do so.
func (a Action) MakesStore() bool { return a == Import || a == Trust }

// TargetKind is the closed set of what an action is about.
type TargetKind string

// The kinds of targets.
const (
	OfStore    TargetKind = "store"
	OfSession  TargetKind = "session"
	OfRun      TargetKind = "run"
	OfArtifact TargetKind = "artifact"
	OfWorkflow TargetKind = "workflow"
	OfKeyring  TargetKind = "keyring"
	OfProposal TargetKind = "proposal"
)

// Check refuses a kind of no set, and an id of another kind's shape: ids and digests
// need no redaction, anything else would.
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

// Target is what an action is about; ID is an id, a digest, or "" for the store.
type Target struct {
	Kind TargetKind `json:"kind"`
	ID   string     `json:"id,omitzero"`
}

// Act is an action as whoever carries it out asks for it. Reason is a person's text.
type Act struct {
	Action  Action
	Target  Target
	Reason  string
	Details map[string]string // what else is worth knowing, by short names
}
