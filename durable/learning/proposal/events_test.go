package proposal_test

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/advance"
)

var (
	store  = id.NewStore(id.Seed{1})
	run    = id.NewRun(id.Seed{2})
	about  = id.NewProposal(id.Seed{3})
	ada    = event.Actor{Kind: event.Human, Ref: "ada"}
	digest = canon.Sum([]byte("{}"))
	slot   = proposal.Slot{Kind: proposal.WorkflowChainPack, ID: "test.flow"}
	owner  = proposal.Owner{Tenant: "local", Workspace: "shop", Principal: "ada"}
	draft  = proposal.Draft{Kind: proposal.WorkflowChainPack, Title: "Shorter", Rationale: "It took too long.",
		SourceRunIDs:     []id.Run{run},
		SynthesizerModel: "m1", Artifact: proposal.Artifact{ByteLength: 2, SHA256: digest}, Slot: slot,
		Version: "1.0.0"}
	consent  = proposal.Consent{Seen: digest, Principal: "ada", Role: "reviewer"}
	likeness = proposal.Duplicate{Percent: 80, Ref: "workflow-chain-pack:test.other"}
)

func at(ordinal int64) proposal.At { return proposal.At{Proposal: about, Ordinal: ordinal} }

func activation(change func(*proposal.Activation)) proposal.Activation {
	a := proposal.Activation{Mode: proposal.ApprovalGate, Approvals: []id.Event{id.EventOf("a", "b")}, Principal: "ada",
		SHA256: digest, Slot: slot, Version: "1.0.0"}
	if change != nil {
		change(&a)
	}
	return a
}

// samples returns payloads of every kind, with and without optional members.
func samples() []event.Payload {
	why := proposal.At{Proposal: about, Ordinal: 7, Reason: "because"}
	bare := proposal.Draft{Kind: proposal.Automation, Artifact: draft.Artifact,
		Slot: proposal.Slot{Kind: proposal.Automation}}
	return []event.Payload{
		proposal.Create(at(0), draft, owner, []proposal.Duplicate{likeness}),
		proposal.Create(why, bare, proposal.Owner{Tenant: "t"}, nil),
		proposal.Revise(at(1), 2, draft, nil),
		proposal.Revise(why, 3, bare, []proposal.Duplicate{likeness}),
		proposal.Create(at(0), with(draft, func(d *proposal.Draft) { d.Replaces = replacedFile("old") }), owner, nil),
		proposal.Revise(at(1), 2, with(draft, func(d *proposal.Draft) {
			d.Replaces = proposal.Replaces{WorkflowID: "test.flow", SourceKind: "installed", Digest: digest}
		}), nil),
		proposal.Approve(store, at(2), consent),
		proposal.Approve(store, at(2), with(consent, func(c *proposal.Consent) { c.Replaces = replacedFile("old") })),
		proposal.Apply(at(3), activation(func(a *proposal.Activation) { a.Replaces = replacedFile("old") })),
		proposal.Approve(store, at(2), with(consent, func(c *proposal.Consent) {
			c.Terms = proposal.Terms{Account: "uid:0", PolicyDigest: digest, Quorum: 2}
		})),
		proposal.Apply(at(3), activation(nil)),
		proposal.Apply(why, activation(func(a *proposal.Activation) { a.Override, a.Approvals = true, nil })),
		proposal.Apply(at(3), activation(func(a *proposal.Activation) {
			a.Mode, a.Approvals,
				a.Version, a.PolicyDigest = proposal.DirectRBAC, nil, "", digest
		})),
		proposal.Reject(why),
		proposal.Archive(at(5)),
		proposal.RollBack(at(6), slot, digest),
		proposal.RollBack(why, slot, canon.Digest{}),
	}
}

