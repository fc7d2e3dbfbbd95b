package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/source"
)

// workflowList is the document "workflows".
type workflowList struct {
	Workflows []workflowRow `json:"workflows"`
}

// problemsListed is how many problems a list shows of one workflow: what it is about.
// One broken file has hundreds; validate names them all.
const problemsListed = 3

// workflowListOf is the list of entries, each with its first problems, errors before
// warnings: they say why it cannot be used.
func workflowListOf(entries []catalog.Entry) workflowList {
	doc := workflowList{Workflows: []workflowRow{}}
	for _, e := range entries {
		row := rowOf(e)
		if len(row.Problems) > problemsListed {
			row.Problems = slices.Clone(row.Problems)
			slices.SortStableFunc(row.Problems, func(a, b source.Problem) int { return rank(a) - rank(b) })
			row.Problems = row.Problems[:problemsListed]
		}
		doc.Workflows = append(doc.Workflows, row)
	}
	return doc
}

func rank(p source.Problem) int {
	if p.Severity == problem.Error {
		return 0
	}
	return 1
}

func newWorkflowsListCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the workflows that can be run from here",
		Long: `List every workflow that is found from the working directory, with its id, its source
and its name. One that does not validate, or whose id another file has too, is listed
with the reason; JSON has at most three of its problems, and validate names them all.`,
		Example: "  waybill workflows list\n  waybill workflows list --json | jq -r '.data.workflows[] | " +
			"select(.valid) | .workflowId'",
		Args: none(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := a.catalog(cmd.Context())
			if err != nil {
				return err
			}
			return a.answer("workflows", workflowListOf(c.Entries), func(p *page) { p.workflows(c.Entries) })
		},
	}
}

// workflows lists the usable ones first, in a table, and what is wrong with the
// others below it.
func (p *page) workflows(entries []catalog.Entry) {
	var rows [][]cell
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
		rows = append(rows, []cell{{text: e.ID, paint: p.bold}, {text: string(e.Kind)}, {text: note}})
	}
	p.table([]column{{title: "ID"}, {title: "SOURCE", spare: true}, {title: "NAME", flex: true, spare: true}}, rows)
	if len(broken) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.warn("Not usable:"))
	for _, e := range broken {
		id := e.ID
		if id == "" {
			id = "no id"
		}
		p.line("  %s", clean(e.Ref)+p.dim(" ("+string(e.Kind)+", "+clean(id)+")"))
		p.text("    ", whyBroken(e))
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
		text += " (and " + plural(more, "more problem") + ")"
	}
	return text
}
