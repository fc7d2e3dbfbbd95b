package commandlint

import (
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/pattern"
)

// status is what is known of an exit status.
type status int

// The statuses.
const (
	unknown status = iota
	succeeds
	fails
)

// effect is what is known of a command or a script before it runs. The zero effect is that of a command that
// is not known.
type effect struct {
	status status
	// why says, as a clause, why its result is the same in every project; "" if it may differ.
	why  string
	exit bool // it ends the script
}

// depthMax bounds scripts in scripts, and groupsMax parentheses and braces in each other.
const (
	depthMax  = 8
	groupsMax = 32
)

// script reads a list of commands.
type script struct {
	tokens   []token
	errexit  bool // the first command that fails ends it
	pipefail bool
	depth    int
	groups   int  // those around the next token
	strange  bool // it has what is not read, such as a loop
}

// scriptEffect is the effect of a script for a shell.
func scriptEffect(text string, errexit bool, depth int) effect {
	all, ok := tokens(text)
	if !ok || depth > depthMax {
		return effect{}
	}
	s := &script{tokens: all, errexit: errexit, depth: depth}
	out := s.list("")
	if s.strange || len(s.tokens) > 0 {
		return effect{}
	}
	if out.why == "" && len(all) == 0 {
		out = effect{status: succeeds, why: "its script is empty"}
	}
	return out
}

// at reports that the next token is an operator.
func (s *script) at(ops ...string) bool {
	return len(s.tokens) > 0 && s.tokens[0].operator && slices.Contains(ops, s.tokens[0].text)
}

// take removes the next token, if it is an operator.
func (s *script) take(ops ...string) (op string) {
	if s.at(ops...) {
		op, s.tokens = s.tokens[0].text, s.tokens[1:]
	}
	return op
}

// list reads commands up to end, a parenthesis or brace that is left; "" for the end of the script.
func (s *script) list(end string) effect {
	out, first := effect{status: succeeds}, true
	for !s.strange {
		if s.take(";", "\n") != "" {
			continue
		}
		if len(s.tokens) == 0 || end != "" && s.tokens[0].text == end {
			break
		}
		next := s.chain()
		if s.take("&") != "" {
			next.status, next.exit = succeeds, false
		}
		switch {
		case first:
			out = next
		case s.errexit:
			out = both(out, next)
		default:
			out = effect{next.status, joined(out.why, next.why), next.exit}
		}
		if first = false; next.exit {
			s.skip(end)
		}
	}
	return out
}

// skip leaves out what is behind the end of a script, up to end.
func (s *script) skip(end string) {
	for open := 0; len(s.tokens) > 0; s.tokens = s.tokens[1:] {
		switch text := s.tokens[0].text; {
		case open == 0 && end != "" && text == end:
			return
		case text == "(" || text == "{":
			open++
		case text == ")" || text == "}":
			open--
		}
	}
}

// joined is the reason of two commands: that of the first one, if the result of neither differs.
func joined(a, b string) string {
	if a == "" || b == "" {
		return ""
	}
	return a
}

// both is the effect of a && b.
func both(a, b effect) effect {
	out := effect{why: joined(a.why, b.why)}
	switch {
	case a.status == fails:
		out.status = fails
	case a.status == succeeds:
		out.status, out.exit = b.status, b.exit
	case b.status == fails:
		out.status = fails
	}
	return out
}

// either is the effect of a || b.
func either(a, b effect) effect {
	out := effect{why: joined(a.why, b.why)}
	switch {
	case a.status == succeeds:
		out.status = succeeds
	case a.status == fails:
		out.status, out.exit = b.status, b.exit
	case b.status == succeeds:
		out.status = succeeds
	}
	return out
}

// chain reads pipelines with && and || between them.
func (s *script) chain() effect {
	out := s.pipeline()
	for !s.strange {
		op := s.take("&&", "||")
		if op == "" {
			break
		}
		for s.take("\n") != "" {
		}
		if next := s.pipeline(); op == "&&" {
			out = both(out, next)
		} else {
			out = either(out, next)
		}
	}
	return out
}

// pipeline reads commands with | between them.
func (s *script) pipeline() effect {
	inverted := false
	for len(s.tokens) > 0 && !s.tokens[0].operator && s.tokens[0].text == "!" {
		s.tokens, inverted = s.tokens[1:], !inverted
	}
	out := s.command(false)
	for !s.strange && s.take("|", "|&") != "" {
		for s.take("\n") != "" {
		}
		next := s.command(true)
		if s.pipefail && out.status != succeeds {
			next.status = unknown
		}
		out = effect{status: next.status, why: joined(out.why, next.why)}
	}
	if inverted {
		out.status = map[status]status{succeeds: fails, fails: succeeds}[out.status]
	}
	return out
}

