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
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/learning/installable"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
)

// statePaint returns the style of a state: good for applied proposals, a warning
// for open ones, which wait for a person, dimmed for the others.
func statePaint(p *page.Page, s proposal.State) func(string) string {
	switch {
	case s == proposal.StateApplied:
		return p.Good
	case s.Open():
		return p.Warn
	}
	return p.Dim
}

// showDuplicates lists the artifacts that a proposal is similar to, with the
// similarity in percent, under one heading.
func showDuplicates(p *page.Page, all []proposal.Duplicate) {
	if len(all) > 0 {
		p.Line("%s Similar to an artifact that is installed or proposed:", p.Warn("!"))
	}
	for _, d := range all {
		p.Text(fmt.Sprintf("  %3d%%  ", d.Percent), d.Ref)
	}
}

// showProposals prints a table of proposals. A damaged log is reported first,
// since the list is incomplete then.
func showProposals(a *cli.App, list learning.ProposalList, q learning.ProposalQuery, p *page.Page) {
	if list.Health != manifest.Healthy && list.Health != "" {
		p.Text(p.Bad("! "), "The log of proposals is "+render.Health(list.Health)+
			"; the list has only what could be read. See 'waybill verify'.")
	}
	if len(list.Proposals) == 0 {
		if q.State != "" || q.Kind != "" {
			p.Line("No matching proposals.")
			return
		}
		p.Line("No proposals.")
		p.Line("%s", p.Dim("Create one: "+a.Command("proposals", "create", "FILE")))
		return
	}
	rows := make([][]page.Cell, 0, len(list.Proposals))
	for _, w := range list.Proposals {
		about := list.About[w.ID.String()]
		rows = append(rows, []page.Cell{{Text: p.Name(page.ShortProposal(w.ID), w.ID.String()), Paint: p.Bold},
			{Text: string(w.State), Paint: statePaint(p, w.State)}, {Text: string(w.Kind)},
			{Text: render.ProposalTitle(w)}, {Text: approvalCount(w, about)}})
	}
	p.Table([]page.Column{{Title: "ID"}, {Title: "STATE"}, {Title: "KIND", Spare: true}, {Title: "TITLE", Flex: true},
		{Title: "APPROVALS", Right: true}}, rows)
}

// approvalCount returns the number of approvals and the quorum, such as "1/2"; ""
// for a proposal that is not open or needs no approval.
func approvalCount(w proposal.Proposal, about learning.ProposalAbout) string {
	if !w.State.Open() || about.ApprovalsWant == 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d", about.Approvals, about.ApprovalsWant)
}

// proposalView selects how much of a proposal is shown.
type proposalView int

const (
	proposalBrief   proposalView = iota // a long artifact is cut on a terminal
	proposalFull                        // before a decision: nothing is omitted
	proposalHistory                     // with all revisions, approvals and decisions
)

// showProposal prints one proposal: title, rationale, source runs, similar
// artifacts, approvals, the difference to what it replaces, and the artifact itself. For an
// open proposal the artifact that is in use in its slot is printed first, unless the difference is to it.
//
// view selects how much is printed. If the artifact cannot be read from the
// store, the reason is printed instead of it.
func showProposal(a *cli.App, w proposal.Proposal, d learning.ProposalDetails, diff *learning.Difference, view proposalView, p *page.Page) {
	p.StyledText("", p.Inline(render.ProposalTitle(w)), p.Bold)
	// The id is complete here, so that it can be copied.
	about := []string{w.ID.String(), string(w.Kind), string(w.State)}
	if d.About.Revision > 1 {
		about = append(about, "revision "+strconv.FormatInt(d.About.Revision, 10))
	}
	p.Facts(about...)
	if w.Rationale != "" {
		p.Quote("", w.Rationale, page.Plain)
	}
	if len(w.Provenance.SourceRunIDs) > 0 {
		var runs []string
		for _, r := range w.Provenance.SourceRunIDs {
			runs = append(runs, page.ShortRun(r))
		}
		p.Text("Learned from  ", strings.Join(runs, ", "))
	}
	if !diff.Replaces.IsZero() {
		p.Text("Replaces      ", diff.Replaces.String())
	}
	if diff.Problem != "" {
		p.Text(p.Bad("! "), "It cannot be approved as it is: "+diff.Problem+".")
	}
	showDuplicates(p, d.About.Duplicates)
	if w.Activation != nil {
		p.Text("Installed as  ", w.Activation.InstalledArtifactRef)
	} else if w.State.Open() && d.Gate.Mode == proposal.ApprovalGate {
		p.Text("Approvals     ", fmt.Sprintf("%d of %d, from the role %s", d.Gate.Have, d.Gate.Want, d.Gate.Role))
	}
	// Void approvals are listed with the reason.
	for _, ap := range d.Approvals {
		if ap.Void != "" {
			p.Text(p.Warn("! "), fmt.Sprintf("The approval of %s does not count. %s", render.Principal(ap.Principal, ap.Actor), ap.Void))
		}
	}
	if d.About.Unreadable != "" {
		p.Text(p.Bad("! "), "The proposed artifact cannot be shown: "+d.About.Unreadable)
		return
	}
	if view == proposalHistory {
		showProposalHistory(p, d)
	}
	// A person who decides must see all of it; a pipe gets all of it as well.
	linesMax := 0
	if view == proposalBrief && p.Width > 0 {
		linesMax = artifactLinesMax
	}
	p.Line("")
	named := diff.Known && !diff.Replaces.IsZero()
	// What is in use in the slot is shown unless it is what the difference is to.
	inSlot := w.State.Open() && !d.SlotContent.IsNull() && (!named || diff.Replaces.IsFile())
	if inSlot {
		p.Line("%s", p.Dim("Installed now, would be replaced:"))
		showArtifact(a, d.SlotContent, w.ID, linesMax, p)
	}
	if named {
		showDifference(a, diff, w.ID, linesMax, p)
	}
	if named || inSlot {
		p.Line("%s", p.Dim("Proposed:"))
	}
	showArtifact(a, w.Artifact, w.ID, linesMax, p)
}

