package host

import (
	"encoding/json"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/openwop"
)

// Bounds of a structured call: how often the provider is asked, and the first budget in tokens where the step names none.
const (
	structuredTries  = 3
	structuredBudget = 1024
)

// structured asks the provider for a JSON document, again where it is none: a step with config.structured. A text that ends
// before its time is asked for with twice the budget; a refusal is not asked again. It is false for a step that has
// failed.
func (s Step) structured(r *Result) bool {
	budget := int64(structuredBudget)
	if v, _ := s.Config.Get("maxTokens"); v.Kind() == canon.Number && v.Float() >= 1 && v.Float() < 1e6 {
		budget = int64(v.Float())
	}
	node := text("nodeId", s.StepInstanceKey)
	about := []canon.Member{node, text("provider", "mock"), text("model", MockProvider)}
	answers := s.Test.Program(s.StepInstanceKey)
	why := "parse-error"
	for n := int64(1); n <= structuredTries; n++ {
		answer := canon.OfMembers()
		if int(n) <= len(answers) {
			answer = answers[n-1]
		} else if len(answers) == 0 {
			answer = answer.With("content", canon.OfString("{}"))
		}
		content, _ := answer.Get("content")
		stop, _ := answer.Get("stopReason")
		refusal, _ := answer.Get("refusal")
		switch {
		case refusal.Kind() == canon.String || stop.Text() == "refusal":
			r.emit(openwop.EnvelopeRefusal, about...)
			r.fail("envelope_refusal", "The provider refused the request")
			return false
		case stop.Text() == "max_tokens" || stop.Text() == "length":
			why = "truncation"
			r.emit(openwop.EnvelopeTruncated, append(about[:len(about):len(about)], text("stopReason", stop.Text()),
				canon.Member{Name: "partialPayloadAvailable", Value: canon.OfBool(content.Text() != "")})...)
		case json.Valid([]byte(content.Text())):
			r.Outputs = canon.OfMembers(canon.Member{Name: "maxTokens", Value: canon.OfInt(budget)})
			return true
		default:
			why = "parse-error"
		}
		if n == structuredTries {
			break
		}
		if why == "truncation" {
			budget *= 2
		}
		r.emit(openwop.EnvelopeRetryAttempted, node, canon.Member{Name: "attempt", Value: canon.OfInt(n + 1)}, text("reason", why))
	}
	r.emit(openwop.EnvelopeRetryExhausted, node, canon.Member{Name: "totalAttempts", Value: canon.OfInt(structuredTries)},
		text("finalReason", why))
	r.fail("envelope_retry_exhausted", "The provider returned no JSON document")
	return false
}