// keywords begin what is not read.
var keywords = []string{"if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "function", "select",
	"[[", "coproc", "trap", "}"}

// assignment matches a word that sets a variable.
var assignment = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)

// command reads one command; piped: it reads what another one prints.
func (s *script) command(piped bool) effect {
	if s.take("(") != "" {
		return s.group(")")
	}
	if len(s.tokens) > 0 && !s.tokens[0].operator && s.tokens[0].text == "{" {
		s.tokens = s.tokens[1:]
		return s.group("}")
	}
	var words []token
	for len(s.tokens) > 0 && !s.tokens[0].operator {
		words, s.tokens = append(words, s.tokens[0]), s.tokens[1:]
	}
	if s.at("(") || len(words) == 0 || slices.Contains(keywords, words[0].text) {
		s.strange = true // a function, an operator without a command, or a keyword
		return effect{}
	}
	runs := false
	for len(words) > 0 && assignment.MatchString(words[0].text) {
		runs, words = runs || words[0].runs, words[1:]
	}
	if len(words) == 0 {
		if runs {
			return effect{} // the status is that of the command in it
		}
		return effect{status: succeeds, why: "it only sets variables"}
	}
	var argv []string
	expands := false
	for _, w := range words {
		argv, expands = append(argv, w.text), expands || w.expands
	}
	if argv[0] == "set" {
		s.set(argv[1:])
	}
	return argvEffect(argv, expands, piped, s.depth)
}

// group reads a list in parentheses or braces.
func (s *script) group(end string) effect {
	if s.groups++; s.groups > groupsMax {
		s.strange = true
		return effect{}
	}
	out := s.list(end)
	s.groups--
	if len(s.tokens) == 0 || s.tokens[0].text != end {
		s.strange = true
		return effect{}
	}
	s.tokens, out.exit = s.tokens[1:], out.exit && end == "}"
	return out
}

// set follows the options of the shell.
func (s *script) set(args []string) {
	for i, a := range args {
		short := strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--")
		s.errexit = s.errexit || short && strings.Contains(a, "e") || i > 0 && a == "errexit"
		s.pipefail = s.pipefail || a == "pipefail"
	}
}

// argvEffect is the effect of a command. expands: its words have values that are not known.
func argvEffect(argv []string, expands, piped bool, depth int) effect {
	command := Unwrapped(argv)
	if len(command) == 0 {
		return effect{status: succeeds, why: path.Base(argv[0]) + " runs no command"}
	}
	program, args := Program(command[0]), command[1:]
	out := programEffect(program, args, expands, depth)
	if piped && slices.Contains(filters, program) {
		out.status = succeeds
	}
	if expands && out.why != "" {
		out.why = "" // it prints a value
	}
	return out
}

// programEffect is the effect of a program.
func programEffect(program string, args []string, expands bool, depth int) effect {
	if why := about(program, args); why != "" {
		return effect{status: succeeds, why: why}
	}
	switch {
	case program == "false":
		return effect{status: fails, why: "false fails in every project"}
	case program == "exit":
		return exitEffect(args, expands)
	case program == "test" || program == "[":
		return testEffect(args, expands)
	case program == "eval":
		return scriptEffect(strings.Join(args, " "), false, depth+1)
	case program == "cmd" && len(args) > 0 && strings.EqualFold(args[0], "/c"):
		return scriptEffect(strings.ReplaceAll(strings.Join(args[1:], " "), "/b ", ""), false, depth+1)
	}
	if text, errexit, ok := scriptOf(program, args); ok && !expands {
		return scriptEffect(text, errexit, depth+1)
	}
	return effect{}
}

// exitEffect is the effect of exit.
func exitEffect(args []string, expands bool) effect {
	switch {
	case expands:
		return effect{exit: true}
	case len(args) == 0:
		return effect{exit: true, why: "it only ends the script"}
	case args[0] == "0":
		return effect{succeeds, "the exit status is written in the check", true}
	}
	return effect{fails, "the exit status is written in the check", true}
}

// testEffect is the effect of test: it may differ where it looks at files, and at values that are not known.
func testEffect(args []string, expands bool) effect {
	looks := slices.ContainsFunc(args, func(a string) bool {
		return len(a) == 2 && a[0] == '-' && strings.Contains("abcdefghkprstuwxGLNOSv", a[1:]) || a == "-nt" || a == "-ot" || a == "-ef"
	})
	if looks || expands {
		return effect{}
	}
	return effect{status: succeeds, why: "test compares what is written in the check"}
}
