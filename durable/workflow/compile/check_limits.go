package compile

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/source"
)

// ErrLimits is wrapped by Decode for a workflow of this format that breaks the sizes, counts
// or ids of package limits. No version of the compiler wrote it: it can be shown, as far as
// DecodeForeign reads it, and no attempt at it is accepted (docs/design.md#rendered-text).
var ErrLimits = errors.New("the workflow exceeds the limits of every compiler")

// checkSize bounds the bytes and the values of a document before it is parsed.
func checkSize(data []byte) error {
	switch n := canon.CountValues(data); {
	case len(data) > limits.CompiledBytesMax:
		return fmt.Errorf("it has %d bytes, at most %d are accepted", len(data), limits.CompiledBytesMax)
	case n > limits.WorkflowValuesMax:
		return fmt.Errorf("it has %d values, at most %d are accepted", n, limits.WorkflowValuesMax)
	}
	return nil
}

// checkLimits checks what bounds a compiled workflow, independent of its author. It repeats no lints,
// and none of the rules that prepare checks.
func (d *Document) checkLimits() error {
	if d.WorkflowID != "" && source.IDStatus(d.WorkflowID) == "" || len(d.WorkflowID) > limits.WorkflowIDBytesMax {
		return fmt.Errorf("workflowId %q is not an id", reason.Clip(d.WorkflowID, 2*limits.WorkflowIDBytesMax))
	}
	steps := len(d.Steps)
	for _, l := range d.Loops {
		steps += len(l.Body)
	}
	for _, count := range []struct {
		what    string
		n, most int
	}{
		{"steps", steps, limits.WorkflowStepsMax}, {"loops", len(d.Loops), limits.WorkflowStepsMax},
		{"conditions", len(d.Conditions), limits.WorkflowStepsMax},
		{"bytes in its name", len(d.Name), limits.StepTitleBytesMax},
		{"bytes in its description", len(d.Description), limits.DescriptionBytesMax},
		{"bytes in its version", len(d.Version), limits.StepTitleBytesMax},
		{"inputs", len(d.Inputs), limits.InputsMax},
	} {
		if count.n > count.most {
			return fmt.Errorf("it has %d %s, at most %d are accepted", count.n, count.what, count.most)
		}
	}
	for _, p := range d.Contracts {
		if _, known := contract.Builtin(p.ContractRef); !known {
			return fmt.Errorf("contract %q is not known", reason.Clip(p.ContractRef, limits.StepTitleBytesMax))
		}
	}
	for _, n := range d.Conditions {
		if !validID(n.ConditionID) {
			return fmt.Errorf("condition id %q is not an id", reason.Clip(n.ConditionID, limits.StepIDBytesMax))
		}
	}
	if err := checkInputs(d.Inputs); err != nil {
		return err
	}
	for i := range d.Steps {
		if err := d.Steps[i].checkLimits(); err != nil {
			return err
		}
	}
	for i := range d.Loops {
		if err := d.Loops[i].checkLimits(); err != nil {
			return err
		}
	}
	return nil
}

// validID reports an id of a step, loop or condition: of the alphabet, and not too long.
func validID(id string) bool { return reason.ValidStepID(id) && len(id) <= limits.StepIDBytesMax }

// checkLimits checks a loop and the steps of its body.
func (l *Loop) checkLimits() error {
	if !validID(l.LoopID) {
		return fmt.Errorf("loop id %q is not an id", reason.Clip(l.LoopID, limits.StepIDBytesMax))
	}
	switch {
	case l.MaxIterations > limits.LoopIterationsMax:
		return fmt.Errorf("loop %q: maxIterations %d, want at most %d", l.LoopID, l.MaxIterations, limits.LoopIterationsMax)
	case l.Count.Float() > limits.LoopIterationsMax:
		return fmt.Errorf("loop %q: count %v, want at most %d", l.LoopID, l.Count.Float(), limits.LoopIterationsMax)
	case len(l.Title) > limits.CompiledTitleBytesMax:
		return fmt.Errorf("loop %q: a title of %d bytes", l.LoopID, len(l.Title))
	}
	for _, name := range []string{l.IterationVar, l.ItemVar, l.IndexVar} {
		if name != "" && !variableName.MatchString(name) {
			return fmt.Errorf("loop %q: %q is not the name of a variable", l.LoopID,
				reason.Clip(name, limits.StepTitleBytesMax))
		}
	}
	for i := range l.Body {
		if err := l.Body[i].checkLimits(); err != nil {
			return fmt.Errorf("loop %q: %w", l.LoopID, err)
		}
	}
	return nil
}

// Names that other programs read: variables of the context and of the environment.
var (
	variableName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	contextKey   = pattern.New(`^[A-Za-z_][A-Za-z0-9_.-]{0,127}$`)
)

