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
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/ports/porttest/crashfs"
	"github.com/waybill/waybill/ports/porttest/enginetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// proposalState is the state of the proposals on a disk: it is compared before and after a call.
type proposalState struct {
	proposals string // each with its state, revisions and approvals, the oldest first
	inUse     string
	acts      string // lines of the audit log, those that are not written yet among them
	wrong     string
}

// proposalStateOf reads a disk as the next process does.
func proposalStateOf(f *crashfs.FS) (out proposalState) {
	ctx := context.Background()
	fail := func(format string, args ...any) { out.wrong += fmt.Sprintf(format, args...) + "; " }
	g, err := onAudited(f.Reopen(), 3)
	if err != nil {
		fail("the store does not open: %v", err)
		return out
	}
	list, err := g.Proposals(ctx, learning.ProposalQuery{})
	if err != nil || list.Health != manifest.Healthy {
		fail("%+v, %v", list, err)
	}
	for _, found := range list.Findings {
		if found.Severity == manifest.SeverityError {
			fail("%s: %s", found.Code, found.Message)
		}
	}
	for _, p := range list.Proposals {
		_, d, err := g.Proposal(ctx, "", p.ID.String())
		if err != nil || d.About.Unreadable != "" {
			fail("%s: %v, %s", p.ID, err, d.About.Unreadable)
			continue
		}
		out.proposals = fmt.Sprintf("%s %d %d, ", p.State, len(d.Revisions), len(d.Approvals)) + out.proposals
	}
	installed, err := g.Installed(ctx, "")
	if err != nil || installed.Health != manifest.Healthy {
		fail("%+v, %v", installed, err)
	}
	for _, i := range installed.Installed {
		// With the record its own copy has to exist, not only the artifact that replaces a lost
		// copy.
		data, err := g.Store.Object(ctx, manifest.Installed, i.Artifact.SHA256)
		if err != nil || canon.Sum(data) != i.Artifact.SHA256 {
			fail("%s: %v", i.Ref, err)
		}
		out.inUse += fmt.Sprintf("%s %.12s instead of %d files, ", i.Slot.ID, i.Artifact.SHA256, len(i.ReplacedFiles))
	}
	auditLines, err := g.AuditList(ctx, verify.AuditQuery{})
	if err != nil || !auditLines.Complete {
		fail("the audit log: %v, %+v", err, auditLines)
	}
	recorded := map[id.Event]bool{}
	for _, e := range auditLines.Entries {
		if e.Target.Kind != audit.OfProposal || e.Source == nil {
			continue
		}
		if recorded[e.Source.EventID] {
			fail("two lines of %s", e.Source.EventID)
		}
		recorded[e.Source.EventID] = true
		out.acts = withAct(out.acts, string(e.Action))
	}
	v, err := g.AuditVerify(ctx)
	if err != nil {
		fail("%v", err)
	}
	for _, found := range v.Findings {
		if found.Severity == manifest.SeverityError {
			fail("%s: %s", found.Code, found.Message)
		}
	}
	return out
}

// withAct is a list of acts with one more, sorted by words, since the clock of the tests does not
// advance.
func withAct(acts, act string) string {
	all := append(strings.Fields(acts), act)
	slices.Sort(all)
	return strings.Join(all, " ")
}

// proposalCase is a call to explore; learned shows its effect.
type proposalCase struct {
	name string
	base *crashfs.FS
	call func(*enginetest.Engine) error
}

func (c proposalCase) on(f *crashfs.FS, seed byte) error {
	g, err := onAudited(f, seed)
	if err == nil {
		err = c.call(g)
	}
	return err
}

func atTerminal(who string) engine.Caller {
	return engine.Caller{Actor: event.Actor{Kind: event.Human, Ref: who}, AtMs: 5}
}

// proposes is the call that proposes a workflow, in place of the file with a text if one is given.
func proposes(t testing.TB, seed byte, name, says string, replaces ...string) func(*enginetest.Engine) error {
	req := asWorkflow(t, name, says)
	for _, text := range replaces {
		req = inPlaceOf(req, text)
	}
	return func(g *enginetest.Engine) error {
		_, err := g.Propose(context.Background(), caller(4), id.Seed{seed}, req)
		return err
	}
}

