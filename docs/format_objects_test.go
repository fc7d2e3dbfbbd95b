package docs

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// formatChange is a document of the page with one text in it replaced, and the
// finding that verification has for it, "" for none.
type formatChange struct{ old, with, finding string }

const formatDamaged, formatUnknown = "object_damaged", "unknown_version"

// formatWorkflowChanges are of the workflow with loops: sections 13's rules, and what
// it says is not looked at.
var formatWorkflowChanges = []formatChange{
	{``, ``, ""},
	{`"schemaVersion":2`, `"schemaVersion":3`, formatUnknown},
	{`"features":[`, `"features":[1,`, formatDamaged},
	{`"featureId":"wr.features.durable_recap_guidance"`, `"featureId":"other"`, ""},
	{`"featureId":"wr.features.durable_recap_guidance"`, `"featureId":""`, formatDamaged},
	{`"required":[]`, `"required":["web_browsing"]`, formatDamaged},
	{`"preferred":["delegation"]`, `"preferred":["x"]`, ""},
	{`"source":"default"`, `"source":"other"`, formatDamaged},
	{`"stepId":"check"`, `"stepId":"read"`, formatDamaged},
	{`"stepId":"rounds"`, `"stepId":"turns"`, formatDamaged},
	{`"loopId":"files","maxIterations":9`, `"loopId":"turns","maxIterations":9`, formatDamaged},
	{`"maxIterations":9`, `"maxIterations":0`, formatDamaged},
	{`"items":"files",`, ``, formatDamaged},
	{`"items":"files",`, `"count":2,"items":"files",`, formatDamaged},
	{`"iterationVar":"currentIteration","kind":"forEach"`, `"kind":"forEach"`, ""},
	{`"itemVar":"currentItem",`, ``, ""},
	{`"iterationVar":"currentIteration","kind":"while"`,
		`"itemVar":"x","iterationVar":"currentIteration","kind":"while"`, formatDamaged},
	{`"kind":"while"`, `"kind":"until"`, ""},
	{`"kind":"while"`, `"kind":"for"`, formatDamaged},
	{`"control":{"conditionId":"more_rounds",`, `"control":{`, ""},
	{`"control":{"conditionId":"more_rounds",`, `"control":{"conditionId":"fewer_rounds",`, formatDamaged},
	{`"kind":"artifact_contract","loopId":"rounds"},"iterationVar"`,
		`"kind":"artifact_contract","loopId":"turns"},"iterationVar"`, formatDamaged},
	{`"conditions":[{"conditionId":"more_rounds","contractRef":"wr.contracts.loop_control",`,
		`"conditions":[{"conditionId":"more_rounds","contractRef":"wr.contracts.assessment",`, formatDamaged},
	{`"outputContract":{"contractRef":"wr.contracts.loop_control","required":true}`,
		`"outputContract":{"contractRef":"wr.contracts.gate_verdict","required":true}`, formatDamaged},
	{`"outputContract":{"contractRef":"wr.contracts.loop_control","required":true}`,
		`"outputContract":{"contractRef":"wr.contracts.loop_control","required":false}`, ""},
	{`"outputContract":{"contractRef":"wr.contracts.loop_control","required":true}`,
		`"outputContract":{"contractRef":"wr.contracts.loop_control"}`, formatDamaged},
	{`"prompt":"Check the fix."`, `"probe":"delegation","prompt":"Check the fix."`, formatDamaged},
	{`"stepId":"rounds","title"`, `"notesRequired":true,"stepId":"rounds","title"`, formatDamaged},
	{`"prompt":"","provenance":{"source":"authored"},"requireConfirmation":{"kind":"never"},"stepId":"rounds"`,
		`"prompt":"x","provenance":{"source":"authored"},"requireConfirmation":{"kind":"never"},"stepId":"rounds"`,
		formatDamaged},
	{`"stepId":"check","title":"Check"`, `"stepId":"check","title":"Check","type":"parallel"`, ""},
	{`"stepId":"check","title":"Check"`, `"stepId":"check","title":"Check","type":"other"`, formatDamaged},
	{`"provenance":{"source":"authored"}`, `"provenance":{"originId":"x","source":"template_injected"}`, ""},
	{`"provenance":{"source":"authored"}`, `"provenance":{"source":"template_injected"}`, formatDamaged},
	{`"provenance":{"source":"authored"}`, `"provenance":{"originId":"x","source":"authored"}`, formatDamaged},
	{`"originId":"wr.features.durable_recap_guidance"`, `"originId":""`, ""},
	{`"assessmentRefs":["ready"]`, `"assessmentRefs":["done"]`, formatDamaged},
	{`"anyEqualsLevel":"high"`, `"anyEqualsLevel":"high","forAssessment":"done"`, formatDamaged},
	{`"anyEqualsLevel":"high"`, `"anyEqualsLevel":"other"`, ""},
	{`"levels":["high","low"]`, `"levels":["high"]`, formatDamaged},
	{`"levels":["high","low"]`, `"levels":["high","high"]`, formatDamaged},
	{`"id":"ready","purpose"`, `"id":"","purpose"`, formatDamaged},
	{`"artifactKind":"wr.assessment"`, `"artifactKind":"assessment"`, formatDamaged},
	{`"title":"An assessment by dimensions"`, `"title":""`, formatDamaged},
	{`"kind":"wr.assessment"},"shape"`, `"kind":"wr.other"},"shape"`, formatDamaged},
	// the example is longer
	{`"maxChars":64,"minChars":1,"type":"text"`, `"maxChars":1,"minChars":1,"type":"text"`, formatDamaged},
	{`"enum":["continue","stop"]`, `"enum":["stop","stop"]`, formatDamaged},
	{`"enum":["continue","stop"]`, `"enum":["stop"]`, ""},
	{`"enum":["continue","stop"]`, `"enum":["continue"]`, formatDamaged},
	{`"pattern":"^[a-z0-9_-]+$"`, `"pattern":"(?=a)"`, formatDamaged},
	{`"max":100,"min":0,"type":"number"`, `"max":-1,"min":0,"type":"number"`, formatDamaged},
	{`"max":100,"min":0,"type":"number"`, `"max":100,"min":0,"type":"text"`, formatDamaged},
	{`"name":"issuesFound"`, `"name":"confidence"`, formatDamaged},
	{`"anyOf":[{"minChars":1,"type":"text"},`, `"anyOf":[`, formatDamaged},
	{`"anyOf":[{"minChars":1,"type":"text"},`, `"anyOf":[{"type":"map"},`, formatDamaged},
	{`"open":true,"type":"object"`, `"exactlyOne":["reason"],"open":true,"type":"object"`, formatDamaged},
	{`"open":true,"type":"object"`, `"exactlyOne":["confidence","reason"],"open":true,"type":"object"`, ""},
	{`"name":"decision","required":true`, `"name":"decision","required":false`, formatDamaged},
	{`"when":{"equals":true,"var":"late"}`, `"when":{"equals":true}`, formatDamaged},
	{`"when":{"equals":true,"var":"late"}`, `"when":{"var":"late"}`, ""},
	{`"text":"Be brief.","when":{"equals":true,"var":"late"}`, `"text":""`, ""},
	{`"bytes":229`, `"bytes":0`, ""},
}

