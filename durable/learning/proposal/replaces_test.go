package proposal_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
)

// replacedFile is what the draft of a workflow replaces.
func replacedFile(text string) proposal.Replaces {
	return proposal.Replaces{WorkflowID: "test.flow", SourceKind: "project", SourceRef: ".waybill/workflows/flow.yaml",
		Digest: canon.Sum([]byte(text))}
}

// TestReplacesIsChecked: a record names one workflow, of the id of its slot, by its bytes, and a file by its place.
func TestReplacesIsChecked(t *testing.T) {
	for name, row := range map[string]struct {
		slot   proposal.Slot
		change func(*proposal.Replaces)
		ok     bool
	}{
		"a file":          {slot, func(*proposal.Replaces) {}, true},
		"nothing":         {slot, func(r *proposal.Replaces) { *r = proposal.Replaces{} }, true},
		"installed":       {slot, func(r *proposal.Replaces) { r.SourceKind, r.SourceRef = "installed", "" }, true},
		"another id":      {slot, func(r *proposal.Replaces) { r.WorkflowID = "test.other" }, false},
		"another kind":    {proposal.Slot{Kind: proposal.Automation, ID: "test.flow"}, func(*proposal.Replaces) {}, false},
		"no digest":       {slot, func(r *proposal.Replaces) { r.Digest = canon.Digest{} }, false},
		"no place":        {slot, func(r *proposal.Replaces) { r.SourceRef = "" }, false},
		"a long place":    {slot, func(r *proposal.Replaces) { r.SourceRef = strings.Repeat("x", limits.PathMax+1) }, false},
		"two lines":       {slot, func(r *proposal.Replaces) { r.SourceRef = "a\nb" }, false},
		"bundled":         {slot, func(r *proposal.Replaces) { r.SourceKind = "bundled" }, false},
		"attached":        {slot, func(r *proposal.Replaces) { r.SourceKind = "plugin" }, false},
		"a placed digest": {slot, func(r *proposal.Replaces) { r.SourceKind = "installed" }, false},
	} {
		d, r := draft, replacedFile("old")
		row.change(&r)
		d.Replaces, d.Slot, d.Kind = r, row.slot, row.slot.Kind
		if err := proposal.Create(at(0), d, owner, nil).Check(event.Scope{}); (err == nil) != row.ok {
			t.Errorf("%s: created: %v", name, err)
		}
		if err := proposal.Revise(at(1), 2, d, nil).Check(event.Scope{}); (err == nil) != row.ok {
			t.Errorf("%s: revised: %v", name, err)
		}
		a := activation(func(a *proposal.Activation) { a.Slot, a.Replaces = row.slot, r })
		if err := proposal.Apply(at(3), a).Check(event.Scope{}); (err == nil) != row.ok {
			t.Errorf("%s: applied: %v", name, err)
		}
	}
	c := with(consent, func(c *proposal.Consent) { c.Replaces = replacedFile("old"); c.Replaces.SourceRef = "" })
	if err := proposal.Approve(store, at(2), c).Check(event.Scope{}); err == nil {
		t.Error("an approval of a file without a place is valid")
	}
}

// TestReplacesOfAFile: the member of a proposal file, whose place a caller may leave out.
func TestReplacesOfAFile(t *testing.T) {
	digest := `"digest":"` + replacedFile("old").Digest.String() + `"`
	for _, row := range []struct{ replaces, artifact, field string }{
		{`{"workflowId":"test.flow","sourceKind":"project",` + digest + `}`, `{"id":"test.flow","steps":[]}`, ""},
		{`{"workflowId":"test.flow","sourceKind":"installed",` + digest + `}`, `{"id":"test.flow","steps":[]}`, ""},
		{`{"workflowId":"test.flow","sourceKind":"project","sourceRef":"x.yaml",` + digest + `}`, `{"id":"test.flow","steps":[]}`, ""},
		{`{"workflowId":"test.other","sourceKind":"project",` + digest + `}`, `{"id":"test.flow","steps":[]}`, "replaces/workflowId"},
		{`{"workflowId":"test.flow","sourceKind":"project",` + digest + `}`, `{"name":"test.flow","workflows":[]}`, "replaces/workflowId"},
		{`{"sourceKind":"project",` + digest + `}`, `{"steps":[]}`, "replaces/workflowId"},
		{`{"workflowId":"test.flow","sourceKind":"bundled",` + digest + `}`, `{"id":"test.flow","steps":[]}`, "replaces/sourceKind"},
		{`{"workflowId":"test.flow","sourceKind":"project","digest":"x"}`, `{"id":"test.flow","steps":[]}`, "replaces/digest"},
		{`{"workflowId":"test.flow","source":"project"}`, `{"id":"test.flow","steps":[]}`, "replaces/source"},
		{`[]`, `{"id":"test.flow","steps":[]}`, "replaces"},
	} {
		d, err := proposal.ParseFile([]byte(`{"kind":"workflow-chain-pack","artifact":` + row.artifact + `,"replaces":` + row.replaces + `}`))
		if row.field == "" {
			if err != nil || d.Replaces.WorkflowID != "test.flow" || d.Replaces.Digest != replacedFile("old").Digest {
				t.Errorf("%s: %+v, %v", row.replaces, d.Replaces, err)
			}
			continue
		}
		if !fault.Is(err, fault.ValidationError) || fault.Of(err).Details["field"] != row.field {
			t.Errorf("%s: %v, %v", row.replaces, err, fault.Of(err))
		}
	}
}

