package render

import (
	"maps"
	"slices"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/engine/origin"
	"github.com/waybill/waybill/durable/workflow/catalog"
)

// Commands writes the commands of a workflow that trust would allow, all of them and each in full:
// arguments, directory and environment, which can change the effect of a harmless program. Words
// are quoted as for a shell, although commands run without one. from is the source of the workflow.
func Commands(p *page.Page, name, id, from string, commands []catalog.Command) {
	if origin.IsPlugin(from) {
		from = ", " + page.Name(from)
	} else {
		from = ""
	}
	p.Text("", page.Name(name)+" ("+page.Argument(id)+from+") runs "+page.Plural(len(commands), "command")+
		page.Choose(len(commands), " that is", " that are")+" not trusted yet:")
	for _, c := range commands {
		p.Blank()
		p.Text("  ", page.Name(c.Title))
		Command(p, "    ", c.Argv, c.Cwd, c.Env)
	}
	p.Blank()
}

// Command writes one command in full: its arguments, and below them its directory and environment.
func Command(p *page.Page, lead string, argv []string, cwd string, env map[string]string) {
	p.Verbatim(lead+p.Dim("$ "), page.Arguments(argv), page.Plain)
	if cwd != "" {
		p.Verbatim(lead+p.Dim("  in "), page.Argument(cwd), page.Plain)
	}
	for _, variable := range slices.Sorted(maps.Keys(env)) {
		p.Verbatim(lead+p.Dim("  with "), page.Variable(variable, env[variable]), page.Plain)
	}
}
