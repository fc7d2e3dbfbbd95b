package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// TestErasingAProposedArtifact: the bytes are removed everywhere, what was installed of them is no
// longer in use, and the records stay readable.
func TestErasingAProposedArtifact(t *testing.T) {
	t.Parallel()
	r, ctx := newReview(t), context.Background()
	secret := func(says string) learning.ProposeRequest { return asWorkflow(t, "test.flow", says+" canary") }
	before := r.installs(r.propose(asWorkflow(t, "test.flow", "before")))
	applied, open := r.installs(r.propose(secret("one"))), r.propose(secret("two"))
	_, err := r.approve(open, "ada")
	must(t, err)
	for _, p := range []learning.Proposed{applied, open} {
		if _, err := r.erase(p.About.ArtifactSHA256, "it was a secret"); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range r.onDisk() {
		if strings.Contains(text, "canary") {
			t.Errorf("the bytes are in %s", name)
		}
	}
	r.finds("erased", true, slices.Sorted(slices.Values([]string{"artifact_erased " + artifactFile(applied),
		"artifact_erased " + artifactFile(open), "artifact_erased " + installedFile(applied)}))...)
	list, err := r.another().Installed(ctx, "")
	if err != nil || list.Health != manifest.Healthy || len(list.Installed) != 0 || len(list.Erased) != 1 ||
		list.Erased[0].ProposalID != applied.Proposal.ID {
		t.Errorf("%+v, %v", list, err)
	}
	all, err := r.another().Proposals(ctx, learning.ProposalQuery{})
	if err != nil || len(all.Proposals) != 3 ||
		!strings.Contains(all.About[open.Proposal.ID.String()].Unreadable, "erased by ann") {
		t.Errorf("%+v, %v", all, err)
	}
	if d := r.details(open); d.About.Unreadable == "" || d.Gate.Have != 1 || len(d.History) != 1 {
		t.Errorf("%+v", d)
	}
	f := r.refusedWith(fault.ArtifactErased, 1, "applied after it was erased", r.applyAs(open, r.person("ada"), asItIs))
	if f.Details["sha256"] != open.About.ArtifactSHA256.String() {
		t.Errorf("%v", f.Details)
	}
	r.refusedWith(fault.ArtifactErased, 1, "proposed again", func() (learning.Proposed, error) {
		return r.another().Propose(ctx, r.by(), r.seed(), secret("one"))
	})
	r.refusedWith(fault.ArtifactErased, 1, "a revision of it", func() (learning.Proposed, error) {
		return r.another().ReviseProposal(ctx, r.by(), open.Proposal.ID.String(), secret("one"))
	})
	// Both can continue: one by a revision, the other by a rollback.
	if p := r.revise(open, asWorkflow(t, "test.other", "two")); p.About.Unreadable != "" {
		t.Errorf("%+v", p.About)
	}
	if _, err := r.rollBack(applied); err != nil {
		t.Fatal(err)
	}
	if got := r.inUse(""); !slices.Equal(got, []string{"test.flow=" + before.Proposal.ID.String()}) {
		t.Errorf("%q", got)
	}
	if again, err := r.erase(applied.About.ArtifactSHA256, "once more"); err != nil || !again.Already {
		t.Errorf("%+v, %v", again, err)
	}
	// A copy that is put back by hand is not returned, and the next cleanup removes it.
	must(t, os.WriteFile(filepath.Join(r.dir, installedFile(applied)), applied.Proposal.Artifact.JCS(), 0o600))
	if _, err := r.another().Store.Object(ctx, manifest.Installed, applied.About.ArtifactSHA256); !fault.Is(err,
		fault.ArtifactErased) {
		t.Errorf("%v", err)
	}
	if done := r.gc(1, upkeep.GCRequest{Apply: true}); objectCount(done) != 1 || done.Objects[0].Reason != "erased" ||
		done.Objects[0].Kind != manifest.Installed {
		t.Errorf("%+v", done)
	}
}

// TestErasingTheInstalledCopyOnly: the artifact itself is gone already; its installed copy is
// erased.
func TestErasingTheInstalledCopyOnly(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	p := r.installs(r.propose(asWorkflow(t, "test.flow", "one")))
	r.removes(artifactFile(p))
	if e, err := r.erase(p.About.ArtifactSHA256, "a secret"); err != nil || e.Already ||
		e.Bytes != int64(len(p.Proposal.Artifact.JCS())) || len(r.files("installed")) > 0 {
		t.Errorf("%+v, %v, %q", e, err, r.files("installed"))
	}
}

// interceptedLogs calls meanwhile when the engine has read an artifact and not yet written.
type interceptedLogs struct {
	enginetest.Store
	meanwhile func()
}

func (s interceptedLogs) Append(ctx context.Context, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head,
	error) {
	if p.Log.Table == proposal.Table {
		s.meanwhile()
	}
	return s.Store.Append(ctx, w, at, p)
}

// TestErasedWhileItIsApplied: bytes that were read before the erasure are not written back.
func TestErasedWhileItIsApplied(t *testing.T) {
	t.Parallel()
	r := newReview(t)
	p := r.propose(asWorkflow(t, "test.flow", "one"))
	_, err := r.approve(p, "ada")
	must(t, err)
	g := r.another()
	g = enginetest.Over(interceptedLogs{g.Store, func() {
		if _, err := r.erase(p.About.ArtifactSHA256, "a secret"); err != nil {
			t.Error(err)
		}
	}})
	_, err = g.ApplyProposal(context.Background(), r.person("ada"),
		learning.ApplyRequest{DecideRequest: aboutProposal(p, "ada", "r")})
	if !fault.Is(err, fault.ArtifactErased) || len(r.files("installed")) > 0 ||
		r.details(p).State != proposal.StateDraft {
		t.Errorf("%v, %q, %s", err, r.files("installed"), r.details(p).State)
	}
}

// TestExploreCrashesOfErasing an installed artifact: it is in use as before, or it is erased and
// none of its bytes is returned; once the call has answered, none is left.
func TestExploreCrashesOfErasing(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	cases := proposalCases(t)
	base := cases[len(cases)-1].base // a proposal is applied in it
	_, d, err := mustOn(t, base).Proposal(ctx, "", id.NewProposal(id.Seed{2}).String())
	must(t, err)
	ref := d.About.ArtifactSHA256
	erase := func(f *crashfs.FS) error {
		g, err := everything(f)
		if err == nil {
			_, err = g.EraseArtifact(ctx, atTerminal("ada"), ref, "a secret")
		}
		return err
	}
	names := []string{"artifacts/" + ref.FileName(), "installed/" + ref.FileName() + ".json"}
	check := func(f *crashfs.FS, done bool) (why string) {
		list, err := mustOn(t, f).Installed(ctx, "")
		switch {
		case err != nil || list.Health != manifest.Healthy || len(list.Installed)+len(list.Erased) != 1:
			return fmt.Sprintf("%+v, %v", list, err)
		case done && len(list.Erased) != 1:
			return "it is not erased"
		}
		for _, name := range names {
			if _, there := f.Files()[name]; done && there {
				return name + " is left"
			}
		}
		return ""
	}
	count := crashfs.Explore(base, crashfs.ExploreOptions{Limit: sideLimit, Cases: sample.OneIn(t, 40)},
		func(f *crashfs.FS) { must(t, erase(f)) },
		func(s crashfs.State, done bool) bool {
			if why := check(s.FS, done); why != "" {
				t.Errorf("in the state %s: %s", s.Name, why)
			}
			return !t.Failed()
		})
	t.Logf("%d operations, %d crash states", count.Ops, count.States)
	count = crashfs.InjectFaults(base, sample.OneIn(t, 40), erase, func(flaw crashfs.Fault, op crashfs.Op, err error,
		left *crashfs.FS) bool {
		why := check(left, err == nil && flaw.Err != nil)
		if next := left.Reopen(); why == "" && op.N%4 == 0 && erase(next) == nil {
			why = check(next, true)
		}
		if why != "" {
			t.Errorf("%s %s: %v: %s", op, flaw, err, why)
		}
		return !t.Failed()
	})
	t.Logf("%d operations, %d faults", count.Ops, count.Faults)
}

func mustOn(t *testing.T, f *crashfs.FS) *enginetest.Engine {
	t.Helper()
	g, err := onAudited(f.Reopen(), 3)
	must(t, err)
	return g
}
