package source

import (
	"path"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// checkAction checks the command of a step. A wait and a host step have rules of their own.
func checkAction(step problem.SourceValue, report problem.Report) {
	at := step.Member("action")
	switch {
	case isWait(at):
		checkWait(step, report)
		return
	case hoststep.Is(at):
		hoststep.CheckStep(step, report)
		return
	}
	checkCommand(at, report)
	if folder := at.Member("cwd"); placeholder.In(folder.Value.Text()) && !Below(folder.Value.Text()) &&
		!at.Member("literal").Value.True() {
		report.Error(folder, "Write a path that is relative to the folder of the run and stays below it.",
			"a cwd with a value is a relative path that does not lead out of the project, got %s", shape.Got(folder))
	}
}

// checkCommand requires a program name, reserves the environment variables with the prefix
// WAYBILL_, which the performer sets for the command, and refuses placeholders where a value
// would become a program, code or a path to it (docs/design.md#values-in-commands).
func checkCommand(at problem.SourceValue, report problem.Report) {
	argv, env := at.Member("argv").Items(), at.Member("env")
	if len(argv) > 0 && argv[0].Value.Text() == "" {
		report.Error(argv[0], "Write the program to run.", "the first member of argv names the program, got %s",
			shape.Got(argv[0]))
	}
	for _, name := range env.Names() {
		if strings.HasPrefix(name, "WAYBILL_") {
			report.Error(env.Member(name), "Choose another name.",
				"environment variables that start with WAYBILL_ are set by Waybill, got %q", name)
		}
	}
	if at.Member("literal").Value.True() {
		return
	}
	texts := textsOf(argv)
	for _, r := range placeholder.CheckArgv(texts) {
		report.Error(argv[r.Index], r.Fix, "{{%s}} cannot be filled here: the element %s",
			placeholder.Paths(texts[r.Index])[0], r.Why)
	}
	for _, name := range env.Names() {
		paths := placeholder.Paths(env.Member(name).Value.Text())
		if len(paths) > 0 && placeholder.CodeVariable(name) && !strings.HasPrefix(name, "WAYBILL_") {
			report.Error(env.Member(name), "Write the value, or choose another variable.",
				"{{%s}} cannot be filled here: programs read %s as code or as a path to it", paths[0], name)
		}
	}
}

// textsOf returns the texts of a list.
func textsOf(items []problem.SourceValue) []string {
	texts := make([]string, len(items))
	for i, item := range items {
		texts[i] = item.Value.Text()
	}
	return texts
}

// Below reports whether a folder with placeholders may be relative and below the root, with any
// values.
func Below(folder string) bool {
	clean := path.Clean(placeholder.Replace(strings.ReplaceAll(folder, `\`, "/"), func(placeholder.Part) string { return "x" }))
	return !path.IsAbs(clean) && clean != ".." && !strings.HasPrefix(clean, "../")
}

// checkResults reports outputs without a command, and those that a loop around the step hides.
func (r *stepRules) checkResults(at problem.SourceValue) {
	outputs := at.Member("outputs")
	if !at.Has("outputs") || outputs.Value.Kind() != canon.Object {
		return
	}
	if action := at.Member("action"); !at.Has("action") || isWait(action) || hoststep.Is(action) {
		r.report.Error(outputs, `Add "action", or remove the outputs: a step for a person or an agent sets context itself.`,
			"outputs are what a command sets, and the step has none")
	}
	for _, name := range outputs.Names() {
		for _, loop := range r.outer {
			l, _ := r.src.LoopAt(loop)
			for _, v := range l.variables() {
				if v.name == name {
					r.report.Warn(outputs.Member(name), "Choose another key.",
						"inside the loop %q the steps read its variable %s instead of this output", loop.Member("id").Value.Text(), name)
				}
			}
		}
	}
}
