package workflows

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// newBuiltins returns "workflows builtins". It lists the names that workflow files may use, from the
// tables that the compiler uses, with the texts.
func newBuiltins(a *cli.App) *cobra.Command {
	return &cobra.Command{
		Use:   "builtins [ID]",
		Short: "List references, features, contracts and routines",
		Long: `List what workflow files may name, with the text that each name puts into prompts:

  references    wr.refs.NAME, a part {"kind": "ref", "refId": ID} of promptBlocks
  features      wr.features.NAME, listed under the features of a workflow
  contracts     wr.contracts.NAME, the contractRef of an outputContract
  capabilities  what a workflow may require, with the step that tests it
  routines      wr.templates.routine.NAME, the templateId of a templateCall: workflows with the
                id wr.routine-NAME, routine-NAME, or routine-NAME in another namespace

ID shows one of them. The texts become part of the compiled workflow: a later version of
Waybill with other texts does not change a run that was started.`,
		Example: "  waybill workflows builtins\n  waybill workflows builtins wr.contracts.loop_control\n" +
			"  waybill workflows builtins --json | jq -r '.data.features[].id'",
		Args: cli.AtMost("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.Catalog(cmd.Context())
			if err != nil {
				return err
			}
			doc := document.BuiltinsOf(c.Entries)
			if len(args) > 0 {
				ids := doc.IDs()
				only, ok := doc.Only(args[0])
				if !ok {
					return unknownBuiltin(args[0], ids)
				}
				doc = only
			}
			return a.Answer("builtins", doc, func(p *page.Page) { showBuiltins(p, doc) })
		},
	}
}

// unknownBuiltin returns USAGE_ERROR for an id that is not built in, with the nearest one.
func unknownBuiltin(id string, ids []string) error {
	f := fault.New(fault.UsageError, "nothing built in has the id %q", id)
	list := fault.Command{"workflows", "builtins"}
	if near := nearest.Of(id, ids); near != "" {
		return f.Suggest("Did you mean %s? %s lists all.", near, list)
	}
	return f.Suggest("%s lists all.", list)
}

// showBuiltins prints each group below its title, and each text below its id.
func showBuiltins(p *page.Page, b document.Builtins) {
	first := true
	title := func(words string, n int) {
		if n > 0 {
			if !first {
				p.Line("")
			}
			first = false
			p.Line("%s", p.Bold(words))
		}
	}
	item := func(id, about, text string) {
		if about != "" {
			about = "  " + p.Dim(page.OneLine(about))
		}
		p.Line("  %s%s", page.OneLine(id), about)
		for line := range strings.Lines(text) {
			p.Text("      ", strings.TrimRight(line, "\n"))
		}
	}
	title("References", len(b.References))
	for _, x := range b.References {
		item(x.ID, "", x.Text)
	}
	title("Features", len(b.Features))
	for _, x := range b.Features {
		item(x.ID, "", x.Text)
	}
	title("Contracts", len(b.Contracts))
	for _, x := range b.Contracts {
		item(x.ID, x.Title, x.Text)
	}
	title("Capabilities", len(b.Capabilities))
	for _, x := range b.Capabilities {
		item(x.ID, x.Title, x.Text)
	}
	title("Routines", len(b.Routines))
	for _, r := range b.Routines {
		item(r.TemplateID, r.ID+", "+r.Source, r.Description)
		for _, s := range r.Steps {
			p.Text("      - ", s.Title)
			p.Prose("        ", s.Prompt, page.Plain)
		}
	}
}