// checkLimits checks one step.
func (s *Step) checkLimits() error {
	if !validID(s.StepID) {
		return fmt.Errorf("step id %q is not an id", reason.Clip(s.StepID, limits.StepIDBytesMax))
	}
	for _, size := range []struct {
		what    string
		n, most int
	}{
		{"bytes in its title", len(s.Title), limits.CompiledTitleBytesMax},
		{"bytes in its prompt", len(s.Prompt), limits.PromptBytesMax},
		{"bytes in its role", len(s.AgentRole), limits.PromptBytesMax},
		{"inputs", len(s.Inputs), limits.InputsMax},
		{"outputs", len(s.Outputs), limits.InputsMax},
	} {
		if size.n > size.most {
			return fmt.Errorf("step %q has %d %s, at most %d are accepted", s.StepID, size.n, size.what, size.most)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(s.Outputs)) {
		if from := s.Outputs[key]; !source.ValidOutput(key, from) {
			return fmt.Errorf("step %q: the output %q is no context key, or its place %q is not known", s.StepID,
				reason.Clip(key, limits.StepTitleBytesMax), reason.Clip(from, limits.StepTitleBytesMax))
		}
	}
	err := checkInputs(s.Inputs)
	if err == nil && s.Action != nil {
		err = checkAction(*s.Action)
	}
	if err == nil {
		err = checkChecks(s.Checks)
	}
	if err != nil {
		return fmt.Errorf("step %q: %w", s.StepID, err)
	}
	return nil
}

// checkInputs checks the keys and texts of declared inputs.
func checkInputs(list []source.Input) error {
	for _, in := range list {
		if !contextKey.MatchString(in.ContextKey) || len(in.Description) > limits.DescriptionBytesMax {
			return fmt.Errorf("the input %q has no valid key, or a description of more than %d bytes",
				reason.Clip(in.ContextKey, limits.StepTitleBytesMax), limits.DescriptionBytesMax)
		}
		if from := in.ChoicesFrom; from != nil && (!validID(from.Step) || !from.ValidPointer()) {
			return fmt.Errorf("the input %q: choicesFrom with the step %q and the pointer %q", in.ContextKey,
				reason.Clip(from.Step, limits.StepTitleBytesMax), reason.Clip(from.Pointer, limits.StepTitleBytesMax))
		}
	}
	return nil
}

// checkAction checks that an operating system can perform a command as it is written, and
// the bounds of its time and tries. A timeout of zero is none.
func checkAction(a source.Action) error {
	texts := append(slices.Clone(a.Argv), a.Cwd)
	for name, value := range a.Env {
		texts = append(texts, value)
		if !variableName.MatchString(name) || strings.HasPrefix(name, "WAYBILL_") {
			return fmt.Errorf("%q cannot be set in the environment of a command",
				reason.Clip(name, limits.StepTitleBytesMax))
		}
	}
	switch {
	case len(a.Argv) == 0 || a.Argv[0] == "":
		return errors.New("the command names no program")
	case slices.ContainsFunc(texts, func(s string) bool { return strings.ContainsRune(s, 0) }):
		return errors.New("a text of the command contains NUL")
	case len(a.Cwd) > limits.PathMax:
		return fmt.Errorf("cwd has %d bytes, at most %d are accepted", len(a.Cwd), limits.PathMax)
	case a.TimeoutSeconds < 0 || a.TimeoutSeconds > limits.CommandTimeoutSecondsMax:
		return fmt.Errorf("timeoutSeconds %d, want at most %d", a.TimeoutSeconds, limits.CommandTimeoutSecondsMax)
	}
	if r := a.Retry; r != nil && (r.MaxAttempts < 1 || r.MaxAttempts > limits.CommandAttemptsMax ||
		r.BackoffSeconds < 0 || r.BackoffSeconds > limits.CommandBackoffSecondsMax) {
		return fmt.Errorf("retry of %d tries with %d seconds between them", r.MaxAttempts, r.BackoffSeconds)
	}
	return nil
}

// checkTexts bounds every string of a document and the names of its members, wherever they
// are.
func checkTexts(v canon.Value) error {
	if len(v.Text()) > limits.PromptBytesMax {
		return fmt.Errorf("a text of %d bytes, at most %d are accepted", len(v.Text()), limits.PromptBytesMax)
	}
	for i := range v.Len() {
		if v.Kind() == canon.Object && len(v.Key(i)) > limits.CompiledTitleBytesMax {
			return fmt.Errorf("a name of %d bytes", len(v.Key(i)))
		}
		if err := checkTexts(v.Item(i)); err != nil {
			return err
		}
	}
	return nil
}

// wholeNumbers are the members of a document whose Go type cannot hold every number of JSON.
var wholeNumbers = []string{"timeoutSeconds", "backoffSeconds", "maxAttempts", "maxIterations"}

// numbered are the members of a document that lead to wholeNumbers. Conditions, contracts and
// metadata contain values of the author, in which the same names have no meaning.
var numbered = []string{"steps", "loops", "body", "action", "retry"}

// checkNumbers refuses numbers beyond any limit before they are decoded: a decoder would
// report that the document has another form.
func checkNumbers(v canon.Value) error {
	for i := range v.Len() {
		item := v.Item(i)
		if v.Kind() == canon.Object && item.Kind() == canon.Number && slices.Contains(wholeNumbers, v.Key(i)) &&
			(item.Float() < 0 || item.Float() > math.MaxInt32) {
			return fmt.Errorf("%s %v", v.Key(i), item.Float())
		}
		if v.Kind() == canon.Object && !slices.Contains(numbered, v.Key(i)) {
			continue
		}
		if err := checkNumbers(item); err != nil {
			return err
		}
	}
	return nil
}
