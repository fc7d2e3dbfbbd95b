package mcpserver

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/pattern"
)

// quoted is a command line in a suggestion.
var quoted = pattern.New(`'waybill ([a-z]+(?: [a-z]+)?)([^']*)'`)

// runNamed is the run that a command line names.
var runNamed = pattern.New(`--run (\S+)`)

// advised is f with its suggestion in an agent's words: an agent has tools where a
// person has commands. What only a person can do is left as the command to tell the
// user.
func (t tool) advised(f *fault.Fault) *fault.Fault {
	out := *f
	switch {
	case t.name == "start_workflow" && (f.Code == fault.StoreOutcomeUnknown || f.Code == fault.StoreAnswerUnread):
		out.Suggestion = "The run may have begun: see with resume_session {} before you start it again."
		return &out
	case f.Code == fault.TokenInvalidFormat && f.Suggestion == fault.Lookup(f.Code).Suggestion:
		out.Suggestion = "Copy the token whole, exactly as the answer gave it. If it is lost, resume_session finds " +
			"the run and gives a fresh stateToken."
		return &out
	case f.Code == fault.TokenBadSignature:
		out.Suggestion = "A token that was changed or cut off, or that another store gave, does this. Copy it whole " +
			"from its answer, or find the run with resume_session, which gives a fresh stateToken."
		return &out
	}
	// A flag is the user's as well, who started the server; not where the same call may do.
	forUser := strings.Contains(f.Suggestion, " --") && !quoted.MatchString(f.Suggestion) &&
		f.Retry.Kind == fault.NotRetryable
	out.Suggestion = quoted.ReplaceAllStringFunc(f.Suggestion, func(command string) string {
		parts := quoted.FindStringSubmatch(command)
		switch {
		case parts[1] == "workflows list":
			return "list_workflows"
		case parts[1] == "workflows inspect":
			return "inspect_workflow"
		case parts[1] == "runs list":
			return "resume_session {}"
		case parts[1] == "continue" || parts[1] == "run" && strings.Contains(parts[2], "--run"):
			if run := runNamed.FindStringSubmatch(parts[2]); run != nil && strings.HasPrefix(run[1], "run_") {
				return fmt.Sprintf(`resume_session {"runId":%q}`, run[1])
			}
			return "resume_session"
		}
		forUser = true
		return command
	})
	if forUser && !strings.Contains(out.Suggestion, "the user") {
		out.Suggestion = "This is for the user to do; tell them: " + out.Suggestion
	}
	return &out
}