// formatCriteria is where the first workflow asks for something in the notes, and
// formatCriteriaChanges are of that.
const formatCriteria = `{"message":"state the decision","type":"contains","value":"Decision:"}`

var formatCriteriaChanges = []formatChange{
	{formatCriteria, `{"and":[{"message":"","type":"contains","value":"x"},{"not":{"max":2,"message":"m","type":"length"}}]}`, ""},
	{formatCriteria, `[` + formatCriteria + `]`, ""},
	{formatCriteria, `[]`, formatDamaged},
	{formatCriteria, `{"type":"contains","value":"x"}`, formatDamaged},
	{formatCriteria, `{"message":"m","type":"contains","value":""}`, formatDamaged},
	{formatCriteria, `{"message":"m","min":3,"type":"contains","value":"x"}`, ""},
	{formatCriteria, `{"message":"m","other":3,"type":"contains","value":"x"}`, formatDamaged},
	{formatCriteria, `{"message":"m","type":"other","value":"x"}`, formatDamaged},
	{formatCriteria, `{"condition":{"var":"x"},"message":"m","type":"contains","value":"x"}`, ""},
	{formatCriteria, `{"condition":{},"message":"m","type":"contains","value":"x"}`, formatDamaged},
	{formatCriteria, `{"flags":"imsy","message":"m","pattern":"^a","type":"regex"}`, ""},
	{formatCriteria, `{"flags":"gu","message":"m","pattern":"^a","type":"regex"}`, ""},
	{formatCriteria, `{"flags":"x","message":"m","pattern":"^a","type":"regex"}`, formatDamaged},
	{formatCriteria, `{"flags":"ii","message":"m","pattern":"^a","type":"regex"}`, formatDamaged},
	{formatCriteria, `{"message":"m","pattern":"(?=a)","type":"regex"}`, formatDamaged},
	{formatCriteria, `{"message":"m","pattern":"[\\u{1F600}-\\u{1F64F}]\\u00e9\\ud83d\\ude00","type":"regex"}`, ""},
	{formatCriteria, `{"message":"m","pattern":"\\ud83d","type":"regex"}`, formatDamaged},
	{formatCriteria, `{"message":"m","min":0,"type":"length"}`, ""},
	{formatCriteria, `{"message":"m","type":"length"}`, formatDamaged},
	{formatCriteria, `{"max":1,"message":"m","min":2,"type":"length"}`, formatDamaged},
	{formatCriteria, `{"max":2147483648,"message":"m","type":"length"}`, formatDamaged},
	{formatCriteria, `{"message":"m","schema":{"additionalProperties":false,"properties":{"a":{"items":true,"type":["array","null"]}},"required":["a"],"type":"object"},"type":"schema"}`, ""},
	{formatCriteria, `{"message":"m","schema":{"anyOf":[{"const":1},{"enum":[2]}],"not":{"pattern":""},"title":3},"type":"schema"}`, ""},
	{formatCriteria, `{"message":"m","schema":{"$ref":"#"},"type":"schema"}`, formatDamaged},
	{formatCriteria, `{"message":"m","schema":{"type":"text"},"type":"schema"}`, formatDamaged},
	{formatCriteria, `{"message":"m","schema":{"anyOf":[]},"type":"schema"}`, formatDamaged},
	{formatCriteria, `{"message":"m","schema":{"const":1,"enum":[2]},"type":"schema"}`, formatDamaged},
	{formatCriteria, `{"message":"m","schema":{"minItems":3,"maxItems":2},"type":"schema"}`, formatDamaged},
	{formatCriteria, `{"message":"m","type":"schema"}`, formatDamaged},
}

