package engine_test

import (
	"context"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/hosting"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/problem"
)

// replacedText names a file of the project with the id test.flow and a text.
func replacedText(text string) proposal.Replaces {
	return proposal.Replaces{WorkflowID: "test.flow", SourceKind: "project", SourceRef: "flow.yaml", Digest: canon.Sum([]byte(text))}
}

// inPlaceOf is a request to propose a workflow in place of the file with a text.
func inPlaceOf(req learning.ProposeRequest, text string) learning.ProposeRequest {
	req.Draft.Replaces = replacedText(text)
	return req
}

// fileWith finds that file with a text now; "" finds none.
func fileWith(text string) learning.ReadReplaced {
	return func(_ context.Context, r proposal.Replaces) (learning.ReplacedFile, bool, error) {
		v, err := canon.Parse([]byte(workflowNamed("test.flow", text)))
		return learning.ReplacedFile{Digest: canon.Sum([]byte(text)), Value: v}, text != "" && r.SourceRef == "flow.yaml", err
	}
}

// TestReplacedFileIsAsNamed: a proposal whose file changed, is gone or cannot be read is neither approved nor applied,
// and the refusal names the file; nothing is recorded.
func TestReplacedFileIsAsNamed(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	p := r.propose(inPlaceOf(asWorkflow(t, "test.flow", "one"), "old"))
	about := aboutProposal(p, "ada", "r")
	shown := onScreen(r.g, about)
	for what, read := range map[string]learning.ReadReplaced{"changed: it was": fileWith("new"), "is not found": fileWith(""), "cannot be read": nil} {
		about.Replaced = read
		calls := map[string]func() (learning.Proposed, error){
			"approve": func() (learning.Proposed, error) {
				return r.another().ApproveProposal(ctx, r.person("ada"), about, shown)
			},
			"apply": func() (learning.Proposed, error) {
				return r.another().ApplyProposal(ctx, r.person("ada"), overrides(r.g, about))
			},
			"ask for an approval": func() (learning.Proposed, error) {
				_, err := r.another().MayApprove(ctx, r.person("ada"), about)
				return learning.Proposed{}, err
			},
			"ask for an activation": func() (learning.Proposed, error) {
				_, err := r.another().MayApply(ctx, r.person("ada"), overrides(r.g, about))
				return learning.Proposed{}, err
			},
		}
		for name, call := range calls {
			_, err := call()
			if !fault.Is(err, fault.ProposalChanged) || !strings.Contains(err.Error(), "flow.yaml (project) "+what) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
	if d := r.details(p); len(d.Approvals) != 0 || d.State != proposal.StateDraft {
		t.Errorf("%+v", d)
	}
	about.Replaced = fileWith("old")
	if _, err := r.another().ApproveProposal(ctx, r.person("ada"), about, shown); err != nil {
		t.Fatal(err)
	}
	about.Replaced = fileWith("new")
	if _, err := r.another().ApplyProposal(ctx, r.person("ada"), learning.ApplyRequest{DecideRequest: about}); !fault.Is(err, fault.ProposalChanged) {
		t.Errorf("changed after the approval: %v", err)
	}
	about.Replaced = fileWith("old")
	if _, err := r.another().ApplyProposal(ctx, r.person("ada"), learning.ApplyRequest{DecideRequest: about}); err != nil {
		t.Fatal(err)
	}
	in, err := r.another().Installed(ctx, "")
	if err != nil || len(in.Installed) != 1 || len(in.Installed[0].ReplacedFiles) != 1 || in.Installed[0].ReplacedFiles[0] != replacedText("old") {
		t.Errorf("%+v, %v", in, err)
	}
}

// TestDifference: what a proposal changes is shown against the file, and against what is installed also after it took
// its slot. Secrets of the file are not shown.
func TestDifference(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	p := r.propose(inPlaceOf(asWorkflow(t, "test.flow", "one"), "old ghp_abcdefghijklmnopqrstuvwxyz0123456789"))
	differs := func(what string, p learning.Proposed, read learning.ReadReplaced, problem string, lines ...string) {
		t.Helper()
		d, err := learning.DifferenceOf(ctx, r.another().Learning, "", r.details(p), read)
		if err != nil || d.Known != (len(lines) > 0) || !strings.Contains(d.Problem, problem) || (d.Problem == "") != (problem == "") ||
			strings.Contains(d.Text, "ghp_") {
			t.Errorf("%s: %+v, %v", what, d, err)
		}
		for _, line := range lines {
			if !strings.Contains(d.Text, line) {
				t.Errorf("%s: no %q in\n%s", what, line, d.Text)
			}
		}
	}
	differs("a file", p, fileWith("old ghp_abcdefghijklmnopqrstuvwxyz0123456789"), "", "--- flow.yaml (project)\n+++ "+p.Proposal.ID.String(),
		"\n-      \"prompt\": \"old [REDACTED:github_token]\"", "\n+      \"prompt\": \"one\"")
	differs("a file that changed", p, fileWith("new"), "changed")
	first := r.propose(asWorkflow(t, "test.flow", "first"))
	differs("nothing", first, nil, "")
	r.installs(first)
	second := asWorkflow(t, "test.flow", "second")
	second.Draft.Replaces = proposal.Replaces{WorkflowID: "test.flow", SourceKind: "installed", Digest: first.About.ArtifactSHA256}
	q := r.propose(second)
	lines := []string{"--- what is installed", "-      \"prompt\": \"first\"", "+      \"prompt\": \"second\""}
	differs("what is installed", q, nil, "", lines...)
	other := r.propose(asWorkflow(t, "test.flow", "third"))
	differs("in its slot, not named", other, nil, "", "--- installed", "-      \"prompt\": \"first\"", "+      \"prompt\": \"third\"")
	r.installs(q)
	differs("what was installed", q, nil, "", lines...)
	again := r.propose(second)
	differs("what is not installed any more", again, nil, "another workflow is installed", lines...)
}

// TestMalformedIsNotApproved: what is not valid for its kind, or has an id of the bundled ones, is named when it is to be
// approved.
func TestMalformedIsNotApproved(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	about := aboutProposal(r.propose(asWorkflow(t, "test.flow", "one")), "ada", "r")
	about.Check = func(proposal.Kind, canon.Value, []learning.InstalledArtifact) []problem.Problem {
		return []problem.Problem{{Severity: problem.Error, Pointer: "/steps/0", Message: "it is wrong"}}
	}
	reserved := aboutProposal(r.propose(asWorkflow(t, "wr.flow", "one")), "ada", "r")
	nameless := aboutProposal(r.propose(learning.ProposeRequest{Draft: drafted(t, proposal.Automation, "{}", "")}), "ada", "r")
	for what, about := range map[string]learning.DecideRequest{"/steps/0: it is wrong": about, "start with wr. are reserved": reserved,
		"the name of the automation": nameless} {
		_, err := r.another().ApproveProposal(ctx, r.person("ada"), about, onScreen(r.g, about))
		if !fault.Is(err, fault.ProposalInvalid) || !strings.Contains(err.Error(), what) {
			t.Errorf("approve: %v, want %s", err, what)
		}
		if _, err := r.another().MayApprove(ctx, r.person("ada"), about); !fault.Is(err, fault.ProposalInvalid) {
			t.Errorf("ask: %v, want %s", err, what)
		}
		if _, err := r.another().ApplyProposal(ctx, r.person("ada"), overrides(r.g, about)); !fault.Is(err, fault.ProposalInvalid) {
			t.Errorf("apply: %v, want %s", err, what)
		}
	}
}

// TestMergedRevisions: a patch keeps the rest, what is replaced included, and is refused once another revision came
// between; programs with a key follow the same rules.
func TestMergedRevisions(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	p := r.propose(inPlaceOf(asWorkflow(t, "test.flow", "one"), "old"))
	name := p.Proposal.ID.String()
	patch := canon.OfMembers(canon.Member{Name: "title", Value: canon.OfString("New")})
	draft, revision, err := learning.MergedDraft(ctx, r.g.Learning, "", name, patch)
	if err != nil || revision != 1 {
		t.Fatal(revision, err)
	}
	wire, err := hosting.NewProposals(r.another().Learning, "").Revise(ctx, r.by(), name, patch)
	if err != nil || wire.Title != "New" {
		t.Fatalf("%+v, %v", wire, err)
	}
	if last := r.details(p).Last(); last.Replaces != replacedText("old") || last.Artifact.SHA256 != p.About.ArtifactSHA256 {
		t.Errorf("%+v", last)
	}
	if _, err := r.another().ReviseProposal(ctx, r.by(), name, learning.ProposeRequest{Draft: draft, Merged: revision}); !fault.Is(err,
		fault.ProposalChanged) {
		t.Errorf("merged with an earlier revision: %v", err)
	}
	if _, err := hosting.NewProposals(r.another().Learning, "").Revise(ctx, r.by(), name,
		canon.OfMembers(canon.Member{Name: "replaces", Value: canon.OfMembers()})); !fault.Is(err, fault.ValidationError) {
		t.Errorf("a key named what is replaced: %v", err)
	}
}
