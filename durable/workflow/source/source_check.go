package source

import (
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// Check is a command that a performer runs when the step is handed in, before the attempt is decided
// (docs/design.md#checks). Placeholders of argv, cwd and env are filled as those of an action.
type Check struct {
	// ID is unique within the step, in the grammar of step ids.
	ID string `json:"id"`
	// Argv is the program and its arguments, passed without a shell.
	Argv []string `json:"argv"`
	// Cwd is relative to the root of the project; "" is that root.
	Cwd string `json:"cwd,omitzero"`
	// Env is added to the environment that was recorded with the trust.
	Env map[string]string `json:"env,omitzero"`
	// TimeoutSeconds limits the execution; 0 is limits.CheckSecondsDefault.
	TimeoutSeconds int `json:"timeoutSeconds,omitzero"`
	// Pins are paths of files below the root of the project, with slashes. Their digests are fixed
	// when the workflow is trusted, and a check whose pins have others does not run.
	Pins []string `json:"pins,omitzero"`
	// Expect is what the command has to show; nil: exit status 0.
	Expect *Expect `json:"expect,omitzero"`
}

// Expect is what a check requires of its command. All members that are given have to hold.
type Expect struct {
	// Exit is the exit status; nil: 0.
	Exit *int `json:"exit,omitzero"`
	// Stdout is about a place in stdout, which has to be one JSON text.
	Stdout *ExpectStdout `json:"stdout,omitzero"`
	// Tests is about the test report in stdout.
	Tests *ExpectTests `json:"tests,omitzero"`
}

// ExpectStdout is a requirement on one place in a JSON text. At least one of the members beside
// Pointer is given.
type ExpectStdout struct {
	Pointer  string      `json:"pointer"` // RFC 6901; "" is the whole text
	Equals   canon.Value `json:"equals,omitzero"`
	GTE      canon.Value `json:"gte,omitzero"`      // a number
	LTE      canon.Value `json:"lte,omitzero"`      // a number
	Contains canon.Value `json:"contains,omitzero"` // a part of a string, or an item of a list
}

// ExpectTests is a requirement on the counts of a test report. Skipped tests do not count as passed.
type ExpectTests struct {
	Min     *int `json:"min,omitzero"`     // tests that passed, at least; nil: 1
	Failed  *int `json:"failed,omitzero"`  // tests that failed, at most; nil: 0
	Skipped *int `json:"skipped,omitzero"` // tests that were skipped, at most; nil: any number
}

// ExitStatus is the exit status that the check requires.
func (c Check) ExitStatus() int64 {
	if c.Expect == nil || c.Expect.Exit == nil {
		return 0
	}
	return int64(*c.Expect.Exit)
}

// Action returns the command of the check as an action, which is filled and performed as one.
func (c Check) Action() Action {
	return Action{Kind: CommandAction, Argv: c.Argv, Cwd: c.Cwd, Env: c.Env, TimeoutSeconds: c.TimeoutSeconds}
}

// ValidPin reports that a pin is the path of a file below the root of the project: with slashes, and in its shortest form.
func ValidPin(name string) bool {
	return name != "" && len(name) <= limits.PinPathBytesMax && path.Clean(name) == name && name != "." && name != ".." &&
		!strings.HasPrefix(name, "../") && !path.IsAbs(name) && !strings.Contains(name, `\`) && !strings.ContainsFunc(name, unicode.IsControl)
}

// PinsOf returns the pins of several checks, sorted, each once.
func PinsOf(checks []Check) []string {
	all := map[string]bool{}
	for _, c := range checks {
		for _, p := range c.Pins {
			all[p] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Program identifies the program of a check: a name that is looked up in PATH, an absolute path, or a
// path below the root of the project. cwd of a check with the last has no placeholders.
func (c Check) Program() string {
	name := c.Argv[0]
	if !strings.Contains(name, "/") || path.IsAbs(name) {
		return name
	}
	return "./" + path.Join(c.Cwd, name)
}