// formatSnapshotChanges are of the snapshot inside two loops.
var formatSnapshotChanges = []formatChange{
	{``, ``, ""},
	{`"decision":"stop"`, `"decision":"wait"`, formatUnknown},
	{`"decision":"stop"`, `"decision":""`, formatUnknown},
	{`"count":2`, `"count":0`, formatUnknown},
	{`"count":2,`, ``, ""},
	{`"bodyIndex":1,"decision"`, `"bodyIndex":7,"decision"`, ""},
	{`"iteration":1,"loopId":"rounds"}],"pending"`, `"iteration":2,"loopId":"rounds"}],"pending"`, formatUnknown},
	{`"files@0/rounds@1::fix","files@0::read"`, `"files@0::read","files@0/rounds@1::fix"`, formatUnknown},
	{`"files@0/rounds@1::fix"`, `"files@0/rounds@01::fix"`, formatUnknown},
	{`"files@0/rounds@1::fix"`, `"files@0/rounds@1::check"`, formatUnknown},
	{`"files@0::read"`, `"files@0::unheard"`, ""},
	{`"loopId":"rounds"`, `"loopId":"files"`, formatUnknown},
}

// formatObjectRow is a line of testdata/format/objects.jsonl: a file of the example
// store, a text in it, and what replaces it, before it is spelled as JCS.
type formatObjectRow struct {
	File    string `json:"file"`
	Finding string `json:"finding"`
	Old     string `json:"old"`
	With    string `json:"with"`
}

// TestFormatObjects: what the page says of documents that are changed in one way is
// what reading them says; testdata/format/objects.jsonl has them for other readers.
func TestFormatObjects(t *testing.T) {
	const name = "../testdata/format/objects.jsonl"
	s := newFormatStore(t)
	var lines []byte
	add := func(file string, changes []formatChange, read func([]byte) string) {
		whole := string(s.files[file])
		for _, c := range changes {
			if !strings.Contains(whole, c.old) {
				t.Fatalf("%s: there is no %s", file, c.old)
			}
			document, err := canon.Canonicalize([]byte(strings.Replace(whole, c.old, c.with, 1)))
			s.must(err)
			if found := read(document); found != c.finding {
				t.Errorf("%s: %s → %s: found %q, want %q", file, c.old, c.with, found, c.finding)
			}
			line, err := canon.Marshal(formatObjectRow{file, c.finding, c.old, c.with})
			s.must(err)
			lines = append(append(lines, line...), '\n')
		}
	}
	workflow := func(b []byte) string {
		_, err := compile.Decode(b)
		switch {
		case err == nil:
			return ""
		case fault.Is(err, fault.StoreCorrupt):
			return formatDamaged
		}
		return formatUnknown
	}
	add(formatObjectName(manifest.Workflow, s.c.w.Hash()), formatWorkflowChanges, workflow)
	add(formatObjectName(manifest.Workflow, s.w.Hash()), formatCriteriaChanges, workflow)
	add(formatObjectName(manifest.Snapshot, s.snapshots()["decided"]), formatSnapshotChanges, func(b []byte) string {
		if _, err := snapshot.Decode(b); err != nil {
			return formatUnknown
		}
		return ""
	})
	if formatUpdating() {
		s.must(os.WriteFile(name, lines, 0o644))
	}
	if have, err := os.ReadFile(name); err != nil || !bytes.Equal(have, lines) {
		t.Errorf("%s is not what is read here, %v", name, err)
	}
}
