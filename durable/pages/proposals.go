package pages

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/projections/markup"
)

// Proposals is the page that lists proposals, the newest first.
func (c Console) Proposals(l learning.ProposalList) *markup.Node {
	content := markup.Group{}
	if l.Health != manifest.Healthy && l.Health != "" {
		content = append(content, note(bad, markup.Text("The log of proposals is "+plain(l.Health)+": this is what could be read. See "), c.typed("verify"), markup.Text(".")))
	}
	t := table{caption: "Proposals, the newest first", columns: []string{"Proposal", "State", "Kind", "Approvals", "Changed"}}
	for _, p := range l.Proposals {
		about := l.About[p.ID.String()]
		approvals := "–"
		if p.State.Open() && about.ApprovalsWant > 0 {
			approvals = fmt.Sprintf("%d of %d", about.Approvals, about.ApprovalsWant)
		}
		t.row([]*markup.Node{markup.Data("proposal", p.ID.String())},
			cell{markup.Link(markup.Place(ProposalsPage, p.ID.String()), markup.Text(sentence(cmp.Or(p.Title, p.ID.String()))))},
			cell{badge(proposalTone(p.State), string(p.State))}, cell{markup.Text(plain(p.Kind))}, cell{markup.Text(approvals)},
			cell{markup.Text(clock(p.UpdatedAt))})
	}
	if len(l.Proposals) > 0 {
		content = append(content, t.node())
	} else {
		content = append(content, paragraph(markup.Text("No proposals. Create one with "), c.typed("proposals", "create", "FILE"), markup.Text(".")))
	}
	return c.shell("Proposals", nil, Section{"proposals", "The newest first", content.Node()})
}

// proposalTone returns the tone of a state.
func proposalTone(s proposal.State) tone {
	switch {
	case s == proposal.StateApplied:
		return good
	case s.Open():
		return warn
	}
	return idle
}

// Proposal is the page of one proposal with its difference to what it replaces. diff is nil where it is not known.
func (c Console) Proposal(p proposal.Proposal, d learning.ProposalDetails, diff *learning.Difference) *markup.Node {
	f := facts{}
	f.add("State", "state", markup.Text(string(p.State)))
	f.add("Kind", "kind", markup.Text(plain(p.Kind)))
	f.add("Proposal", "proposal-id", mono(p.ID.String()))
	f.add("Revision", "revision", markup.Text(fmt.Sprint(d.About.Revision)))
	f.add("Artifact", "artifact", digest(d.About.ArtifactSHA256))
	f.text("Rationale", "rationale", p.Rationale)
	for _, r := range p.Provenance.SourceRunIDs {
		f.add("Learned from", "", markup.Link(markup.Place(RunsPage, r.String()), mono(r.String())))
	}
	for _, x := range d.About.Duplicates {
		f.add("Similar to", "", markup.Text(fmt.Sprintf("%s, %d %%", x.Ref, x.Percent)))
	}
	if p.State.Open() && d.Gate.Mode == proposal.ApprovalGate {
		f.add("Approvals", "approvals", markup.Text(fmt.Sprintf("%d of %d, from the role %s", d.Gate.Have, d.Gate.Want, d.Gate.Role)))
	}
	sections := []Section{{"proposal", "Proposal", markup.E(markup.Div, markup.Cls("card"), f.node())}}
	if p.State.Open() {
		name, list := p.ID.String(), []*markup.Node{markup.Cls("plain")}
		if d.Gate.Granted {
			list = append(list, c.action("Apply:", "proposals", "apply", name))
		} else {
			list = append(list, c.action("Approve:", "proposals", "approve", name))
		}
		list = append(list, c.action("Reject:", "proposals", "reject", name, "--reason", "TEXT"))
		sections = append(sections, Section{"next", "What you can do", markup.E(markup.Ul, list...)})
	}
	if d.About.Unreadable != "" {
		sections = append(sections, Section{"artifact", "Artifact", note(bad, markup.Text("The artifact cannot be shown: "+d.About.Unreadable))})
	} else {
		sections = append(sections, c.change(diff)...)
		var text bytes.Buffer
		_ = json.Indent(&text, p.Artifact.JCS(), "", "  ") // JCS is JSON
		sections = append(sections, Section{"artifact", "Proposed artifact", folded(diff == nil || !diff.Known, "The whole artifact", printed(text.String()))})
	}
	t := table{caption: "Decisions", columns: []string{"When", "What", "Who", "Why"}}
	for _, m := range d.History {
		t.row(nil, cell{when(m.AtMs)}, cell{markup.Text(cmp.Or(string(m.Move), "create"))}, cell{markup.Text(actor(m.Actor))}, cell{markup.Text(m.Reason)})
	}
	for _, a := range d.Approvals {
		what := "approve"
		if a.Void != "" {
			what = "approve; does not count: " + a.Void
		}
		t.row(nil, cell{when(a.AtMs)}, cell{markup.Text(what)}, cell{markup.Text(cmp.Or(a.Principal, actor(a.Actor)))}, cell{markup.Text(a.Reason)})
	}
	return c.shell(cmp.Or(p.Title, p.ID.String()), nil, append(sections, Section{"history", "History", t.node()})...)
}

// change is what a proposal changes in what it replaces.
func (c Console) change(diff *learning.Difference) []Section {
	if diff == nil || diff.Replaces.IsZero() {
		return nil
	}
	content := markup.Group{paragraph(markup.Text("Replaces "), mono(diff.Replaces.String()))}
	if diff.Problem != "" {
		content = append(content, note(bad, markup.Text("It cannot be approved as it is: "+diff.Problem+".")))
	}
	switch {
	case !diff.Known:
		content = append(content, paragraph(markup.Text("The difference is not known here.")))
	case diff.Text == "":
		content = append(content, paragraph(markup.Text("Nothing differs.")))
	default:
		content = append(content, unified(diff.Text))
	}
	return []Section{{"difference", "Difference", content.Node()}}
}

// unified is a difference in the unified form. Each line keeps its sign, so that color is not the only mark.
func unified(text string) *markup.Node {
	items := []*markup.Node{markup.Cls("diff"), markup.Num(markup.TabIndex, 0), markup.Set(markup.Role, "region"), markup.Set(markup.AriaLabel, "Difference")}
	for line := range strings.Lines(text) {
		class := ""
		switch {
		case strings.HasPrefix(line, "+"):
			class = "add"
		case strings.HasPrefix(line, "-"):
			class = "del"
		}
		items = append(items, markup.E(markup.Span, markup.Cls(class), markup.Text(line)))
	}
	return markup.E(markup.Pre, items...)
}
