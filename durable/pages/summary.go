package pages

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/projections/markup"
)

// Lead returns the line below the title of a run: its status, workflow and times.
func Lead(r views.RunDetails) *markup.Node {
	items := []*markup.Node{markup.Cls("lead"), badge(toneOf(r.Status), plain(r.Status)),
		markup.E(markup.Span, markup.Text(progress(r.Progress)))}
	if r.Health != manifest.Healthy {
		items = append(items, badge(bad, plain(r.Health)))
	}
	items = append(items, markup.E(markup.Span, markup.Text(r.Workflow.WorkflowID)),
		markup.E(markup.Span, markup.Text("last event "), when(r.LastAtMs)))
	return markup.E(markup.Div, items...)
}

// progress says how many steps are done.
func progress(p views.Progress) string {
	if p.Total == 0 {
		return count(int(p.Completed), "step") + " done"
	}
	return strconv.FormatInt(p.Completed, 10) + " of " + count(int(p.Total), "step") + " done"
}

// Summary returns what a run is, who works on it and in which state it is.
func Summary(r views.RunDetails) Section {
	f := facts{}
	f.add("Status", "status", markup.Text(plain(r.Status)))
	f.add("Progress", "progress", markup.Text(progress(r.Progress)))
	if r.Goal != "" {
		f.add("Goal", "goal", markup.Text(r.Goal))
	}
	f.add("Workflow", "workflow-id", markup.Text(r.Workflow.WorkflowID))
	if r.Workflow.Name != r.Workflow.WorkflowID {
		f.text("Name", "", r.Workflow.Name)
	}
	f.text("Source", "", strings.TrimSpace(cmp.Or(r.Workflow.Source, string(r.SourceKind))+" "+r.SourceRef))
	f.add("Run", "run-id", mono(r.RunID.String()))
	f.add("Session", "session-id", mono(r.SessionID.String()))
	f.add("Started", "started", when(r.StartedAtMs))
	f.add("Last event", "last", when(r.LastAtMs))
	f.text("Tags", "tags", strings.Join(r.Tags, ", "))
	f.text("Git branch", "branch", r.Branch)
	f.add("Preferences", "", markup.Text("autonomy "+plain(r.Preferences.Autonomy)+
		", risk policy "+plain(r.Preferences.RiskPolicy)))
	origin(&f, r)
	f.text("Closed", "", r.CloseReason)
	if r.Paused != nil {
		f.add("Paused", "paused", when(r.Paused.SinceMs), markup.Text(": "+sentence(r.Paused.Reason)))
	}
	if r.CancelReason != r.CloseReason {
		f.text("Cancellation requested", "", r.CancelReason)
	}
	out := markup.Group{markup.E(markup.Div, markup.Cls("card"), f.node())}
	return Section{"summary", "Summary", append(append(out, state(r)...), values("Context", r.Context)...).Node()}
}

// origin adds where a run comes from.
func origin(f *facts, r views.RunDetails) {
	if from := r.ForkedFrom; from.IsReplay() {
		f.add("Replay of", "", mono(from.RunID.String()))
	} else if from != nil {
		f.add("Forked from", "", mono(from.RunID.String()), markup.Text(" at "), mono(from.NodeID.String()))
	}
	if from := r.ImportedFrom; from != nil {
		f.add("Imported from", "", mono(from.SessionID.String()), markup.Text(" of store "), mono(from.StoreID.String()))
	}
	if r.Parent != nil {
		f.add("Started by", "", mono(r.Parent.String()))
	}
}

// state says what a reader must know before the steps: damage, and what the run waits for.
func state(r views.RunDetails) (out markup.Group) {
	switch {
	case r.Health == manifest.UnknownVersion:
		out = append(out, note(warn, markup.Text(
			"The run contains facts of another program or a newer version. Known facts are shown.")))
	case r.Health != manifest.Healthy:
		out = append(out, note(bad, markup.Text("The session is "+plain(r.Health)+": this is its valid beginning only. "),
			typed("verify", r.RunID.String())))
	}
	if r.HandedOver != nil {
		out = append(out, note(warn, markup.Text("Handed over "+strings.TrimSpace("to "+cmp.Or(r.HandedOver.To,
			"another store"))+
			": it takes no steps here.")))
	}
	if r.WaitUntilMs != 0 {
		out = append(out, note(info, markup.Text("The run waits until "), when(r.WaitUntilMs), markup.Text(".")))
	}
	if p := r.Pending; p != nil && p.Approval != nil && p.Approval.Given < p.Approval.Needed {
		out = append(out, note(warn, markup.Text("The run waits: "+needed(*p.Approval)+". "), typed("approve",
			r.RunID.String())))
	}
	return out
}

