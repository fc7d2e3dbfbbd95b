package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/problem"
)

// TestRollbacks: a rollback restores what was installed before, and nothing that was rolled back.
func TestRollbacks(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	slot := func(p learning.Proposed) string { return "test.flow=" + p.Proposal.ID.String() }
	want := func(what string, wants ...string) {
		t.Helper()
		if got := r.inUse(""); !slices.Equal(got, wants) {
			t.Errorf("%s: in use %q, want %q", what, got, wants)
		}
	}
	back := func(p learning.Proposed) {
		t.Helper()
		if done, err := r.rollBack(p); err != nil || done.Proposal.State != proposal.StateArchived ||
			done.Proposal.Activation != nil {
			t.Fatalf("%+v, %v", done, err)
		}
	}
	a := r.installs(r.propose(asWorkflow(t, "test.flow", "first")))
	want("a", slot(a))
	b := r.installs(r.propose(asWorkflow(t, "test.flow", "second")))
	want("a, b", slot(b))
	back(b)
	want("b rolled back", slot(a))
	b = r.installs(r.revise(b, asWorkflow(t, "test.flow", "third")))
	want("b revised and applied again", slot(b))
	back(a) // while b is in its place
	want("a rolled back behind b", slot(b))
	back(b)
	want("both rolled back")
	// The very same bytes are restored as well.
	a = r.installs(r.revise(a, asWorkflow(t, "test.flow", "first")))
	want("a once more", slot(a))
	r.configure("principals", twoReviewers)
	r.refusedWith(fault.ProposalForbidden, 1, "rolled back without the role", func() (learning.Proposed, error) {
		return r.another().RollBackProposal(context.Background(), r.person("cyd"), aboutProposal(a, "cyd", "r"))
	})
	if v, err := r.g.Verify(context.Background()); err != nil || !v.OK || len(v.Findings) > 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestVersionsOfATemplateAreInstalledTogether, since a workflow may name one of them; a version
// replaces the same version only.
func TestVersionsOfATemplateAreInstalledTogether(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	template := func(version, says string) learning.ProposeRequest {
		return learning.ProposeRequest{Draft: drafted(t, proposal.PromptTemplate, templateOf(version, says), "")}
	}
	one, two := r.installs(r.propose(template("1.0.0", "one"))), r.installs(r.propose(template("2.0.0", "two")))
	again := r.propose(template("1.0.0", "one again"))
	var beside []string
	_, err := r.applyAs(again, r.person("ada"), func(a *learning.ApplyRequest) {
		a.Override = true
		a.Check = func(_ proposal.Kind, _ canon.Value, installed []learning.InstalledArtifact) []problem.Problem {
			for _, i := range installed {
				beside = append(beside, i.Version)
			}
			return nil
		}
	})()
	must(t, err)
	if !slices.Equal(beside, []string{"2.0.0"}) {
		t.Errorf("checked beside %q", beside)
	}
	if got := r.inUse(""); !slices.Equal(got,
		[]string{"notes=" + again.Proposal.ID.String(), "notes=" + two.Proposal.ID.String()}) {
		t.Errorf("%q", got)
	}
	if _, err := r.rollBack(again); err != nil {
		t.Fatal(err)
	}
	if got := r.inUse(""); !slices.Equal(got,
		[]string{"notes=" + one.Proposal.ID.String(), "notes=" + two.Proposal.ID.String()}) {
		t.Errorf("%q", got)
	}
}

// TestNothingIsInUseBeforeItIsApplied, nor after its rollback (docs/design.md#proposals).
func TestNothingIsInUseBeforeItIsApplied(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	nothing := func(what string) {
		t.Helper()
		if got := r.inUse(""); len(got) > 0 {
			t.Errorf("%s: in use %q", what, got)
		}
	}
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	nothing("draft")
	// A file in the directory has no effect without a record.
	forged := filepath.Join(r.dir, "installed")
	must(t, os.MkdirAll(forged, 0o700))
	must(t, os.WriteFile(filepath.Join(forged, p.About.ArtifactSHA256.FileName()+".json"), p.Proposal.Artifact.JCS(),
		0o600))
	nothing("a forged file")
	p = r.revise(p, asWorkflow(t, "test.flow", "two"))
	nothing("revised")
	_, err := r.approve(p, "ada")
	must(t, err)
	nothing("approved")
	_, err = r.g.RejectProposal(ctx, r.person("ada"), aboutProposal(p, "ada", "no"))
	must(t, err)
	nothing("rejected")
	_, err = r.g.ArchiveProposal(ctx, r.person("ada"), aboutProposal(p, "ada", "no"))
	must(t, err)
	nothing("archived")
	p = r.installs(r.revise(p, asWorkflow(t, "test.flow", "three")))
	if got := r.inUse(""); len(got) != 1 {
		t.Errorf("%q", got)
	}
	_, err = r.rollBack(p)
	must(t, err)
	nothing("rolled back")
}

// TestAChangedInstallationIsNotUsed: files in installed/ are checked by their digest; in place of a
// changed one the proposed bytes are used, or nothing.
func TestAChangedInstallationIsNotUsed(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	p := r.installs(r.propose(asWorkflow(t, "test.flow", "one")))
	name := filepath.Join(r.dir, "installed", p.About.ArtifactSHA256.FileName()+".json")
	must(t, os.WriteFile(name, []byte(workflowNamed("test.flow", "evil")), 0o600))
	if got := r.inUse(""); len(got) != 1 {
		t.Errorf("changed: %q", got) // and inUse compares the bytes
	}
	must(t, os.Remove(name))
	if got := r.inUse(""); len(got) != 1 {
		t.Errorf("gone: %q", got)
	}
	must(t, os.WriteFile(name, []byte(workflowNamed("test.flow", "evil")), 0o600))
	must(t, os.WriteFile(filepath.Join(r.dir, "artifacts", p.About.ArtifactSHA256.FileName()),
		[]byte(workflowNamed("test.flow", "evil")), 0o600))
	list, err := r.another().Installed(ctx, "")
	if err != nil || len(list.Installed) != 0 || list.Health == manifest.Healthy {
		t.Errorf("both changed: %+v, %v", list, err)
	}
}

// TestADamagedLogInstallsNothing: the lost part may hold the rollback.
func TestADamagedLogInstallsNothing(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(r *review) error{
		"damaged": func(r *review) error {
			// after the record of what is in use
			name := filepath.Join(r.dir, "proposals", "events", r.files("proposals/events")[5])
			b, err := os.ReadFile(name)
			if err == nil {
				b[len(b)/2] ^= 1
				err = os.WriteFile(name, b, 0o600)
			}
			return err
		},
		"cut off inside": func(r *review) error {
			return os.Remove(filepath.Join(r.dir, "proposals", "events", r.files("proposals/events")[4]))
		},
		"of a newer version": func(r *review) error {
			return r.append(laterProposals, r.person("ada"),
				func(int64) event.Payload { return laterProposal{id.NewProposal(id.Seed{1})} })
		},
	} {
		r := newReview(t)
		p := r.installs(r.propose(asWorkflow(t, "test.flow", "one")))
		r.installs(r.propose(asWorkflow(t, "test.two", "two")))
		must(t, harm(r))
		list, err := r.another().Installed(context.Background(), "")
		if err != nil || len(list.Installed) != 0 || list.Health == manifest.Healthy {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
		// Nothing is appended to it.
		before := r.onDisk()
		if _, err := r.rollBack(p); err == nil {
			t.Errorf("%s: it was written to", name)
		}
		r.same(before, name)
	}
}
