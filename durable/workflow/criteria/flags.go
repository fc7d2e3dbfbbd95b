package criteria

import (
	"strings"

	"github.com/waybill/waybill/durable/pattern"
)

// flags are texts that can be written without having done anything: an assignment
// to a name, or a name that says that something is complete.
var flags = []*pattern.Pattern{
	pattern.New(`(?i)^\W*\w+\s*[=:]\s*(?:true|false|yes|no|done|ok|completed?)\W*$`),
	pattern.New(`(?i)^\W*(?:\w*(?:completed?|finished)|(?:\w*_)?(?:done|ready|ok))\W*$`),
	pattern.New(`^\W*[a-z0-9]+(?:Done|Ready|Ok|OK)\W*$`),
}

// blanks takes out of a pattern what only allows for spaces.
var blanks = strings.NewReplacer(`\s*`, "", `\s+`, "", `\s`, "", `\b`, "")

// isFlag errs on the side of silence: a warning that is wrong is read once.
func isFlag(text string) bool {
	for _, f := range flags {
		if f.MatchString(text) {
			return true
		}
	}
	return false
}

// FlagOnly reports criteria that ask for completion flags and for nothing else
// (locks section 19): whoever sees them in the prompt can pass by writing the flag.
func (c Criteria) FlagOnly() bool { return c.root != nil && c.root.asksFor() == aFlag }

// demand is what a node makes whoever writes the notes do.
type demand uint8

const (
	nothing  demand = iota // a prohibition, or an upper bound: empty notes pass
	aFlag                  // a completion flag
	evidence               // anything else
)

// asksFor decides for one node; a rule's condition makes no difference.
func (n *node) asksFor() demand {
	switch n.kind {
	case single:
		return asks(n.rule)
	case none:
		return nothing
	}
	// Of rules that must all hold the most demanding counts. Of alternatives a flag
	// is enough to get by.
	out := nothing
	for i := range n.parts {
		d := n.parts[i].asksFor()
		if n.kind == some && d == aFlag {
			return aFlag
		}
		out = max(out, d)
	}
	return out
}

// asks decides for one rule.
func asks(r rule) demand {
	flag := false
	switch r := r.(type) {
	case containsRule:
		flag = isFlag(r.text)
	case regexRule:
		flag = isFlag(blanks.Replace(r.pattern))
	case lengthRule:
		if r.min <= 0 {
			return nothing
		}
	}
	if flag {
		return aFlag
	}
	return evidence
}
