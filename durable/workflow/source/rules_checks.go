package source

import (
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/commandlint"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// checkChecks checks the checks of a step, and warns of those that prove little (docs/design.md#checks).
func checkChecks(step problem.SourceValue, report problem.Report) {
	all := step.Member("checks")
	if step.Has("checks") && step.Has("templateCall") {
		report.Error(all, "Put the checks on a step of the template.", "the steps of the template replace this one, with its checks")
	}
	for _, at := range all.Items() {
		if at.Value.Kind() != canon.Object {
			continue
		}
		checkCommand(at, report)
		checkPlaces(at, report)
		checkExpect(at.Member("expect"), report)
		warnOfCheck(at, report)
	}
}

// checkPlaces requires places below the root of the project: the directory of a check and its pins.
func checkPlaces(at problem.SourceValue, report problem.Report) {
	folder, argv := at.Member("cwd"), at.Member("argv").Items()
	if name := folder.Value.Text(); !Below(name) {
		report.Error(folder, "Write a path that is relative to the root of the project and stays below it.",
			"the cwd of a check does not lead out of the project, got %s", shape.Got(folder))
	} else if len(argv) > 0 && strings.Contains(argv[0].Value.Text(), "/") && placeholder.In(name) {
		report.Error(folder, "Write the directory, or a program without a slash.",
			"the program of the check is a path, whose directory cannot have a value")
	}
	for _, pin := range at.Member("pins").Items() {
		if name := pin.Value.Text(); name != "" && !ValidPin(name) {
			report.Error(pin, "Write the path of a file below the root of the project, with slashes and without . or .. in it.",
				"a pin is the path of a file in the project, got %s", shape.Got(pin))
		}
	}
}

// checkExpect requires a comparison of what stdout has at a place.
func checkExpect(at problem.SourceValue, report problem.Report) {
	stdout := at.Member("stdout")
	if stdout.Value.Kind() == canon.Object && !stdout.Has("equals") && !stdout.Has("gte") && !stdout.Has("lte") && !stdout.Has("contains") {
		report.Error(stdout, `Add "equals", "gte", "lte" or "contains".`, "the requirement on stdout compares nothing")
	}
	for _, name := range []string{"equals", "contains"} {
		if stdout.Has(name) && stdout.Member(name).Value.IsNull() {
			report.Error(stdout.Member(name), "Write the value that the check prints.", "null is no value to compare with")
		}
	}
}

// warnOfCheck warns of a check that cannot fail, that those who are checked can change, and whose output has no test
// report. Values are not known here: a command with placeholders has no warning.
func warnOfCheck(at problem.SourceValue, report problem.Report) {
	whole := textsOf(at.Member("argv").Items())
	if len(whole) == 0 || placeholder.In(strings.Join(whole, " ")) {
		return
	}
	expect := at.Member("expect")
	if why := commandlint.Constant(whole); why != "" {
		report.Warn(at.Member("argv"), "Run a command that depends on the project, such as its tests.",
			"the check proves nothing: %s", why)
		return
	}
	argv := commandlint.Unwrapped(whole)
	program := commandlint.Program(argv[0])
	reads := expect.Has("stdout") || expect.Has("tests")
	switch {
	case !reads && commandlint.CannotFail(whole):
		report.Warn(at.Member("argv"), "Remove what ignores the exit status.",
			"the check cannot fail: its script has exit status 0, whether or not its commands succeed")
	case !reads && commandlint.IsTestRunner(program, argv[1:]):
		report.Warn(at, `Let the tests be counted with "expect": {"tests": {"min": 1}}, where the runner can report them to stdout.`,
			"the check does not count the tests that it runs: an exit status of 0 does not show that there are any")
	}
	tests := expect.Member("tests")
	if amount := tests.Member("min"); tests.Has("min") && amount.Value.Text() == "" && string(amount.Value.JCS()) == "0" {
		report.Warn(amount, `Write the number of tests that have to pass, at least 1.`,
			"the check passes without any test")
	}
	if expect.Has("tests") && program == "go" && len(argv) > 1 && argv[1] == "test" && !slices.Contains(argv, "-json") {
		report.Warn(at.Member("argv"), `Add "-json" after "test".`,
			"go test prints no test report without -json, so that the check never passes")
	}
	warnOfPins(at, program, argv[1:], report)
}

// warnOfPins warns of files of the project that decide what a check proves and are not pinned.
func warnOfPins(at problem.SourceValue, program string, args []string, report problem.Report) {
	pins, folder := textsOf(at.Member("pins").Items()), at.Member("cwd").Value.Text()
	if name := commandlint.ProjectFile(program, args); name != "" && !path.IsAbs(name) && !slices.Contains(pins, path.Join(folder, name)) {
		report.Warn(at.Member("argv"), `Add "`+path.Join(folder, name)+`" to the pins of the check.`,
			"%s decides what the check proves, and is not pinned: it can be changed together with the work", path.Join(folder, name))
		return
	}
	if at.Member("expect").Has("tests") && len(pins) == 0 {
		report.Warn(at, `Add the files with the tests as "pins".`,
			"no file with tests is pinned: they can be changed together with the work")
	}
}
