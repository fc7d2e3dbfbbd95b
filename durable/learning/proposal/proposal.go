// Package proposal is the model of reviewed changes to what a store has installed
// (docs/design.md#proposals): the kinds of artifacts, the states and moves of a proposal, the
// events of the proposals log, and the policy for approvals and activation. The log is a side
// log of the store, in the same form as every other log.
//
// It installs nothing and prompts for nothing. Projections compute the current state of
// proposals from the log; package installable checks an artifact when it is applied. Start
// with Draft and ParseFile, then Created and Transitions.
package proposal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/redact"
)

// Kind is the closed set of kinds of artifacts that may be proposed.
type Kind string

// The kinds, in OpenWOP's words.
const (
	AgentPack         Kind = "agent-pack"
	WorkflowChainPack Kind = "workflow-chain-pack"
	PromptTemplate    Kind = "prompt-template"
	Automation        Kind = "automation"
)

// Kinds lists the kinds, in OpenWOP's order.
func Kinds() []Kind { return []Kind{AgentPack, WorkflowChainPack, PromptTemplate, Automation} }

// Known reports whether k is one of Kinds.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// State is the closed set of states of a proposal. In every state but StateApplied it affects
// no run.
type State string

// The states, in OpenWOP's words.
const (
	StateDraft    State = "draft"
	StateRevised  State = "revised"
	StateApplied  State = "applied"
	StateRejected State = "rejected"
	StateArchived State = "archived"
)

// States lists the states, in OpenWOP's order.
func States() []State {
	return []State{StateDraft, StateRevised, StateApplied, StateRejected, StateArchived}
}

// Known reports whether s is one of States.
func (s State) Known() bool { return slices.Contains(States(), s) }

// Open reports whether the proposal awaits a decision: it may be approved and applied.
func (s State) Open() bool { return s == StateDraft || s == StateRevised }

// Mode is the closed set of activation modes, from the store's configuration.
type Mode string

// The modes.
const (
	ApprovalGate Mode = "approval-gate" // people with the approver's role approve first
	DirectRBAC   Mode = "direct-rbac"   // a caller with the scope applies directly
)

// NoReason is stored where no reason was given, so that a reader can tell an absent reason
// from a lost one. Package advance stores the same text; it cannot be imported from here.
const NoReason = "No reason was given."

// Artifact names the proposed bytes: a JSON object as JCS, stored as an object of its own and
// installed unchanged.
type Artifact struct {
	ByteLength int64        `json:"byteLength"`
	SHA256     canon.Digest `json:"sha256"`
}

// Owner is the owner of a proposal. Principal and Workspace may be empty.
type Owner struct {
	Principal string `json:"principal,omitzero"`
	Tenant    string `json:"tenant"`
	Workspace string `json:"workspace,omitzero"`
}

// Provenance lists what a proposal was derived from.
type Provenance struct {
	SourceRunIDs     []id.Run `json:"sourceRunIds"`
	SynthesizerModel string   `json:"synthesizerModel,omitzero"`
}

// Duplicate is an existing installation, proposal or workflow that equals the artifact (100
// percent) or is similar to it.
type Duplicate struct {
	Percent int64  `json:"percent"`
	Ref     string `json:"ref"` // a label of at most refBytesMax bytes
}

// slotIDBytesMax is the maximum length of a pack name in OpenWOP. The lengths of versions and
// of the refs that combine both are derived from it.
const (
	slotIDBytesMax  = 256
	versionBytesMax = 128
	refBytesMax     = 512
)

// Slot is the location of an installation: a kind and an id. A new installation replaces the
// one in its slot. ID is "" if the artifact names none; such a draft can be stored but not
// applied.
type Slot struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
}

// InstalledRef returns the name of an installation in records and on the wire:
// "<kind>:<id>[@<version>]#sha256:<hex>".
func InstalledRef(s Slot, version string, digest canon.Digest) string {
	ref := string(s.Kind) + ":" + s.ID
	if version != "" {
		ref += "@" + version
	}
	return ref + "#" + digest.String()
}

// label reports whether s is a valid one-line name of at most bytesMax bytes.
func label(s string, bytesMax int) bool {
	return s != "" && len(s) <= bytesMax && utf8.ValidString(s) && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, unprintable)
}

// unprintable reports characters that could break a line or make two names look alike.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// check refuses an unknown kind and an id that is not a label; "" is valid in a draft.
func (s Slot) check() error {
	if !s.Kind.Known() {
		return fmt.Errorf("unknown kind %q", s.Kind)
	}
	if s.ID != "" && !label(s.ID, slotIDBytesMax) {
		return fmt.Errorf("slot id of %d bytes: want a name of at most %d", len(s.ID), slotIDBytesMax)
	}
	return nil
}

// check bounds the size: "{}" is the smallest object.
func (a Artifact) check() error {
	if a.SHA256.IsZero() || a.ByteLength < 2 || a.ByteLength > limits.SourceBytesMax {
		return fmt.Errorf("artifact of %d bytes: want 2 to %d, and their digest", a.ByteLength, limits.SourceBytesMax)
	}
	return nil
}

// check requires a tenant and bounds the names.
func (o Owner) check() error {
	for _, m := range []struct {
		name, text string
		need       bool
	}{{"tenant", o.Tenant, true}, {"workspace", o.Workspace, false}, {"principal", o.Principal, false}} {
		if m.text == "" && m.need || len(m.text) > limits.ActorRefMax || !utf8.ValidString(m.text) {
			return fmt.Errorf("owner's %s of %d bytes: want 1 to %d of UTF-8", m.name, len(m.text), limits.ActorRefMax)
		}
	}
	return nil
}

// check refuses repeated runs and bounds the list and the model's name.
func (p Provenance) check() error {
	return cmp.Or(atMostOf("source runs", len(p.SourceRunIDs), limits.SourceRunsMax),
		distinctIDs("source run", p.SourceRunIDs),
		checkText("synthesizerModel", p.SynthesizerModel, limits.ActorRefMax))
}

// ranked refuses duplicates that are not in descending order: the wire shape shows the first.
func ranked(all []Duplicate) error {
	if err := atMostOf("duplicates", len(all), limits.DuplicatesMax); err != nil {
		return err
	}
	for i, d := range all {
		if d.Percent < 1 || d.Percent > 100 || i > 0 && d.Percent > all[i-1].Percent {
			return fmt.Errorf("duplicate %d is of %d percent: want 1 to 100, the largest first", i, d.Percent)
		}
		if !label(d.Ref, refBytesMax) {
			return fmt.Errorf("duplicate %d: a ref of %d bytes, want a label of at most %d", i, len(d.Ref), refBytesMax)
		}
	}
	return nil
}

// checkText bounds an optional text in bytes of UTF-8.
func checkText(name, s string, bytesMax int) error {
	if len(s) > bytesMax || !utf8.ValidString(s) {
		return fmt.Errorf("%s of %d bytes: want at most %d of UTF-8", name, len(s), bytesMax)
	}
	return nil
}

// clean returns a text as it may be stored: redacted, then truncated, since a redaction
// marker may be longer than the secret that it replaces (docs/design.md#redaction).
func clean(s string, bytesMax int) string {
	return reason.Truncate(redact.Text(strings.ToValidUTF8(s, "\uFFFD"), nil), bytesMax)
}

// NameOf returns the principal's name of an actor: its ref, or else its kind.
func NameOf(a event.Actor) string {
	return cmp.Or(a.Ref, string(a.Kind))
}
