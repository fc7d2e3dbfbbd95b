package proposals_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/proposals"
)

func TestEveryRevisionStaysReadableAndVoidsApprovals(t *testing.T) {
	l := newLearning(t)
	p := l.create(1, "", draftOf("test.flow", "one"))
	first := l.approve("", p, person)
	if !l.add(event.Actor{Kind: event.Agent, Ref: "bot"}, proposal.Revise(l.at(p), 2, draftOf("test.flow", "two"),
		[]proposal.Duplicate{{Percent: 90, Ref: "x"}, {Percent: 60, Ref: "y"}})) {
		t.Fatal(l.fold.Findings)
	}
	one := l.get("", p)
	if len(one.Revisions) != 2 || one.Revisions[0].Title != "one" || one.Last().Title != "two" ||
		one.Last().Actor.Ref != "bot" || one.Last().Reason != "because" ||
		one.Last().AtMs != 1002 || one.State != proposal.StateRevised || one.CreatedAtMs != 1000 ||
		one.UpdatedAtMs != 1002 {
		t.Errorf("%+v", one)
	}
	if a := one.Approvals[0]; a.Void != "It was given before revision 2." || a.Actor != person ||
		a.Reason != "because" || one.PolicyApprovals()[0].Void != a.Void {
		t.Errorf("%+v", one.Approvals)
	}
	// A revision back to the approved bytes does not make the void approval count again.
	l.add(person, proposal.Revise(l.at(p), 3, draftOf("test.flow", "one"), nil))
	if l.add(person, proposal.Apply(l.at(p), l.activation(one, first.ApprovalID))) ||
		one.State != proposal.StateRevised {
		t.Error("an approval of an earlier revision let the proposal be applied")
	}
	if len(one.History) != 3 || one.History[0].Move != "" || one.History[1].From != proposal.StateDraft ||
		one.History[2].Move != proposal.MoveRevise || one.History[2].Actor != person {
		t.Errorf("%+v", one.History)
	}
}

func TestInstalled(t *testing.T) {
	l := newLearning(t)
	a, b := l.create(1, "", draftOf("test.flow", "a")), l.create(2, "", draftOf("test.flow", "b"))
	own, far := l.create(3, "shop", draftOf("test.flow", "own")), l.create(4, "home", draftOf("test.flow", "far"))
	other := l.create(5, "", draftOf("test.also", "other"))
	if got := l.texts("shop"); got != "" {
		t.Fatalf("drafts are installed: %s", got)
	}
	l.apply("", b)
	l.apply("", a) // applied later, created before
	l.apply("shop", own)
	l.apply("home", far)
	l.apply("", other)
	for workspace, want := range map[string]string{"": "other a", "shop": "other a own", "home": "other a far",
		"elsewhere": "other a"} {
		if got := l.texts(workspace); got != want {
			t.Errorf("workspace %q has %q, want %q", workspace, got, want)
		}
	}
	in, one := l.fold.Installed("")[1], l.get("", a)
	if in.ProposalID != a || in.Artifact != one.Last().Artifact || in.Version != "1.0.0" ||
		in.Ref != proposal.InstalledRef(in.Slot, "1.0.0", in.Artifact.SHA256) || in.AtMs != 1008 {
		t.Errorf("%+v", in)
	}
	if l.fold.RestoredDigest(one) != l.get("", b).Last().Artifact.SHA256 || !l.fold.RestoredDigest(l.get("", b)).
		IsZero() ||
		!l.fold.RestoredDigest(l.get("shop", own)).IsZero() {
		t.Error("RestoredBy is not the previous installation")
	}
	l.rollBack("", a)
	if got := l.texts("shop"); got != "other b own" || one.State != proposal.StateArchived {
		t.Errorf("after rolling back: %q, %s", got, one.State)
	}
	l.rollBack("", b)
	if got := l.texts(""); got != "other" {
		t.Errorf("after rolling back both: %q", got)
	}
}

