package criteria

import (
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/pattern"
)

// completionFlags match texts that can be written without doing the work: an assignment of
// a truth value to a name, or a name that claims completion, such as "review_done".
var completionFlags = []*pattern.Pattern{
	// reviewed: yes, done = true
	pattern.New(`(?i)^\W*\w+\s*[=:]\s*(?:true|false|yes|no|done|ok|completed?)\W*$`),
	// review_completed, finished, tests_ok
	pattern.New(`(?i)^\W*(?:\w*(?:completed?|finished)|(?:\w*_)?(?:done|ready|ok))\W*$`),
	// reviewDone, testsOK
	pattern.New(`^\W*[a-z0-9]+(?:Done|Ready|Ok|OK)\W*$`),
}

// dropSpaces removes the parts of a regular expression that only match white space.
var dropSpaces = strings.NewReplacer(`\s*`, "", `\s+`, "", `\s`, "", `\b`, "")

// isCompletionFlag reports whether text is a completion flag. It prefers false negatives: a
// wrong warning makes authors ignore the correct ones.
func isCompletionFlag(text string) bool {
	return slices.ContainsFunc(completionFlags, func(f *pattern.Pattern) bool { return f.MatchString(text) })
}

// FlagOnly reports whether the criteria require completion flags and nothing else
// (docs/design.md#authoring). A performer, who sees the criteria in the prompt, can pass
// them by writing the flag. Package source warns of such criteria.
func (c Criteria) FlagOnly() bool { return c.root != nil && c.root.strength() == needsFlag }

// strength is what the notes must contain to pass a node, from least to most.
type strength uint8

const (
	needsNothing  strength = iota // a prohibition, or an upper bound: empty notes pass
	needsFlag                     // a completion flag
	needsEvidence                 // anything else
)

// strength classifies a node. The conditions of rules are ignored.
func (n *node) strength() strength {
	switch {
	case n.kind == kindNot, n.kind == kindRule && n.rule.empty:
		return needsNothing
	case n.kind == kindRule && isCompletionFlag(n.rule.flag):
		return needsFlag
	case n.kind == kindRule:
		return needsEvidence
	}
	// In an "and" the strongest part counts; in an "or" one part that needs only a flag is
	// sufficient to pass.
	out := needsNothing
	for i := range n.parts {
		d := n.parts[i].strength()
		if n.kind == kindOr && d == needsFlag {
			return needsFlag
		}
		out = max(out, d)
	}
	return out
}
