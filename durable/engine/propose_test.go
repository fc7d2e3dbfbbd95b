package engine_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/learning/similar"
	"github.com/waybill/waybill/durable/log/audit"
)

// TestEveryMoveFromEveryState: what the table allows is recorded with actor and reason, in the
// history and in the audit log; what it does not allow changes nothing.
func TestEveryMoveFromEveryState(t *testing.T) {
	t.Parallel()
	// The state that a move leads to, by the state that it starts from; an empty word is a refusal.
	table := map[string]map[string]proposal.State{
		"draft": {"revise": "revised", "approve": "draft", "apply": "applied", "reject": "rejected",
			"archive": "archived"},
		"revised": {"revise": "revised", "approve": "revised", "apply": "applied", "reject": "rejected",
			"archive": "archived"},
		"applied":  {"rollback": "archived"},
		"rejected": {"revise": "revised", "archive": "archived"},
		"archived": {"revise": "revised"},
	}
	ways := map[string][]string{"draft": {}, "revised": {"revise"}, "applied": {"apply"}, "rejected": {"reject"},
		"archived": {"archive"}}
	actions := map[string]audit.Action{"revise": audit.Revise, "approve": audit.Approve, "apply": audit.Override,
		"reject": audit.Reject, "archive": audit.Archive, "rollback": audit.RollBack}
	for state, to := range table {
		for move := range actions {
			r := newReview(t)
			p := r.propose(asWorkflow(t, "test.flow", "one text"))
			for _, way := range ways[state] {
				var err error
				if p, err = r.moves()[way](p); err != nil {
					t.Fatal(state, err)
				}
			}
			if string(p.Proposal.State) != state {
				t.Fatalf("%s: %+v", state, p.Proposal)
			}
			before, acts := r.onDisk(), r.acts()
			after, err := r.moves()[move](p)
			want, allowed := to[move]
			if !allowed {
				f := fault.Of(err)
				if f == nil || f.Code != fault.ProposalState || fault.ExitOf(err) != 1 || f.Details["state"] != state {
					t.Errorf("%s of what is %s: %v", move, state, err)
				}
				r.same(before, move+" of what is "+state)
				continue
			}
			if err != nil || after.Proposal.State != want {
				t.Errorf("%s of what is %s: %v, %s", move, state, err, after.Proposal.State)
				continue
			}
			d := r.details(p)
			if move == "approve" {
				last := d.Approvals[len(d.Approvals)-1]
				if last.Actor.Ref != "sam" || last.Reason != "because" {
					t.Errorf("%+v", last)
				}
			} else if last := d.History[len(d.History)-1]; string(last.Move) != move || string(last.From) != state ||
				last.To != want ||
				last.Actor.Ref != "sam" || last.Reason != "because" || last.Override != (move == "apply") {
				t.Errorf("%s of what is %s: %+v", move, state, last)
			}
			if now := r.acts(); !slices.Equal(now, append(acts, fmt.Sprintf("%s by sam: because", actions[move]))) {
				t.Errorf("%s of what is %s: in the audit log %q", move, state, now)
			}
		}
	}
}

// TestSourceRunsOfAProposal: the runs that are named must be in this store, in any health.
func TestSourceRunsOfAProposal(t *testing.T) {
	t.Parallel()
	r, elsewhere := newReview(t), newReview(t)
	a := r.start(twoSteps)
	elsewhere.seeds = 77
	theirs := elsewhere.start(twoSteps).Session.RunID.String()
	before := r.onDisk()
	message := func(run string) string {
		req := asWorkflow(t, "test.flow", "x")
		req.FromRuns = []string{run}
		_, err := r.another().Propose(context.Background(), r.by(), r.seed(), req)
		if !fault.Is(err, fault.RunNotFound) {
			t.Errorf("%s: %v", run, err)
		}
		return strings.ReplaceAll(err.Error(), run, "RUN")
	}
	if absent := id.NewRun(id.Seed{99}).String(); message(absent) != message(theirs) {
		t.Errorf("%q differs from %q", message(absent), message(theirs))
	}
	r.same(before, "a refused proposal")
	// The same run under several names is one, and none of the caller's values changes.
	run := a.Session.RunID.String()
	req := asWorkflow(t, "test.flow", "x")
	req.FromRuns = append(make([]string, 0, 8), run, engine.Last)
	req.Draft.SourceRunIDs = []id.Run{a.Session.RunID}
	p := r.propose(req)
	if got := p.Proposal.Provenance.SourceRunIDs; !slices.Equal(got, []id.Run{a.Session.RunID}) {
		t.Errorf("%v", got)
	}
	if spare := req.FromRuns[:3]; spare[2] != "" {
		t.Errorf("the caller's list was written to: %q", spare)
	}
}

