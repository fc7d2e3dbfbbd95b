// Package proposal is the model of reviewable learning (R29, RFC 0096): what may be
// proposed, which states a proposal goes through, what its log records, and who may
// do what about it. Proposals are a side log of the store, in the form of every other.
//
// It installs nothing and asks nobody. What a log comes to is folded by projections;
// whether an artifact is sound for its kind is asked where it is applied.
package proposal

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/redact"
)

// Kind is the closed set of what may be proposed (RFC 0096 A).
type Kind string

// The kinds.
const (
	AgentPack         Kind = "agent-pack"
	WorkflowChainPack Kind = "workflow-chain-pack"
	PromptTemplate    Kind = "prompt-template"
	Automation        Kind = "automation"
)

// Kinds lists the closed set, in the order of RFC 0096.
func Kinds() []Kind { return []Kind{AgentPack, WorkflowChainPack, PromptTemplate, Automation} }

// Known reports a kind of the set.
func (k Kind) Known() bool { return slices.Contains(Kinds(), k) }

// State is the closed set of where a proposal stands (RFC 0096 B). In every state but
// StateApplied it has no effect on any run.
type State string

// The states.
const (
	StateDraft    State = "draft"
	StateRevised  State = "revised"
	StateApplied  State = "applied"
	StateRejected State = "rejected"
	StateArchived State = "archived"
)

// States lists the closed set, in the order of RFC 0096.
func States() []State {
	return []State{StateDraft, StateRevised, StateApplied, StateRejected, StateArchived}
}

// Known reports a state of the set.
func (s State) Known() bool { return slices.Contains(States(), s) }

// Open reports a proposal that waits for people: it may be approved and applied.
func (s State) Open() bool { return s == StateDraft || s == StateRevised }

// Mode is the closed set of how proposals are activated (RFC 0096 A).
type Mode string

// The modes.
const (
	ApprovalGate Mode = "approval-gate" // people who hold a role approve first
	DirectRBAC   Mode = "direct-rbac"   // whoever holds a scope applies
)

// NoReason is recorded where nobody gave a reason: a later reader should see that
// nothing was said. These are the words of package advance, which stands above this one.
const NoReason = "No reason was given."

// Artifact names the proposed bytes: the JCS spelling of a JSON object, which is stored
// as an object of its own and is installed byte for byte.
type Artifact struct {
	ByteLength int64        `json:"byteLength"`
	SHA256     canon.Digest `json:"sha256"`
}

// Owner is whose a proposal is (RFC 0048). Workspace is "" where it belongs to none.
type Owner struct {
	Principal string `json:"principal,omitzero"`
	Tenant    string `json:"tenant"`
	Workspace string `json:"workspace,omitzero"`
}

// Provenance is what a proposal was made from.
type Provenance struct {
	SourceRunIDs     []id.Run `json:"sourceRunIds"`
	SynthesizerModel string   `json:"synthesizerModel,omitzero"`
}

// Duplicate is something that exists already and that a proposal is like: by its bytes
// (100 percent), or nearly.
type Duplicate struct {
	Percent int64  `json:"percent"`
	Ref     string `json:"ref"` // of an installation, a proposal or a workflow; a label
}

// slotIDBytesMax is the longest name that published packs may have; version labels and
// the refs that are made of both follow from it.
const (
	slotIDBytesMax  = 256
	versionBytesMax = 128
	refBytesMax     = 512
)

// Slot is the place that an artifact is installed in: what is installed in a slot is
// called by its id, and the newest takes the place of what was there. ID is "" where the
// artifact does not say; such a draft can be kept, and not be applied.
type Slot struct {
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
}

// InstalledRef is what an installation is called in records and on the wire:
// "<kind>:<id>[@<version>]#sha256:<hex>".
func InstalledRef(s Slot, version string, digest canon.Digest) string {
	ref := string(s.Kind) + ":" + s.ID
	if version != "" {
		ref += "@" + version
	}
	return ref + "#" + digest.String()
}

// label reports a text that can stand in one line as the name of something.
func label(s string, bytesMax int) bool {
	return s != "" && len(s) <= bytesMax && utf8.ValidString(s) && strings.TrimSpace(s) == s &&
		!strings.ContainsFunc(s, unprintable)
}

// unprintable finds what could make two names look alike or break a line.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

func (s Slot) check() error {
	if !s.Kind.Known() {
		return fmt.Errorf("unknown kind %q", s.Kind)
	}
	if s.ID != "" && !label(s.ID, slotIDBytesMax) {
		return fmt.Errorf("slot id of %d bytes: want a name of at most %d", len(s.ID), slotIDBytesMax)
	}
	return nil
}

func (a Artifact) check() error {
	if a.SHA256.IsZero() || a.ByteLength < 2 || a.ByteLength > limits.SourceBytesMax {
		return fmt.Errorf("artifact of %d bytes: want 2 to %d, and their digest", a.ByteLength, limits.SourceBytesMax)
	}
	return nil
}

func (o Owner) check() error {
	for _, m := range []struct {
		name, text string
		need       bool
	}{{"tenant", o.Tenant, true}, {"workspace", o.Workspace, false}, {"principal", o.Principal, false}} {
		if m.text == "" && !m.need {
			continue
		}
		if m.text == "" || len(m.text) > limits.ActorRefMax || !utf8.ValidString(m.text) {
			return fmt.Errorf("owner's %s of %d bytes: want 1 to %d of UTF-8", m.name, len(m.text), limits.ActorRefMax)
		}
	}
	return nil
}

func (p Provenance) check() error {
	if len(p.SourceRunIDs) > limits.SourceRunsMax {
		return fmt.Errorf("%d source runs: want at most %d", len(p.SourceRunIDs), limits.SourceRunsMax)
	}
	seen := map[id.Run]bool{}
	for _, r := range p.SourceRunIDs {
		if r.IsZero() || seen[r] {
			return fmt.Errorf("source run %q stands twice, or is none", r)
		}
		seen[r] = true
	}
	return checkText("synthesizerModel", p.SynthesizerModel, limits.ActorRefMax)
}

// ranked refuses likenesses that are not in order: the first is the one that others read.
func ranked(all []Duplicate) error {
	if len(all) > limits.DuplicatesMax {
		return fmt.Errorf("%d duplicates: want at most %d", len(all), limits.DuplicatesMax)
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

func checkText(name, s string, bytesMax int) error {
	if len(s) > bytesMax || !utf8.ValidString(s) {
		return fmt.Errorf("%s of %d bytes: want at most %d of UTF-8", name, len(s), bytesMax)
	}
	return nil
}

// clean is a text as it may be stored: without secrets (R30), and within its budget
// although a mark may be longer than what it stands for.
func clean(s string, bytesMax int) string {
	return cut(redact.Text(strings.ToValidUTF8(s, "\uFFFD"), nil), bytesMax)
}

// NameOf is the principal that an actor is: what they call themselves, or what they are.
func NameOf(a event.Actor) string {
	if a.Ref == "" {
		return string(a.Kind)
	}
	return a.Ref
}
