// Package installable decides whether a proposed artifact can be installed, for each kind of
// artifact, and decodes installed artifacts: prompt templates, agents, workflows, chains and
// automations (docs/design.md#proposals).
//
// It installs nothing and knows no proposals. It judges a schedule only by the function in
// Options, since the meaning of a schedule depends on the host's time zone database. Problems
// carry a JSON pointer from the artifact's root and a fix; they are reported, not stored.
// Start with Check.
package installable

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/shape"
)

// Kind is the closed set of kinds of artifacts, in OpenWOP's words
// (docs/design.md#proposals).
type Kind string

// The kinds. Their values equal those of proposal.Kind.
const (
	KindAgentPack         Kind = "agent-pack"
	KindWorkflowChainPack Kind = "workflow-chain-pack"
	KindPromptTemplate    Kind = "prompt-template"
	KindAutomation        Kind = "automation"
)

// Options are the inputs of a check besides the artifact. The zero value checks without a
// library and accepts every schedule.
type Options struct {
	// Library is what workflows may use besides their own sources.
	Library compile.Library
	// Schedule judges a cron expression in a time zone, "" for the default one; nil accepts
	// all.
	Schedule func(cron, timezone string) error
}

// Check returns every problem of an artifact of a kind, in the artifact's order: at most
// problemsMax and one that counts the rest. The artifact can be installed if no problem is an
// error.
func Check(kind Kind, artifact canon.Value, o Options) []problem.Problem {
	c := &collector{}
	at := problem.SourceValue{Value: artifact}
	// Each kind has its own table of shapes and its own rules across members.
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

// kinds is the set of kinds for the message about an unknown one.
var kinds = shape.Words{string(KindAgentPack), string(KindWorkflowChainPack), string(KindPromptTemplate),
	string(KindAutomation)}

// problemsMax bounds the list of problems. The first ones are enough to start fixing, and a
// hostile artifact can contain a million.
const problemsMax = 500

// collector keeps the first problemsMax problems and counts the rest.
type collector struct {
	found  []problem.Problem
	more   int  // problems beyond the bound
	errors bool // an error was among those
}

// report adds a problem; it is the problem.Report of every check.
func (c *collector) report(p problem.Problem) {
	if len(c.found) < problemsMax {
		c.found = append(c.found, p)
		return
	}
	c.more++
	c.errors = c.errors || p.Severity == problem.Error
}

// list returns the problems in the artifact's order. The last entry counts those that were
// dropped; it is an error if one of them was.
func (c *collector) list() []problem.Problem {
	problem.Sort(c.found)
	if c.more == 0 {
		return c.found
	}
	rest := problem.Problem{Severity: problem.Warning, Message: fmt.Sprintf("%d more problems are not listed", c.more),
		Fix: "Fix the problems listed first."}
	if c.errors {
		rest.Severity = problem.Error
	}
	return append(c.found, rest)
}

// form returns which of several forms of a kind an artifact has, by the member that only that
// form has, or "" after reporting an error. An artifact with two of these members would be
// installed as one form and read as another.
func form(at problem.SourceValue, report problem.Report, signs ...string) string {
	var seen []string
	for _, sign := range signs {
		if at.Has(sign) {
			seen = append(seen, sign)
		}
	}
	want := shape.Words(signs).Want()
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

// bytesAtMost bounds a text in bytes of UTF-8; shapes count characters.
func bytesAtMost(at problem.SourceValue, most int, report problem.Report) {
	if n := len(at.Value.Text()); n > most {
		report.Error(at, "Shorten it.", "expected at most %d bytes, got %d", most, n)
	}
}