// TestProposalsOfAWorkspace are not found, not listed and not in use in another one.
func TestProposalsOfAWorkspace(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	blue := asWorkflow(t, "test.blue", "in blue")
	blue.Workspace = "blue"
	of, general := r.installs(r.propose(blue)), r.installs(r.propose(asWorkflow(t, "test.all", "everywhere")))
	open := r.propose(blue)
	for _, workspace := range []string{"", "green"} {
		_, _, err := r.g.Proposal(ctx, workspace, open.Proposal.ID.String())
		_, _, absent := r.g.Proposal(ctx, workspace, id.NewProposal(id.Seed{99}).String())
		words := func(err error) string { return strings.Join(strings.Split(fault.Of(err).Message, `"`)[2:], "") }
		if !fault.Is(err, fault.ProposalNotFound) || fault.ExitOf(err) != 6 || words(err) != words(absent) {
			t.Errorf("in %q: %v; %v", workspace, err, absent)
		}
		before := r.onDisk()
		req := learning.DecideRequest{Ref: open.Proposal.ID.String(), Workspace: workspace, Reason: "r",
			Presence: here("ada")}
		inOther := blue
		inOther.Workspace = workspace
		for name, call := range map[string]func() (learning.Proposed, error){
			"revise": func() (learning.Proposed, error) {
				return r.g.ReviseProposal(ctx, r.person("ada"), req.Ref, inOther)
			},
			"approve": func() (learning.Proposed, error) {
				return r.g.ApproveProposal(ctx, r.person("ada"), req, onScreen(r.g, aboutProposal(open, "ada", "r")))
			},
			"apply": func() (learning.Proposed, error) {
				return r.g.ApplyProposal(ctx, r.person("ada"), overrides(r.g, req))
			},
			"reject":   func() (learning.Proposed, error) { return r.g.RejectProposal(ctx, r.person("ada"), req) },
			"archive":  func() (learning.Proposed, error) { return r.g.ArchiveProposal(ctx, r.person("ada"), req) },
			"rollback": func() (learning.Proposed, error) { return r.g.RollBackProposal(ctx, r.person("ada"), req) },
		} {
			if _, err := call(); !fault.Is(err, fault.ProposalNotFound) {
				t.Errorf("%s in %q: %v", name, workspace, err)
			}
		}
		r.same(before, "a call from another workspace")
	}
	for workspace, want := range map[string][2]string{"": {general.Proposal.ID.String(), "test.all="},
		"green": {"", "test.all="},
		"blue":  {open.Proposal.ID.String() + " " + of.Proposal.ID.String(), "test.all= test.blue="}} {
		list, err := r.g.Proposals(ctx, learning.ProposalQuery{Workspace: workspace})
		must(t, err)
		events, err := r.g.ProposalEvents(ctx, workspace)
		must(t, err)
		var listed, used []string
		for _, p := range list.Proposals {
			listed = append(listed, p.ID.String())
		}
		for _, i := range r.inUse(workspace) {
			used = append(used, i[:strings.Index(i, "=")+1])
		}
		if strings.Join(listed, " ") != want[0] || strings.Join(used, " ") != want[1] {
			t.Errorf("in %q: listed %v, in use %v", workspace, listed, used)
		}
		for _, e := range events.Events {
			if !strings.Contains(want[0], e.ProposalID.String()) {
				t.Errorf("in %q: %+v", workspace, e)
			}
		}
	}
}

// TestInstalledBytesAreTheProposedOnes, byte for byte, after several revisions
// (docs/design.md#proposals): nothing is encoded again on the way.
func TestInstalledBytesAreTheProposedOnes(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	for _, says := range []string{"two \u00e9\u20ac", "three \"quoted\"", "four"} {
		p = r.revise(p, asWorkflow(t, "test.flow", says))
	}
	sent := `{ "steps" : [ {"prompt":"five \u00e9", "title":"S","id":"s"} ], "version":"1.0.0","n":1.0, "id":"test.flow","name":"N","description":"d"}`
	p = r.revise(p, learning.ProposeRequest{Draft: drafted(t, proposal.WorkflowChainPack, sent, "")})
	p = r.installs(p)
	value, err := canon.Parse([]byte(sent))
	must(t, err)
	name := p.About.ArtifactSHA256.FileName()
	files := r.onDisk()
	if want := string(value.JCS()); files["installed/"+name+".json"] != want || files["artifacts/"+name] != want ||
		string(p.Proposal.Artifact.JCS()) != want {
		t.Errorf("installed %q\nproposed  %q\nsent      %q", files["installed/"+name+".json"], files["artifacts/"+name],
			want)
	}
	if installed := r.files("installed"); len(installed) != 1 {
		t.Errorf("%q", installed)
	}
	if got := r.inUse(""); len(got) != 1 || p.About.Revision != 5 {
		t.Errorf("%v, %+v", got, p.About)
	}
}

