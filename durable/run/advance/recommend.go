package advance

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// RecommendationKind is the artifact kind that records preferences beyond what the workflow
// recommends (docs/design.md#preferences).
const RecommendationKind = "wr.recommendation_warning"

// Exceeded is one preference beyond its recommendation.
type Exceeded struct {
	Key         string // "autonomy" or "riskPolicy"
	Effective   string
	Recommended string
}

// Exceeds returns the preferences that exceed the workflow's recommendation, in the orders of
// docs/design.md#preferences. They are permitted, as the caller's choice, and recorded.
func Exceeds(w compile.Compiled, p event.Preferences) []Exceeded {
	r := w.RecommendedPreferences
	if r == nil {
		return nil
	}
	var out []Exceeded
	autonomy := []string{string(event.Guided), string(event.FullAutoStopOnUserDeps), string(event.FullAutoNeverStop)}
	if beyond(autonomy, string(p.Autonomy), r.Autonomy) {
		out = append(out, Exceeded{"autonomy", string(p.Autonomy), r.Autonomy})
	}
	if beyond([]string{"conservative", "balanced", "aggressive"}, string(p.RiskPolicy), r.RiskPolicy) {
		out = append(out, Exceeded{"riskPolicy", string(p.RiskPolicy), r.RiskPolicy})
	}
	return out
}

// beyond reports whether a is after b in order; false if b is not in it.
func beyond(order []string, a, b string) bool {
	at := func(s string) int {
		for i, have := range order {
			if have == s {
				return i
			}
		}
		return -1
	}
	// Unknown values have index -1: an unknown recommendation is never exceeded.
	return at(b) >= 0 && at(a) > at(b)
}

// exceeds returns the artifact for the result of Exceeds; false if that is empty.
func exceeds(w compile.Compiled, p event.Preferences) (Artifact, bool) {
	all := Exceeds(w, p)
	if len(all) == 0 {
		return Artifact{}, false
	}
	items := make([]canon.Value, len(all))
	for i, e := range all {
		items[i] = canon.OfMembers(
			canon.Member{Name: "key", Value: canon.OfString(e.Key)},
			canon.Member{Name: "effective", Value: canon.OfString(e.Effective)},
			canon.Member{Name: "recommended", Value: canon.OfString(e.Recommended)})
	}
	return JSONArtifact(canon.OfMembers(
		canon.Member{Name: "kind", Value: canon.OfString(RecommendationKind)},
		canon.Member{Name: "exceeded", Value: canon.OfList(items...)})), true
}
