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

// showWorkflows lists the usable ones first, in a table, and what is wrong with the
// others below it.
func showWorkflows(p *page.Page, entries []catalog.Entry) {
	var rows [][]page.Cell
	var broken []catalog.Entry
	for _, e := range entries {
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

// whyBroken is the first reason why an entry cannot be named by its id.
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
	if more := len(errs) - 1; more > 0 {
		text += " (and " + page.Plural(more, "more problem") + ")"
	}
	return text
}
