package pages

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/projections/annotations"
	"github.com/waybill/waybill/projections/markup"
)

//go:embed console.css
var consoleStyle string

//go:embed console.js
var consoleScript string

// ConsoleStyle returns the style sheet of the console.
func ConsoleStyle() string { return Style() + "\n" + consoleStyle }

// ConsoleScript returns the script of the console.
func ConsoleScript() string { return consoleScript }

// Console makes the pages of the console, which shows a store in a browser and changes nothing: where a person can act,
// a page has the command to copy (docs/design.md#console).
type Console struct {
	// Command adds the flags of the store to the arguments of a command line, and quotes them for a shell.
	Command func(words ...string) fault.Command
	// Store names the store.
	Store string
}

// The addresses of the pages.
const (
	RunsPage      = "runs"
	InboxPage     = "inbox"
	ProposalsPage = "proposals"
	FeedbackPage  = "feedback"
	DoctorPage    = "doctor"
)

// consolePages are the pages that every page links to.
var consolePages = []struct{ name, title string }{{RunsPage, "Runs"}, {InboxPage, "Inbox"}, {ProposalsPage, "Proposals"},
	{FeedbackPage, "Feedback"}, {DoctorPage, "Doctor"}}

// Start is the page without data, with the script at an address and the style sheet at another. The script puts the
// other pages into it.
func Start(script, style markup.URL) *markup.Node {
	var links []*markup.Node
	for _, p := range consolePages {
		links = append(links, markup.E(markup.Li, markup.Link(markup.Place(p.name), markup.Text(p.title))))
	}
	view := markup.E(markup.Div, markup.Set(markup.ID, "view"), markup.E(markup.Main, markup.Set(markup.ID, "main"),
		markup.E(markup.H1, markup.Text("Waybill console")),
		paragraph(markup.Set(markup.ID, "start"), markup.Text("This page needs its script, which is sent by the console itself."))))
	return markup.Document{Title: "Waybill console", Served: true, ScriptFrom: script, StyleFrom: style, Body: []*markup.Node{
		markup.Link(markup.Anchor("main"), markup.Cls("skip"), markup.Text("Skip to the content")),
		markup.E(markup.Nav, markup.Cls("bar"), markup.Set(markup.AriaLabel, "Pages"), markup.E(markup.Ul, links...)),
		markup.E(markup.Div, markup.Set(markup.ID, "state"), markup.Set(markup.Role, "status"), markup.Set(markup.AriaLive, "polite")),
		view}}.Node()
}

// shell is a page of the console.
func (c Console) shell(title string, lead *markup.Node, sections ...Section) *markup.Node {
	return Shell{Title: title, Kicker: "Waybill console · " + c.Store, Lead: lead, Sections: sections, Served: true,
		End: paragraph(markup.Text("The console changes nothing. Times are in UTC."))}.Node()
}

// typed is a command line to copy, with the flags of the store.
func (c Console) typed(words ...string) *markup.Node {
	return markup.E(markup.Code, markup.Cls("cmd"), markup.Text(c.Command(words...).Line()))
}

// action is a line that says what a person can do, with the command.
func (c Console) action(what string, words ...string) *markup.Node {
	return markup.E(markup.Li, markup.Text(what+" "), c.typed(words...))
}

// Run is the page of a run: its report, with what can be done about it now.
func (c Console) Run(r report.Report) *markup.Node {
	s := reportShell(r)
	name := r.Run.RunID.String()
	var next []*markup.Node
	if words := Next(r.Run, name); words != nil {
		next = append(next, c.action("Next:", words...))
		if words[0] == "approve" {
			next = append(next, c.action("Or send back what was handed in:", "send-back", name, "--reason", "TEXT"))
		}
	}
	next = append(next, c.action("Annotate:", "annotate", name, "--label", "TEXT"),
		c.action("Hand on what is recorded:", "runs", "report", name, "-o", "report.html"))
	s.Sections = slices.Insert(s.Sections, min(1, len(s.Sections)),
		Section{"next", "What you can do", markup.E(markup.Ul, append([]*markup.Node{markup.Cls("plain")}, next...)...)})
	s.Served, s.Kicker = true, "Waybill console · "+c.Store
	return s.Node()
}

