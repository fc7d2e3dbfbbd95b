package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow"
)

// command describes an action to whoever reads the step. Values of environment
// variables are left out: prompts are shown, logged and sent to agents.
func command(a workflow.Action) []string {
	words := make([]string, len(a.Argv))
	for i, w := range a.Argv {
		words[i] = quote(w)
	}
	out := []string{"    " + strings.Join(words, " "), ""}
	if a.Cwd != "" {
		out = append(out, "- in the folder "+quote(a.Cwd))
	}
	if len(a.Env) > 0 {
		out = append(out, "- with "+strings.Join(slices.Sorted(maps.Keys(a.Env)), ", ")+" set in its environment")
	}
	if a.TimeoutSeconds > 0 {
		out = append(out, fmt.Sprintf("- for at most %d s", a.TimeoutSeconds))
	}
	if a.Retry != nil {
		out = append(out, fmt.Sprintf("- up to %d tries, %d s apart", a.Retry.MaxAttempts, a.Retry.BackoffSeconds))
	}
	return append(out, "- run by `waybill run` once the workflow is trusted; the step is accepted with the command's result only")
}

var plainWord = pattern.New(`^[A-Za-z0-9_@%+=:,./-]+$`)

// quote shows a word as a shell would take it. Whoever reads it decides on trust:
// what a terminal does not print as itself is spelled out.
func quote(w string) string {
	switch {
	case plainWord.MatchString(w):
		return w
	case strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsPrint(r) }):
		return strconv.QuoteToASCII(w)
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
