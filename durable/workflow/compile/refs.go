package compile

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// ref is the text of a wr.refs.* reference, which becomes a part of the document:
// nothing is looked up while a run goes on (locks section 9).
func (u *unit) ref(at problem.Place, refs *[]Injection) string {
	id := at.Value.Text()
	text, ok := builtin.Ref(id)
	if !ok {
		u.report.Error(at, suggest(id, builtin.Refs()), "there is no reference %q", id)
		return ""
	}
	if len(text) > limits.RefBytesMax {
		u.report.Error(at, "Use a shorter reference.", "reference %q has %d bytes, at most %d are put into a prompt",
			id, len(text), limits.RefBytesMax)
		return ""
	}
	*refs = append(*refs, injection(id, text))
	return text
}

// injection is where text came from.
func injection(originID, text string) Injection {
	return Injection{OriginID: originID, ContentHash: canon.Sum([]byte(text)), Bytes: len(text)}
}

// checkInjected holds a step to its budget. Nothing is cut: half a rule is another rule.
func (u *unit) checkInjected(list []Injection, at problem.Place) {
	total := 0
	for _, i := range list {
		total += i.Bytes
	}
	if total > limits.InjectedBytesPerStepMax {
		u.report.Error(at, "Use fewer references, or spread them over several steps.",
			"references and features put %d bytes into one step, at most %d are allowed", total,
			limits.InjectedBytesPerStepMax)
	}
}

// suggest is the fix for a name that is not known: the nearest one, else all.
func suggest(word string, known []string) string {
	known = sorted(known)
	if near := nearest.Of(word, known); near != "" {
		return "Did you mean " + near + "?"
	}
	if len(known) == 0 {
		return "None is known here."
	}
	return "Known are " + strings.Join(known, ", ") + "."
}
