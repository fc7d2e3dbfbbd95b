// Package prompt renders the text that an agent or person is shown for a pending step: the
// compiled prompt with values of the run's context, and all requirements on the output, so
// that nothing is checked that was not announced (docs/design.md#output-requirements).
//
// It is a pure function of a compiled workflow and a context: rendering again gives the same
// bytes. It decides nothing, and shortens only bounded parts: definitions of functions, lists
// of criteria, and recovery texts (docs/design.md#limits). The rendered sentences are part of
// the product and covered by golden tests. Start with Render and Recap.
package prompt

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// Text is the rendered text of a pending step.
type Text struct {
	Prompt   string   // at most limits.PromptBytesMax bytes
	Warnings []string // about each {{path}} that the context does not contain
	// Truncated reports that values were shortened, or that the authored text was too long.
	Truncated bool
}

// tailShare is the part of limits.PromptBytesMax that is reserved for what a caller must
// know to complete the step: its command, missing inputs and output requirements.
const tailShare = 64 << 10

// valueMin is the number of bytes to which a value is shortened at most.
const valueMin = 1 << 10

// Surroundings is what a prompt says besides the text of the workflow: a function of the log.
type Surroundings struct {
	First    bool   // the step is the first of the run: the preamble is added
	Results  string // section about the results of earlier steps, see Results
	Approval string // line about a person's approval, the last of the prompt; see Approval
	Wait     string // line about the moment until which the step waits; see Wait
	// Choices are the lists of the inputs with choicesFrom, by context key.
	Choices  map[string]choices.List
	Feedback Feedback
	// Capabilities are the statuses of the observed capabilities at the node.
	Capabilities map[string]string
}

// Feedback are the words of the person who sent the step back; zero if none did.
type Feedback struct {
	By, At, Reason string
	Unchanged      bool // the outputs are still those that were sent back
}

// lines returns the section: who sent the step back and when, and the reason as a quotation, so that it
// is not read as text of the workflow.
func (f Feedback) lines() []string {
	if f.Reason == "" {
		return nil
	}
	by := "A person"
	if decision.Name(f.By) == f.By {
		by = strconv.Quote(oneLine(f.By))
	}
	head := fmt.Sprintf("%s sent this step back at %s. These are their words:", by, f.At)
	foot := "Other outputs were handed in since."
	if f.Unchanged {
		foot = "Change what they ask for and hand in the step again: the same outputs are not accepted."
	}
	return append(append([]string{head, ""}, quoteAll(f.Reason)...), "", foot)
}

// Approval renders the line about the approval that a step waits for, or has, with the command
// that approves it. more says whose approvals are missing, "" for one of any person.
func Approval(run string, approved bool, more string) string {
	if approved {
		return "- A person approved the outputs with `waybill approve " + run +
			"`: send the next attempt without new outputs, which would void the approval"
	}
	line := "- A person must approve the outputs at a terminal, after they were sent: `waybill approve " + run + "`"
	if more != "" {
		line += "\n- Still needed: " + more
	}
	return line
}

// Wait renders the line about the moment until which a step waits, an RFC 3339 text, with the
// commands that continue the run.
func Wait(run, until string) string {
	return "- The run waits until " + until + ". Nothing has to be done until then: `waybill due --run` continues " +
		"every run whose wait is over, and so does `waybill run --run " + run + "` for this one"
}

// Render returns the text for a pending step. vars is the node's context with the variables
// of the loops around the step (interpreter.Variables). The parts have a fixed order: preamble,
// role, prompt, applicable fragments, guidance, functions, files, preferred capabilities, results of earlier steps,
// command, host step or wait, checks, missing inputs, output requirements, approval. Parts that the step does not have are
// omitted.
//
// The text is counted before it is built: if its values exceed the budget, they are known by
// their sizes only, and a second pass inserts them shortened (docs/design.md#rendered-text).
func Render(c compile.Compiled, step compile.Step, vars canon.Value, around Surroundings) Text {
	f := newFiller(vars, limits.PromptBytesMax)
	text, size := assemble(c, step, f, around)
	if !f.over && size <= limits.PromptBytesMax {
		text, cut := fit(text)
		return Text{Prompt: text, Warnings: f.warnings(), Truncated: cut}
	}
	// What the text takes without the values that the first pass inserted.
	authored := size - (limits.PromptBytesMax - f.left)
	short := newFiller(vars, max(0, limits.PromptBytesMax-authored))
	// With very many values a few are readable, rather than a few bytes of each.
	short.most = max(share(f.sizes, short.left), valueMin)
	text, _ = assemble(c, step, short, around)
	text, _ = fit(text)
	return Text{Prompt: text, Warnings: short.warnings(), Truncated: true}
}

