// Package reason defines the closed set of reasons why an attempt is blocked or a gap is recorded
// (docs/design.md#reasons). A table maps each reason to a blocker code and to the category and
// detail of a gap. It also defines blockers, their pointers and the truncation of their texts.
//
// It does not decide whether a reason blocks or is recorded as a gap; package advance does, by the
// autonomy of the run. Start reading at Code and Table.
package reason

import "slices"

// Category is the first half of a reason code and the category of a gap.
type Category string

// The categories. They are stored: never renamed.
const (
	UserOnlyDependency Category = "user_only_dependency"
	ContractViolation  Category = "contract_violation"
	CapabilityMissing  Category = "capability_missing"
	Unexpected         Category = "unexpected"
)

// Code is a reason: a category and a detail of that category. It is written "category:detail" in
// text and {category, detail} in a gap. Codes are comparable with ==.
type Code struct {
	Category Category `json:"category"`
	Detail   string   `json:"detail"`
}

// The reason codes.
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

// Row maps a reason to the code of its blockers.
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

// Known reports whether c is in Table.
func (c Code) Known() bool { return c.Blocker() != "" }

// Blocker returns the blocker code of c, "" for an unknown reason.
func (c Code) Blocker() BlockerCode {
	i := slices.IndexFunc(Table, func(row Row) bool { return row.Code == c })
	if i < 0 {
		return ""
	}
	return Table[i].Blocker
}

// String returns "category:detail".
func (c Code) String() string { return string(c.Category) + ":" + c.Detail }

// UserOnlyDetails lists the details of user_only_dependency, in the order of Table. By them a
// workflow declares an input that only the user can provide.
func UserOnlyDetails() []string {
	var out []string
	for _, row := range Table {
		if row.Code.Category == UserOnlyDependency {
			out = append(out, row.Code.Detail)
		}
	}
	return out
}

// ChoiceKinds lists the closed set of choices that only the user may make
// (docs/design.md#reasons).
func ChoiceKinds() []string {
	return []string{"preference_tradeoff", "scope_boundary", "irreversible_action", "external_side_effect",
		"policy_or_compliance"}
}
