package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/installable"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
)

// shortProposal is as much of an id as a person types.
func shortProposal(p id.Proposal) string {
	_, name, _ := strings.Cut(p.String(), "_")
	return name[:min(len(name), 8)]
}

// proposalName is an id for a list: whole in a pipe, so that it can be cut out and used
// whatever else the store holds.
func (p *page) proposalName(name id.Proposal) string {
	if p.width > 0 {
		return shortProposal(name)
	}
	return name.String()
}

// statePaint colors what is in use, and what waits for people.
func (p *page) statePaint(s proposal.State) func(string) string {
	switch {
	case s == proposal.StateApplied:
		return p.good
	case s.Open():
		return p.warn
	}
	return p.dim
}

func titleOfProposal(w proposal.Proposal) string {
	if w.Title != "" {
		return w.Title
	}
	return string(w.Kind) + " " + shortProposal(w.ID)
}

// likeness tells what there is already that a proposal is like.
func (p *page) likeness(all []proposal.Duplicate) {
	for i, d := range all {
		lead := "  "
		if i == 0 {
			p.line("%s It is like what is there already:", p.warn("!"))
		}
		p.text(fmt.Sprintf("%s%3d%%  ", lead, d.Percent), d.Ref)
	}
}

// redactions tells where secrets were taken out of a file.
func (p *page) redactions(all []proposal.Redaction) {
	for _, r := range all {
		p.text(p.warn("! "), r.Pointer+" held what looks like a secret; it is stored as "+wordsOf(markers(r.Rules))+".")
	}
}

func markers(rules []redact.Rule) (out []string) {
	for _, r := range rules {
		out = append(out, redact.Marker(r))
	}
	return out
}

func (a *app) tellProposals(list engine.ProposalList, q engine.ProposalQuery, p *page) {
	if list.Health != manifest.Healthy && list.Health != "" {
		p.text(p.bad("! "), "The log of the proposals is "+toldHealth(list.Health)+
			"; what follows is what could be read. See 'waybill verify'.")
	}
	if len(list.Proposals) == 0 {
		if q.State != "" || q.Kind != "" {
			p.line("No proposal is like that.")
			return
		}
		p.line("Nothing was proposed here.")
		p.line("%s", p.dim("Propose something: "+a.command("proposals", "create", "FILE")))
		return
	}
	rows := make([][]cell, 0, len(list.Proposals))
	for _, w := range list.Proposals {
		about := list.About[w.ID.String()]
		rows = append(rows, []cell{{text: p.proposalName(w.ID), paint: p.bold},
			{text: string(w.State), paint: p.statePaint(w.State)}, {text: string(w.Kind)},
			{text: titleOfProposal(w)}, {text: approvalsOf(w, about)}})
	}
	p.table([]column{{title: "ID"}, {title: "STATE"}, {title: "KIND", spare: true}, {title: "TITLE", flex: true},
		{title: "APPROVALS", right: true}}, rows)
}

func approvalsOf(w proposal.Proposal, about engine.ProposalAbout) string {
	if !w.State.Open() || about.ApprovalsWant == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", about.Approvals, about.ApprovalsWant)
}

// proposalView is how much of a proposal is shown.
type proposalView int

const (
	proposalBrief   proposalView = iota // for whoever looks around
	proposalWhole                       // for whoever decides: nothing of it may be left out
	proposalHistory                     // with everything on record
)

func (a *app) tellProposal(w proposal.Proposal, d engine.ProposalDetails, view proposalView, p *page) {
	p.text("", p.bold(clean(titleOfProposal(w))))
	about := []string{w.ID.String(), string(w.Kind), string(w.State)}
	if d.About.Revision > 1 {
		about = append(about, "revision "+strconv.FormatInt(d.About.Revision, 10))
	}
	p.facts(about...)
	if w.Rationale != "" {
		p.text("", w.Rationale)
	}
	if len(w.Provenance.SourceRunIDs) > 0 {
		var runs []string
		for _, r := range w.Provenance.SourceRunIDs {
			runs = append(runs, shortRun(r))
		}
		p.text("Learned from  ", strings.Join(runs, ", "))
	}
	p.likeness(d.About.Duplicates)
	if w.Activation != nil {
		p.text("Installed as  ", w.Activation.InstalledArtifactRef)
	} else if w.State.Open() && d.Gate.Mode == proposal.ApprovalGate {
		p.text("Approvals     ", fmt.Sprintf("%d of %d, from the role %s", d.Gate.Have, d.Gate.Want, d.Gate.Role))
	}
	for _, ap := range d.Approvals {
		if ap.Void != "" {
			p.text(p.warn("! "), fmt.Sprintf("The approval of %s does not count. %s", ap.Principal, ap.Void))
		}
	}
	if d.About.Unreadable != "" {
		p.text(p.bad("! "), "What is proposed cannot be shown: "+d.About.Unreadable)
		return
	}
	if view == proposalHistory {
		p.proposalHistory(d)
	}
	most := 0
	if view == proposalBrief && p.width > 0 {
		most = artifactLinesMax
	}
	p.line("")
	if w.State.Open() && !d.Was.IsNull() {
		p.line("%s", p.dim("Installed now, and replaced by it:"))
		a.proposed(d.Was, w.ID, most, p)
		p.line("%s", p.dim("Proposed:"))
	}
	a.proposed(w.Artifact, w.ID, most, p)
}

