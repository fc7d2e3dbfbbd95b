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
func (c Criteria) FlagOnly() bool { return c.root != nil && c.root.flagOnly() }

// flagOnly decides for one node; a rule's condition makes no difference.
func (n *node) flagOnly() bool {
	switch n.kind {
	case single:
		switch r := n.rule.(type) {
		case containsRule:
			return isFlag(r.text)
		case regexRule:
			return isFlag(blanks.Replace(r.pattern))
		}
		return false
	case none:
		return false
	}
	// Of alternatives, one flag is enough to get by; of rules that must all hold,
	// one that is no flag is enough not to.
	enough := n.kind == some
	for i := range n.parts {
		if n.parts[i].flagOnly() == enough {
			return enough
		}
	}
	return !enough
}
