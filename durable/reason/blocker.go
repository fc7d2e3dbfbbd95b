package reason

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/sorting"
)

// BlockerCode is the closed set of codes with which an attempt is refused
// (docs/design.md#blocked-attempts). The codes are stored: never renamed.
type BlockerCode string

// The blocker codes.
const (
	BlockerUserOnly          BlockerCode = "USER_ONLY_DEPENDENCY"
	BlockerMissingOutput     BlockerCode = "MISSING_REQUIRED_OUTPUT"
	BlockerInvalidOutput     BlockerCode = "INVALID_REQUIRED_OUTPUT"
	BlockerCapabilityUnknown BlockerCode = "REQUIRED_CAPABILITY_UNKNOWN"
	BlockerCapabilityAbsent  BlockerCode = "REQUIRED_CAPABILITY_UNAVAILABLE"
	BlockerInvariant         BlockerCode = "INVARIANT_VIOLATION"
	BlockerStorage           BlockerCode = "STORAGE_CORRUPTION_DETECTED"
)

// PointerKind is the closed set of what a pointer refers to.
type PointerKind string

// The pointer kinds.
const (
	AtContextKey     PointerKind = "context_key"
	AtContextBudget  PointerKind = "context_budget"
	AtOutputContract PointerKind = "output_contract"
	AtCapability     PointerKind = "capability"
	AtWorkflowStep   PointerKind = "workflow_step"
)

// Pointer is the typed location of a blocker or gap. Exactly the member that belongs to its kind
// is set; none with context_budget. Pointers are comparable with ==.
type Pointer struct {
	Kind        PointerKind `json:"kind"`
	Key         string      `json:"key,omitzero"`
	ContractRef string      `json:"contractRef,omitzero"`
	Capability  string      `json:"capability,omitzero"`
	StepID      string      `json:"stepId,omitzero"`
}

// ContextKey returns a pointer to a declared input.
func ContextKey(key string) Pointer { return Pointer{Kind: AtContextKey, Key: key} }

// OutputContract returns a pointer to a requirement on a step's output.
func OutputContract(ref string) Pointer { return Pointer{Kind: AtOutputContract, ContractRef: ref} }

// WorkflowStep returns a pointer to a step.
func WorkflowStep(stepID string) Pointer { return Pointer{Kind: AtWorkflowStep, StepID: stepID} }

// OfCapability returns a pointer to a capability that the workflow requires.
func OfCapability(name string) Pointer { return Pointer{Kind: AtCapability, Capability: name} }

// CriteriaRef is the contractRef under which validationCriteria are reported.
const CriteriaRef = "wr.validationCriteria"

// NotesRef is the contractRef under which required notes are reported.
const NotesRef = "wr.notesMarkdown"

