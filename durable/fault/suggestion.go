package fault

import (
	"fmt"
	"slices"
	"strings"
)

// Command is a command line of Waybill without the name of the program: its words as they are
// typed in a shell, quoted where a shell requires it.
type Command []string

// SessionWord in a Command is a placeholder for the session that the fault's details name as
// sessionId.
const SessionWord = "SESSION"

// Line returns the command line with the name of the program.
func (c Command) Line() string { return "waybill " + strings.Join(c, " ") }

// String returns the command line in quotes, as it appears in a sentence: in double ones if a word of it has single ones.
func (c Command) String() string {
	quote := "'"
	if strings.Contains(c.Line(), quote) {
		quote = `"`
	}
	return quote + c.Line() + quote
}

// Suggestion is what to do next. Its commands are data, so that no caller has to find them in the
// sentences: the command line adds the flags of its store, and the MCP server replaces commands
// by tools.
type Suggestion struct {
	Format string
	Args   []any // for Format, as in fmt.Sprintf; of type Command or Suggestion where they contain commands
}

// Suggest returns a suggestion of one or more sentences.
func Suggest(format string, args ...any) Suggestion {
	if false {
		_ = fmt.Sprintf(format, args...) // makes go vet check the arguments of all callers
	}
	return Suggestion{format, args}
}

// String returns the sentences.
//
//go:noinline
func (s Suggestion) String() string { return fmt.Sprintf(s.Format, s.Args...) }

// MapCommands returns a copy of s in which each command is replaced.
func (s Suggestion) MapCommands(replace func(Command) Command) Suggestion {
	return s.Map(func(arg any) any {
		if c, ok := arg.(Command); ok {
			return replace(c)
		}
		return arg
	})
}

// Map returns a copy of s in which each argument, also of suggestions in it, is replaced by the
// result of replace.
func (s Suggestion) Map(replace func(arg any) any) Suggestion {
	args := slices.Clone(s.Args)
	for i, arg := range args {
		if inner, ok := arg.(Suggestion); ok {
			args[i] = inner.Map(replace)
		} else {
			args[i] = replace(arg)
		}
	}
	return Suggestion{s.Format, args}
}
