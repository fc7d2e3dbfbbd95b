package render

import (
	"maps"
	"slices"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/origin"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/prompt"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/catalog"
	"github.com/waybill/waybill/durable/workflow/placeholder"
)

// Commands writes the commands of a workflow that trust would allow, all of them and each in full:
// arguments, directory and environment, which can change the effect of a harmless program. Words
// are quoted as for a shell, although commands run without one. from is the source of the workflow. A
// command with placeholders is a template: below it each is named, with its value if values holds it.
func Commands(p *page.Page, name, id, from string, commands []catalog.Command, values canon.Value) {
	if origin.IsPlugin(from) {
		from = ", " + page.Name(from)
	} else {
		from = ""
	}
	p.Text("", page.Name(name)+" ("+page.Argument(id)+from+") runs "+page.Plural(len(commands), "command")+
		page.Choose(len(commands), " that is", " that are")+" not trusted yet:")
	for _, c := range commands {
		p.Blank()
		title := page.Name(prompt.Title(c.Title, values).Text)
		if c.Check != "" {
			title += ": check " + page.Argument(c.Check) + ", at each attempt to hand in the step"
		}
		p.Text("  ", title)
		Command(p, "    ", c.Argv, c.Cwd, c.Env)
		for _, path := range c.Placeholders {
			fillsIn(p, "      ", path, values)
		}
		for _, pin := range c.Pins {
			p.Verbatim("    "+p.Dim("  with the content of "), page.Argument(pin), page.Plain)
		}
		for _, key := range slices.Sorted(maps.Keys(c.Outputs)) {
			p.Verbatim("    "+p.Dim("  sets "), page.Argument(key)+" from "+page.Argument(c.Outputs[key]), page.Plain)
		}
	}
	p.Blank()
	if slices.ContainsFunc(commands, func(c catalog.Command) bool { return len(c.Placeholders) > 0 }) {
		p.Text("  "+p.Warn("!")+" ", "Words in {{ }} are placeholders: values of the run replace them, which agents and other "+
			"commands can set. A value never becomes a second argument.")
		p.Blank()
	}
}

// valueShownMax is the number of bytes of a value that are shown.
const valueShownMax = 200

// fillsIn writes a line about a placeholder: its path, and its present value.
func fillsIn(p *page.Page, lead, path string, values canon.Value) {
	name := "{{" + path + "}}"
	v, _ := placeholder.Lookup(values, path)
	if v.IsNull() {
		p.Verbatim(lead, page.Argument(name)+p.Dim(" is filled in when the command runs"), page.Plain)
		return
	}
	text := placeholder.Text(v)
	shown := page.Argument(reason.Truncate(text, valueShownMax))
	if len(text) > valueShownMax {
		shown += " (" + page.Plural(len(text), "byte") + ")"
	}
	p.Verbatim(lead, page.Argument(name)+" is now "+shown, page.Plain)
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

// FixedChanges writes what a person trusted before for the checks of a workflow, and what the answer would replace it by.
func FixedChanges(p *page.Page, changes []trust.Change) {
	if len(changes) == 0 {
		return
	}
	p.Text("", "This version was trusted before. Since then this changed, on which its checks depend:")
	for _, c := range changes {
		p.Verbatim("  ", c.What+" "+page.Argument(c.Name)+": "+fixedValue(c.Old)+" -> "+fixedValue(c.New), page.Plain)
	}
	p.Blank()
}

// HomeFolders warns of folders of PATH in which each program of the user can replace what checks call by name.
func HomeFolders(p *page.Page, fixed trust.Fixed) {
	folders := fixed.HomeFolders()
	if len(folders) == 0 || len(fixed.Programs) == 0 {
		return
	}
	p.Text(p.Warn("!")+" ", "Checks find the programs that their scripts call by name in PATH. These folders of it are in your home "+
		"folder, where each program that runs as you can replace them:")
	for _, dir := range folders {
		p.Verbatim("  ", page.Argument(dir), page.Plain)
	}
	p.Blank()
}

// fixedValue is a digest or value in a change.
func fixedValue(text string) string {
	if text == "" {
		return "absent"
	}
	return page.Argument(reason.Truncate(text, valueShownMax))
}
