package learning

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/cmd/waybill/cli/render"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/learning/installable"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/redact"
)

// proposalName is how a list names a proposal: by the beginning of its id on a
// terminal, by the whole id in a pipe, from where it can be copied.
func proposalName(p *page.Page, name id.Proposal) string {
	if p.Width > 0 {
		return page.ShortProposal(name)
	}
	return name.String()
}

// statePaint is the style for a state: applied ones are in use, open ones wait
// for a person.
func statePaint(p *page.Page, s proposal.State) func(string) string {
	switch {
	case s == proposal.StateApplied:
		return p.Good
	case s.Open():
		return p.Warn
	}
	return p.Dim
}

// showLikeness lists what a proposal is similar to, with percentages, under one
// heading.
func showLikeness(p *page.Page, all []proposal.Duplicate) {
	for i, d := range all {
		lead := "  "
		if i == 0 {
			p.Line("%s It is like what is there already:", p.Warn("!"))
		}
		p.Text(fmt.Sprintf("%s%3d%%  ", lead, d.Percent), d.Ref)
	}
}

// showRedactions names the places of a file where secrets were removed, and
// what is stored in their place.
func showRedactions(p *page.Page, all []proposal.Redaction) {
	for _, r := range all {
		p.Text(p.Warn("! "), r.Pointer+" held what looks like a secret; it is stored as "+page.Words(markers(r.Rules))+
			".")
	}
}

// markers are the texts that are stored in place of what the rules found.
func markers(rules []redact.Rule) (out []string) {
	for _, r := range rules {
		out = append(out, redact.Marker(r))
	}
	return out
}

// showProposals prints a table of proposals. A log that is not healthy is named
// first, since the list is then what could be read of it.
func showProposals(a *cli.App, list engine.ProposalList, q engine.ProposalQuery, p *page.Page) {
	if list.Health != manifest.Healthy && list.Health != "" {
		p.Text(p.Bad("! "), "The log of the proposals is "+render.Health(list.Health)+
			"; what follows is what could be read. See 'waybill verify'.")
	}
	if len(list.Proposals) == 0 {
		if q.State != "" || q.Kind != "" {
			p.Line("No proposal is like that.")
			return
		}
		p.Line("Nothing was proposed here.")
		p.Line("%s", p.Dim("Propose something: "+a.Command("proposals", "create", "FILE")))
		return
	}
	rows := make([][]page.Cell, 0, len(list.Proposals))
	for _, w := range list.Proposals {
		about := list.About[w.ID.String()]
		rows = append(rows, []page.Cell{{Text: proposalName(p, w.ID), Paint: p.Bold},
			{Text: string(w.State), Paint: statePaint(p, w.State)}, {Text: string(w.Kind)},
			{Text: render.ProposalTitle(w)}, {Text: approvalsOf(w, about)}})
	}
	p.Table([]page.Column{{Title: "ID"}, {Title: "STATE"}, {Title: "KIND", Spare: true}, {Title: "TITLE", Flex: true},
		{Title: "APPROVALS", Right: true}}, rows)
}

// approvalsOf is how many approvals a proposal has of how many; "" where it is
// not open or needs none.
func approvalsOf(w proposal.Proposal, about engine.ProposalAbout) string {
	if !w.State.Open() || about.ApprovalsWant == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", about.Approvals, about.ApprovalsWant)
}

// proposalView is how much of a proposal is shown, for different readers.
type proposalView int

const (
	proposalBrief   proposalView = iota // for a reader who looks around
	proposalWhole                       // for a person who decides: nothing may be left out
	proposalHistory                     // with everything on record
)

// showProposal prints one proposal: what it is and why, what it was learned
// from and is similar to, its approvals, and the artifact itself. While it is
// open, what is installed in its place is shown before it, so that a reader can
// compare.
//
// view says for which reader. A person who decides gets all of the artifact;
// one who looks around gets its beginning on a terminal. Where the artifact
// cannot be read from the store, that takes its place.
func showProposal(a *cli.App, w proposal.Proposal, d engine.ProposalDetails, view proposalView, p *page.Page) {
	p.Text("", p.Bold(page.Clean(render.ProposalTitle(w))))
	// The facts that identify it, in one line that can be copied from.
	about := []string{w.ID.String(), string(w.Kind), string(w.State)}
	if d.About.Revision > 1 {
		about = append(about, "revision "+strconv.FormatInt(d.About.Revision, 10))
	}
	p.Facts(about...)
	if w.Rationale != "" {
		p.Text("", w.Rationale)
	}
	if len(w.Provenance.SourceRunIDs) > 0 {
		var runs []string
		for _, r := range w.Provenance.SourceRunIDs {
			runs = append(runs, page.ShortRun(r))
		}
		p.Text("Learned from  ", strings.Join(runs, ", "))
	}
	showLikeness(p, d.About.Duplicates)
	if w.Activation != nil {
		p.Text("Installed as  ", w.Activation.InstalledArtifactRef)
	} else if w.State.Open() && d.Gate.Mode == proposal.ApprovalGate {
		p.Text("Approvals     ", fmt.Sprintf("%d of %d, from the role %s", d.Gate.Have, d.Gate.Want, d.Gate.Role))
	}
	// Approvals that do not count any more are named with the reason.
	for _, ap := range d.Approvals {
		if ap.Void != "" {
			p.Text(p.Warn("! "), fmt.Sprintf("The approval of %s does not count. %s", ap.Principal, ap.Void))
		}
	}
	if d.About.Unreadable != "" {
		p.Text(p.Bad("! "), "What is proposed cannot be shown: "+d.About.Unreadable)
		return
	}
	if view == proposalHistory {
		showProposalHistory(p, d)
	}
	// A reader who decides must see all of it, and so does a pipe.
	most := 0
	if view == proposalBrief && p.Width > 0 {
		most = artifactLinesMax
	}
	p.Line("")
	if w.State.Open() && !d.Was.IsNull() {
		p.Line("%s", p.Dim("Installed now, and replaced by it:"))
		proposed(a, d.Was, w.ID, most, p)
		p.Line("%s", p.Dim("Proposed:"))
	}
	proposed(a, w.Artifact, w.ID, most, p)
}

