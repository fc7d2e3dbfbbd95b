// Package problem defines how the readers of a workflow source report what is wrong with it:
// where, what, and what to type instead; all problems of a file at once, in the order of the
// file.
//
// It checks nothing itself and knows no workflow format. The main types are Problem, and SourceValue,
// through which a check reads the source.
package problem

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/waybill/waybill/durable/sorting"
)

// Severity states whether a source with the problem can be used.
type Severity string

// The severities. A source with an Error is not compiled; a Warning does not stop a workflow.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is one error or warning about a source.
type Problem struct {
	Pointer string `json:"pointer"` // RFC 6901; "" is the whole document
	Line    int    `json:"line"`    // 1-based; 0 when it has none
	// Column is that of the key or item on the line, in characters from 1; 0 when it is not known.
	Column   int      `json:"column,omitzero"`
	Severity Severity `json:"severity"`
	Message  string   `json:"message"` // one sentence: what is wrong, what was expected, what was found
	Fix      string   `json:"fix"`     // what to type instead
}

// Position is the line, and the column where it is known: "12:3".
func (p Problem) Position() string {
	if p.Column == 0 {
		return strconv.Itoa(p.Line)
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Column)
}

// HasErrors reports whether one of ps has severity Error.
//
//go:noinline
func HasErrors(ps []Problem) bool {
	return slices.ContainsFunc(ps, func(p Problem) bool { return p.Severity == Error })
}

// Sort sorts problems by line, column, pointer, severity (errors first) and message, so that a list does
// not depend on the order of checks.
func Sort(ps []Problem) {
	sorting.Stable(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.order(), b.order()), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Pointer, b.Pointer),
			cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Message, b.Message))
	})
}

// order is the line to sort by. Problems without a line, such as the count of problems that are
// not listed, come last.
func (p Problem) order() int {
	if p.Line == 0 {
		return math.MaxInt
	}
	return p.Line
}
