package advance

import (
	"slices"

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
	for _, pref := range []struct {
		Exceeded
		order []string
	}{
		{Exceeded{"autonomy", string(p.Autonomy), r.Autonomy}, []string{string(event.Guided),
			string(event.FullAutoStopOnUserDeps), string(event.FullAutoNeverStop)}},
		{Exceeded{"riskPolicy", string(p.RiskPolicy), r.RiskPolicy}, []string{"conservative", "balanced", "aggressive"}},
	} {
		// Unknown values have index -1: an unknown recommendation is never exceeded.
		most := slices.Index(pref.order, pref.Recommended)
		if most >= 0 && slices.Index(pref.order, pref.Effective) > most {
			out = append(out, pref.Exceeded)
		}
	}
	return out
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
