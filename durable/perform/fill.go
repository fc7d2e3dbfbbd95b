package perform

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/run/choices"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/ports"
)

// fill fills the placeholders of the step's command from the context
// (docs/design.md#values-in-commands). A value that is missing is asked for if a
// person is present; otherwise the step is not performed and nothing is
// recorded. It follows the declared inputs and precedes the confirmation, which
// shows the command as it will run.
func (c *commandRun) fill(ctx context.Context, req *advance.Request) error {
	if !c.mustRun(req.Context) {
		return nil
	}
	for {
		filled, err := c.fillAction(req.Context)
		var why *command.Unfilled
		if !errors.As(err, &why) {
			c.filled = filled
			c.Display.Filled(TryView{Argv: filled.Argv, Cwd: filled.Cwd, Env: filled.Env})
			return err
		}
		if !c.Person.Present() || !c.isAbsentKey(why.Key, req.Context) {
			return c.unfilled(why)
		}
		text, err := c.Person.Ask(ctx, ports.Question{Key: why.Key,
			Text: cmp.Or(c.inputOf(why.Key).Description, "The command of this step needs a value")})
		if err != nil {
			return err
		}
		req.Context = req.Context.With(why.Key, inputValue(choices.Input{}, text))
	}
}

// fillAction fills the command with the context after a delta. Workflows in
// form 1 run their commands as written.
func (c *commandRun) fillAction(given canon.Value) (command.Filled, error) {
	action := *c.step.Action
	action.Literal = action.Literal || !c.flow.Form2()
	return command.Fill(action, c.varsWith(given))
}

// isAbsentKey reports that a placeholder is a context key without a value, which
// an answer can set: not a path into a value, and not a variable of a loop.
func (c *commandRun) isAbsentKey(path string, given canon.Value) bool {
	v, _ := placeholder.Lookup(c.varsWith(given), path)
	return v.IsNull() && !strings.Contains(path, ".") && c.loopOf(path) == ""
}

// loopOf returns the id of the loop around the step that sets a variable, "" if
// none does.
func (c *commandRun) loopOf(name string) string {
	for _, around := range c.loops() {
		if l, ok := c.flow.Loop(around.LoopID); ok && slices.Contains([]string{l.ItemVar, l.IndexVar, l.IterationVar}, name) {
			return l.LoopID
		}
	}
	return ""
}

// inputOf returns the declared input of a context key, the zero value without
// one.
func (c *commandRun) inputOf(key string) source.Input {
	for _, in := range append(slices.Clone(c.step.Inputs), c.flow.Inputs...) {
		if in.ContextKey == key {
			return in
		}
	}
	return source.Input{}
}

// outside is the refusal of a folder that links lead out of the project.
func (c *commandRun) outside() *command.Unfilled {
	return &command.Unfilled{Place: "cwd", Key: cmp.Or(slices.Concat(placeholder.Paths(c.step.Action.Cwd), []string{""})[0]),
		Why: "would lead out of the project's folder"}
}

// unfilled is RUN_WAITING for a command whose placeholder has no value that may
// be used. It names the key and where a value can come from, not the value.
func (c *commandRun) unfilled(why *command.Unfilled) error {
	key, _, _ := strings.Cut(why.Key, ".")
	f := c.waitingFault(fmt.Sprintf("cannot run its command: {{%s}} in %s %s%s", why.Key, why.Place, why.Why, c.origin(key)),
		"Continue with %s, or set it without performing the step: %s.", c.continueLine("--set", key+"=VALUE"),
		c.SubmitLine(c.report.Run, "--set", key+"=VALUE"))
	if id := c.loopOf(key); id != "" {
		f = c.waitingFault(fmt.Sprintf("cannot run its command: {{%s}} in %s %s%s", why.Key, why.Place, why.Why, c.origin(key)),
			"Correct the list of the loop %q, and continue with %s.", id, c.continueLine())
	}
	return fault.Of(f).With("inputs", []string{key}).With("placeholder", why.Key).With("place", why.Place).
		With("why", why.Why)
}

// origin describes where the value of a context key comes from, as an addition
// to a sentence: a declared input, a loop or the outputs of steps.
func (c *commandRun) origin(key string) string {
	if in := c.inputOf(key); in.ContextKey != "" {
		return fmt.Sprintf(" (%s: %s)", key, in.Description)
	}
	if id := c.loopOf(key); id != "" {
		return fmt.Sprintf(" (%s is a variable of the loop %q)", key, id)
	}
	var steps []string
	for _, step := range everyStep(c.flow) {
		if slices.Contains(slices.Collect(maps.Keys(step.Outputs)), key) {
			steps = append(steps, step.StepID)
		}
	}
	if steps != nil {
		return fmt.Sprintf(" (%s is an output of %s)", key, strings.Join(steps, ", "))
	}
	return ""
}

// everyStep returns the steps of the main sequence and of all loops.
func everyStep(w compile.Compiled) []compile.Step {
	out := slices.Clone(w.Steps)
	for _, l := range w.Loops {
		out = append(out, l.Body...)
	}
	return out
}
