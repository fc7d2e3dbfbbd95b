package placeholder

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/sorting"
)

// Refusal says why an element of an argv must not have a placeholder.
type Refusal struct {
	Index int    // of the element
	Why   string // clause whose subject is the element
	Fix   string
}

// CheckArgv returns the elements whose placeholders would choose a program or become code: the
// program itself, the code that an interpreter takes as an argument, wherever in argv its name
// is, the command that ssh gives to a shell of another host, and variables that env sets. The
// tables cannot be complete. They show an author the usual mistakes; what bounds the damage is
// that an element stays one argument (docs/design.md#values-in-commands).
func CheckArgv(argv []string) []Refusal {
	var c argvCheck
	c.argv = argv
	if len(argv) > 0 {
		c.refuse(0, "names the program, which no value may choose", "Write the name of the program.")
	}
	for i, element := range argv {
		name := baseName(element)
		if k, ok := interpreters[name]; ok {
			c.code(i, name, k)
		}
		switch name {
		case "ssh", "slogin", "autossh", "rsh":
			c.remote(i)
		case "env", "sudo", "doas":
			c.variables(i)
		}
	}
	// Several interpreters may refuse one element.
	sorting.Stable(c.found, func(x, y Refusal) int { return x.Index - y.Index })
	return slices.CompactFunc(c.found, func(x, y Refusal) bool { return x.Index == y.Index })
}

// argvCheck collects the refusals of one argv.
type argvCheck struct {
	argv  []string
	found []Refusal
}

// refuse records an element if it has a placeholder.
func (c *argvCheck) refuse(i int, why, fix string) {
	if In(c.argv[i]) {
		c.found = append(c.found, Refusal{i, why, fix})
	}
}

// code refuses placeholders in the code of the interpreter at index at.
func (c *argvCheck) code(at int, name string, k *interpreter) {
	why := "is code that " + name + " reads, so that a value would be read as code too"
	const fix = `Pass the value as an argument behind the code, which reads it: "$1" in ["sh", "-c", "deploy \"$1\"", "--", ` +
		`"{{key}}"].`
	script := false // an element names the script, whose own options follow
	for i := at + 1; i < len(c.argv); i++ {
		element := c.argv[i]
		if k.within(element) {
			c.refuse(i, why, fix)
		}
		if !k.before(element) && (script || !k.alsoBefore(element)) {
			script = script || !isOption(element)
			continue
		}
		for next := i + 1; next < len(c.argv); next++ {
			c.refuse(next, why, fix)
			// Options of a shell may be between -c and the code.
			if !k.rest && !(k.options && element != "-e" && isOption(c.argv[next])) {
				break
			}
		}
	}
}

// isOption reports an element that looks like an option of an interpreter.
func isOption(element string) bool {
	return strings.HasPrefix(element, "-") || strings.HasPrefix(element, "+")
}

// sshValues are the options of ssh that take the next element as their value.
const sshValues = "BbcDEeFIiJLlmOoPpQRSWw"

// remote refuses placeholders in the elements after the host of the ssh at index at: ssh joins them
// to one text, which a shell reads.
func (c *argvCheck) remote(at int) {
	// As the value of an option of rsync it has no host of its own.
	if slices.ContainsFunc(c.argv[:at], func(s string) bool { return baseName(s) == "rsync" }) {
		return
	}
	host := at + 1
	for ; host < len(c.argv) && strings.HasPrefix(c.argv[host], "-"); host++ {
		option := c.argv[host]
		if option == "--" {
			host++
			break
		}
		setting, attached := strings.CutPrefix(option, "-o")
		if len(option) == 2 && strings.Contains(sshValues, option[1:]) && host+1 < len(c.argv) {
			host++
			setting = c.argv[host]
		}
		name, _, _ := strings.Cut(setting, "=")
		if attached && (In(name) || strings.HasSuffix(strings.ToLower(name), "command")) {
			c.refuse(host, "is a setting of ssh that names a command", "Write the setting.")
		}
	}
	for i := host + 1; i < len(c.argv); i++ {
		c.refuse(i, "is part of the text that a shell of the other host reads",
			"Let the command there read the value from its input, or from a file that is copied first: ssh passes no "+
				"separate arguments.")
	}
}

// variables refuses placeholders in NAME=value behind the env at index at, if programs read the
// variable as code.
func (c *argvCheck) variables(at int) {
	for i := at + 1; i < len(c.argv); i++ {
		if name, _, ok := strings.Cut(c.argv[i], "="); ok && variable.MatchString(name) && CodeVariable(name) {
			c.refuse(i, "sets "+name+", which programs read as code or as a path to it", "Write the value, or choose another variable.")
		}
	}
}

// variable is the name of an environment variable.
var variable = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
