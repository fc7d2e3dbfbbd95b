package reason_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// Table maps every reason to its blocker code (docs/design.md#reasons).
func TestTableMapsReasonsToBlockers(t *testing.T) {
	want := []struct{ code, blocker string }{
		{"user_only_dependency:needs_user_secret_or_token", "USER_ONLY_DEPENDENCY"},
		{"user_only_dependency:needs_user_account_access", "USER_ONLY_DEPENDENCY"},
		{"user_only_dependency:needs_user_artifact", "USER_ONLY_DEPENDENCY"},
		{"user_only_dependency:needs_user_choice", "USER_ONLY_DEPENDENCY"},
		{"user_only_dependency:needs_user_approval", "USER_ONLY_DEPENDENCY"},
		{"user_only_dependency:needs_user_environment_action", "USER_ONLY_DEPENDENCY"},
		{"contract_violation:missing_required_output", "MISSING_REQUIRED_OUTPUT"},
		{"contract_violation:invalid_required_output", "INVALID_REQUIRED_OUTPUT"},
		{"capability_missing:required_capability_unknown", "REQUIRED_CAPABILITY_UNKNOWN"},
		{"capability_missing:required_capability_unavailable", "REQUIRED_CAPABILITY_UNAVAILABLE"},
		{"unexpected:invariant_violation", "INVARIANT_VIOLATION"},
		{"unexpected:storage_corruption_detected", "STORAGE_CORRUPTION_DETECTED"},
	}
	if len(reason.Table) != len(want) {
		t.Fatalf("%d rows, want %d", len(reason.Table), len(want))
	}
	for i, row := range reason.Table {
		if row.Code.String() != want[i].code || string(row.Blocker) != want[i].blocker {
			t.Errorf("row %d: got %s → %s, want %s → %s", i, row.Code, row.Blocker, want[i].code, want[i].blocker)
		}
		if !row.Code.Known() || row.Code.Blocker() != row.Blocker {
			t.Errorf("%s is known %v and blocks as %s", row.Code, row.Code.Known(), row.Code.Blocker())
		}
	}
}

func TestUnknownReasons(t *testing.T) {
	for _, c := range []reason.Code{
		{}, {Category: "unexpected"}, {Category: "unexpected", Detail: "missing_required_output"},
		{Category: "other", Detail: "needs_user_choice"},
	} {
		if c.Known() || c.Blocker() != "" {
			t.Errorf("%s is known and blocks as %q", c, c.Blocker())
		}
	}
}

func TestUserOnlyDetails(t *testing.T) {
	want := []string{"needs_user_secret_or_token", "needs_user_account_access", "needs_user_artifact",
		"needs_user_choice",
		"needs_user_approval", "needs_user_environment_action"}
	if got := reason.UserOnlyDetails(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, detail := range want {
		if c := (reason.Code{Category: reason.UserOnlyDependency, Detail: detail}); !c.Known() {
			t.Errorf("%s is not known", detail)
		}
	}
	for _, detail := range []string{"", "missing_required_output", "user_only_dependency:needs_user_choice",
		"NEEDS_USER_CHOICE"} {
		if c := (reason.Code{Category: reason.UserOnlyDependency, Detail: detail}); c.Known() || c.Blocker() != "" {
			t.Errorf("%q is known", detail)
		}
	}
}

func TestChoiceKinds(t *testing.T) {
	want := []string{"preference_tradeoff", "scope_boundary", "irreversible_action", "external_side_effect",
		"policy_or_compliance"}
	if got := reason.ChoiceKinds(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Pointer.Check accepts exactly the members of each kind, and the character sets of their ids
// (docs/design.md#requirements-on-the-caller).
func TestPointerCheck(t *testing.T) {
	capability := func(name string) reason.Pointer {
		return reason.Pointer{Kind: reason.AtCapability, Capability: name}
	}
	good := []reason.Pointer{
		reason.ContextKey("ticketId"), reason.ContextKey("_"), reason.ContextKey("a.b-c_D9"),
		reason.ContextKey(strings.Repeat("k", limits.ContextKeyMax)),
		{Kind: reason.AtContextBudget}, reason.OutputContract(reason.CriteriaRef),
		reason.OutputContract(reason.NotesRef),
		reason.WorkflowStep("a-1_b"), capability("delegation"), capability("web_browsing"),
	}
	for _, p := range good {
		if err := p.Check(); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	bad := map[string]reason.Pointer{
		"no kind":               {},
		"unknown kind":          {Kind: "file"},
		"no key":                reason.ContextKey(""),
		"key that starts badly": reason.ContextKey("1a"),
		"key with a space":      reason.ContextKey("a b"),
		"key with a newline":    reason.ContextKey("a\n"),
		"key too long":          reason.ContextKey(strings.Repeat("k", limits.ContextKeyMax+1)),
		"no contract":           reason.OutputContract(""),
		"no step":               reason.WorkflowStep(""),
		"step in capitals":      reason.WorkflowStep("Step"),
		"step with a separator": reason.WorkflowStep("a@1"),
		"step with a newline":   reason.WorkflowStep("a\n"),
		"no capability":         capability(""),
		"unknown capability":    capability("telepathy"),
		"budget with a key":     {Kind: reason.AtContextBudget, Key: "a"},
		"key with a step":       {Kind: reason.AtContextKey, Key: "a", StepID: "b"},
		"contract with a key":   {Kind: reason.AtOutputContract, ContractRef: "wr.x", Key: "a"},
		"step with capability":  {Kind: reason.AtWorkflowStep, StepID: "a", Capability: "delegation"},
		"capability with ref":   {Kind: reason.AtCapability, Capability: "delegation", ContractRef: "wr.x"},
	}
	for name, p := range bad {
		if err := p.Check(); err == nil {
			t.Errorf("%s: %+v is accepted", name, p)
		}
	}
}
