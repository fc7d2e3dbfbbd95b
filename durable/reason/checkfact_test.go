package reason_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"pgregory.net/rapid"
)

// ofCheck is the blocker of a check of the step "verify".
func ofCheck(f reason.CheckFact) reason.Blocker {
	b := blocker(reason.BlockerInvalidOutput, reason.WorkflowStep("verify"))
	b.Check = &f
	return b
}

// TestCheckFacts: what a blocker states of a check is within its bounds, and has no output.
func TestCheckFacts(t *testing.T) {
	exit := func(n int64) reason.CheckFact { return reason.CheckFact{ID: "unit", Exit: &n} }
	tests := func(c reason.CheckTests) reason.CheckFact { return reason.CheckFact{ID: "unit", Tests: &c} }
	long := strings.Repeat("a", limits.StepIDBytesMax)
	for _, row := range []struct {
		name string
		f    reason.CheckFact
		want string
	}{
		{"id alone", reason.CheckFact{ID: "unit"}, ""},
		{"longest id", reason.CheckFact{ID: long}, ""},
		{"no id", reason.CheckFact{}, `check id ""`},
		{"long id", reason.CheckFact{ID: long + "a"}, `check id "` + long + `": want`},
		{"id in capitals", reason.CheckFact{ID: "Unit"}, `check id "Unit"`},
		{"exit 0", exit(0), ""},
		{"largest exit", exit(limits.ExitStatusMax), ""},
		{"exit -1", exit(-1), "check unit with exit -1"},
		{"exit over 32 bits", exit(limits.ExitStatusMax + 1), "check unit with exit 4294967296"},
		{"tests", tests(reason.CheckTests{Format: "go", Passed: limits.TestReportTestsMax}), ""},
		{"no format", tests(reason.CheckTests{}), `tests in format ""`},
		{"negative tests", tests(reason.CheckTests{Format: "go", Failed: -1}), "-1 tests"},
		{"too many tests", tests(reason.CheckTests{Format: "go", Skipped: math.MaxInt64}), "9223372036854775807 tests"},
		{"output", reason.CheckFact{ID: "unit", OutputTail: new("FAIL")}, "check unit with outputTail or changed, which are not stored"},
		{"no output", reason.CheckFact{ID: "unit", OutputTail: new("")}, "check unit with outputTail or changed"},
		{"changed", reason.CheckFact{ID: "unit", Changed: []string{}}, "check unit with outputTail or changed"},
	} {
		err := reason.NewReport([]reason.Blocker{ofCheck(row.f)}).Check()
		if row.want == "" && err != nil || row.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "blocker 0: "+row.want)) {
			t.Errorf("%s: got %v, want %q", row.name, err, row.want)
		}
	}
	for _, other := range []reason.Blocker{
		blocker(reason.BlockerMissingOutput, reason.WorkflowStep("verify")), blocker(reason.BlockerInvalidOutput, reason.ContextKey("a"))} {
		other.Check = &reason.CheckFact{ID: "unit"}
		if err := reason.NewReport([]reason.Blocker{other}).Check(); err == nil {
			t.Errorf("a check in a blocker %s at %s is accepted", other.Code, other.Pointer.Kind)
		}
	}
}

// TestChecksAreOrdered: blockers of one step are ordered by check, without one first, and each check is
// in the report once.
func TestChecksAreOrdered(t *testing.T) {
	step := blocker(reason.BlockerInvalidOutput, reason.WorkflowStep("verify"))
	second := ofCheck(reason.CheckFact{ID: "a"})
	second.Message = "a second one"
	rapid.Check(t, func(t *rapid.T) {
		in := []reason.Blocker{ofCheck(reason.CheckFact{ID: "b"}), step, ofCheck(reason.CheckFact{ID: "a"}),
			blocker(reason.BlockerInvalidOutput, reason.WorkflowStep("first")), ofCheck(reason.CheckFact{ID: "a-1"})}
		in = append(rapid.Permutation(in).Draw(t, "order"), second)
		r := reason.NewReport(in)
		var got []string
		for _, b := range r.Blockers {
			name := b.Pointer.StepID
			if b.Check != nil {
				name += " " + b.Check.ID
			}
			got = append(got, name)
		}
		if want := []string{"first", "verify", "verify a", "verify a-1", "verify b"}; !slices.Equal(got, want) || r.Blockers[2].Message != "m" {
			t.Fatalf("got %q, want %q", got, want)
		}
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		r.Blockers[2], r.Blockers[3] = r.Blockers[3], r.Blockers[2]
		if err := r.Check(); err == nil {
			t.Fatal("checks out of order are accepted")
		}
	})
}

// TestUnmetChecks: several failing checks of a step are several blockers and one gap.
func TestUnmetChecks(t *testing.T) {
	of := func(name string) reason.Unmet {
		return reason.Unmet{Code: reason.InvalidOutput, Pointer: reason.WorkflowStep("verify"), Message: "m", Check: &reason.CheckFact{ID: name}}
	}
	all := []reason.Unmet{of("b"), of("a")}
	if r := reason.ReportOf(all); len(r.Blockers) != 2 || r.Blockers[0].Check.ID != "a" {
		t.Errorf("%+v", r)
	}
	if !all[0].Same(all[1]) {
		t.Error("two gaps for one step")
	}
}