// TestReplacingRefusesAPathThatIsASecret: the path would be stored without the secret, and name another file.
func TestReplacingRefusesAPathThatIsASecret(t *testing.T) {
	d, err := proposal.ParseFile([]byte(`{"kind":"workflow-chain-pack","artifact":{"id":"test.flow","steps":[]}}`))
	if err != nil {
		t.Fatal(err)
	}
	r := replacedFile("old")
	if got, err := d.Replacing(r); err != nil || got.Replaces != r {
		t.Errorf("%+v, %v", got.Replaces, err)
	}
	r.SourceRef = "ghp_abcdefghijklmnopqrstuvwxyz0123456789.yaml"
	if _, err := d.Replacing(r); !fault.Is(err, fault.ValidationError) || strings.Contains(err.Error(), "ghp_") {
		t.Error(err)
	}
}

// TestReadAny: a workflow by itself is the artifact, in YAML and in JSON; the name decides, else the first character.
func TestReadAny(t *testing.T) {
	for _, row := range []struct {
		name, text string
		alone      bool
		id         string // of the artifact; "" for a refusal
	}{
		{"a.yaml", "id: test.flow\nsteps: []\n", true, "test.flow"},
		{"a.YML", "{id: test.flow, steps: []}", true, "test.flow"},
		{"a.json", `{"id":"test.flow","steps":[]}`, true, "test.flow"},
		{"-", `{"id":"test.flow","steps":[]}`, true, "test.flow"},
		{"-", "id: test.flow\nsteps: []\n", true, "test.flow"},
		{"a.yaml", "kind: workflow-chain-pack\nartifact: {id: test.flow, steps: []}\n", false, "test.flow"},
		{"a.json", `{"kind":"workflow-chain-pack","artifact":{"id":"test.flow"},"steps":[]}`, false, "test.flow"},
		{"a.json", "id: test.flow\nsteps: []\n", false, ""},
		{"", "id: test.flow\nsteps: []\n", false, ""},
		{"a.yaml", "id: [", false, ""},
		{"a.yaml", strings.Repeat("- a\n", limits.WorkflowValuesMax+1), false, ""},
	} {
		root, alone, err := proposal.ReadAny(row.name, []byte(row.text))
		artifact, _ := root.Get("artifact")
		id, _ := artifact.Get("id")
		if alone != row.alone || id.Text() != row.id || (err == nil) != (row.id != "") || err != nil && !fault.Is(err, fault.ValidationError) {
			t.Errorf("%s %.40q: %s, alone %v, %v", row.name, row.text, root.JCS(), alone, err)
		}
	}
}

// TestMerged: a revision keeps what the patch does not state; null removes a text.
func TestMerged(t *testing.T) {
	parse := func(text string) canon.Value {
		v, err := canon.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	now := proposal.Proposal{Kind: proposal.WorkflowChainPack, Title: "T", Rationale: "R", Artifact: parse(`{"id":"test.flow","steps":[]}`)}
	old := replacedFile("old")
	const kept = `"replaces":{"digest"`
	for _, row := range []struct{ patch, want, not string }{
		{`{"title":"U"}`, `"rationale":"R"`, `"title":"T"`},
		{`{"title":"U"}`, kept, ""},
		{`{"title":null}`, `"rationale":"R"`, `"title"`},
		{`{"rationale":null,"replaces":null}`, `"title":"T"`, `"replaces"`},
		{`{"artifact":{"id":"test.flow","steps":[1]}}`, kept, `"steps":[]`},
		{`{"artifact":{"id":"test.other","steps":[1]}}`, `test.other`, `"replaces"`},
		{`{"artifact":{"name":"test.flow","workflows":[]}}`, `workflows`, `"replaces"`},
		{`{"kind":"automation"}`, `"kind":"automation"`, `"kind":"workflow`},
		{`{"titel":"x"}`, `"titel":"x"`, ""},
	} {
		got, err := proposal.Merged(now, old, parse(row.patch))
		text := string(got.JCS())
		if err != nil || !strings.Contains(text, row.want) || row.not != "" && strings.Contains(text, row.not) {
			t.Errorf("%s: %s, %v", row.patch, text, err)
		}
	}
	if _, err := proposal.Merged(now, old, parse(`[]`)); !fault.Is(err, fault.ValidationError) {
		t.Error(err)
	}
	got, err := proposal.Merged(now, old, canon.OfMembers())
	if d, draftErr := proposal.DraftOf(got); err != nil || draftErr != nil || d.Title != "T" || d.Replaces != old {
		t.Errorf("%+v, %v, %v", d, err, draftErr)
	}
}

// TestRunsByOtherNames: source runs may be named as everywhere; the caller finds them.
func TestRunsByOtherNames(t *testing.T) {
	d, err := proposal.ParseFile([]byte(`{"kind":"automation","artifact":{},"sourceRunIds":["@last","` + run.String() + `","abc2","@last"]}`))
	if err != nil || !slices.Equal(d.RunRefs, []string{"@last", "abc2"}) || len(d.SourceRunIDs) != 1 {
		t.Errorf("%+v, %v", d, err)
	}
}