// contextKey is the character set of context keys, which in practice are camelCase.
var contextKey = pattern.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}$`)

// ValidContextKey reports whether key may name a declared input
// (docs/design.md#requirements-on-the-caller).
func ValidContextKey(key string) bool { return contextKey.MatchString(key) }

// ValidStepID reports whether s may be the id of a step, loop or condition
// (docs/design.md#authoring). It is called for every completed key of every snapshot, which is
// why it is a loop and not a regular expression.
//
//go:noinline
func ValidStepID(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return s != ""
}

// Check returns an error for an unknown kind, and for members that are invalid or do not belong to
// the kind.
func (p Pointer) Check() error {
	members := map[PointerKind]string{AtContextKey: p.Key, AtOutputContract: p.ContractRef, AtWorkflowStep: p.StepID,
		AtCapability: p.Capability, AtContextBudget: ""}
	own, known := members[p.Kind]
	switch {
	case !known:
		return fmt.Errorf("unknown pointer kind %q", p.Kind)
	case p.Kind == AtContextKey && !ValidContextKey(own):
		return fmt.Errorf("context key %q: want %s", own, contextKey)
	case p.Kind == AtOutputContract && own == "":
		return errors.New("output_contract without contractRef")
	case p.Kind == AtWorkflowStep && !ValidStepID(own):
		return fmt.Errorf("step id %q: want only a-z 0-9 _ -", own)
	case p.Kind == AtCapability && own != "delegation" && own != "web_browsing":
		return fmt.Errorf("unknown capability %q", own)
	case p.text() != own:
		return fmt.Errorf("pointer of kind %s with members of another kind", p.Kind)
	}
	return nil
}

// text returns the member that is set, for ordering.
func (p Pointer) text() string { return p.Key + p.ContractRef + p.Capability + p.StepID }

// Blocker is one typed reason why an attempt was refused. It is stored: message and suggested fix
// of an existing cause are part of recorded answers, and are not reworded.
type Blocker struct {
	// Check is the check of a step that has no passing result (docs/design.md#checks). It is the only
	// pointer here, so that == of two blockers without a check compares all of them.
	Check        *CheckFact  `json:"check,omitzero"`
	Code         BlockerCode `json:"code"`
	Loop         LoopFact    `json:"loop,omitzero"` // of a loop; zero: another requirement
	Message      string      `json:"message"`
	Pointer      Pointer     `json:"pointer"`
	SuggestedFix string      `json:"suggestedFix,omitzero"`
}

// Report is a non-empty, ordered list of at most limits.BlockersMax blockers
// (docs/design.md#blocked-attempts). It is stored in an advance_recorded event.
type Report struct {
	Blockers []Blocker `json:"blockers"`
}

// Compare is the order of blockers in a report: by code, then by pointer kind and member, then by
// check. It is 0 for two blockers that a report does not list twice.
func Compare(a, b Blocker) int {
	return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(a.Pointer.Kind, b.Pointer.Kind),
		cmp.Compare(a.Pointer.text(), b.Pointer.text()), cmp.Compare(a.Check.id(), b.Check.id()))
}

// NewReport returns a report of the blockers: sorted, one per code, pointer and check (the first one
// of the argument), and at most limits.BlockersMax, of which the last one states how many more were
// left out. The result does not depend on the order of blockers with different pointers or checks, so
// that a retry records the same bytes.
func NewReport(blockers []Blocker) Report {
	all := slices.Clone(blockers)
	sorting.Stable(all, Compare)
	all = slices.CompactFunc(all, func(a, b Blocker) bool { return Compare(a, b) == 0 })
	if rest := len(all) - limits.BlockersMax; rest > 0 {
		all = all[:limits.BlockersMax]
		last := &all[limits.BlockersMax-1]
		note := fmt.Sprintf(" (and %d more)", rest)
		last.Message = Clip(last.Message, limits.MessageBytesMax-len(note)) + note
	}
	return Report{Blockers: all}
}

// Check returns an error for an empty or unordered report, unknown codes, invalid pointers, and
// texts that exceed their budgets.
func (r Report) Check() error {
	if len(r.Blockers) == 0 || len(r.Blockers) > limits.BlockersMax {
		return fmt.Errorf("%d blockers: want 1 to %d", len(r.Blockers), limits.BlockersMax)
	}
	for i, b := range r.Blockers {
		if err := b.check(); err != nil {
			return fmt.Errorf("blocker %d: %w", i, err)
		}
		if i > 0 && Compare(r.Blockers[i-1], b) >= 0 {
			return fmt.Errorf("blocker %d is out of order", i)
		}
	}
	return nil
}

// check returns an error for a blocker that must not be stored.
func (b Blocker) check() error {
	known := slices.ContainsFunc(Table, func(row Row) bool { return row.Blocker == b.Code })
	switch {
	case !known:
		return fmt.Errorf("unknown code %q", b.Code)
	case b.Message == "" || len(b.Message) > limits.MessageBytesMax:
		return fmt.Errorf("message of %d bytes: want 1 to %d", len(b.Message), limits.MessageBytesMax)
	case len(b.SuggestedFix) > limits.SuggestedFixBytesMax:
		return fmt.Errorf("suggestedFix of %d bytes: want at most %d", len(b.SuggestedFix), limits.SuggestedFixBytesMax)
	}
	if err := cmp.Or(b.Pointer.Check(), b.Loop.Check()); err != nil || b.Check == nil {
		return err
	}
	if b.Code != BlockerInvalidOutput || b.Pointer.Kind != AtWorkflowStep {
		return fmt.Errorf("a check in a blocker %s at %s", b.Code, b.Pointer.Kind)
	}
	return b.Check.check()
}
