package event

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
)

// WarningCode is the closed set of warnings that are recorded with a decision.
type WarningCode string

// The warning codes.
const (
	// ConditionMatchedLoosely: two values were equal only by the loose rule of conditions.
	ConditionMatchedLoosely WarningCode = "CONDITION_MATCHED_LOOSELY"
	// OutputUndeclared: a command wrote a member to WAYBILL_OUTPUT that its step does not declare.
	OutputUndeclared WarningCode = "OUTPUT_UNDECLARED"
)

// DecisionWarning is what a decision accepted and its caller should know: answers and replays repeat
// it from the log (docs/design.md#answers). Of a loose match Path is the context path of the
// variable; Expected is the value in the condition and Got the value in the context, each a text, a
// number or a boolean. Of an undeclared output Path is the name of the member.
type DecisionWarning struct {
	Code     WarningCode `json:"code"`
	Path     string      `json:"path"`
	Expected canon.Value `json:"expected,omitzero"`
	Got      canon.Value `json:"got,omitzero"`
}

// LooseMatch returns the warning about two values that are equal by the loose rule only, with
// path and texts cut to limits.WarningValueBytesMax.
func LooseMatch(path string, expected, got canon.Value) DecisionWarning {
	cut := func(v canon.Value) canon.Value {
		if v.Kind() == canon.String {
			return canon.OfString(reason.Truncate(v.Text(), limits.WarningValueBytesMax))
		}
		return v.AtLine(0)
	}
	return DecisionWarning{ConditionMatchedLoosely, reason.Truncate(path, limits.WarningValueBytesMax), cut(expected), cut(got)}
}

// Undeclared returns the warning about a member that a command wrote and its step does not declare.
func Undeclared(name string) DecisionWarning {
	return DecisionWarning{Code: OutputUndeclared, Path: reason.Truncate(name, limits.WarningValueBytesMax)}
}

// String describes the match for a decision trace: the spelling path=value is one that
// redaction recognizes. Traces are stored, so the words must not change.
func (w DecisionWarning) String() string {
	return fmt.Sprintf("%s=%s matches %s=%s", w.Path, w.Got.JCS(), w.Path, w.Expected.JCS())
}

// Message describes the warning for the caller, with what to send instead.
func (w DecisionWarning) Message() string {
	if w.Code == OutputUndeclared {
		return fmt.Sprintf("The command wrote the member %q, which no output of the step names; it is ignored. Declare it "+
			"with \"json:/…\" in the step's outputs.", w.Path)
	}
	return fmt.Sprintf("The context has %s=%s, and a condition compares it with %s: they are equal only when letter "+
		"case, blanks and type are ignored. Send %[3]s to match exactly.", w.Path, w.Got.JCS(), w.Expected.JCS())
}

// equal reports whether two warnings are the same.
func (w DecisionWarning) equal(v DecisionWarning) bool {
	return w.Code == v.Code && w.Path == v.Path && w.Expected.Equal(v.Expected) && w.Got.Equal(v.Got)
}

// AddWarnings appends the warnings that list does not contain, up to limits.WarningsMax.
func AddWarnings(list []DecisionWarning, more ...DecisionWarning) []DecisionWarning {
	for _, w := range more {
		if len(list) < limits.WarningsMax && !slices.ContainsFunc(list, w.equal) {
			list = append(list, w)
		}
	}
	return list
}

// checkWarnings returns an error for an empty list, which is not written, for more warnings than
// are recorded, and for one of another form or that occurs twice.
func checkWarnings(list []DecisionWarning) error {
	if list == nil {
		return nil
	}
	err := within("%d warnings", len(list), 1, limits.WarningsMax)
	for i, w := range list {
		err = cmp.Or(err, oneOf("warning", w.Code, ConditionMatchedLoosely, OutputUndeclared),
			errorIf(slices.ContainsFunc(list[:i], w.equal), "a warning occurs twice"),
			within("path of %d bytes", len(w.Path), 1, limits.WarningValueBytesMax), w.checkOperands())
	}
	return err
}

// checkOperands returns an error for a loose match without two values that can match, and for values
// in another warning.
func (w DecisionWarning) checkOperands() error {
	if w.Code == OutputUndeclared {
		return errorIf(!w.Expected.IsNull() || !w.Got.IsNull(), "expected and got belong to a loose match")
	}
	return cmp.Or(checkOperand("expected", w.Expected), checkOperand("got", w.Got))
}

// checkOperand returns an error for a value that matches nothing loosely, and for a long text.
func checkOperand(name string, v canon.Value) error {
	return cmp.Or(errorIf(!slices.Contains([]canon.Kind{canon.String, canon.Number, canon.Bool}, v.Kind()),
		name+" is neither a text nor a number nor a boolean"),
		within(name+" of %d bytes", len(v.Text()), 0, limits.WarningValueBytesMax))
}