// TestSimilarProposals: equal and similar proposals are listed, the nearest first, one of them in
// the answer, and never the proposal itself.
func TestSimilarProposals(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	says := strings.Repeat("Read the change, look for what it breaks, and say so plainly to its author. ", 6)
	first := r.propose(asWorkflow(t, "test.flow", says))
	if first.Proposal.DuplicateOf != nil || len(first.About.Duplicates) != 0 {
		t.Errorf("the first is like %v", first.About.Duplicates)
	}
	used := r.installs(r.propose(asWorkflow(t, "test.used", says+"And then some more of it.")))
	req := asWorkflow(t, "test.flow", says)
	near := asWorkflow(t, "test.near", says+"Once more, with a different end here.")
	nearValue, err := canon.Parse(near.Draft.Bytes)
	must(t, err)
	req.OtherWorkflows = []similar.Candidate{{Ref: "workflow:near", Digest: near.Draft.Artifact.SHA256,
		Signature: similar.SignatureOf(nearValue)}}
	again := r.propose(req)
	var refs []string
	last := int64(100)
	for _, d := range again.About.Duplicates {
		if refs = append(refs, d.Ref); d.Percent > last || d.Percent < 50 {
			t.Errorf("out of order: %+v", again.About.Duplicates)
		}
		last = d.Percent
	}
	if len(refs) != 3 || refs[0] != "proposal:"+first.Proposal.ID.String() ||
		again.About.Duplicates[0].Percent != 100 ||
		!slices.Contains(refs, used.Proposal.Activation.InstalledArtifactRef) ||
		!slices.Contains(refs, "workflow:near") {
		t.Errorf("%+v", again.About.Duplicates)
	}
	if again.Proposal.DuplicateOf == nil || *again.Proposal.DuplicateOf != refs[0] {
		t.Errorf("on the wire: %v", again.Proposal.DuplicateOf)
	}
	// A revision is compared again, and not with the revision before it.
	revised := r.revise(again, asWorkflow(t, "test.flow", says))
	for _, d := range revised.About.Duplicates {
		if strings.Contains(d.Ref, again.Proposal.ID.String()) {
			t.Errorf("like itself: %+v", revised.About.Duplicates)
		}
	}
	// A proposal that can no longer be applied is not listed.
	_, err = r.g.RejectProposal(context.Background(), r.person("ada"), aboutProposal(first, "ada", "r"))
	must(t, err)
	other := learning.ProposeRequest{Draft: drafted(t, proposal.Automation, workflowNamed("test.flow", says), "")}
	if p := r.propose(other); len(p.About.Duplicates) != 0 {
		t.Errorf("like another kind: %+v", p.About.Duplicates)
	}
	if p := r.revise(again, asWorkflow(t, "test.flow", says)); strings.Contains(fmt.Sprint(p.About.Duplicates),
		first.Proposal.ID.String()) {
		t.Errorf("like what was rejected: %+v", p.About.Duplicates)
	}
}

// TestNoSecretOfAProposalIsStored: each text is redacted before it reaches a file
// (docs/design.md#redaction).
func TestNoSecretOfAProposalIsStored(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	n := 0
	secret := func() string { n++; return fmt.Sprintf("sk-canary%024dABCDEF", n) }
	draft := func() learning.ProposeRequest {
		artifact := fmt.Sprintf(
			`{"id":"test.flow","name":"N","version":%q,"steps":[{"id":"s","prompt":%q,"deep":{"a":[{"password":%q,%q:1}]}}]}`,
			secret(), "use "+secret(), "canary-hunter2", secret())
		more := fmt.Sprintf(`,"title":%q,"rationale":%q,"synthesizerModel":%q`, "with "+secret(), "since "+secret(),
			secret())
		return learning.ProposeRequest{Draft: drafted(t, proposal.WorkflowChainPack, artifact, more),
			Reason:         "for " + secret(),
			OtherWorkflows: []similar.Candidate{}}
	}
	p, err := r.g.Propose(ctx, r.by(), r.seed(), draft())
	must(t, err)
	if len(p.Redacted) < 6 {
		t.Errorf("reported %+v", p.Redacted)
	}
	p, err = r.g.ReviseProposal(ctx, r.by(), p.Proposal.ID.String(), draft())
	must(t, err)
	_, err = r.g.ApproveProposal(ctx, r.person("ada"), aboutProposal(p, "ada", secret()),
		onScreen(r.g, aboutProposal(p, "ada", "")))
	must(t, err)
	_, err = r.g.ApplyProposal(ctx, r.person("ada"), overrides(r.g, aboutProposal(p, "ada", "as "+secret())))
	must(t, err)
	_, err = r.g.RollBackProposal(ctx, r.person("ada"), aboutProposal(p, "ada", secret()))
	must(t, err)
	_, err = r.g.ReviseProposal(ctx, r.by(), p.Proposal.ID.String(), draft())
	must(t, err)
	_, err = r.g.RejectProposal(ctx, r.person("ada"), aboutProposal(p, "ada", secret()))
	must(t, err)
	_, err = r.g.ArchiveProposal(ctx, r.person("ada"), aboutProposal(p, "ada", secret()))
	must(t, err)
	files := r.onDisk()
	for name, text := range files {
		if strings.Contains(text, "canary") || strings.Contains(name, "canary") {
			t.Errorf("a secret is in %s", name)
		}
	}
	if len(files) < 12 {
		t.Errorf("only %d files were searched", len(files))
	}
}
