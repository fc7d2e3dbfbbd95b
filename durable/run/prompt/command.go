package prompt

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/hoststep"
	"github.com/waybill/waybill/durable/workflow/source"
)

// describe renders the command of a step for the reader of a prompt, as a template: a value of the
// context in a command line could be taken for what the author wrote. Values of environment
// variables are omitted, since prompts are shown, logged and sent to agents. fills reports that
// the run fills placeholders.
func describe(a source.Action, outputs map[string]string, fills bool) []string {
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
	if paths := a.Placeholders(); fills && len(paths) > 0 {
		for i, path := range paths {
			paths[i] = "{{" + path + "}}"
		}
		out = append(out, "- with values of the context for "+strings.Join(paths, ", "))
	}
	for _, key := range slices.Sorted(maps.Keys(outputs)) {
		from := "its stdout"
		if outputs[key] != source.OutputStdout {
			from = strings.TrimPrefix(outputs[key], source.OutputJSONPrefix) + " in the JSON that it writes to $WAYBILL_OUTPUT"
		}
		out = append(out, "- sets the context key "+key+" from "+from)
	}
	return append(out, "- run by `waybill run` once the workflow is trusted; the step is accepted with the command's "+
		"result only")
}

// hosted renders a host step for the reader of a prompt. Its configuration is omitted: no reader has to do anything with it.
func hosted(h hoststep.Step) []string {
	return []string{"- performed by `waybill serve` (" + h.TypeID + "), and by nothing else: neither `waybill run` nor an agent performs it"}
}
