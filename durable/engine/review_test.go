package engine_test

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/ports/porttest/enginetest"
)

// review is a store whose proposals are reviewed.
type review struct {
	*fixture
	made int
}

func newReview(t *testing.T) *review {
	r := &review{fixture: newFixture(t)}
	r.g = r.another()
	return r
}

// another is another process with all ports.
func (r *review) another() *enginetest.Engine {
	r.Helper()
	s, err := openUnsynced(r, r.dir, filestore.Options{LockWait: time.Minute})
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { _ = s.Close() })
	return over(s)
}

func (r *review) configure(pairs ...string) {
	r.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if err := r.g.Set(context.Background(), pairs[i], pairs[i+1]); err != nil {
			r.Fatal(err)
		}
	}
}

// workflowNamed is a workflow with an id and a text.
func workflowNamed(name, says string) string {
	return fmt.Sprintf(`{"id":%q,"name":"N","description":"d","version":"1.0.0","steps":[{"id":"s","title":"S","prompt":%q}]}`, name, says)
}

func templateOf(version, says string) string {
	return fmt.Sprintf(`{"templateId":"notes","version":%q,"kind":"user","text":%q}`, version, says)
}

func drafted(t testing.TB, kind proposal.Kind, artifact, more string) proposal.Draft {
	t.Helper()
	d, err := proposal.ParseFile([]byte(fmt.Sprintf(`{"kind":%q,"artifact":%s%s}`, kind, artifact, more)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func asWorkflow(t testing.TB, name, says string) learning.ProposeRequest {
	t.Helper()
	return learning.ProposeRequest{Draft: drafted(t, proposal.WorkflowChainPack, workflowNamed(name, says), "")}
}

func (r *review) seed() id.Seed { r.made++; return id.Seed{byte(r.made), byte(r.made >> 8), 0xb} }

func (r *review) propose(req learning.ProposeRequest) learning.Proposed {
	r.Helper()
	out, err := r.another().Propose(context.Background(), r.by(), r.seed(), req)
	if err != nil {
		r.Fatal(err)
	}
	return out
}

func (r *review) revise(p learning.Proposed, req learning.ProposeRequest) learning.Proposed {
	r.Helper()
	req.Presence = here("ada")
	out, err := r.another().ReviseProposal(context.Background(), r.person("ada"), p.Proposal.ID.String(), req)
	if err != nil {
		r.Fatal(err)
	}
	return out
}

// accounts are the numeric ids of the accounts of people in tests.
var accounts = map[string]int{"ada": 1, "ben": 2, "cyd": 3, "dan": 4}

// here is a person at a terminal, whose process runs as the account of a name. A name that has none
// runs as an account that no principal is bound to.
func here(who string) learning.Presence {
	uid, ok := accounts[who]
	if !ok {
		uid = 99
	}
	return learning.Presence{AtTerminal: true, Account: config.AccountOf(uid)}
}

// aboutProposal is a decision of a person at a terminal.
func aboutProposal(p learning.Proposed, who, reason string) learning.DecideRequest {
	return learning.DecideRequest{Presence: here(who), Ref: p.Proposal.ID.String(),
		Workspace: p.Proposal.Owner.Workspace, Reason: reason}
}

// onScreen is what a person sees of a proposal now; nothing of an unknown one.
func onScreen(g *enginetest.Engine, req learning.DecideRequest) learning.Shown {
	_, d, err := g.Proposal(context.Background(), req.Workspace, req.Ref)
	if err != nil {
		return learning.Shown{}
	}
	return d.Shown()
}

// overrides is the request of a person who saw the proposal and confirmed that it is applied without
// approvals.
func overrides(g *enginetest.Engine, req learning.DecideRequest) learning.ApplyRequest {
	return learning.ApplyRequest{DecideRequest: req, Override: true, Shown: onScreen(g, req)}
}

func (r *review) approve(p learning.Proposed, who string) (learning.Proposed, error) {
	r.Helper()
	req := aboutProposal(p, who, "it is sound")
	return r.another().ApproveProposal(context.Background(), r.person(who), req, onScreen(r.g, req))
}

func (r *review) apply(p learning.Proposed, who string) (learning.Proposed, error) {
	req := aboutProposal(p, who, "we need it")
	return r.another().ApplyProposal(context.Background(), r.person(who),
		learning.ApplyRequest{DecideRequest: req, Shown: onScreen(r.g, req)})
}

// installs approves and applies.
func (r *review) installs(p learning.Proposed) learning.Proposed {
	r.Helper()
	_, err := r.approve(p, "ada")
	if err == nil {
		p, err = r.apply(p, "ada")
	}
	if err != nil {
		r.Fatal(err)
	}
	return p
}

func (r *review) rollBack(p learning.Proposed) (learning.Proposed, error) {
	return r.another().RollBackProposal(context.Background(), r.person("ada"), aboutProposal(p, "ada", "it was no good"))
}

func (r *review) details(p learning.Proposed) learning.ProposalDetails {
	r.Helper()
	_, d, err := r.another().Proposal(context.Background(), p.Proposal.Owner.Workspace, p.Proposal.ID.String())
	if err != nil {
		r.Fatal(err)
	}
	return d
}

// inUse is what is installed in a workspace, each with its bytes.
func (r *review) inUse(workspace string) (out []string) {
	r.Helper()
	list, err := r.another().Installed(context.Background(), workspace)
	if err != nil || list.Health != "healthy" {
		r.Fatal(list, err)
	}
	for _, i := range list.Installed {
		if canon.Sum(i.Value.JCS()) != i.Artifact.SHA256 {
			r.Errorf("%s holds other bytes than its record names", i.Ref)
		}
		out = append(out, i.Slot.ID+"="+i.ProposalID.String())
	}
	return out
}

// onDisk is every file with records: locks, notes and caches are none.
func (r *review) onDisk() map[string]string {
	r.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(r.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") || strings.Contains(path, "/cache/") {
			return err
		}
		b, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, r.dir+"/")] = string(b)
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return out
}

func (r *review) same(before map[string]string, what string) {
	r.Helper()
	if after := r.onDisk(); !maps.Equal(before, after) {
		for name := range after {
			if before[name] != after[name] {
				r.Errorf("%s changed %s", what, name)
			}
		}
		r.Errorf("%s: something changed", what)
	}
}

func (r *review) acts() []string {
	r.Helper()
	list, err := r.another().AuditList(context.Background(), verify.AuditQuery{})
	if err != nil || !list.Complete {
		r.Fatal(err, list)
	}
	var out []string
	for _, e := range list.Entries {
		if e.Target.Kind == audit.OfProposal && !e.Unwritten {
			out = append(out, fmt.Sprintf("%s by %s: %s", e.Action, e.Actor.Ref, e.Reason))
		}
	}
	return out
}

// moves are the calls that act on a proposal, each by sam, with the reason "because".
func (r *review) moves() map[string]func(learning.Proposed) (learning.Proposed, error) {
	ctx := context.Background()
	sam := r.person("sam")
	return map[string]func(learning.Proposed) (learning.Proposed, error){
		"revise": func(p learning.Proposed) (learning.Proposed, error) {
			req := asWorkflow(r, "test.flow", "another text")
			req.Reason, req.Presence = "because", here("sam")
			return r.another().ReviseProposal(ctx, sam, p.Proposal.ID.String(), req)
		},
		"approve": func(p learning.Proposed) (learning.Proposed, error) {
			return r.another().ApproveProposal(ctx, sam, aboutProposal(p, "sam", "because"),
				onScreen(r.g, aboutProposal(p, "sam", "because")))
		},
		"apply": func(p learning.Proposed) (learning.Proposed, error) {
			return r.another().ApplyProposal(ctx, sam, overrides(r.g, aboutProposal(p, "sam", "because")))
		},
		"reject": func(p learning.Proposed) (learning.Proposed, error) {
			return r.another().RejectProposal(ctx, sam, aboutProposal(p, "sam", "because"))
		},
		"archive": func(p learning.Proposed) (learning.Proposed, error) {
			return r.another().ArchiveProposal(ctx, sam, aboutProposal(p, "sam", "because"))
		},
		"rollback": func(p learning.Proposed) (learning.Proposed, error) {
			return r.another().RollBackProposal(ctx, sam, aboutProposal(p, "sam", "because"))
		},
	}
}