func TestFindAndListProposals(t *testing.T) {
	l := newLearning(t)
	a, b := l.create(1, "", draftOf("test.flow", "a")), l.create(2, "", draftOf("test.flow", "b"))
	own := l.create(3, "shop", draftOf("test.flow", "own"))
	l.add(person, proposal.Reject(l.at(a)))
	ids := func(f proposals.Filter) (out []id.Proposal) {
		for _, one := range l.fold.List(f) {
			out = append(out, one.ID)
		}
		return out
	}
	for i, tt := range []struct {
		filter proposals.Filter
		want   []id.Proposal
	}{
		{proposals.Filter{}, []id.Proposal{b, a}},
		{proposals.Filter{Workspace: "shop"}, []id.Proposal{own}},
		{proposals.Filter{Workspace: "home"}, nil},
		{proposals.Filter{State: proposal.StateRejected}, []id.Proposal{a}},
		{proposals.Filter{Kind: proposal.Automation}, nil},
		{proposals.Filter{Kind: proposal.WorkflowChainPack, State: proposal.StateDraft}, []id.Proposal{b}},
	} {
		if got := ids(tt.filter); len(got) != len(tt.want) || len(got) > 0 && got[0] != tt.want[0] || len(got) > 1 &&
			got[1] != tt.want[1] {
			t.Errorf("%d: %v, want %v", i, got, tt.want)
		}
	}
	if one, err := l.fold.Find("", proposals.Latest); err != nil || one.ID != b {
		t.Errorf("the latest: %v", err)
	}
	if one, err := l.fold.Find("shop", proposals.Latest); err != nil || one.ID != own {
		t.Errorf("the latest of a workspace: %v", err)
	}
	bare := strings.TrimPrefix(a.String(), "prop_")
	for _, ref := range []string{a.String(), a.String()[:10], bare, bare[:5]} {
		if one, err := l.fold.Find("", ref); err != nil || one.ID != a {
			t.Errorf("%s: %v", ref, err)
		}
	}
	for ref, code := range map[string]fault.Code{"": fault.ProposalNotFound, "prop_": fault.ProposalNotFound,
		own.String(): fault.ProposalNotFound, "zzzz": fault.ProposalNotFound, "prop": fault.ValidationError} {
		if _, err := l.fold.Find("", ref); !fault.Is(err, code) {
			t.Errorf("%q: %v, want %s", ref, err, code)
		}
	}
}

func TestProposalWireForm(t *testing.T) {
	l := newLearning(t)
	d := draftOf("test.flow", "one")
	d.SourceRunIDs = []id.Run{proposalRun}
	p := id.NewProposal(id.Seed{1})
	created := proposal.Create(l.at(p), d, proposal.Owner{Tenant: "local", Workspace: "shop", Principal: "ada"},
		[]proposal.Duplicate{{Percent: 60, Ref: "near"}, {Percent: 90, Ref: "nearer"}})
	l.add(person, created)
	bare := l.create(2, "shop", draftOf("test.flow", "two"))
	artifact, _ := canon.Parse(d.Bytes)
	wire := func(p id.Proposal) string {
		b, err := canon.Marshal(l.get("shop", p).Wire(artifact))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if got := wire(p); !strings.Contains(got, `"activation":null`) ||
		!strings.Contains(got, `"duplicateOf":"nearer"`) ||
		!strings.Contains(got, `"createdAt":"1970-01-01T00:00:01.000Z"`) ||
		!strings.Contains(got, `"artifact":`+string(d.Bytes)) || !strings.Contains(wire(bare), `"duplicateOf":null`) ||
		!strings.Contains(wire(bare), `"sourceRunIds":[]`) {
		t.Error(got, wire(bare))
	}
	shapes := []string{wire(p), wire(bare)}
	l.apply("shop", p)
	a, _ := l.get("shop", p).Activation()
	if got := wire(p); !strings.Contains(got, `"activation":{"approvalId":"`+a.ApprovalIDs[0].String()+
		`","installedArtifactRef":"`+a.InstalledRef+`"}`) {
		t.Error(got)
	}
	shapes = append(shapes, wire(p))
	l.rollBack("shop", p)
	if got := wire(p); !strings.Contains(got, `"activation":null`) ||
		!strings.Contains(got, `"updatedAt":"1970-01-01T00:00:01.004Z"`) {
		t.Error(got)
	}
	for _, e := range []struct {
		event any
		want  string
	}{
		{created.OnWire(), `{"duplicateOf":"nearer","kind":"workflow-chain-pack","proposalId":"` + p.String() +
			`","sourceRunIds":["` + proposalRun.String() + `"]}`},
		{a.OnWire(), `{"approvalId":"` + a.ApprovalIDs[0].String() + `","installedArtifactRef":"` + a.InstalledRef +
			`","kind":"workflow-chain-pack","proposalId":"` + p.String() + `"}`},
		{proposal.Applied{Subject: proposal.Subject{ProposalID: p}, Slot: a.Slot, InstalledRef: "r"}.OnWire(),
			`{"installedArtifactRef":"r","kind":"workflow-chain-pack","proposalId":"` + p.String() +
				`"}`},
	} {
		if got, err := canon.Marshal(e.event); err != nil || string(got) != e.want {
			t.Errorf("%v\n%s\n%s", err, got, e.want)
		}
	}
	validateAgainstPublishedSchema(t, "proposal.schema.json", append(shapes, wire(p)))
}

// validateAgainstPublishedSchema validates documents against a published schema, if it is available
// beside the checkout.
func validateAgainstPublishedSchema(t *testing.T, name string, documents []string) {
	t.Helper()
	text, err := os.ReadFile("../../../shared/data/openwop/schemas/" + name)
	if err != nil {
		t.Skip("no published schemas at ../shared/data beside the checkout")
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range documents {
		var v any
		if err := json.Unmarshal([]byte(document), &v); err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(v); err != nil {
			t.Errorf("%v\n%s", err, document)
		}
	}
}
