package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/source"
)

// describe shows an action to whoever reads the step. Values of environment
// variables are left out: prompts are shown, logged and sent to agents.
func describe(a source.Action) []string {
	out := []string{"    " + command.Line(a.Argv), ""}
	if a.Cwd != "" {
		out = append(out, "- in the folder "+command.Word(a.Cwd))
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
	return append(out, "- run by `waybill run` once the workflow is trusted; the step is accepted with the command's "+
		"result only")
}