// Runs is the page that lists runs, with a form that filters them.
func (c Console) Runs(p lists.RunPage, s lists.Selection, since string) *markup.Node {
	list := Runs(p.Runs, func(r views.RunSummary) (markup.URL, bool) { return markup.Place(RunsPage, r.RunID.String()), true })
	content := markup.Group{runsForm(s, since)}
	switch {
	case len(p.Runs) > 0:
		content = append(content, list.Content)
	case len(p.Excluded) > 0:
		content = append(content, paragraph(markup.Data("excluded", string(p.Excluded[0].Filter)),
			markup.Text("No run is selected: "+string(p.Excluded[0].Filter)+" excludes "+count(p.Excluded[0].Runs, "run")+".")))
	default:
		content = append(content, paragraph(markup.Text("No runs yet. List the workflows with "), c.typed("workflows", "list"), markup.Text(".")))
	}
	if p.NextCursor != "" {
		next := s
		next.Cursor = p.NextCursor
		content = append(content, paragraph(markup.Link(runsPlace(next, since), markup.Text("Next page"))))
	}
	sections := []Section{{list.ID, "The latest first", content.Node()}}
	if bad := c.unreadable(p.Unreadable); bad != nil {
		sections = append(sections, *bad)
	}
	return c.shell("Runs", nil, sections...)
}

// runsPlace returns the address of a list of runs.
func runsPlace(s lists.Selection, since string) markup.URL {
	var status string
	if len(s.Status) > 0 {
		status = string(s.Status[0])
	}
	return markup.Place(RunsPage).With("status", status).With("workflow", s.Workflow).With("text", s.Text).
		With("label", s.Label).With("since", since).With("cursor", s.Cursor)
}

// runsForm is the form that filters runs. The script sends it.
func runsForm(s lists.Selection, since string) *markup.Node {
	options := []*markup.Node{markup.Set(markup.ID, "f-status"), markup.Set(markup.MetaName, "status"),
		markup.E(markup.OptionTag, markup.Set(markup.Value, ""), markup.Text("any"))}
	for _, status := range lists.Statuses() {
		items := []*markup.Node{markup.Set(markup.Value, string(status))}
		if slices.Contains(s.Status, status) {
			items = append(items, markup.On(markup.Selected))
		}
		options = append(options, markup.E(markup.OptionTag, append(items, markup.Text(plain(status)))...))
	}
	items := []*markup.Node{markup.Cls("filters"), markup.Set(markup.Role, "search"), markup.Set(markup.AriaLabel, "Filter the runs"),
		field("f-status", "Status", markup.E(markup.Select, options...))}
	for _, f := range []struct{ name, title, value string }{{"workflow", "Workflow", s.Workflow}, {"text", "Text", s.Text},
		{"label", "Label", s.Label}, {"since", "Since", since}} {
		items = append(items, field("f-"+f.name, f.title, markup.E(markup.Input, markup.Set(markup.ID, "f-"+f.name),
			markup.Set(markup.MetaName, f.name), markup.Set(markup.Type, "text"), markup.Set(markup.Value, f.value))))
	}
	return markup.E(markup.Form, append(items, markup.E(markup.Button, markup.Set(markup.Type, "submit"), markup.Text("Filter")))...)
}

// field is an input with its label.
func field(id, title string, input *markup.Node) *markup.Node {
	return markup.E(markup.Span, markup.E(markup.Label, markup.Set(markup.For, id), markup.Text(title+" ")), input)
}

// unreadable are the sessions that could not be read; nil for none.
func (c Console) unreadable(list []views.Unreadable) *Section {
	if len(list) == 0 {
		return nil
	}
	t := table{caption: "Sessions that cannot be read; the others are not affected", columns: []string{"Session", "State", "Why"}}
	for _, u := range list {
		name := cmp.Or(u.Name, u.SessionID.String())
		t.row([]*markup.Node{markup.Data("unreadable", name)}, cell{mono(name)}, cell{badge(bad, plain(u.Health))}, cell{markup.Text(u.Message)})
	}
	return &Section{"unreadable", "Not readable", markup.Group{t.node(), paragraph(markup.Text("See "), c.typed("verify"), markup.Text("."))}.Node()}
}

// Inbox is the page of what waits for a person.
func (c Console) Inbox(l inbox.List) *markup.Node {
	t := table{caption: "What waits for a person, the longest wait first", columns: []string{"What", "Why", "Since", "Command"}}
	for _, item := range l.Items {
		name, to := item.RunID.String(), markup.Place(RunsPage, item.RunID.String())
		if item.Kind == inbox.Proposal {
			name, to = item.ProposalID.String(), markup.Place(ProposalsPage, item.ProposalID.String())
		}
		what := cell{markup.Link(to, markup.Text(sentence(item.Title)))}
		if item.StepID != "" {
			what = append(what, markup.Text(", step "+item.StepID))
		}
		t.row([]*markup.Node{markup.Data("item", name)}, what, cell{badge(warn, string(item.Kind))}, cell{when(item.SinceMs)},
			cell{c.typed(item.Words(name)...)})
	}
	content := markup.Group{}
	if len(l.Items) > 0 {
		content = append(content, t.node())
	} else {
		content = append(content, paragraph(markup.Text("Nothing waits for a person.")))
	}
	if l.NextCursor != "" {
		content = append(content, paragraph(markup.Link(markup.Place(InboxPage).With("cursor", l.NextCursor), markup.Text("Next page"))))
	}
	if l.Imported > 0 {
		content = append(content, paragraph(markup.Cls("dim"), markup.Text(count(l.Imported, "imported run")+" left out: "),
			c.typed("inbox", "--imported")))
	}
	sections := []Section{{"inbox", "The longest wait first", content.Node()}}
	if bad := c.unreadable(l.Unreadable); bad != nil {
		sections = append(sections, *bad)
	}
	return c.shell("Inbox", nil, sections...)
}

