// Package installable says whether an artifact is fit to be installed, for each kind
// that can be proposed (RFC 0096 A), and reads what was installed: prompt templates,
// agents, workflows and automations.
//
// It installs nothing, knows no proposal, and judges a schedule only by the function
// that it is handed: what a schedule means depends on the world's time zones.
package installable

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Kind is the closed set of what can be installed, in the words of RFC 0096.
type Kind string

// The kinds.
const (
	KindAgentPack         Kind = "agent-pack"
	KindWorkflowChainPack Kind = "workflow-chain-pack"
	KindPromptTemplate    Kind = "prompt-template"
	KindAutomation        Kind = "automation"
)

// Options is what a check draws on beside the artifact.
type Options struct {
	// Library is what the compilation of the workflow with an id may draw on, such as
	// catalog.Library's Options; nil for nothing.
	Library func(workflowID string) compile.Options
	// Schedule judges a cron text in a time zone, "" for the default one; nil accepts all.
	Schedule func(cron, timezone string) error
}

// Check lists everything that is wrong with an artifact of a kind, with the place from
// the artifact's root and what to write instead. Without an error among it the artifact
// can be installed.
func Check(kind Kind, artifact canon.Value, o Options) []problem.Problem {
	c := &collector{}
	at := problem.Place{Value: artifact}
	switch kind {
	case KindAgentPack:
		checkAgents(at, c.report)
	case KindWorkflowChainPack:
		checkWorkflows(at, o, c.report)
	case KindPromptTemplate:
		checkTemplate(at, c.report)
	case KindAutomation:
		checkAutomation(at, o, c.report)
	default:
		problem.Report(c.report).Error(at, "Write "+kinds.Want()+".", "nothing of kind %q can be installed", kind)
	}
	return c.list()
}

var kinds = shape.OneOf(string(KindAgentPack), string(KindWorkflowChainPack), string(KindPromptTemplate),
	string(KindAutomation))

// problemsMax bounds a list: whoever mends the artifact begins with the first, and a
// hostile one could have a million.
const problemsMax = 500

// collector keeps problems, and of those beyond the bound their number.
type collector struct {
	found  []problem.Problem
	more   int
	errors bool // among those that are not kept
}

func (c *collector) report(p problem.Problem) {
	if len(c.found) < problemsMax {
		c.found = append(c.found, p)
		return
	}
	c.more++
	c.errors = c.errors || p.Severity == problem.Error
}

// list is in the order of the artifact. That an error was not kept is an error too.
func (c *collector) list() []problem.Problem {
	problem.Sort(c.found)
	if c.more == 0 {
		return c.found
	}
	rest := problem.Problem{Severity: problem.Warning, Message: fmt.Sprintf("%d more problems are not listed", c.more),
		Fix: "Mend those listed first."}
	if c.errors {
		rest.Severity = problem.Error
	}
	return append(c.found, rest)
}

// form tells which of several forms of a kind an artifact has, by the member that only
// this one has. More than one such member would be installed as one thing and read as
// another.
func form(at problem.Place, report problem.Report, signs ...string) string {
	var seen []string
	for _, sign := range signs {
		if at.Has(sign) {
			seen = append(seen, sign)
		}
	}
	want := shape.OneOf(signs...).Want()
	switch {
	case at.Value.Kind() != canon.Object:
		report.Error(at, "Write an object with "+want+".", "expected an object with %s, got %s", want, shape.Got(at))
	case len(seen) == 0:
		report.Error(at, "Add "+want+".", "the artifact has none of %s, so that it is not clear what it is", want)
	case len(seen) > 1:
		report.Error(at.Member(seen[1]), "Keep one of the two.", "%q beside %q: it is not clear what the artifact is",
			seen[1], seen[0])
	default:
		return seen[0]
	}
	return ""
}

// bytesAtMost bounds a text by its UTF-8 bytes, which shapes do not count.
func bytesAtMost(at problem.Place, most int, report problem.Report) {
	if n := len(at.Value.Text()); n > most {
		report.Error(at, "Shorten it.", "expected at most %d bytes, got %d", most, n)
	}
}
