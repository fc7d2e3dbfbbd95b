// Package problem is how everything that reads a workflow source says what is
// wrong with it: where, what, and what to type instead; all problems of a file at
// once, in the order of the file.
//
// It checks nothing itself and knows no workflow.
package problem

import (
	"cmp"
	"math"
	"slices"
)

// Severity tells whether a source with the problem can be used.
type Severity string

// The severities. A warning never stops a workflow from running.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is one thing wrong with a source.
type Problem struct {
	Pointer  string   `json:"pointer"` // RFC 6901; "" is the whole document
	Line     int      `json:"line"`    // 1-based; 0 when it has none
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // one sentence: what, expected, got
	Fix      string   `json:"fix"`     // what to type
}

// HasErrors reports whether one of ps is more than a warning.
func HasErrors(ps []Problem) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Severity == Error })
}

// Sort puts problems in the order of the file, errors first at one place, so that
// a list does not depend on the order in which checks are made.
func Sort(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.order(), b.order()), cmp.Compare(a.Pointer, b.Pointer),
			cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Message, b.Message))
	})
}

// order is the line; what is about no line, such as the count of what is not
// listed, stands behind all that is.
func (p Problem) order() int {
	if p.Line == 0 {
		return math.MaxInt
	}
	return p.Line
}
