package compile

import (
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/nearest"
)

// ref returns the text of a wr.refs.* reference and appends it to refs. The text is embedded
// in the document, so nothing is looked up during a run (docs/design.md#authoring).
func (u *unit) ref(at problem.SourceValue, refs *[]Injection) string {
	id := at.Value.Text()
	text, ok := builtin.Ref(id)
	if !ok {
		u.report.Error(at, Suggest(id, builtin.Refs()), "reference %q does not exist", id)
		return ""
	}
	*refs = append(*refs, injection(id, text))
	return text
}

// injection records the origin and digest of an inserted text.
func injection(originID, text string) Injection {
	return Injection{OriginID: originID, ContentHash: canon.Sum([]byte(text)), Bytes: len(text)}
}

// checkInjected reports a step whose inserted texts exceed the limit. Texts are never cut: a
// truncated rule would be a different rule.
func checkInjected(report problem.Report, list []Injection, at problem.SourceValue) {
	total := 0
	for _, i := range list {
		total += i.Bytes
	}
	if total > limits.InjectedBytesPerStepMax {
		report.Error(at, "Use fewer references, or spread them over several steps.",
			"references and features add %d bytes to one step, at most %d are allowed", total,
			limits.InjectedBytesPerStepMax)
	}
}

// Suggest returns the correction for an unknown name: the most similar known one, else all
// known ones.
func Suggest(word string, known []string) string {
	known = sorted(known)
	otherwise := "Known are " + strings.Join(known, ", ") + "."
	if len(known) == 0 {
		otherwise = "None is known here."
	}
	return nearest.Suggest(word, known, "Did you mean %s?", otherwise)
}
