package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/token"
)

// forAgent returns f with a suggestion for agents: commands that correspond to a tool are replaced
// by it, and commands that only the user can run are marked as such. f itself is not changed.
//
// run is the run that the call names, "" if none: a suggestion has it in the place of a word for it.
func (t tool) forAgent(f *fault.Fault, run string) *fault.Fault {
	out := *f
	resume := resumeCall(run)
	switch {
	case t.name == "start_workflow" && (f.Code == fault.StoreOutcomeUnknown || f.Code == fault.StoreAnswerUnread):
		return out.Suggest("The run may have started: check with resume_session {} before you start it again.")
	case f.Code == fault.TokenInvalidFormat && f.Suggestion.String() == fault.Lookup(f.Code).Suggestion.String():
		return out.Suggest("Copy the whole token exactly as in the answer. If it is lost, %s finds the "+
			"run and returns a fresh stateToken.", resume)
	case f.Code == fault.TokenBadSignature:
		return out.Suggest("The token was changed or truncated, or another store issued it. Copy the whole token "+
			"from its answer, or find the run with %s, which returns a fresh stateToken.", resume)
	}
	hasCommand, forUser := false, false
	out.Suggestion = f.Suggestion.Map(func(arg any) any {
		c, ok := arg.(fault.Command)
		if !ok {
			return arg
		}
		hasCommand = true
		c = named(c, run)
		if call := toolCall(c); call != "" {
			return call
		}
		forUser = true
		return c
	})
	text := out.Suggestion.String()
	// A flag belongs to the user, who started the server, unless the same call may succeed later.
	forUser = forUser || !hasCommand && strings.Contains(text, " --") && f.Retry.Kind == fault.NotRetryable
	if forUser && !strings.Contains(text, "the user") {
		out.Suggest("Only the user can do this; report it to them: %s", text)
	}
	return &out
}

// resumeCall is the call that finds a run, resume_session alone where none is known.
func resumeCall(run string) string {
	if run == "" {
		return "resume_session"
	}
	return fmt.Sprintf(`resume_session {"runId":%q}`, run)
}

// named returns a command with the run in the place of the words that the table of codes has for one.
func named(c fault.Command, run string) fault.Command {
	if run == "" {
		return c
	}
	out := slices.Clone(c)
	for i, word := range c {
		if word == "RUN" || word == "ID" && i > 0 && c[i-1] == "--run" {
			out[i] = run
		}
	}
	return out
}

// namedRun is the run of a call: of the arguments runId and stateToken, or else of the fault's details. It
// is not proven that it exists.
func namedRun(raw []byte, f *fault.Fault) string {
	args, err := canon.Parse(raw)
	if err == nil {
		if v, _ := args.Get("runId"); v.Kind() == canon.String {
			if run, err := id.ParseRun(v.Text()); err == nil {
				return run.String()
			}
		}
		for _, name := range []string{"stateToken", "ackToken", "checkpointToken"} {
			v, _ := args.Get(name)
			if run, ok := token.ClaimedRun(v.Text()); ok {
				return run.String()
			}
		}
	}
	if text, ok := f.Details["runId"].(string); ok {
		return text
	}
	return ""
}

// toolCall returns the tool that corresponds to a command, "" if there is none, as for "run", which
// performs commands of the workflow. resume_session
// shows its arguments: the run where the command names it, and none for the list of all runs.
func toolCall(c fault.Command) string {
	flag := slices.Index(c, "--run")
	switch {
	case begins(c, "workflows", "list"):
		return "list_workflows"
	case begins(c, "workflows", "inspect"):
		return "inspect_workflow"
	case begins(c, "runs", "list"):
		return "resume_session {}"
	case begins(c, "continue"):
		if flag >= 0 && flag+1 < len(c) && strings.HasPrefix(c[flag+1], "run_") {
			return resumeCall(c[flag+1])
		}
		return resumeCall("")
	}
	return ""
}

// begins reports whether a command begins with these words.
func begins(c fault.Command, words ...string) bool {
	return slices.Equal(c[:min(len(words), len(c))], words)
}
