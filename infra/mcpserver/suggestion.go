package mcpserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/fault"
)

// forAgent returns f with a suggestion for agents: commands that correspond to a tool are replaced
// by it, and commands that only the user can run are marked as such. f itself is not changed.
func (t tool) forAgent(f *fault.Fault) *fault.Fault {
	out := *f
	switch {
	case t.name == "start_workflow" && (f.Code == fault.StoreOutcomeUnknown || f.Code == fault.StoreAnswerUnread):
		return out.Suggest("The run may have started: check with resume_session {} before you start it again.")
	case f.Code == fault.TokenInvalidFormat && f.Suggestion.String() == fault.Lookup(f.Code).Suggestion.String():
		return out.Suggest("Copy the whole token exactly as in the answer. If it is lost, resume_session finds the " +
			"run and returns a fresh stateToken.")
	case f.Code == fault.TokenBadSignature:
		return out.Suggest("The token was changed or truncated, or another store issued it. Copy the whole token " +
			"from its answer, or find the run with resume_session, which returns a fresh stateToken.")
	}
	hasCommand, forUser := false, false
	out.Suggestion = f.Suggestion.Map(func(arg any) any {
		c, ok := arg.(fault.Command)
		if !ok {
			return arg
		}
		hasCommand = true
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
			return fmt.Sprintf(`resume_session {"runId":%q}`, c[flag+1])
		}
		return "resume_session"
	}
	return ""
}

// begins reports whether a command begins with these words.
func begins(c fault.Command, words ...string) bool {
	return slices.Equal(c[:min(len(words), len(c))], words)
}
