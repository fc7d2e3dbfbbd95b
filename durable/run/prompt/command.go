package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/source"
)

// describe renders an action for the reader of a prompt. Values of environment variables are
// omitted, since prompts are shown, logged and sent to agents.
func describe(a source.Action) []string {
	out := []string{"    " + command.Line(a.Argv), ""}
	if a.Cwd != "" {
		out = append(out, "- in the folder "+command.Word(a.Cwd))
	}
	// Sorted, since the order of a map is not stable and prompts must be.
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
