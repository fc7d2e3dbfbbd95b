package discovery_test

import (
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/trial"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
	"github.com/waybill/waybill/infra/discovery"
	"github.com/waybill/waybill/infra/memstore"
)

// bundledFiles returns the bundled workflows, by id.
func bundledFiles(t *testing.T) map[string]catalog.File {
	t.Helper()
	all, err := discovery.New(discovery.Places{From: t.TempDir()}).Workflows(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]catalog.File{}
	for _, f := range all {
		out[f.Ref] = f
	}
	return out
}

// try performs the tests of a bundled workflow with this text, and returns what is wrong: "" if all cases hold.
func try(t *testing.T, f catalog.File, text string) (wrong string, c trial.CoverageReport) {
	t.Helper()
	_, w, found := compile.FileWith(f.Ref+".yaml", source.SourceBundled, []byte(text), discovery.Bundled())
	if source.HasErrors(found) {
		t.Fatalf("%s: %+v", f.Ref, found)
	}
	tests, err := discovery.New(discovery.Places{From: t.TempDir()}).TestFiles(f, "")
	if err != nil || len(tests) != 1 {
		t.Fatalf("%s: tests %v, %v", f.Ref, tests, err)
	}
	file, problems := workflowtest.Parse(tests[0].Ref, tests[0].Data, w)
	if len(problems) > 0 {
		return problems[0].Message, c
	}
	reached := trial.NewCoverage(w)
	r, err := trial.Trial{Workflow: w, Store: func() engine.Store { return memstore.NewDisk(id.Seed{1}).Open(time.Second) }}.
		Run(t.Context(), file, reached)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Cases {
		if !c.OK {
			wrong += c.Name + ": " + c.Failures[0].Message + "\n"
		}
	}
	return wrong, reached.Report()
}

// TestBundledWorkflowsHaveTests: the tests of each hold, and cover every step, branch and blocker.
func TestBundledWorkflowsHaveTests(t *testing.T) {
	files := bundledFiles(t)
	if len(files) < 4 {
		t.Fatal(files)
	}
	for ref, f := range files {
		wrong, c := try(t, f, string(f.Data))
		if wrong != "" || len(c.MissedSteps)+len(c.MissedBranches)+len(c.MissedBlockers) > 0 {
			t.Errorf("%s: %s\n%+v", ref, wrong, c)
		}
	}
}

// TestMutantsOfBundledWorkflowsAreCaught: each change of a bundled workflow fails its tests.
func TestMutantsOfBundledWorkflowsAreCaught(t *testing.T) {
	files := bundledFiles(t)
	mutants := 0
	for _, m := range []struct{ what, id, old, new string }{
		{"a removed step", "wr.demo", "  - id: changes\n    title: See what is not committed\n    prompt: Is anything changed that no commit holds?\n" +
			"    action:\n      kind: command\n      argv: [git, status, --short, --branch]\n      timeoutSeconds: 60\n", ""},
		{"another command", "wr.demo", "argv: [git, describe, --always, --all]", "argv: [git, describe, --tags]"},
		{"no time limit", "wr.demo", "argv: [git, status, --short, --branch]\n      timeoutSeconds: 60", "argv: [git, status, --short, --branch]"},
		{"a summary that no person confirms", "wr.demo", "    requireConfirmation: true\n", ""},
		{"a summary without notes", "wr.demo", "    notesRequired: true\n", ""},
		{"a condition that never holds", "wr.demo", "  - id: summary\n", "  - id: summary\n    runCondition: {var: summary, equals: true}\n"},
		{"a command that nothing runs", "wr.demo", "    action:\n      kind: command\n      argv: [git, log, \"-1\", --stat, --format=medium]\n" +
			"      timeoutSeconds: 60\n", ""},
		{"an input that is not asked for", "wr.change_checklist", "inputs:\n  - contextKey: change\n    reason: needs_user_choice\n" +
			"    choiceKind: scope_boundary\n    description: What is to be changed, in a few words\n", ""},
		{"another input", "wr.change_checklist", "contextKey: change", "contextKey: changes"},
		{"a step that is left out", "wr.change_checklist", "  - id: make\n    title: Make the change\n    prompt: Make the change, with a test that fails without it.\n", ""},
		{"a value that is not shown", "wr.change_checklist", `Release "{{change}}".`, "Release it."},
		{"a release that no person confirms", "wr.change_checklist", "    requireConfirmation: true\n", ""},
		{"an approval in place of a confirmation", "wr.change_checklist", "requireConfirmation: true", "requireConfirmation: {kind: human_approval}"},
		{"a contract that is not met", "wr.routine-design-from-tensions", "  - id: deliver\n    title: Write the design down\n",
			"  - id: deliver\n    title: Write the design down\n    outputContract: {contractRef: wr.contracts.review_verdict}\n"},
		{"a step that is passed over", "wr.routine-design-from-tensions", "  - id: choose\n", "  - id: choose\n    runCondition: {not: {var: frame, equals: null}}\n"},
		{"another goal", "wr.routine-review-a-design", "Walk realistic trouble through the design", "Look at the design"},
		{"notes that are not required", "wr.routine-review-a-design", "    notesRequired: true\n", ""},
		{"criteria that nothing meets", "wr.routine-review-a-design", "    notesRequired: true\n",
			"    notesRequired: true\n    validationCriteria: [{type: regex, pattern: '^Findings:', message: Begin with Findings}]\n"},
	} {
		f := files[m.id]
		text := strings.Replace(string(f.Data), m.old, m.new, 1)
		if text == string(f.Data) {
			t.Errorf("%s: %s changes nothing", m.id, m.what)
			continue
		}
		if wrong, _ := try(t, f, text); wrong == "" {
			t.Errorf("%s: %s is not caught", m.id, m.what)
		}
		mutants++
	}
	if mutants < 10 {
		t.Error(mutants)
	}
}
