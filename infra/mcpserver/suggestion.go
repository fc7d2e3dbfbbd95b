package mcpserver

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/pattern"
)

// quotedCommand matches a command line in a suggestion.
var quotedCommand = pattern.New(`'waybill ([a-z]+(?: [a-z]+)?)([^']*)'`)

// runFlag matches the run that a command line names.
var runFlag = pattern.New(`--run (\S+)`)

// forAgent returns f with a suggestion for agents: commands that correspond to a tool are replaced
// by it, and commands that only the user can run are marked as such.
//
// The commands that correspond to tools:
//   - workflows list and workflows inspect: list_workflows and inspect_workflow;
//   - runs list, continue and run --run: resume_session, with the run where the command names it.
//
// f itself is not changed.
func (t tool) forAgent(f *fault.Fault) *fault.Fault {
	out := *f
	switch {
	case t.name == "start_workflow" && (f.Code == fault.StoreOutcomeUnknown || f.Code == fault.StoreAnswerUnread):
		out.Suggestion = "The run may have started: check with resume_session {} before you start it again."
		return &out
	case f.Code == fault.TokenInvalidFormat && f.Suggestion == fault.Lookup(f.Code).Suggestion:
		out.Suggestion = "Copy the whole token exactly as in the answer. If it is lost, resume_session finds the " +
			"run and returns a fresh stateToken."
		return &out
	case f.Code == fault.TokenBadSignature:
		out.Suggestion = "The token was changed or truncated, or another store issued it. Copy the whole token from " +
			"its answer, or find the run with resume_session, which returns a fresh stateToken."
		return &out
	}
	// A flag belongs to the user, who started the server, unless the same call may succeed later.
	forUser := strings.Contains(f.Suggestion, " --") && !quotedCommand.MatchString(f.Suggestion) &&
		f.Retry.Kind == fault.NotRetryable
	out.Suggestion = quotedCommand.ReplaceAllStringFunc(f.Suggestion, func(command string) string {
		parts := quotedCommand.FindStringSubmatch(command)
		switch {
		case parts[1] == "workflows list":
			return "list_workflows"
		case parts[1] == "workflows inspect":
			return "inspect_workflow"
		case parts[1] == "runs list":
			return "resume_session {}"
		case parts[1] == "continue" || parts[1] == "run" && strings.Contains(parts[2], "--run"):
			if run := runFlag.FindStringSubmatch(parts[2]); run != nil && strings.HasPrefix(run[1], "run_") {
				return fmt.Sprintf(`resume_session {"runId":%q}`, run[1])
			}
			return "resume_session"
		}
		forUser = true
		return command
	})
	if forUser && !strings.Contains(out.Suggestion, "the user") {
		out.Suggestion = "Only the user can do this; report it to them: " + out.Suggestion
	}
	return &out
}