// Doctor is the page of the checks of this machine and the store.
func (c Console) Doctor(r doctor.Report) *markup.Node {
	t := table{caption: "Checks", columns: []string{"Check", "Result", "What was found"}}
	for _, k := range r.Checks {
		found := cell{markup.Text(k.Message)}
		if k.Fix != "" {
			found = append(found, markup.E(markup.Div, markup.Cls("dim"), markup.Text(k.Fix)))
		}
		t.row([]*markup.Node{markup.Data("check", string(k.Name)), markup.Data("status", string(k.Status))}, cell{markup.Text(string(k.Name))},
			cell{badge(map[doctor.Status]tone{doctor.OK: good, doctor.Warn: warn, doctor.Fail: bad}[k.Status], string(k.Status))}, found)
	}
	return c.shell("Doctor", nil, Section{"checks", "Checks", t.node()})
}

// Feedback is the page of the figures of annotations, by workflow and by run.
func (c Console) Feedback(f learning.FeedbackSummary) *markup.Node {
	byWorkflow := table{caption: "All runs of a workflow", columns: []string{"Workflow", "Runs", "Rating", "Corrections", "Flags", "Labels"}}
	for _, w := range f.Workflows {
		byWorkflow.row([]*markup.Node{markup.Data("workflow", w.WorkflowID)}, cell{markup.Text(strings.TrimSpace(w.WorkflowID + " " + w.Source))},
			cell{markup.Text(fmt.Sprintf("%d of %d annotated", w.AnnotatedRuns, w.Runs))}, cell{markup.Text(rating(w.MeanRating))},
			cell{markup.Text(strconv.FormatInt(w.Corrections, 10))}, cell{markup.Text(strconv.FormatInt(w.Flags, 10))}, cell{markup.Text(labels(w.RunSums.Summary))})
	}
	byRun := table{caption: "Annotated runs", columns: []string{"Run", "Annotations", "Rating", "Corrections", "Flags", "Labels"}}
	for _, r := range f.Runs {
		byRun.row([]*markup.Node{markup.Data("run", r.RunID.String())},
			cell{markup.Link(markup.Place(RunsPage, r.RunID.String()), markup.Text(sentence(cmp.Or(r.Title, r.WorkflowID))))},
			cell{markup.Text(strconv.FormatInt(r.Annotations, 10))}, cell{markup.Text(rating(r.MeanRating))},
			cell{markup.Text(strconv.FormatInt(r.Corrections, 10))}, cell{markup.Text(strconv.FormatInt(r.Flags, 10))}, cell{markup.Text(labels(r.Summary))})
	}
	if len(f.Runs)+len(f.Workflows) == 0 {
		return c.shell("Feedback", nil, Section{"feedback", "Feedback",
			paragraph(markup.Text("No annotations. Add one with "), c.typed("annotate", "RUN", "--label", "TEXT"), markup.Text("."))})
	}
	sections := []Section{{"workflows", "By workflow", byWorkflow.node()}, {"by-run", "By run", byRun.node()}}
	if n := len(f.Incomplete); n > 0 {
		sections = append(sections, Section{"incomplete", "Incomplete", paragraph(markup.Text(count(n, "session") + " could not be read to the end."))})
	}
	return c.shell("Feedback", nil, sections...)
}

// rating is a mean rating; a dash for none.
func rating(mean *float64) string {
	if mean == nil {
		return "–"
	}
	return strconv.FormatFloat(*mean, 'f', 2, 64)
}

// labels are the labels with their counts.
func labels(s annotations.Summary) string {
	var out []string
	for _, l := range s.Labels {
		out = append(out, fmt.Sprintf("%s (%d)", sentence(l.Label), l.Count))
	}
	if s.OtherLabels > 0 {
		out = append(out, count(int(s.OtherLabels), "other label"))
	}
	return strings.Join(out, ", ")
}

// Fault is the page of an error.
func (c Console) Fault(err error) *markup.Node {
	f := fault.Of(err)
	items := markup.Group{note(bad, markup.Data("code", string(f.Code)), markup.Text(sentence(f.Message)+" ["+string(f.Code)+"]"))}
	if s := f.Suggestion.String(); s != "" {
		items = append(items, paragraph(markup.Text(s)))
	}
	return c.shell("This cannot be shown", nil, Section{"fault", "Error", items.Node()})
}
