// Package reason is the one closed set of reasons (locks section 3, "unified
// reason model"): each ReasonCode maps by a table to a blocker code and to a
// gap's category and detail. Whether a reason blocks or is disclosed as a gap is
// a matter of mode, decided by package advance; the meaning is the same.
package reason

import (
	"fmt"
	"strings"
)

// Category is the first half of a reason code and the category of a gap.
type Category string

// The categories of the locks.
const (
	UserOnlyDependency Category = "user_only_dependency"
	ContractViolation  Category = "contract_violation"
	CapabilityMissing  Category = "capability_missing"
	Unexpected         Category = "unexpected"
)

// Code is a reason: a category and a detail that belongs to it. It is written
// "category:detail" in text and {category, detail} in a gap.
type Code struct {
	Category Category `json:"category"`
	Detail   string   `json:"detail"`
}

// The reason codes of the locks.
var (
	NeedsSecret       = Code{UserOnlyDependency, "needs_user_secret_or_token"}
	NeedsAccount      = Code{UserOnlyDependency, "needs_user_account_access"}
	NeedsArtifact     = Code{UserOnlyDependency, "needs_user_artifact"}
	NeedsChoice       = Code{UserOnlyDependency, "needs_user_choice"}
	NeedsApproval     = Code{UserOnlyDependency, "needs_user_approval"}
	NeedsEnvironment  = Code{UserOnlyDependency, "needs_user_environment_action"}
	MissingOutput     = Code{ContractViolation, "missing_required_output"}
	InvalidOutput     = Code{ContractViolation, "invalid_required_output"}
	CapabilityUnknown = Code{CapabilityMissing, "required_capability_unknown"}
	CapabilityAbsent  = Code{CapabilityMissing, "required_capability_unavailable"}
	InvariantBroken   = Code{Unexpected, "invariant_violation"}
	StorageCorrupt    = Code{Unexpected, "storage_corruption_detected"}
)

// Row is what is fixed about a reason.
type Row struct {
	Code    Code
	Blocker BlockerCode
}

// Table lists every reason once.
var Table = []Row{
	{NeedsSecret, BlockerUserOnly},
	{NeedsAccount, BlockerUserOnly},
	{NeedsArtifact, BlockerUserOnly},
	{NeedsChoice, BlockerUserOnly},
	{NeedsApproval, BlockerUserOnly},
	{NeedsEnvironment, BlockerUserOnly},
	{MissingOutput, BlockerMissingOutput},
	{InvalidOutput, BlockerInvalidOutput},
	{CapabilityUnknown, BlockerCapabilityUnknown},
	{CapabilityAbsent, BlockerCapabilityAbsent},
	{InvariantBroken, BlockerInvariant},
	{StorageCorrupt, BlockerStorage},
}

// Known reports whether c is a member of the closed set.
func (c Code) Known() bool {
	_, ok := c.row()
	return ok
}

func (c Code) row() (Row, bool) {
	for _, row := range Table {
		if row.Code == c {
			return row, true
		}
	}
	return Row{}, false
}

// Blocker is the code under which c blocks.
func (c Code) Blocker() BlockerCode {
	row, _ := c.row()
	return row.Blocker
}

// String is "category:detail".
func (c Code) String() string { return string(c.Category) + ":" + c.Detail }

// ParseUserOnly finds the reason that a declared input names by its detail.
func ParseUserOnly(detail string) (Code, error) {
	c := Code{UserOnlyDependency, detail}
	if !c.Known() {
		return Code{}, fmt.Errorf("want one of %s", strings.Join(UserOnlyDetails(), ", "))
	}
	return c, nil
}

// UserOnlyDetails lists the closed UserOnlyDependencyReason set.
func UserOnlyDetails() []string {
	var out []string
	for _, row := range Table {
		if row.Code.Category == UserOnlyDependency {
			out = append(out, row.Code.Detail)
		}
	}
	return out
}

// ChoiceKinds lists the closed NonAssumableChoiceKind set (locks section 3).
func ChoiceKinds() []string {
	return []string{"preference_tradeoff", "scope_boundary", "irreversible_action", "external_side_effect",
		"policy_or_compliance"}
}
