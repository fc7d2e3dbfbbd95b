package workflows

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/catalog"
)

// newList makes "workflows list". A workflow that is broken is listed with its
// problems and does not fail the call, since the others can be used.
//
// The document has at most three problems of each workflow; 'workflows
// validate' has all of them.
func newList(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the workflows that can be run from here",
		Long: `List every workflow that is found from the working directory, with its id, its source
and its name. One that does not validate, or whose id another file has too, is listed
with the reason; JSON has at most three of its problems, and validate names them all.`,
		Example: "  waybill workflows list\n  waybill workflows list --json | jq -r '.data.workflows[] | " +
			"select(.valid) | .workflowId'",
		Args: cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.Catalog(cmd.Context())
			if err != nil {
				return err
			}
			return a.Answer("workflows", document.WorkflowsOf(c.Entries),
				func(p *page.Page) { showWorkflows(p, c.Entries) })
		},
	}
}

// showWorkflows prints the usable workflows in a table, and below it each of
// the others with the first reason why it cannot be used. A legacy id is usable
// and is shown with the name that it should have.
func showWorkflows(p *page.Page, entries []catalog.Entry) {
	var rows [][]page.Cell
	var broken []catalog.Entry
	for _, e := range entries {
		// An id that two files have names neither of them.
		if !e.Valid() || len(e.Twins) > 0 {
			broken = append(broken, e)
			continue
		}
		note := e.Name
		if e.SuggestedID != "" {
			note += " (better called " + e.SuggestedID + ")"
		}
		rows = append(rows, []page.Cell{{Text: e.ID, Paint: p.Bold}, {Text: string(e.Kind)}, {Text: note}})
	}
	p.Table([]page.Column{{Title: "ID"}, {Title: "SOURCE", Spare: true}, {Title: "NAME", Flex: true, Spare: true}},
		rows)
	if len(broken) == 0 {
		return
	}
	p.Line("")
	p.Line("%s", p.Warn("Not usable:"))
	for _, e := range broken {
		id := e.ID
		if id == "" {
			id = "no id"
		}
		p.Line("  %s", page.Clean(e.Ref)+p.Dim(" ("+string(e.Kind)+", "+page.Clean(id)+")"))
		p.Text("    ", whyBroken(e))
	}
}

// whyBroken is why an entry cannot be named by its id: its first error and how
// many more there are, or the files that have the same id.
func whyBroken(e catalog.Entry) string {
	if e.Valid() {
		return "Its id is also that of " + strings.Join(e.Twins, ", ") +
			": name the file instead, or rename one of them."
	}
	var errs []problem.Problem
	for _, f := range e.Problems {
		if f.Severity == problem.Error {
			errs = append(errs, f)
		}
	}
	text := errs[0].Message
	// The first error is what to begin with.
	if more := len(errs) - 1; more > 0 {
		text += " (and " + page.Plural(more, "more problem") + ")"
	}
	return text
}
