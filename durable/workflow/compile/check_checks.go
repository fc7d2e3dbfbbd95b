package compile

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/durable/workflow/source"
)

// checkChecks checks the checks of a step: their commands, ids and pins, and that each place is below the root of the
// project.
func checkChecks(all []source.Check) error {
	if len(all) > limits.ChecksMax {
		return fmt.Errorf("%d checks, at most %d are accepted", len(all), limits.ChecksMax)
	}
	ids := map[string]bool{}
	for _, c := range all {
		if !reason.ValidCheckID(c.ID) || ids[c.ID] {
			return fmt.Errorf("the check %q has no id of its own", reason.Clip(c.ID, limits.StepTitleBytesMax))
		}
		ids[c.ID] = true
		err := checkAction(c.Action())
		if err == nil {
			err = checkOne(c)
		}
		if err != nil {
			return fmt.Errorf("check %q: %w", c.ID, err)
		}
	}
	return nil
}

// checkOne returns an error for places that are not below the root of the project, and for an expectation without a
// comparison, of a compiled workflow.
func checkOne(c source.Check) error {
	switch {
	case !source.Below(c.Cwd) || strings.Contains(c.Argv[0], "/") && placeholder.In(c.Cwd):
		return errors.New("its cwd is not a directory below the project")
	case placeholder.In(c.Argv[0]):
		return errors.New("its program has a placeholder")
	case len(c.Pins) > limits.PinsMax:
		return fmt.Errorf("%d pins, at most %d are accepted", len(c.Pins), limits.PinsMax)
	case slices.ContainsFunc(c.Pins, func(p string) bool { return !source.ValidPin(p) }):
		return errors.New("a pin is not the path of a file below the project")
	}
	e := c.Expect
	switch {
	case e == nil:
		return nil
	case e.Exit != nil && (*e.Exit < 0 || *e.Exit > 255):
		return errors.New("it expects an exit status that is none")
	case e.Stdout != nil && (!pointerText.MatchString(e.Stdout.Pointer) || len(e.Stdout.Pointer) > limits.PathMax || !compares(*e.Stdout)):
		return errors.New("what it expects of stdout compares nothing, or has no valid pointer")
	case e.Tests != nil && slices.ContainsFunc([]*int{e.Tests.Min, e.Tests.Failed, e.Tests.Skipped}, func(n *int) bool {
		return n != nil && (*n < 0 || *n > limits.TestReportTestsMax)
	}):
		return errors.New("it expects a number of tests that is none")
	}
	return nil
}

// pointerText matches a JSON pointer.
var pointerText = pattern.New(`^(/([^~/]|~[01])*)*$`)

// compares reports that a value is compared with something.
func compares(e source.ExpectStdout) bool {
	isNumber := func(v canon.Value) bool { return v.IsNull() || v.Kind() == canon.Number }
	return isNumber(e.GTE) && isNumber(e.LTE) && (!e.Equals.IsNull() || !e.GTE.IsNull() || !e.LTE.IsNull() || !e.Contains.IsNull())
}