func TestLinesRoundTrip(t *testing.T) {
	log, kinds := manifest.StoreLog(store, proposal.Table), map[string]bool{}
	for i, p := range samples() {
		e := event.New(store.String(), int64(i), event.Scope{}, ada, 5, p)
		seg, err := manifest.EncodeSegment(log, []event.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		back, err := manifest.DecodeSegment(log, int64(i), int64(i), seg.Bytes)
		if err != nil || back.Events[0].Foreign() || !reflect.DeepEqual(back.Events[0].Data, p) {
			t.Errorf("%s: %v\n%+v\n%+v", seg.Bytes, err, back.Events[0].Data, p)
		}
		again, err := proposal.Table.AppendLine(nil, back.Events[0])
		if err != nil || !bytes.Equal(again, seg.Bytes) {
			t.Errorf("%s\n%s: %v", again, seg.Bytes, err)
		}
		if _, ok := p.(proposal.Record); !ok {
			t.Errorf("%s does not implement Record", p.Kind())
		}
		kinds[p.Kind()] = true
	}
	for _, k := range proposal.Table.Kinds() {
		if !kinds[k] {
			t.Errorf("no sample of %s", k)
		}
	}
}

func with[P any](p P, change func(*P)) P {
	change(&p)
	return p
}

func TestInvalidRecordsAreRefused(t *testing.T) {
	created, revised := proposal.Create(at(0), draft, owner, nil), proposal.Revise(at(1), 2, draft, nil)
	approved, applied := proposal.Approve(store, at(2), consent), proposal.Apply(at(3), activation(nil))
	likenesses := func(of ...int64) (out []proposal.Duplicate) {
		for _, percent := range of {
			out = append(out, proposal.Duplicate{Percent: percent, Ref: "r"})
		}
		return out
	}
	for name, p := range map[string]event.Payload{
		"no proposal":       with(created, func(c *proposal.Created) { c.ProposalID = id.Proposal{} }),
		"ordinal":           with(created, func(c *proposal.Created) { c.Ordinal = -1 }),
		"ordinal too large": with(created, func(c *proposal.Created) { c.Ordinal = limits.EventIndexMax + 1 }),
		"no reason":         with(created, func(c *proposal.Created) { c.Reason = "" }),
		"reason": with(created,
			func(c *proposal.Created) { c.Reason = strings.Repeat("x", limits.AuditTextBytesMax+1) }),
		"kind of another slot": with(created, func(c *proposal.Created) { c.Of = proposal.Automation }),
		"unknown kind":         with(created, func(c *proposal.Created) { c.Of, c.Slot.Kind = "rule", "rule" }),
		"title": with(created,
			func(c *proposal.Created) { c.Title = strings.Repeat("x", limits.ProposalTitleBytesMax+1) }),
		"title's bytes": with(created, func(c *proposal.Created) { c.Title = "\xff" }),
		"rationale": with(created,
			func(c *proposal.Created) { c.Rationale = strings.Repeat("x", limits.RationaleBytesMax+1) }),
		"no tenant": with(created, func(c *proposal.Created) { c.Owner.Tenant = "" }),
		"workspace": with(created,
			func(c *proposal.Created) { c.Owner.Workspace = strings.Repeat("x", limits.ActorRefMax+1) }),
		"a run twice": with(created,
			func(c *proposal.Created) { c.Provenance.SourceRunIDs = []id.Run{run, run} }),
		"runs": with(created,
			func(c *proposal.Created) { c.Provenance.SourceRunIDs = make([]id.Run, limits.SourceRunsMax+1) }),
		"model": with(created,
			func(c *proposal.Created) { c.Provenance.SynthesizerModel = strings.Repeat("x", limits.ActorRefMax+1) }),
		"no digest": with(created, func(c *proposal.Created) { c.Artifact.SHA256 = canon.Digest{} }),
		"length": with(created,
			func(c *proposal.Created) { c.Artifact.ByteLength = limits.SourceBytesMax + 1 }),
		"slot id":               with(created, func(c *proposal.Created) { c.Slot.ID = strings.Repeat("x", 257) }),
		"slot id of two lines":  with(created, func(c *proposal.Created) { c.Slot.ID = "a\nb" }),
		"slot id turned around": with(created, func(c *proposal.Created) { c.Slot.ID = "a\u202eb" }),
		"version":               with(created, func(c *proposal.Created) { c.Version = " 1" }),
		"duplicates": with(created,
			func(c *proposal.Created) { c.Duplicates = slices.Repeat(likenesses(60), limits.DuplicatesMax+1) }),
		"duplicates unranked":  with(created, func(c *proposal.Created) { c.Duplicates = likenesses(60, 61) }),
		"duplicate of nothing": with(created, func(c *proposal.Created) { c.Duplicates = likenesses(0) }),
		"duplicate of 101":     with(created, func(c *proposal.Created) { c.Duplicates = likenesses(101) }),
		"duplicate without ref": with(created,
			func(c *proposal.Created) { c.Duplicates = []proposal.Duplicate{{Percent: 60}} }),
		"first revision again":       with(revised, func(r *proposal.Revised) { r.Revision = 1 }),
		"revision's title":           with(revised, func(r *proposal.Revised) { r.Title = "\xff" }),
		"approval without id":        with(approved, func(a *proposal.Approved) { a.ApprovalID = id.Event{} }),
		"approval of nothing":        with(approved, func(a *proposal.Approved) { a.ArtifactSHA256 = canon.Digest{} }),
		"approval without principal": with(approved, func(a *proposal.Approved) { a.Principal = "" }),
		"approval under no role":     with(approved, func(a *proposal.Approved) { a.Role = "" }),
		"approval without quorum":    with(approved, func(a *proposal.Approved) { a.PolicyDigest = digest }),
		"approval without policy":    with(approved, func(a *proposal.Approved) { a.Quorum = 1 }),
		"approval of no account": with(approved, func(a *proposal.Approved) {
			a.Account, a.PolicyDigest, a.Quorum = "root", digest, 1
		}),
		"approval of a large quorum": with(approved, func(a *proposal.Approved) {
			a.PolicyDigest, a.Quorum = digest, limits.QuorumMax+1
		}),
		"unknown mode":          with(applied, func(a *proposal.Applied) { a.Mode = "yes" }),
		"gate without approval": with(applied, func(a *proposal.Applied) { a.ApprovalIDs = nil }),
		"an approval twice": with(applied,
			func(a *proposal.Applied) { a.ApprovalIDs = slices.Repeat(a.ApprovalIDs, 2) }),
		"override for no reason": with(applied, func(a *proposal.Applied) { a.Override = true }),
		"approvals by scope":     with(applied, func(a *proposal.Applied) { a.Mode = proposal.DirectRBAC }),
		"override by scope": with(applied, func(a *proposal.Applied) {
			a.Mode, a.ApprovalIDs, a.Override, a.Reason = proposal.DirectRBAC, nil, true, "r"
		}),
		"no slot":                   with(applied, func(a *proposal.Applied) { a.Slot.ID = "" }),
		"ref of another slot":       with(applied, func(a *proposal.Applied) { a.Slot.ID = "test.flo" }),
		"ref of other bytes":        with(applied, func(a *proposal.Applied) { a.ArtifactSHA256 = canon.Sum(nil) }),
		"applied without principal": with(applied, func(a *proposal.Applied) { a.Principal = "" }),
		"rollback from nowhere":     proposal.RollBack(at(1), proposal.Slot{Kind: proposal.Automation}, digest),
		"rejection of nothing":      proposal.Reject(proposal.At{}),
		"archived nothing":          proposal.Archive(proposal.At{}),
	} {
		if err := p.Check(event.Scope{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, p := range samples() {
		if err := p.Check(event.Scope{}); err != nil {
			t.Errorf("%s: %v", p.Kind(), err)
		}
	}
}

// canaries are secrets; none of them may occur in a record.
var canaries = []string{"sk-canary0123456789", "ghp_canary0123456789canary0123456789", "password=canary0123456789"}

func TestRecordsContainNoSecrets(t *testing.T) {
	for _, secret := range canaries {
		text := "because " + secret + " leaked"
		why, d := proposal.At{Proposal: about, Reason: text}, draft
		d.Title, d.Rationale, d.SynthesizerModel = text, text, text
		like := []proposal.Duplicate{{Percent: 60, Ref: text}}
		for _, p := range []event.Payload{proposal.Create(why, d, owner, like), proposal.Revise(why, 2, d, like),
			proposal.Approve(store, why, consent),
			proposal.Apply(why, activation(nil)), proposal.Reject(why), proposal.Archive(why),
			proposal.RollBack(why, slot, digest)} {
			line, err := proposal.Table.AppendLine(nil, event.New(store.String(), 0, event.Scope{}, ada, 1, p))
			if err != nil || bytes.Contains(line, []byte("canary")) || !bytes.Contains(line, []byte("because ")) {
				t.Errorf("%v: %s", err, line)
			}
		}
	}
}

func TestReasonIsAlwaysRecorded(t *testing.T) {
	if proposal.NoReason != advance.NoReason {
		t.Error("NoReason differs from that of package advance")
	}
	if r := proposal.Reject(proposal.At{Proposal: about, Reason: " \n"}); r.Reason != proposal.NoReason {
		t.Errorf("%q", r.Reason)
	}
	if r := proposal.Reject(proposal.At{Proposal: about,
		Reason: strings.Repeat("x", limits.AuditTextBytesMax+1)}); r.Check(event.Scope{}) != nil {
		t.Error("a long reason makes an invalid record")
	}
	for _, given := range []string{strings.Repeat("x", limits.SummaryBytesMax+1), "\xff"} {
		if err := proposal.CheckReason(given); !fault.Is(err, fault.ValidationError) ||
			fault.Of(err).Details["field"] != "reason" {
			t.Error(err)
		}
	}
	if err := proposal.CheckReason(strings.Repeat("x", limits.SummaryBytesMax)); err != nil {
		t.Error(err)
	}
}

func TestDuplicatesAreRankedAndBounded(t *testing.T) {
	var found []proposal.Duplicate
	for i := range int64(limits.DuplicatesMax + 3) {
		found = append(found, proposal.Duplicate{Percent: 50 + i, Ref: "r"})
	}
	found = append(found, proposal.Duplicate{Percent: 62, Ref: "a"})
	c := proposal.Create(at(0), draft, owner, found)
	if len(c.Duplicates) != limits.DuplicatesMax || c.Duplicates[0].Ref != "a" || c.Duplicates[1].Percent != 62 ||
		c.Check(event.Scope{}) != nil {
		t.Errorf("%v", c.Duplicates)
	}
}

func TestApprovalIDIsItsEventID(t *testing.T) {
	a := proposal.Approve(store, at(2), consent)
	if e := event.New(store.String(), 2, event.Scope{}, ada, 1, a); e.ID != a.ApprovalID {
		t.Errorf("approval %s in event %s", a.ApprovalID, e.ID)
	}
	if a.Principal != "ada" {
		t.Error("an approval lacks its principal")
	}
}

func TestDedupeKeyPerOrdinal(t *testing.T) {
	keys := map[string]bool{}
	for ordinal := range int64(2) {
		for _, p := range []event.Payload{proposal.Reject(at(ordinal)), proposal.Archive(at(ordinal)),
			proposal.Reject(proposal.At{Proposal: id.NewProposal(id.Seed{9}), Ordinal: ordinal})} {
			keys[p.DedupeKey(store.String(), event.Scope{})] = true
		}
	}
	if len(keys) != 6 {
		t.Errorf("keys %v", keys)
	}
	if k := proposal.Reject(at(4)).DedupeKey("", event.Scope{}); k != "proposal_rejected:"+about.String()+":4" {
		t.Error(k)
	}
}
