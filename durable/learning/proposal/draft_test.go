package proposal_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/redact"
)

func TestParseFile(t *testing.T) {
	file := fmt.Sprintf(`{"kind":"workflow-chain-pack","title":" Shorter ","rationale":"It took too long.","synthesizerModel":"m1",
		"sourceRunIds":["%s","%s"],"artifact":{"version":"1.2.0","steps":[], "id":"test.flow"}}`, run, run)
	d, err := proposal.ParseFile([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	bytes := []byte(`{"id":"test.flow","steps":[],"version":"1.2.0"}`)
	want := proposal.Draft{Kind: proposal.WorkflowChainPack, Title: "Shorter", Rationale: "It took too long.",
		SynthesizerModel: "m1", SourceRunIDs: []id.Run{run},
		Artifact: proposal.Artifact{ByteLength: int64(len(bytes)), SHA256: canon.Sum(bytes)}, Bytes: bytes,
		Version: "1.2.0",
		Slot:    proposal.Slot{Kind: proposal.WorkflowChainPack, ID: "test.flow"}, Redacted: []redact.Finding{}}
	if !reflect.DeepEqual(d, want) {
		t.Errorf("got  %+v\nwant %+v", d, want)
	}
}

func TestDraftMayBeInvalidForItsKind(t *testing.T) {
	d, err := proposal.ParseFile([]byte(`{"kind":"prompt-template","artifact":{}}`))
	if err != nil || d.Slot != (proposal.Slot{Kind: proposal.PromptTemplate}) || string(d.Bytes) != "{}" ||
		len(d.Redacted) != 0 {
		t.Errorf("%v, %+v", err, d)
	}
}

// nested returns an object of n levels.
func nested(n int) string { return strings.Repeat(`{"a":`, n-1) + `{}` + strings.Repeat(`}`, n-1) }

func TestParseFileRefusesByField(t *testing.T) {
	many := make([]string, limits.SourceRunsMax+1)
	for i := range many {
		many[i] = `"` + id.NewRun(id.Seed{byte(i), 9}).String() + `"`
	}
	with := func(member string) string { return `{"kind":"automation","artifact":{},` + member + `}` }
	for _, tt := range []struct{ file, field, expected, got string }{
		{`[]`, "file", "an object with kind and artifact", "array"},
		{`{`, "file", "JSON", ""},
		{`{"kind":"automation","kind":"automation","artifact":{}}`, "file", "JSON", ""},
		{strings.Repeat(" ", limits.ProposalFileBytesMax+1), "file",
			fmt.Sprintf("at most %d bytes", limits.ProposalFileBytesMax),
			fmt.Sprintf("%d bytes", limits.ProposalFileBytesMax+1)},
		{`{"artifact":{}}`, "kind", "string", "nothing"},
		{`{"kind":1,"artifact":{}}`, "kind", "string", "number"},
		{`{"kind":"rule","artifact":{}}`, "kind", "one of agent-pack, workflow-chain-pack, prompt-template, automation",
			`"rule"`},
		{`{"kind":"automation"}`, "artifact", "object", "nothing"},
		{`{"kind":"automation","artifact":[]}`, "artifact", "object", "array"},
		{`{"kind":"automation","artifact":null}`, "artifact", "object", "null"},
		{`{"kind":"automation","artifact":` + nested(limits.ContextDepthMax) + `}`, "", "", ""},
		{`{"kind":"automation","artifact":` + nested(limits.ContextDepthMax+2) + `}`, "artifact",
			fmt.Sprintf("an object of at most %d levels", limits.ContextDepthMax), ""},
		{`{"kind":"automation","artifact":{"a":"` + strings.Repeat("x", limits.SourceBytesMax) + `"}}`, "artifact",
			fmt.Sprintf("at most %d bytes", limits.SourceBytesMax), fmt.Sprintf("%d bytes", limits.SourceBytesMax+8)},
		{with(`"title":7`), "title", "string", "number"},
		{with(`"title":null`), "title", "string", "null"},
		{with(`"title":"` + strings.Repeat("x", limits.ProposalTitleBytesMax+1) + `"`), "title", "at most 256 bytes",
			"257 bytes"},
		{with(`"rationale":[]`), "rationale", "string", "array"},
		{with(`"rationale":"` + strings.Repeat("x", limits.RationaleBytesMax+1) + `"`), "rationale",
			"at most 16384 bytes", "16385 bytes"},
		{with(`"synthesizerModel":{}`), "synthesizerModel", "string", "object"},
		{with(`"synthesizerModel":"` + strings.Repeat("x", limits.ActorRefMax+1) + `"`), "synthesizerModel",
			"at most 128 bytes", "129 bytes"},
		{with(`"sourceRunIds":"x"`), "sourceRunIds", "array", "string"},
		{with(`"sourceRunIds":["` + run.String() + `",3]`), "sourceRunIds/1", "the id of a run", "number"},
		{with(`"sourceRunIds":["sk-canary0123456789"]`), "sourceRunIds/0", "the id of a run",
			`"[REDACTED:secret_key]"`},
		{with(`"sourceRunIds":[` + strings.Join(many, ",") + `]`), "sourceRunIds", "at most 100 runs", "101"},
		{with(`"titel":"x"`), "titel", "only kind, title, rationale, artifact, synthesizerModel, sourceRunIds, replaces",
			"an unknown member"},
	} {
		_, err := proposal.ParseFile([]byte(tt.file))
		if tt.field == "" {
			if err != nil {
				t.Errorf("%.80s: %v", tt.file, err)
			}
			continue
		}
		f := fault.Of(err)
		if f == nil || f.Code != fault.ValidationError || f.Details["field"] != tt.field ||
			f.Details["expected"] != tt.expected ||
			f.Details["got"] == "" || tt.got != "" && f.Details["got"] != tt.got ||
			strings.Contains(f.Message, "canary") {
			t.Errorf("%.80s: %v, %v", tt.file, err, f)
		}
		if tt.field == "titel" && f.Suggestion.String() != `Write "title".` {
			t.Errorf("no name is suggested: %s", f.Suggestion.String())
		}
	}
}

// TestParseFileRedactsAndReports: no secret may reach the disk with the artifact, and the
// author is informed of its place but not of its value.
func TestParseFileRedactsAndReports(t *testing.T) {
	for _, secret := range canaries {
		quoted := fmt.Sprintf("%q", "use "+secret+" here")
		file := `{"kind":"automation","title":` + quoted + `,"rationale":` + quoted + `,"synthesizerModel":` + quoted +
			`,
			"artifact":{"id":"job","steps":[{"prompt":` + quoted + `}],` + quoted +
			`:1,"apiToken":"plainword","nested":{"password":{"deep":["plainword",4711]}}}}`
		d, err := proposal.ParseFile([]byte(file))
		if err != nil {
			t.Fatal(err)
		}
		c, _ := canon.Marshal(proposal.Create(at(0), d, owner, nil))
		for _, text := range [][]byte{d.Bytes, c, fmt.Append(nil, d.Redacted)} {
			if bytes.Contains(text, []byte("canary")) || bytes.Contains(text, []byte("plainword")) ||
				bytes.Contains(text, []byte("4711")) {
				t.Errorf("%s", text)
			}
		}
		if canon.Sum(d.Bytes) != d.Artifact.SHA256 {
			t.Error("the digest does not match the stored bytes")
		}
		places := map[string]int{}
		for _, r := range d.Redacted {
			places[r.Pointer]++
		}
		for _, pointer := range []string{"/title", "/rationale", "/synthesizerModel", "/artifact/steps/0/prompt",
			"/artifact/apiToken",
			"/artifact/nested/password/deep/0", "/artifact/nested/password/deep/1", "/artifact/" +
				redact.Text("use "+secret+" here", nil)} {
			if places[pointer] != 1 {
				t.Errorf("%s: %v in %v", pointer, places[pointer], d.Redacted)
			}
		}
		if len(places) != 8 {
			t.Errorf("%v", d.Redacted)
		}
	}
}

func TestRevisionKeepsItsKind(t *testing.T) {
	d := proposal.Draft{Kind: proposal.Automation}
	if err := d.CheckKind(proposal.Automation); err != nil {
		t.Error(err)
	}
	if err := d.CheckKind(proposal.AgentPack); !fault.Is(err, fault.ValidationError) ||
		fault.Of(err).Details["field"] != "kind" {
		t.Error(err)
	}
}

func TestSlots(t *testing.T) {
	flow, agent, template, job := proposal.WorkflowChainPack, proposal.AgentPack, proposal.PromptTemplate,
		proposal.Automation
	for _, tt := range []struct {
		kind              proposal.Kind
		artifact          string
		id, version, want string // want is the field of the refusal
	}{
		{flow, `{"id":"test.flow","name":"Flow","steps":[],"version":"1.0.0"}`, "test.flow", "1.0.0", ""},
		{flow, `{"name":"my.pack","version":"2.0.0","workflows":[]}`, "my.pack", "2.0.0", ""},
		{flow, `{"name":"my.pack","chains":[]}`, "my.pack", "", ""},
		{flow, `{"name":"my.pack","id":"x"}`, "", "", "artifact"},
		{flow, `{"id":"test.flow","steps":[],"name":"p","chains":[]}`, "", "", "artifact"},
		{flow, `{"steps":[]}`, "", "", "id"},
		{flow, `{"steps":[],"id":7}`, "", "", "id"},
		{flow, `{"steps":[],"id":""}`, "", "", "id"},
		{flow, `{"steps":[],"id":"two\nlines"}`, "", "", "id"},
		{flow, `{"steps":[],"id":"` + strings.Repeat("x", 256) + `"}`, strings.Repeat("x", 256), "", ""},
		{flow, `{"steps":[],"id":"` + strings.Repeat("x", 257) + `"}`, "", "", "id"},
		{template, `{"templateId":"writer","version":"1.0.0"}`, "writer", "1.0.0", ""},
		{template, `{"name":"writer"}`, "", "", "templateId"},
		{template, `{"templateId":"writer","version":1}`, "writer", "", ""},
		{agent, `{"agentId":"helper","name":"n"}`, "helper", "", ""},
		{agent, `{"name":"pack","agents":[]}`, "pack", "", ""},
		{agent, `{"name":"pack"}`, "", "", "artifact"},
		{agent, `{"name":"pack","agentId":"x","agents":[]}`, "", "", "artifact"},
		{job, `{"name":"Nightly","id":"b","automationId":"a"}`, "a", "", ""},
		{job, `{"name":"Nightly","id":"b"}`, "b", "", ""},
		{job, `{"name":"Nightly report"}`, "Nightly report", "", ""},
		{job, `{}`, "", "", "automationId"},
		{job, `[]`, "", "", "artifact"},
		{"rule", `{"id":"x"}`, "", "", "artifact"},
	} {
		v, err := canon.Parse([]byte(tt.artifact))
		if err != nil {
			t.Fatal(err)
		}
		s, version, err := proposal.SlotOf(tt.kind, v)
		if s != (proposal.Slot{Kind: tt.kind, ID: tt.id}) || version != tt.version {
			t.Errorf("%s %.60s: %v, %q", tt.kind, tt.artifact, s, version)
		}
		if tt.want == "" && err != nil || tt.want != "" &&
			(!fault.Is(err, fault.ProposalInvalid) || fault.Of(err).Details["field"] != tt.want) {
			t.Errorf("%s %.60s: %v", tt.kind, tt.artifact, err)
		}
	}
	if ref := proposal.InstalledRef(slot, "1.0.0", digest); ref != "workflow-chain-pack:test.flow@1.0.0#"+
		digest.String() {
		t.Error(ref)
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(`{"kind":"workflow-chain-pack","title":"t","rationale":"r","artifact":{"steps":[],"id":"a.b"}}`))
	f.Add([]byte(`{"kind":"automation","artifact":{"password":"x","name":1,"sk-canary0123456789":[2]},"sourceRunIds":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := proposal.ParseFile(data)
		if err != nil {
			if !fault.Is(err, fault.ValidationError) {
				t.Error(err)
			}
			return
		}
		if err := proposal.Create(at(0), d, owner, nil).Check(event.Scope{}); err != nil {
			t.Errorf("a file makes an invalid record: %v", err)
		}
		v, err := canon.Parse(d.Bytes)
		if err != nil || !bytes.Equal(v.JCS(), d.Bytes) || !redact.Value(v, nil).Equal(v) {
			t.Errorf("%v: %s", err, d.Bytes)
		}
	})
}
