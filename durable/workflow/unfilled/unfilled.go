// Package unfilled reports placeholders for which a workflow has no source of a value
// (docs/design.md#values-in-commands). It is advice for authors: `waybill workflows validate` shows
// it, and nothing else depends on it, since any caller may set any context key.
package unfilled

import (
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Check returns a warning for each placeholder of a valid workflow that nothing fills: in commands
// those that no input, loop, output of a command or required output of a prompt names, since a step
// with a command waits until it has the value. An agent that reads prompts may set any key that they
// name, so that in titles and prompts a key that some text of the workflow mentions counts too.
func Check(src source.Source, c compile.Compiled) []problem.Problem {
	k := check{known: map[string]bool{}, mentioned: map[string]bool{}}
	for _, in := range c.Inputs {
		k.known[in.ContextKey] = true
	}
	k.sources(c.Steps)
	for _, l := range c.Loops {
		k.sources(l.Body)
	}
	if v, err := canon.Parse(c.Bytes()); err == nil {
		k.mentions("", v)
	}
	k.steps(src.Steps, nil)
	k.injected(src, c)
	problem.Sort(k.found)
	return k.found
}

// check collects the warnings of one workflow.
type check struct {
	known     map[string]bool // context keys that something sets
	mentioned map[string]bool // words by which a text may tell a reader to set a key
	found     []problem.Problem
}

// sources records the context keys that steps require or set.
func (k *check) sources(steps []compile.Step) {
	for _, s := range steps {
		for _, in := range s.Inputs {
			k.known[in.ContextKey] = true
		}
		for key := range s.Outputs {
			k.known[key] = true
		}
		if s.PromptBlocks != nil {
			for key := range s.PromptBlocks.OutputRequired {
				k.known[key] = true
			}
		}
	}
}

// names matches what a text may mean as a name: a word in quotes or before "=" or ":", and a word that
// is no word of a sentence.
var names = pattern.New("[`\"'][A-Za-z_][A-Za-z0-9_.-]*[`\"']|[A-Za-z_][A-Za-z0-9_]*[=:]|[A-Za-z0-9_]*[a-z0-9_][A-Z_][A-Za-z0-9_]*")

// pathKeys are members of a compiled workflow whose text is the path of a context value.
var pathKeys = []string{"var", "items", "count"}

// mentions records the names in all texts of a value, the member key of an object.
func (k *check) mentions(key string, v canon.Value) {
	if v.Kind() == canon.String {
		text := placeholder.Replace(v.Text(), func(placeholder.Part) string { return " " })
		words := names.FindAllString(text, -1)
		if slices.Contains(pathKeys, key) {
			words = append(words, text)
		}
		for _, word := range words {
			first, _, _ := strings.Cut(strings.Trim(word, "`\"'=:"), ".")
			k.mentioned[first] = true
		}
	}
	for i := range v.Len() {
		if v.Kind() == canon.Object {
			key = v.Key(i)
		}
		k.mentions(key, v.Item(i))
	}
}

// steps checks the steps of a sequence. loops are the variables of the loops around it.
func (k *check) steps(list []source.PlacedStep, loops []string) {
	for _, s := range list {
		inside := loops
		if s.Loop != nil {
			inside = append(slices.Clone(loops), s.Loop.IterationVar, s.Loop.ItemVar, s.Loop.IndexVar)
		}
		for _, name := range []string{"title", "agentRole", "prompt", "promptBlocks", "guidance"} {
			k.texts(s.At.Member(name), inside)
		}
		for _, fragment := range s.At.Member("promptFragments").Items() {
			k.texts(fragment.Member("text"), inside)
		}
		if s.Wait != nil {
			k.command(s.At.Member("action").Member("until"), s.Wait.Until, loops)
		}
		if s.Action != nil && !s.Action.Literal {
			k.action(s.At.Member("action"), loops)
		}
		for _, check := range s.At.Member("checks").Items() {
			k.action(check, loops)
		}
		k.steps(s.Body, inside)
	}
}

// texts checks all texts of a value that a person or an agent reads.
func (k *check) texts(at problem.SourceValue, loops []string) {
	for _, path := range placeholder.Paths(at.Value.Text()) {
		first, _, _ := strings.Cut(path, ".")
		if !k.fills(path, loops) && !k.mentioned[first] {
			k.warn(at, path, "it is shown as written")
		}
	}
	for _, item := range at.Items() {
		k.texts(item, loops)
	}
	for _, name := range at.Names() {
		k.texts(at.Member(name), loops)
	}
}

// action checks the texts of a command.
func (k *check) action(at problem.SourceValue, loops []string) {
	for _, element := range at.Member("argv").Items() {
		k.command(element, element.Value.Text(), loops)
	}
	k.command(at.Member("cwd"), at.Member("cwd").Value.Text(), loops)
	for _, name := range at.Member("env").Names() {
		k.command(at.Member("env").Member(name), at.Member("env").Member(name).Value.Text(), loops)
	}
}

// command checks a text of a command.
func (k *check) command(at problem.SourceValue, text string, loops []string) {
	for _, path := range placeholder.Paths(text) {
		if !k.fills(path, loops) {
			k.warn(at, path, "the step waits for the value")
		}
	}
}

// injected checks the commands of the steps that a template put in the place of a call.
func (k *check) injected(src source.Source, c compile.Compiled) {
	calls := map[string]problem.SourceValue{}
	var collect func([]source.PlacedStep)
	collect = func(list []source.PlacedStep) {
		for _, s := range list {
			if s.At.Has("templateCall") {
				calls[s.ID] = s.At.Member("templateCall")
			}
			collect(s.Body)
		}
	}
	collect(src.Steps)
	visit := func(steps []compile.Step) {
		for _, s := range steps {
			if s.Action == nil || s.Provenance.Source != compile.TemplateInjected {
				continue
			}
			for id, at := range calls {
				if strings.HasPrefix(s.StepID, id+"_") {
					for _, path := range s.Action.Placeholders() {
						if !k.fills(path, loopsAround(c, s.StepID)) {
							k.warn(at, path, "step "+strconv.Quote(s.StepID)+" waits for the value")
						}
					}
				}
			}
		}
	}
	visit(c.Steps)
	for _, l := range c.Loops {
		visit(l.Body)
	}
}

// loopsAround returns the variables of the loops around a compiled step.
func loopsAround(c compile.Compiled, stepID string) (out []string) {
	for at, ok := c.StepPlace(stepID); ok && at.LoopID != ""; at, ok = c.StepPlace(at.LoopID) {
		l, _ := c.Loop(at.LoopID)
		out = append(out, l.IterationVar, l.ItemVar, l.IndexVar)
	}
	return out
}

// fills reports whether a key at the beginning of a path has a source. Keys may contain dots.
func (k *check) fills(path string, loops []string) bool {
	for key := path; ; {
		if k.known[key] || slices.Contains(loops, key) {
			return true
		}
		dot := strings.LastIndexByte(key, '.')
		if dot < 0 {
			return false
		}
		key = key[:dot]
	}
}

// foundMax bounds the warnings of one workflow: a file can have as many placeholders as it has words.
const foundMax = 100

// warn reports a placeholder that nothing fills.
func (k *check) warn(at problem.SourceValue, path, effect string) {
	if len(k.found) == foundMax {
		return
	}
	problem.Report(func(p problem.Problem) { k.found = append(k.found, p) }).
		Warn(at, `Declare the key under "inputs", or set it by "outputs" of a command.`,
			"nothing fills {{%s}}: no input, loop or output has this name; %s", path, effect)
}