// artifactLinesMax is how many lines of an artifact are shown on a terminal to
// a reader who does not decide: what is above must not scroll away.
const artifactLinesMax = 40

// showProposalHistory prints who did what and why, in the order in which it was
// done. Moves and approvals are two lists in the document; they are merged by
// time here.
func showProposalHistory(p *page.Page, d engine.ProposalDetails) {
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
		rows = append(rows, row{m.AtMs, what, render.ActorAndKind(m.Actor), m.Reason})
	}
	// Of what was done within one millisecond the approval came before what it allowed.
	for _, ap := range slices.Backward(d.Approvals) {
		given := row{ap.AtMs, "approve", render.ActorAndKind(ap.Actor), ap.Reason}
		at := slices.IndexFunc(rows[1:], func(r row) bool { return r.atMs >= given.atMs }) + 1
		if at == 0 {
			at = len(rows)
		}
		rows = slices.Insert(rows, at, given)
	}
	p.Line("")
	for _, r := range rows {
		text := r.what + " by " + r.by
		if r.because != proposal.NoReason {
			text += ": " + strings.Join(strings.Fields(r.because), " ")
		}
		p.Text(p.Dim(page.ClockTime(r.atMs, "2006-01-02 15:04"))+"  ", text)
	}
}

// proposed prints an artifact as indented JSON, at most so many lines, or all
// of them for 0. Its strings are text of others, and so each line is cleaned.
func proposed(a *cli.App, v canon.Value, of id.Proposal, most int, p *page.Page) {
	var b bytes.Buffer
	if json.Indent(&b, v.JCS(), "", "  ") != nil {
		return
	}
	// Each line is cleaned by itself: the text is not ours.
	lines := strings.Split(b.String(), "\n")
	for i, line := range lines {
		if most > 0 && i == most {
			p.Line("%s", p.Dim("… "+page.Plural(len(lines)-i, "more line")))
			p.Line("All of it: %s", a.Command("proposals", "get", page.ShortProposal(of))+" | less")
			return
		}
		p.Line("%s", page.Clean(line))
	}
}

// showInstalled prints a table of what is installed, and below it the parts
// that have names of their own. The column for workspaces appears only where
// one is used.
func showInstalled(a *cli.App, list engine.InstalledList, p *page.Page) {
	if list.Health != manifest.Healthy {
		p.Text(p.Bad("! "), "The log of the proposals is "+render.Health(list.Health)+
			": what cannot be told for sure is not in use. See 'waybill verify'.")
	}
	if len(list.Installed) == 0 {
		p.Line("Nothing is installed.")
		return
	}
	columns := []page.Column{{Title: "KIND", Spare: true}, {Title: "ID", Flex: true}, {Title: "VERSION", Spare: true},
		{Title: "PROPOSAL"}}
	// A column that is empty in every row would only take room.
	apart := slices.ContainsFunc(list.Installed, func(i engine.InstalledArtifact) bool { return i.Workspace != "" })
	if apart { // else the column would be empty
		columns = append(columns, page.Column{Title: "WORKSPACE"})
	}
	rows := make([][]page.Cell, 0, len(list.Installed))
	for _, i := range list.Installed {
		row := []page.Cell{{Text: string(i.Slot.Kind)}, {Text: i.Slot.ID, Paint: p.Bold}, {Text: i.Version},
			{Text: proposalName(p, i.ProposalID)}}
		if apart {
			row = append(row, page.Cell{Text: i.Workspace})
		}
		rows = append(rows, row)
	}
	p.Table(columns, rows)
	for _, i := range list.Installed {
		if within := inside(i); len(within) > 0 {
			p.Line("")
			p.Line("%s", p.Bold("In "+page.Clean(i.Slot.ID)))
			for _, line := range within {
				p.Text("  ", line)
			}
		}
	}
}

// inside lists the parts of an installation that have names of their own and
// that no other list has: the agents of a pack, and its workflows and chains.
func inside(i engine.InstalledArtifact) (out []string) {
	switch i.Slot.Kind {
	case proposal.AgentPack:
		// An artifact that cannot be parsed was refused before it was
		// installed.
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