// needed says whose approvals a step waits for.
func needed(x engine.PendingApproval) string {
	text := count(x.Needed-x.Given, "approval") + " needed"
	if x.Given > 0 {
		text += ", given by " + strings.Join(x.GivenBy, ", ")
	}
	if len(x.Approvers) > 0 {
		text += "; by " + strings.Join(x.Approvers, " or ")
	}
	if x.NotPerformer {
		text += "; not from the account that handed in the outputs"
	}
	if x.ExpiresAtMs > 0 {
		text += "; those given count until " + clock(event.TimeText(x.ExpiresAtMs))
	}
	return text
}

// What is shown of values of the context.
const (
	valuesMax     = 200
	valueBytesMax = 400
)

// values are the members of an object, behind a line that opens them.
func values(title string, v canon.Value) markup.Group {
	if v.Len() == 0 {
		return nil
	}
	f := facts{}
	for i := range min(v.Len(), valuesMax) {
		text := string(v.Item(i).JCS())
		if v.Item(i).Kind() == canon.String {
			text = v.Item(i).Text()
		}
		if cut := reason.Clip(text, valueBytesMax); cut != text {
			text = cut + " …"
		}
		f.add(v.Key(i), "", mono(text))
	}
	if more := v.Len() - valuesMax; more > 0 {
		f.add("…", "", markup.Text(count(more, "key")+" left out"))
	}
	return markup.Group{folded(v.Len() <= 8, title+": "+count(v.Len(), "key"), f.node())}
}

// Gaps returns the blockers and open gaps on the path to the tip.
func Gaps(r views.RunDetails) Section {
	if len(r.Gaps)+len(r.Blockers) == 0 {
		return Section{"gaps", "Open gaps", paragraph(markup.Cls("dim"), markup.Text("No gap is open."))}
	}
	t := table{caption: "What is missing on the path to the tip", columns: []string{"Severity", "Reason",
		"What is missing"}}
	for _, b := range r.Blockers {
		t.row(nil, cell{badge(bad, "blocked")}, cell{markup.Text(plain(b.Code))}, cell{markup.Text(b.Message)})
	}
	for _, g := range r.Gaps {
		tone := warn
		if g.Severity == event.Critical {
			tone = bad
		}
		t.row([]*markup.Node{markup.Data("gap", cmp.Or(g.Foreign, g.ID.String()))}, cell{badge(tone, string(g.Severity))},
			cell{markup.Text(plain(g.Reason.String()))}, cell{markup.Text(g.Summary)})
	}
	return Section{"gaps", "Open gaps", t.node()}
}

// Artifacts returns the artifacts of all steps and checkpoints with their digests.
func Artifacts(r views.RunDetails) Section {
	t := table{caption: "Artifacts in the order of the steps", columns: []string{"Kind", "Step", "Size", "Recorded by",
		"Digest"}}
	add := func(rows []views.ArtifactRow) {
		for _, x := range rows {
			kind := []*markup.Node{markup.Text(cmp.Or(x.ArtifactKind, x.ContentType))}
			if word := artifactWord(x); word != "" {
				kind = append(kind, markup.Text(" "), badge(idle, word))
			}
			t.row([]*markup.Node{markup.Data("artifact", x.OutputID)}, kind, cell{markup.Text(keyWords(cmp.Or(x.StepInstanceKey,
				x.StepID)))},
				cell{markup.Text(size(x.Bytes))}, cell{markup.Text(actor(x.RecordedBy))}, cell{digest(x.SHA256)})
		}
	}
	for _, s := range r.Steps {
		add(s.Artifacts)
	}
	for _, c := range r.Checkpoints {
		add(c.Artifacts)
	}
	if t.rows == nil {
		return Section{"artifacts", "Artifacts", paragraph(markup.Cls("dim"), markup.Text("No artifact is recorded."))}
	}
	return Section{"artifacts", "Artifacts", markup.Group{t.node(),
		paragraph(markup.Cls("dim"), markup.Text("Write one to a file, after its digest was checked: "), typed("artifacts",
			"get", "DIGEST", "-o", "FILE"))}.Node()}
}

// artifactWord says what is special about an artifact.
func artifactWord(x views.ArtifactRow) string {
	switch {
	case x.State != views.ArtifactStored:
		return string(x.State)
	case !x.Current:
		return "replaced"
	}
	return ""
}