// artifactLinesMax is how many lines of an artifact are shown to whoever only looks at it:
// what is above it must not scroll away.
const artifactLinesMax = 40

// proposalHistory tells who did what to it, and why, in the order in which it was done.
func (p *page) proposalHistory(d engine.ProposalDetails) {
	type row struct {
		atMs              int64
		what, by, because string
	}
	var rows []row
	for _, m := range d.History {
		what := cmp.Or(string(m.Move), "create")
		if m.Override {
			what += ", past the gate,"
		}
		rows = append(rows, row{m.AtMs, what, auditWho(m.Actor), m.Reason})
	}
	// Of what was done within one millisecond the approval came before what it allowed.
	for _, ap := range slices.Backward(d.Approvals) {
		given := row{ap.AtMs, "approve", auditWho(ap.Actor), ap.Reason}
		at := slices.IndexFunc(rows[1:], func(r row) bool { return r.atMs >= given.atMs }) + 1
		if at == 0 {
			at = len(rows)
		}
		rows = slices.Insert(rows, at, given)
	}
	p.line("")
	for _, r := range rows {
		text := r.what + " by " + r.by
		if r.because != proposal.NoReason {
			text += ": " + strings.Join(strings.Fields(r.because), " ")
		}
		p.text(p.dim(clockTime(r.atMs, "2006-01-02 15:04"))+"  ", text)
	}
}

// proposed shows what is proposed as people read JSON, 0 for all of its lines. It is
// somebody's text: what a terminal would act on is cleaned out of it.
func (a *app) proposed(v canon.Value, of id.Proposal, most int, p *page) {
	var b bytes.Buffer
	if json.Indent(&b, v.JCS(), "", "  ") != nil {
		return
	}
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		if most > 0 && i == most {
			p.line("%s", p.dim("… "+plural(len(lines)-i, "more line")))
			p.line("All of it: %s", a.command("proposals", "get", shortProposal(of))+" | less")
			return
		}
		p.line("%s", clean(line))
	}
}

func (a *app) tellInstalled(list engine.InstalledList, p *page) {
	if list.Health != manifest.Healthy {
		p.text(p.bad("! "), "The log of the proposals is "+toldHealth(list.Health)+
			": what cannot be told for sure is not in use. See 'waybill verify'.")
	}
	if len(list.Installed) == 0 {
		p.line("Nothing is installed.")
		return
	}
	columns := []column{{title: "KIND", spare: true}, {title: "ID", flex: true}, {title: "VERSION", spare: true},
		{title: "PROPOSAL"}}
	apart := slices.ContainsFunc(list.Installed, func(i engine.InstalledArtifact) bool { return i.Workspace != "" })
	if apart { // else the column would be empty
		columns = append(columns, column{title: "WORKSPACE"})
	}
	rows := make([][]cell, 0, len(list.Installed))
	for _, i := range list.Installed {
		row := []cell{{text: string(i.Slot.Kind)}, {text: i.Slot.ID, paint: p.bold}, {text: i.Version},
			{text: p.proposalName(i.ProposalID)}}
		if apart {
			row = append(row, cell{text: i.Workspace})
		}
		rows = append(rows, row)
	}
	p.table(columns, rows)
	for _, i := range list.Installed {
		if within := inside(i); len(within) > 0 {
			p.line("")
			p.line("%s", p.bold("In "+clean(i.Slot.ID)))
			for _, line := range within {
				p.text("  ", line)
			}
		}
	}
}

// inside lists the parts of an installation that have names of their own, and that
// nothing else lists: agents and chains are there for whoever carries out a run.
func inside(i engine.InstalledArtifact) (out []string) {
	switch i.Slot.Kind {
	case proposal.AgentPack:
		agents, _ := installable.Agents(i.Value)
		for _, one := range agents {
			out = append(out, one.ID+"  "+cmp.Or(one.Label, one.Persona))
		}
	case proposal.WorkflowChainPack:
		for _, w := range installable.Workflows(i.Value) {
			if name, _ := w.Source.Get("id"); w.Pointer != "" {
				out = append(out, name.Text())
			}
		}
		chains, _ := installable.Chains(i.Value)
		for _, one := range chains {
			out = append(out, one.ID+"  "+one.Label)
		}
	}
	return out
}
