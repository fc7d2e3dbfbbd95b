package advance

import (
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// RecommendationKind is the artifact that records preferences beyond what the
// workflow recommends (locks section 5; R21).
const RecommendationKind = "wr.recommendation_warning"

// Exceeded is one preference beyond its recommendation.
type Exceeded struct {
	Key         string // autonomy or riskPolicy
	Effective   string
	Recommended string
}

// Exceeds lists the preferences that go beyond what the workflow recommends, by the
// closed partial orders of the locks. They are never refused: it is the caller's
// choice, and it is written down.
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

// beyond reports that a stands behind b in an order; what is not in it never does.
func beyond(order []string, a, b string) bool {
	at := func(s string) int {
		for i, have := range order {
			if have == s {
				return i
			}
		}
		return -1
	}
	return at(b) >= 0 && at(a) > at(b)
}

// exceeds is the artifact for what Exceeds lists, false when it lists nothing.
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