// proposalCases are the calls, each on a disk that they may begin on. The proposal that is applied
// and rolled back replaces another one, so that the rollback restores something.
func proposalCases(t testing.TB) (out []proposalCase) {
	ctx, name := context.Background(), id.NewProposal(id.Seed{2}).String()
	about := learning.DecideRequest{Ref: name, Reason: "r", Presence: here("ada"), Replaced: fileWith("old")}
	approve := func(who string) func(*enginetest.Engine) error {
		return func(g *enginetest.Engine) error {
			_, d, err := g.Proposal(ctx, "", name)
			if err == nil {
				_, err = g.ApproveProposal(ctx, atTerminal(who), about, d.Shown())
			}
			return err
		}
	}
	override := func(ref string) func(*enginetest.Engine) error {
		return func(g *enginetest.Engine) error {
			a := about
			a.Ref = ref
			_, err := g.ApplyProposal(ctx, atTerminal("ada"), overrides(g, a))
			return err
		}
	}
	apply := func(g *enginetest.Engine) error {
		_, err := g.ApplyProposal(ctx, atTerminal("ada"), learning.ApplyRequest{DecideRequest: about})
		return err
	}
	propose, revised := proposes(t, 2, "test.flow", "one", "old"), asWorkflow(t, "test.flow", "two")
	disk := func(calls ...func(*enginetest.Engine) error) *crashfs.FS {
		f := crashfs.New()
		for i, call := range calls {
			g, err := onAudited(f, byte(100+i))
			if err == nil {
				err = call(g)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		return f.Reopen()
	}
	before := []func(*enginetest.Engine) error{proposes(t, 1, "test.flow", "zero"), override(id.NewProposal(id.Seed{1}).
		String()), propose}
	return []proposalCase{
		{"propose in a store that does not exist", crashfs.New(), propose},
		{"propose", disk(proposes(t, 1, "test.flow", "zero")), propose},
		{"revise", disk(propose, approve("ben")), func(g *enginetest.Engine) error {
			req := revised
			req.Presence = here("ada")
			_, err := g.ReviseProposal(ctx, atTerminal("ada"), name, req)
			return err
		}},
		{"approve", disk(propose), approve("ada")},
		{"apply", disk(append(before, approve("ben"))...), apply},
		{"roll back", disk(append(before, approve("ben"), apply)...), func(g *enginetest.Engine) error {
			_, err := g.RollBackProposal(ctx, atTerminal("ada"), about)
			return err
		}},
	}
}

// wants is the state of the disk before a call and after it.
func (c proposalCase) wants(t testing.TB) (before, after proposalState) {
	t.Helper()
	done := c.base.Reopen()
	if err := c.on(done, 2); err != nil {
		t.Fatal(err)
	}
	before, after = proposalStateOf(c.base), proposalStateOf(done)
	if before == after || before.wrong+after.wrong != "" {
		t.Fatalf("%s: %+v, %+v", c.name, before, after)
	}
	return before, after
}

// continues makes one more proposal: it is recorded beside the others, and afterwards no line of the
// audit log is missing.
func (c proposalCase) continues(t testing.TB, f *crashfs.FS, at proposalState) (why string) {
	next := f.Reopen()
	g, err := onAudited(next, 9)
	if err == nil {
		err = proposes(t, 9, "test.next", "next")(g)
	}
	now := proposalStateOf(next)
	if err != nil || now.wrong != "" || now.proposals != at.proposals+"draft 1 0, " || now.inUse != at.inUse ||
		now.acts != withAct(at.acts, "propose") {
		return fmt.Sprintf("and the next call, %v: %+v", err, now)
	}
	if g, err = onAudited(next.Reopen(), 10); err != nil {
		return err.Error()
	}
	auditLines, err := g.AuditList(context.Background(), verify.AuditQuery{})
	for _, e := range auditLines.Entries {
		if err != nil || e.Unwritten {
			return fmt.Sprintf("a line was not completed: %v, %+v", err, e)
		}
	}
	return ""
}

// explore tries the states that a power cut leaves of a call, until one is wrong.
func (c proposalCase) explore(t testing.TB, how crashfs.ExploreOptions, before,
	after proposalState) (count crashfs.Count, why string) {
	count = crashfs.Explore(c.base, how, func(f *crashfs.FS) {
		if err := c.on(f, 2); err != nil && c.base.Mutation == nil {
			t.Error(err)
		}
	}, func(s crashfs.State, done bool) bool {
		at := proposalStateOf(s.FS)
		ok := at == after || !done && at == before
		if ok && count.States%8 == 0 {
			why = c.continues(t, s.FS, at)
		}
		count.States++
		if !ok {
			why = fmt.Sprintf("%+v", at)
		}
		if why != "" {
			why = "in the state " + s.Name + ": " + why
		}
		return why == ""
	})
	return count, why
}

// TestExploreCrashesOfProposals: in every state that a power cut leaves of the disk, what was
// acknowledged is recorded, and anything else is recorded completely or not at all: the record, the
// bytes that it brought, and its line in the audit log.
func TestExploreCrashesOfProposals(t *testing.T) {
	t.Parallel()
	for _, c := range proposalCases(t) {
		t.Run(c.name, func(t *testing.T) {
			before, after := c.wants(t)
			look := crashfs.ExploreOptions{Limit: sideLimit, Cases: sample.OneIn(t, 80)}
			count, why := c.explore(t, look, before, after)
			if why != "" {
				t.Error(why)
			}
			t.Logf("%d operations, %d crash states", count.Ops, count.States)
		})
	}
}

// TestFaultsOfProposals: one operation at a time fails, tears or is the last one. An answered call
// is done, and a call that returned an error can be sent again.
func TestFaultsOfProposals(t *testing.T) {
	t.Parallel()
	for _, c := range proposalCases(t) {
		t.Run(c.name, func(t *testing.T) {
			before, after := c.wants(t)
			count := crashfs.InjectFaults(c.base, sample.OneIn(t, 40), func(f *crashfs.FS) error { return c.on(f, 2) },
				func(flaw crashfs.Fault, op crashfs.Op, err error, left *crashfs.FS) bool {
					at, killed := proposalStateOf(left), flaw.Err == nil
					reported := fault.Is(err, fault.StoreOutcomeUnknown) || fault.Is(err, fault.StoreAnswerUnread)
					ok := at == after && (err == nil || killed || reported) || at == before && (err != nil || killed)
					why := ""
					if ok && op.N%4 == 0 { // each costs three calls more
						why = c.continues(t, left, at)
					}
					if !ok || why != "" {
						t.Errorf("%s %s: %v: %+v %s", op, flaw, err, at, why)
					}
					return !t.Failed()
				})
			t.Logf("%d operations, %d faults", count.Ops, count.Faults)
		})
	}
}
