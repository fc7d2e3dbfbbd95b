package about

import (
	"strings"

	"github.com/spf13/cobra"
)

// guidePages are the pages of docs/guide about first-level commands.
var guidePages = map[string]string{
	"workflows": "first-workflow.md", "run": "first-workflow.md", "start": "first-workflow.md",
	"continue": "first-workflow.md", "runs": "first-workflow.md", "trust": "values.md", "due": "wait.md", "work": "workers.md", "inbox": "first-workflow.md",
	"approve": "approvals.md", "send-back": "approvals.md", "deny": "approvals.md",
	"artifacts": "contracts.md", "mcp": "agents.md", "guard": "guard.md", "resume": "agents.md",
	"checkpoint": "agents.md", "export": "sharing.md", "import": "sharing.md", "bundle": "sharing.md",
	"fork": "sharing.md", "trailer": "commits.md", "who": "commits.md", "proposals": "improve.md",
}

// GuidePage returns the path of the page of the guide about a command and its subcommands: the index for the
// program, and "" for a command without a page.
func GuidePage(cmd *cobra.Command) string {
	names := strings.Fields(cmd.CommandPath())
	if len(names) == 1 {
		return "docs/guide/README.md"
	}
	if page := guidePages[names[1]]; page != "" {
		return "docs/guide/" + page
	}
	return ""
}
