package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
)

// findings are those of a verification, "code path" each, and whether the store is valid.
func (r *review) findings(o verify.VerifyOptions) (out []string, ok bool) {
	r.Helper()
	v, err := r.another().VerifyWith(context.Background(), o)
	if err != nil {
		r.Fatal(err)
	}
	for _, f := range v.Findings {
		out = append(out, string(f.Code)+" "+f.Path)
	}
	for _, s := range v.Sessions {
		for _, f := range s.Findings {
			out = append(out, string(f.Code)+" "+f.Path)
		}
	}
	slices.Sort(out)
	return slices.Compact(out), v.OK
}

func (r *review) finds(what string, ok bool, want ...string) {
	r.Helper()
	if got, sound := r.findings(verify.VerifyOptions{}); !slices.Equal(got, want) || ok != sound {
		r.Errorf("%s: ok %v, %q, want %q", what, sound, got, want)
	}
}

func artifactFile(p learning.Proposed) string {
	return "artifacts/" + p.About.ArtifactSHA256.FileName()
}

func installedFile(p learning.Proposed) string {
	return "installed/" + p.About.ArtifactSHA256.FileName() + ".json"
}

func (r *review) removes(name string) {
	r.Helper()
	must(r.T, os.Remove(filepath.Join(r.dir, name)))
}

// everyKindOfProposal is a store in which every act on a proposal was made.
func everyKindOfProposal(t *testing.T) (r *review, applied, old, first learning.Proposed) {
	r = newReview(t)
	req := asWorkflow(t, "test.flow", "one")
	req.FromRuns = []string{r.start(twoSteps).Session.RunID.String()}
	old = r.installs(r.propose(req))
	applied = r.installs(r.propose(asWorkflow(t, "test.flow", "two")))
	first = r.propose(asWorkflow(t, "test.open", "three"))
	r.revise(first, asWorkflow(t, "test.open", "four"))
	back := r.installs(r.propose(asWorkflow(t, "test.back", "five")))
	if _, err := r.rollBack(back); err != nil {
		t.Fatal(err)
	}
	return r, applied, old, first
}

// TestVerifyKnowsTheNeedsOfProposals: a valid store has no finding, and each missing object that a
// record names is one.
func TestVerifyKnowsTheNeedsOfProposals(t *testing.T) {
	t.Parallel()
	r, applied, old, first := everyKindOfProposal(t)
	r.finds("a sound store", true)
	if got, ok := r.findings(verify.VerifyOptions{Digests: true}); len(got) > 0 || !ok {
		t.Errorf("by digests: %v %q", ok, got)
	}
	if v, err := r.another().Verify(context.Background()); err != nil || len(v.Sessions) != 1 {
		t.Errorf("%+v, %v", v, err)
	}
	r.removes(artifactFile(first)) // of a revision that was replaced
	r.finds("a former revision", false, "object_missing "+artifactFile(first))
	r.removes(installedFile(old)) // is restored when the newer one is rolled back
	r.removes(installedFile(applied))
	want := []string{"object_missing " + artifactFile(first), "object_missing " + installedFile(applied),
		"object_missing " + installedFile(old)}
	slices.Sort(want)
	r.finds("installations", false, want...)
	must(t, os.WriteFile(filepath.Join(r.dir, installedFile(old)), []byte("{}"), 0o600))
	if got, ok := r.findings(verify.VerifyOptions{Digests: true}); ok ||
		!slices.Equal(got, []string{"object_damaged " + installedFile(old)}) {
		t.Errorf("by digests: %v %q", ok, got)
	}
	if v, err := r.another().Verify(context.Background()); err != nil ||
		!slices.ContainsFunc(v.Findings, func(f manifest.Finding) bool {
			return f.Path == artifactFile(first) && f.Event != nil
		}) {
		t.Errorf("no event is named: %+v, %v", v.Findings, err)
	}
}

// TestVerifyComparesRecordsWithTheBytes: what a record states of an artifact must be so.
func TestVerifyComparesRecordsWithTheBytes(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	must(t, r.append(proposal.Table, r.person("ada"), func(next int64) event.Payload {
		d := drafted(t, proposal.WorkflowChainPack, workflowNamed("test.flow", "one"), "")
		d.Artifact.ByteLength++
		return proposal.Revise(proposal.At{Proposal: p.Proposal.ID, Ordinal: next}, 2, d, nil)
	}))
	r.finds("another length", false, "audit_incomplete proposals", "broken_reference proposals")
}

// TestVerifyOfANewerLog warns, and reports no object of it as unreferenced.
func TestVerifyOfANewerLog(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	r.installs(r.propose(asWorkflow(t, "test.flow", "one")))
	must(t, r.append(laterProposals, r.person("ada"),
		func(int64) event.Payload { return laterProposal{id.NewProposal(id.Seed{1})} }))
	must(t, os.WriteFile(filepath.Join(r.dir, "artifacts", canon.Sum([]byte("{}")).FileName()), []byte("{}"), 0o600))
	r.finds("a newer log", true, "audit_incomplete proposals", "unknown_version proposals")
}

// TestUnreferencedCopiesOfProposals: a copy that no record names is reported and removed; a
// leftover of an incomplete activation is not reported.
func TestUnreferencedCopiesOfProposals(t *testing.T) {
	t.Parallel()
	r, _, _, first := everyKindOfProposal(t)
	must(t, os.WriteFile(filepath.Join(r.dir, installedFile(first)), first.Proposal.Artifact.JCS(), 0o600))
	r.finds("a copy of what is proposed", true)
	// Records name the digest of {}: that of a policy without settings.
	stray := "installed/" + canon.Sum([]byte("[]")).FileName() + ".json"
	must(t, os.WriteFile(filepath.Join(r.dir, stray), []byte("[]"), 0o600))
	r.finds("a stray", true, "orphan_object "+stray)
	u, err := r.another().DU(context.Background())
	must(t, err)
	for _, o := range u.Objects {
		if o.Kind == manifest.Installed && (o.Count != 5 || o.Unused.Count != 1 || o.Unused.Bytes != 2) ||
			o.Kind == manifest.Artifact && (o.Count != 5 || o.Unused.Count != 0) {
			t.Errorf("%+v", o)
		}
	}
	for _, s := range u.Sessions {
		if s.Own.Count != 2 { // the snapshot and the workflow of the run
			t.Errorf("%+v", s)
		}
	}
	before := r.onDisk()
	done := r.gc(1, upkeep.GCRequest{Apply: true})
	if len(done.Objects) != 1 || done.Objects[0].Kind != manifest.Installed || objectCount(done) != 1 || done.SafeMode {
		t.Errorf("%+v", done)
	}
	after := r.onDisk()
	for name := range before {
		if _, there := after[name]; !there && name != stray {
			t.Errorf("%s is gone", name)
		}
	}
	r.finds("after the cleanup", true)
}

// TestMissingSourcesOfAProposal: a session may be deleted, and the proposals learned from it stay
// as they are.
func TestMissingSourcesOfAProposal(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	a, b := r.start(twoSteps), r.start(twoSteps)
	req := asWorkflow(t, "test.flow", "one")
	req.FromRuns = []string{a.Session.RunID.String(), b.Session.RunID.String()}
	r.propose(req)
	r.finds("both are here", true)
	r.g = r.another()
	r.delete(a.Session.RunID.String())
	got, ok := r.findings(verify.VerifyOptions{})
	if !ok || !slices.Contains(got, "source_run_missing proposals") {
		t.Errorf("%v %q", ok, got)
	}
}
