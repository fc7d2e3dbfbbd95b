package workflows

import (
	"cmp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/origin"
	"github.com/waybill/waybill/durable/workflow/catalog"
)

// newList returns "workflows list". An invalid workflow is listed with its problems and is not
// an error, since the others are usable.
//
// The document contains at most three problems per workflow; 'workflows validate' lists all.
func newList(a *cli.App) *cobra.Command {
	return cli.WithOptions(&cobra.Command{
		Use:   "list",
		Short: "List the available workflows",
		Long: `List the workflows found from the working directory, with id, source and name. Workflows
that are invalid, or whose id is also used by another file, are listed with the reason.
An installed workflow is listed with the file that it replaced ("replaces").
JSON contains at most three problems per workflow; 'workflows validate' lists all.
Nothing is changed.`,
		Example: "  waybill workflows list\n" +
			"  waybill workflows list --json | jq -r '.data.workflows[].workflowId'",
		Args: cli.None(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := cli.CheckStore(cmd.Context(), a); err != nil {
				return err
			}
			c, err := a.Catalog(cmd.Context())
			if err != nil {
				return err
			}
			return a.Answer("workflows", document.WorkflowsOf(c.Entries),
				func(p *page.Page) { showWorkflows(p, c.Entries) })
		},
	}, cli.Lines(a, "workflows"))
}

// showWorkflows prints the usable workflows in a table and the others below it, each with the
// first reason why it cannot be used. A workflow with a legacy id is usable and is shown with
// the suggested id.
func showWorkflows(p *page.Page, entries []catalog.Entry) {
	var rows [][]page.Cell
	var unusable []catalog.Entry
	for _, e := range entries {
		// An id that several files have cannot be used for any of them.
		if !e.Valid() || len(e.Duplicates) > 0 || e.ShadowedBy != "" || e.ReplacedBy != "" {
			unusable = append(unusable, e)
			continue
		}
		note := e.Name
		// The files of an attached folder are other people's.
		if e.SuggestedID != "" && e.Attached == "" {
			note += " (rename to " + e.SuggestedID + ")"
		}
		if origin := e.Origin(); origin != "" {
			note += " (replaces " + origin + ")"
		}
		rows = append(rows, []page.Cell{{Text: e.ID, Paint: p.Bold}, {Text: e.Source()}, {Text: note}})
	}
	showTable(p, rows)
	if len(unusable) == 0 {
		return
	}
	p.Line("")
	p.Line("%s", p.Warn("Not usable:"))
	for _, e := range unusable {
		id := cmp.Or(e.ID, "no id") // of a file that does not parse
		p.Line("  %s", page.OneLine(e.Ref)+p.Dim(" ("+page.OneLine(e.Source())+", "+page.OneLine(id)+")"))
		p.Text("    ", whyUnusable(e))
	}
}

// showTable prints the table of workflows. On a narrow terminal the names are omitted, and on a
// narrower one only the ids remain, and the sources of attached folders, below them.
func showTable(p *page.Page, rows [][]page.Cell) {
	widest := [2]int{}
	for _, row := range rows {
		for i := range widest {
			widest[i] = max(widest[i], page.TextWidth(page.OneLine(row[i].Text)))
		}
	}
	if p.Width == 0 || widest[0]+len(page.Gap)+widest[1] <= p.Width {
		p.Table([]page.Column{{Title: "ID"}, {Title: "SOURCE"}, {Title: "NAME", Flex: true, Spare: true}}, rows)
		return
	}
	for _, row := range rows {
		p.StyledText("", row[0].Text, p.Bold)
		if origin.IsPlugin(row[1].Text) {
			p.StyledText("    ", row[1].Text, p.Dim)
		}
	}
}

// whyUnusable returns why an entry cannot be used by its id: its first error and the number of
// further errors, or the files with the same id that are used instead of it or equally.
func whyUnusable(e catalog.Entry) string {
	if e.ReplacedBy != "" {
		return "Its id means " + e.ReplacedBy + ", which replaces it: use the file name for this file."
	}
	if e.Valid() && e.ShadowedBy != "" {
		return "Its id is that of a bundled workflow, which is used instead."
	}
	if e.Valid() {
		return "Its id is also used by " + strings.Join(e.Duplicates, ", ") +
			": use the file name instead, or change one of the ids."
	}
	errs := e.Errors()
	text := errs[0].Message
	// Only the first error is printed; the others are counted.
	if more := len(errs) - 1; more > 0 {
		text += " (and " + page.Plural(more, "more problem") + ")"
	}
	return text
}
