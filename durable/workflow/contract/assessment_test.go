package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

func readiness() Assessment {
	return Assessment{ID: "ready", Purpose: "Whether it can be handed on", Dimensions: []Dimension{
		{ID: "risk", Purpose: "What could break", Levels: []string{"high", "low"}, Required: true},
		{ID: "cost", Purpose: "What it takes", Levels: []string{"1", "2", "3"}},
	}}
}

func TestAssessmentCheck(t *testing.T) {
	tests := []struct{ artifact, levels, want string }{
		{`{"kind":"wr.assessment","dimensions":{"risk":"low"}}`, `map[risk:low]`, ``},
		{`{"kind":"wr.assessment","assessmentId":"ready","dimensions":{"cost":"3","risk":{"level":"high","rationale":"r"}},"summary":"s"}`, `map[cost:3 risk:high]`, ``},
		{`{"kind":"wr.assessment","assessmentId":"other","dimensions":{"risk":"low"}}`, `map[]`,
			`/assessmentId: expected "ready", got "other"`},
		{`{"kind":"wr.assessment","dimensions":{"cost":"1"}}`, `map[]`,
			`/dimensions/risk: expected one of "high", "low" or an object, got nothing`},
		{`{"kind":"wr.assessment","dimensions":{"risk":"Low"}}`, `map[]`,
			`/dimensions/risk: expected one of "high", "low", got "Low"`},
		{`{"kind":"wr.assessment","dimensions":{"risk":{"level":"medium"}}}`, `map[]`,
			`/dimensions/risk/level: expected one of "high", "low", got "medium"`},
		{`{"kind":"wr.assessment","dimensions":{"risk":{"rationale":""}}}`, `map[]`,
			"/dimensions/risk/level: expected one of \"high\", \"low\", got nothing\n" +
				"/dimensions/risk/rationale: expected text of 1 to 512 characters, got \"\" (0 characters)"},
		{`{"kind":"wr.assessment","dimensions":{"risk":"low","style":"1"}}`, `map[]`,
			`/dimensions/style: expected no member of that name, got "1"`},
		{`{"kind":"wr.assessment","dimensions":["low"]}`, `map[]`, `/dimensions: expected an object, got a list of 1`},
		{`{"kind":"wr.assessment"}`, `map[]`, `/dimensions: expected an object, got nothing`},
		{`[]`, `map[]`, `expected an object with the kind "wr.assessment", got a list of 0`},
	}
	for _, tt := range tests {
		levels, wrong := readiness().Check(parse(t, tt.artifact))
		if mismatchLines(wrong) != tt.want || fmt.Sprint(levels) != tt.levels || (levels == nil) != (tt.want != "") {
			t.Errorf("%s\ngot  %v %s\nwant %s %s", tt.artifact, levels, mismatchLines(wrong), tt.levels, tt.want)
		}
	}
}

func TestAssessmentRequirements(t *testing.T) {
	a := readiness()
	want := `Assessment: ready. Whether it can be handed on
kind: "wr.assessment"
dimensions.risk: one of "high", "low". What could break
dimensions.cost (optional): one of "1", "2", "3". What it takes
Write a dimension as its level, or as {"level", "rationale"} with the reason in at most 512 characters
Example: {"assessmentId":"ready","dimensions":{"cost":"1","risk":"high"},"kind":"wr.assessment"}`
	if got := strings.Join(a.Requirements(), "\n"); got != want {
		t.Errorf("got:\n%s", got)
	}
	if levels, wrong := a.Check(a.Example()); len(wrong) > 0 || levels["risk"] != "high" {
		t.Errorf("the example: %v %s", levels, mismatchLines(wrong))
	}
	a.Dimensions[0].Purpose = strings.Repeat("x", requirementsBytesMax)
	if got := strings.Join(a.Requirements(), "\n"); strings.Contains(got, "xxx") ||
		!strings.Contains(got, `dimensions.risk: one of "high", "low"`+"\n") {
		t.Errorf("with a long purpose:\n%s", got)
	}
	if wrong := pack(t, "assessment").Check(a.Example()); len(wrong) > 0 {
		t.Errorf("the pack rejects it: %s", mismatchLines(wrong))
	}
}

func TestAssessmentValidate(t *testing.T) {
	tests := []struct {
		change func(*Assessment)
		want   string
	}{
		{func(*Assessment) {}, ""},
		{func(a *Assessment) { a.ID = "" }, "an id"},
		{func(a *Assessment) { a.Dimensions = nil }, "at least one dimension"},
		{func(a *Assessment) { a.Dimensions[1].ID = "" }, "dimension 2 has no id"},
		{func(a *Assessment) { a.Dimensions[1].ID = "risk" }, "the same id"},
		{func(a *Assessment) { a.Dimensions[1].ID = "Risk" }, "the same id"},
		{func(a *Assessment) { a.Dimensions[0].Levels = []string{"low"} }, `dimension "risk": want two`},
		{func(a *Assessment) { a.Dimensions[0].Levels = []string{"low", "low"} }, "no two the same"},
		{func(a *Assessment) { a.Dimensions[0].Levels = []string{"low", ""} }, "two or more levels"},
	}
	for i, tt := range tests {
		a := readiness()
		tt.change(&a)
		if err := a.Validate(); (err == nil) != (tt.want == "") || err != nil &&
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("row %d: got %v, want %s", i, err, tt.want)
		}
	}
	data, _ := canon.Marshal(readiness())
	var again Assessment
	if err := canon.UnmarshalExact(data, &again); err != nil || again.Validate() != nil {
		t.Errorf("%s: %v", data, err)
	}
}
