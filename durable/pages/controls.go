package pages

import (
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/projections/markup"
)

// Controls returns the page for a reader who has to show that a change was made by the book: who did what, what was
// shown, what was checked and decided, whether duties were separate, and how to verify each of it.
func Controls(r report.Report) *markup.Node {
	return Shell{Title: r.Run.Title, Kicker: "Waybill control report", Lead: Lead(r.Run), End: end(r),
		Sections: []Section{Summary(r.Run), duties(r), controlSteps(r), Decisions(r.Run), shownDigests(r), Artifacts(r.Run),
			Gaps(r.Run),
			Integrity(r), howToVerify(r)}}.Node()
}

// separationWords are the verdicts in words, with their tones.
var separationWords = map[report.Separation]struct {
	t    tone
	word string
	why  string
}{
	report.NotDecided:     {idle, "no approval", "no approval of the step counts"},
	report.AccountsDiffer: {good, "holds", "performed and approved by two accounts of the operating system"},
	report.SameAccount:    {bad, "does not hold", "the account that approved also handed in outputs"},
	report.KindsDiffer:    {good, "holds", "performed by an agent or a command, approved by a person at a terminal"},
	report.NamesDiffer:    {warn, "holds as claimed", "performed and approved under two names, which are claims"},
	report.SameName:       {bad, "does not hold", "performed and approved under one name"},
	report.NotRecorded:    {warn, "not recorded", "the log does not say who performed or who approved"},
}

// duties says for the run whether performers and approvers were separate.
func duties(r report.Report) Section {
	approved, held, broken := 0, 0, 0
	for _, c := range r.Controls {
		if c.Separation == report.NotDecided {
			continue
		}
		approved++
		switch holds, known := c.Separation.Holds(); {
		case holds:
			held++
		case known:
			broken++
		}
	}
	s := Section{ID: "separation", Title: "Separation of duties"}
	text := count(approved, "step") + " with an approval that counts: in " + strconv.Itoa(held) +
		" the approver is not the performer, in " + strconv.Itoa(broken) + " the approver is the performer, in " +
		strconv.Itoa(approved-held-broken) + " the log does not say."
	switch {
	case approved == 0:
		s.Content = note(info, markup.Data("separation", "none"), markup.Text("No step has an approval that counts."))
	case broken > 0:
		s.Content = note(bad, markup.Data("separation", "broken"), markup.Text("It does not hold. "+text))
	case held < approved:
		s.Content = note(warn, markup.Data("separation", "unknown"), markup.Text("It is not shown for each step. "+text))
	default:
		s.Content = note(good, markup.Data("separation", "holds"), markup.Text("It holds. "+text))
	}
	return s
}

// controlSteps is a table of the steps that were performed, with who did what.
func controlSteps(r report.Report) Section {
	t := table{caption: "Steps in their order", columns: []string{"Step", "Performed by", "When", "Checks", "Decided by",
		"Separation of duties"}}
	for i, c := range r.Controls {
		w := separationWords[c.Separation]
		last := "–"
		at := markup.Text(last)
		if tried := r.Steps[i].Tried; len(tried) > 0 {
			at = when(tried[len(tried)-1].AtMs)
		}
		checks := "none"
		if c.Checks > 0 {
			checks = strconv.Itoa(c.Passed) + " of " + strconv.Itoa(c.Checks) + " passed"
		}
		t.row([]*markup.Node{markup.Data("control", c.StepInstanceKey), markup.Data("separation", string(c.Separation))},
			cell{markup.Text(sentence(c.Title))}, performers(c), cell{at}, cell{markup.Text(checks)}, deciders(c),
			cell{badge(w.t, w.word), markup.Text(" " + w.why)})
	}
	if t.rows == nil {
		return Section{"controls", "Steps", paragraph(markup.Text("No step was performed."))}
	}
	return Section{"controls", "Steps", markup.Group{otherBranches(r.Run), t.node(), claimNote(),
		paragraph(markup.Cls("dim"), markup.Text(
			"An account is recorded where the workflow forbids that the performer approves."))}.Node()}
}

// performers names who handed in the outputs of a step.
func performers(c report.Control) cell {
	var out cell
	for _, p := range c.Performers {
		text := actor(p.Actor)
		if p.Account != "" {
			text += ", account " + p.Account
		}
		out = append(out, paragraph(markup.Text(text)))
	}
	if out == nil {
		return cell{markup.Text("–")}
	}
	return out
}

// deciders names who decided about a step.
func deciders(c report.Control) cell {
	var out cell
	for _, d := range c.Deciders {
		text := plain(d.Decision) + " by " + decision.Name(d.By)
		if d.Principal {
			text += " (the account is bound to this name)"
		}
		if d.Account != "" {
			text += ", account " + d.Account
		}
		if len(d.Roles) > 0 {
			text += ", as " + strings.Join(d.Roles, ", ")
		}
		if d.SignedBy != "" {
			text += ", signed with " + d.SignedBy
		}
		out = append(out, paragraph(markup.Text(text)))
	}
	if out == nil {
		return cell{markup.Text("–")}
	}
	return out
}

// shownDigests is a table of the digests of what was shown.
func shownDigests(r report.Report) Section {
	t := table{caption: "What was shown, as SHA-256 of the text of the prompt and of what a person decided about",
		columns: []string{"Step", "What", "Digest"}}
	for i, c := range r.Controls {
		if p := r.Steps[i].Prompt; !p.SHA256.IsZero() {
			t.row([]*markup.Node{markup.Data("prompt", c.StepInstanceKey)}, cell{markup.Text(sentence(c.Title))},
				cell{markup.Text("prompt, " + size(p.Bytes))}, cell{digest(p.SHA256)})
		}
		for _, d := range c.Deciders {
			if d.Decision == event.Approved || !d.ShownDigest.IsZero() {
				t.row(nil, cell{markup.Text(sentence(c.Title))}, cell{markup.Text("shown to " + decision.Name(d.By))},
					cell{digest(d.ShownDigest)})
			}
		}
	}
	if t.rows == nil {
		return Section{"shown", "What was shown", paragraph(markup.Text("Nothing was shown."))}
	}
	return Section{"shown", "What was shown", t.node()}
}

// howToVerify is a table of the commands that verify each claim of the page.
func howToVerify(r report.Report) Section {
	run := r.Run.RunID.String()
	t := table{caption: "Commands for the store that has the run", columns: []string{"What", "Command"}}
	for _, row := range []struct {
		what string
		line []string
	}{
		{"Nothing of the log was changed or cut since this page was made", []string{"verify", run, "--expect-head",
			r.Run.Head.Digest.String()}},
		{"Every decision of the engine follows from the recorded inputs", []string{"replay", run}},
		{"Decisions are signed by keys that you trust", []string{"verify", run, "--signers", "FILE"}},
		{"Changes of settings, trust and proposals", []string{"audit", "verify"}},
		{"Digests of the prompts", []string{"runs", "report", run, "--format", "json", "-o", "-"}},
		{"An artifact has the digest above", []string{"artifacts", "get", "DIGEST", "-o", "FILE"}},
		{"All of the run as one file, for a reader with another store", []string{"export", run}},
	} {
		t.row(nil, cell{markup.Text(row.what)}, cell{typed(row.line...)})
	}
	return Section{"verify", "How to verify it", t.node()}
}
