package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/discovery"
)

// samplesDir holds workflow files of another program. They are no part of the project: without them
// the tests are skipped.
const samplesDir = "../../../shared/data/workrail/workflows"

// inputs is what the performer of a sample finds out on the way: context that it sends with every
// step, and notes where the step requires words.
var inputs = map[string]struct {
	context string
	notes   map[string]string
}{
	"relocation-workflow-us.json": {context: `{"screeningBatches":[["Boise"],["Ogden","Duluth"]],"shortlist":["Ogden","Duluth"],"redFlagCount":1}`},
	"simple-retry.json":           {context: `{"maxRetries":3,"succeeded":false}`},
	"simple-search.json":          {context: `{"found":false,"searchIndex":3}`},
	"bug-investigation.agentic.v2.json": {context: `{"automationLevel":"High","retriageNeeded":true,"retriageChanged":false,
		"diagnosisConfidenceBand":"High","contradictionCount":0}`},
	"document-creation-workflow.json":       {context: `{"docComplexity":"Complex"}`},
	"intelligent-test-case-generation.json": {context: `{"ambiguities":["which currency"]}`},
	"production-readiness-audit.json":       {context: `{"needsReviewerBundle":true,"rigorMode":"THOROUGH"}`},
	"scoped-documentation-workflow.json": {notes: map[string]string{
		"phase-0-reconnaissance-and-scope": "IN SCOPE: the importer. OUT OF SCOPE: the exporter. " +
			strings.Repeat("The importer reads one file at a time. ", 12),
		"phase-4-validation-and-delivery": "Scope Compliance: PASS. Completeness: PASS. Accuracy: PARTIAL. Clarity: " +
			"PASS.",
	}},
	"wr.shaping.json": {context: `{"isTrivial":false}`},
}

// TestSamplesRunToTheirEnd runs each file as an agent would that does what the prompts require: it
// sends the artifact that a step requires, repeats each loop once, and then sends stop.
func TestSamplesRunToTheirEnd(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(filepath.Join(samplesDir, "*.json"))
	if len(files) == 0 {
		t.Skip("the sample workflows are not beside the project")
	}
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			w := newFixture(t)
			c := compileSample(t, name, data)
			w.seeds++
			a, err := w.g.Start(context.Background(), w.by(), id.Seed{w.seeds},
				engine.Start{Workflow: c, SourceKind: event.SourceBundled, SourceRef: name})
			if err != nil {
				t.Fatal(err)
			}
			for steps := 0; !a.IsComplete; steps++ {
				if steps == 100 {
					t.Fatalf("still at %s", a.Pending.StepInstanceKey)
				}
				before := a
				if a = w.must(a, answerTo(t, name, c, a)); len(a.Blockers) > 0 {
					t.Fatalf("%s is refused: %+v", before.Pending.StepInstanceKey, a.Blockers)
				}
			}
			if a.Status != "complete" {
				t.Fatalf("status %s, want complete", a.Status)
			}
			for _, l := range c.Loops {
				if n := rounds(t, w, a, l.LoopID); n < 2 {
					t.Errorf("loop %s went round %d times, want 2 or more", l.LoopID, n)
				}
			}
		})
	}
}

// rounds counts a loop's iterations by the steps that were shown in it.
func rounds(t *testing.T, w *fixture, a engine.Answer, loopID string) int {
	t.Helper()
	all, _, err := w.g.Events(context.Background(), a.Session.RunID.String())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int64]bool{}
	for _, e := range all {
		trace, ok := e.Data.(event.DecisionTraceAppended)
		if !ok {
			continue
		}
		for _, entry := range trace.Entries {
			if entry.Kind != event.SelectedNextStep || len(entry.Refs) < 3 || entry.Refs[1].LoopID != loopID {
				continue
			}
			seen[*entry.Refs[2].Value] = true
		}
	}
	return len(seen)
}

func compileSample(t *testing.T, name string, data []byte) compile.Compiled {
	t.Helper()
	_, c, problems := compile.FileWith(name, source.SourceBundled, data, discovery.Bundled())
	if source.HasErrors(problems) {
		t.Fatal(problems)
	}
	return c
}

// answerTo is what an agent sends for a step: its artifacts by the examples of their contracts, and
// notes.
func answerTo(t *testing.T, name string, c compile.Compiled, a engine.Answer) advance.Request {
	t.Helper()
	in := inputs[name]
	req := advance.Request{Notes: "Looked at it, decided, wrote it down: see the file list in the change."}
	if text, ok := in.notes[a.Pending.StepID]; ok {
		req.Notes = text
	}
	if in.context != "" {
		v, err := canon.Parse([]byte(in.context))
		if err != nil {
			t.Fatal(err)
		}
		req.Context = v
	}
	loops, _, err := snapshot.ParseKey(a.Pending.StepInstanceKey)
	if err != nil {
		t.Fatal(err)
	}
	// The search continues until its second round has found something.
	if name == "simple-search.json" {
		found := len(loops) > 0 && loops[0].Iteration > 0
		req.Context = canon.OfMembers(canon.Member{Name: "found", Value: canon.OfBool(found)},
			canon.Member{Name: "searchIndex", Value: canon.OfInt(0)})
	}
	step, _ := c.Step(a.Pending.StepID)
	if o := step.OutputContract; o != nil {
		pack, ok := c.Contract(o.ContractRef)
		if !ok {
			t.Fatalf("contract %s is not embedded", o.ContractRef)
		}
		example := pack.Example
		if o.ContractRef == "wr.contracts.loop_control" {
			decision := "continue"
			if len(loops) > 0 && loops[len(loops)-1].Iteration > 0 {
				decision = "stop"
			}
			example = canon.OfMembers(canon.Member{Name: "kind", Value: canon.OfString(pack.ArtifactKind)},
				canon.Member{Name: "decision", Value: canon.OfString(decision)})
		}
		req.Artifacts = append(req.Artifacts, advance.JSONArtifact(example))
	}
	for _, ref := range step.AssessmentRefs {
		assessment, _ := c.Assessment(ref)
		levels := canon.OfMembers()
		for _, d := range assessment.Dimensions {
			levels = levels.With(d.ID, canon.OfString(d.Levels[len(d.Levels)-1]))
		}
		req.Artifacts = append(req.Artifacts, advance.JSONArtifact(canon.OfMembers(
			canon.Member{Name: "kind", Value: canon.OfString("wr.assessment")},
			canon.Member{Name: "assessmentId", Value: canon.OfString(ref)},
			canon.Member{Name: "dimensions", Value: levels})))
	}
	return req
}