// artifactLinesMax is how many lines of an artifact proposalBrief shows on a
// terminal: the facts above it must not scroll off the screen.
const artifactLinesMax = 40

// showProposalHistory prints changes of state and approvals with author and
// reason, ordered by time. They are two lists in the document and are merged
// here.
func showProposalHistory(p *page.Page, d learning.ProposalDetails) {
	type row struct {
		atMs              int64
		what, by, because string
	}
	var rows []row
	for _, m := range d.History {
		what := cmp.Or(string(m.Move), "create")
		if m.Override {
			what += " (gate overridden)"
		}
		rows = append(rows, row{m.AtMs, what, render.Principal(m.Principal, m.Actor), m.Reason})
	}
	// Within one millisecond an approval precedes the change that it permitted.
	for _, ap := range slices.Backward(d.Approvals) {
		approval := row{ap.AtMs, "approve", render.Principal(ap.Principal, ap.Actor), ap.Reason}
		at := slices.IndexFunc(rows[1:], func(r row) bool { return r.atMs >= approval.atMs }) + 1
		if at == 0 {
			at = len(rows)
		}
		rows = slices.Insert(rows, at, approval)
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

// showArtifact prints an artifact of a proposal as indented JSON, as showLines does.
func showArtifact(a *cli.App, v canon.Value, of id.Proposal, linesMax int, p *page.Page) {
	var b bytes.Buffer
	if json.Indent(&b, v.JCS(), "", "  ") != nil {
		return
	}
	showLines(a, b.Bytes(), of, linesMax, p)
}

// showDifference prints the difference to what a proposal replaces, as showLines does.
func showDifference(a *cli.App, d *learning.Difference, of id.Proposal, linesMax int, p *page.Page) {
	if d.Text == "" {
		p.Line("%s", p.Dim("It equals what it replaces."))
		return
	}
	p.Line("%s", p.Dim("Difference:"))
	showLines(a, []byte(strings.TrimSuffix(d.Text, "\n")), of, linesMax, p)
}

// showLines prints lines of JSON: at most linesMax and then the command that prints all, or all lines for 0. The
// text is untrusted, so each line is cleaned of control characters.
func showLines(a *cli.App, text []byte, of id.Proposal, linesMax int, p *page.Page) {
	lines := strings.Split(string(invisible.EscapeJSON(text)), "\n")
	omitted := 0
	if linesMax > 0 && len(lines) > linesMax {
		omitted, lines = len(lines)-linesMax, lines[:linesMax]
	}
	p.QuoteExactly("", strings.Join(lines, "\n"), page.Plain)
	if omitted > 0 {
		p.Line("%s", p.Dim("… "+page.Plural(omitted, "more line")))
		p.Line("Show all: %s", a.Command("proposals", "get", page.ShortProposal(of))+" | less")
	}
}

// showInstalled prints a table of the installed artifacts, and below it the parts
// of packs that have their own names. The WORKSPACE column is printed only if an
// artifact belongs to one.
func showInstalled(a *cli.App, list learning.InstalledList, p *page.Page) {
	if list.Health != manifest.Healthy {
		p.Text(p.Bad("! "), "The log of proposals is "+render.Health(list.Health)+
			": artifacts that cannot be verified are not in use. See 'waybill verify'.")
	}
	if len(list.Installed) == 0 {
		p.Line("Nothing is installed.")
		return
	}
	columns := []page.Column{{Title: "KIND", Spare: true}, {Title: "ID", Flex: true}, {Title: "VERSION", Spare: true},
		{Title: "PROPOSAL"}}
	// A column that is empty in every row is omitted.
	withWorkspace := slices.ContainsFunc(list.Installed,
		func(i learning.InstalledArtifact) bool { return i.Workspace != "" })
	if withWorkspace {
		columns = append(columns, page.Column{Title: "WORKSPACE"})
	}
	rows := make([][]page.Cell, 0, len(list.Installed))
	for _, i := range list.Installed {
		row := []page.Cell{{Text: string(i.Slot.Kind)}, {Text: i.Slot.ID, Paint: p.Bold}, {Text: i.Version},
			{Text: p.Name(page.ShortProposal(i.ProposalID), i.ProposalID.String())}}
		if withWorkspace {
			row = append(row, page.Cell{Text: i.Workspace})
		}
		rows = append(rows, row)
	}
	p.Table(columns, rows)
	for _, i := range list.Installed {
		for _, r := range i.ReplacedFiles {
			p.Text("", page.OneLine(i.Slot.ID)+" replaces "+r.String())
		}
	}
	for _, i := range list.Installed {
		if parts := namedParts(i); len(parts) > 0 {
			p.Line("")
			p.Line("%s", p.Bold("In "+page.OneLine(i.Slot.ID)))
			for _, line := range parts {
				p.Text("  ", line)
			}
		}
	}
}

// namedParts lists the parts of an installed pack that have their own names: the
// agents of an agent pack, the workflows and chains of a workflow pack. Other
// kinds have none.
func namedParts(i learning.InstalledArtifact) (out []string) {
	switch i.Slot.Kind {
	case proposal.AgentPack:
		// The error is ignored: an artifact that cannot be parsed was rejected
		// before it was installed.
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