// jsonShare is what a prompt may take of limits.AnswerBytesMax: the rest is for blockers, the
// recovery text, warnings and tokens, each of which has a bound of its own.
const jsonShare = limits.AnswerBytesMax * 3 / 4

// fit truncates a text whose JSON string is longer than jsonShare, as one of control characters
// is. It reports whether it did.
func fit(text string) (string, bool) {
	size := 0
	for i, r := range text {
		// The longest escape of a character has six bytes in each UTF-16 unit.
		switch {
		case r == '"' || r == '\\' || r == '\n' || r == '\t' || r == '\r':
			size += 2
		case r < ' ' || r >= utf8.RuneSelf:
			size += 6 * utf16.RuneLen(r)
		default:
			size++
		}
		if size > jsonShare {
			return reason.Truncate(text, i), true
		}
	}
	return text, false
}

// assemble builds the text with the values that f inserts, truncated to
// limits.PromptBytesMax. size is its length before that.
func assemble(c compile.Compiled, step compile.Step, f *filler, around Surroundings) (text string, size int) {
	var p page
	if around.First {
		p.add(Preamble(c))
	}
	// The step's role replaces the workflow's.
	if role := cmp.Or(step.AgentRole, c.AgentRole); role != "" {
		p.add("Role: " + f.fill(role))
	}
	p.add(f.fill(step.Prompt))
	for _, fragment := range step.PromptFragments {
		// Conditions of fragments read the same variables as placeholders.
		if fragment.Holds(f.vars) {
			p.add(f.fill(fragment.Text))
		}
	}
	p.section("Guidance", bullets(f.fillAll(step.Guidance)))
	p.add(functions("Functions", step.Functions, f, limits.FunctionsBytesMax))
	if step.AskForFiles {
		p.section("Files", []string{"Ask for the files that this step needs before you begin."})
	}
	p.section("Capabilities", preferred(c, step, around.Capabilities))
	p.add(around.Results)
	var tail page
	if step.Action != nil {
		tail.section("Command", describe(*step.Action, step.Outputs, c.Form2()))
	}
	tail.section("Checks", checks(step.Checks))
	tail.section("Sent back", around.Feedback.lines())
	if step.Host != nil {
		tail.section("Host", hosted(*step.Host))
	}
	if around.Wait != "" {
		tail.section("Wait", []string{around.Wait})
	}
	// Last in the body, next to the requirements: these inputs block the step.
	tail.section("Needed before this step can be left", inputs(choices.Needed(c, step, f.vars, around.Choices)))
	needed := requirements(c, step, f, around.Approval)
	rest := reason.Truncate(tail.text(), tailShare-min(len(needed), tailShare/2))
	if len(needed) > tailShare-len(rest) {
		last := "\n" + around.Approval // which is never cut
		needed = strings.TrimSuffix(reason.Truncate(needed, tailShare-len(rest)-len(last))+last, "\n")
	}
	// The rest has its place also after an authored text that is too long by itself.
	body := p.text()
	if body != "" && rest != "" {
		rest = "\n\n" + rest
	}
	size = len(body) + len(rest) + len(needed)
	return reason.Truncate(body, limits.PromptBytesMax-len(rest)-len(needed)) + rest + needed, size
}

// page joins parts with one empty line between them.
type page struct{ parts []string }

// add skips empty parts, so that no heading appears without text.
//
//go:noinline
func (p *page) add(part string) {
	if part = strings.TrimRight(part, " \t\n"); part != "" {
		p.parts = append(p.parts, part)
	}
}

// section adds a heading with lines, or nothing if there are no lines.
func (p *page) section(heading string, lines []string) {
	if len(lines) > 0 {
		p.add("## " + heading + "\n\n" + strings.Join(lines, "\n"))
	}
}

// text returns the page without a final newline.
func (p *page) text() string { return strings.Join(p.parts, "\n\n") }

// bullets formats items as a Markdown list.
func bullets(items []string) []string {
	out := make([]string, len(items))
	for i, s := range items {
		out[i] = "- " + s
	}
	return out
}

// inputs lists the inputs that need a value by context key, which is what a caller sets. The choices
// of a workflow are its text, those of a result are quoted.
func inputs(needed []choices.Input) []string {
	var out []string
	for _, in := range needed {
		s := fmt.Sprintf("- %s (context key %s", in.Description, in.ContextKey)
		if !in.Wrong.IsNull() {
			s += fmt.Sprintf(", now %s, which is not accepted", in.Value())
		}
		switch {
		case in.Accepts.Why != "":
			s += "; " + in.Accepts.Why
		case in.ChoicesFrom != nil:
			s += "; one of " + in.Accepts.Shown(limits.ChoicesShownBytesMax)
		case len(in.Choices) > 0:
			s += "; one of " + strings.Join(in.Choices, ", ")
		}
		out = append(out, s+")")
	}
	return out
}
