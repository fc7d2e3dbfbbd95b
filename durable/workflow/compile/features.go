package compile

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/workflow/builtin"
)

// resolveFeatures are the features that apply to the steps of u, by id: its own and
// those of whoever called it, each once.
func (u *unit) resolveFeatures(outer []builtin.FeatureDef) []builtin.FeatureDef {
	all := map[string]builtin.FeatureDef{}
	for _, f := range outer {
		all[f.ID] = f
	}
	for _, at := range u.src.Root.Member("features").Items() {
		id := at.Value.Text()
		f, ok := builtin.Feature(id)
		if !ok {
			u.report.Error(at, suggest(id, builtin.Features()), "there is no feature %q", id)
			continue
		}
		all[id] = f
	}
	maps.Copy(u.b.features, all)
	return byKey(all)
}

// applyFeatures puts what features say behind what the author says, in the order of
// their ids (locks section 5).
func (u *unit) applyFeatures(p *PromptBlocks) []Injection {
	var out []Injection
	for _, f := range u.features {
		p.Constraints = append(p.Constraints, f.Constraints...)
		p.Procedure = append(p.Procedure, f.Procedure...)
		p.Verify = append(p.Verify, f.Verify...)
		if text := featureText(f); text != "" {
			out = append(out, injection(f.ID, text))
		}
	}
	return out
}

// featuresBeside: a prompt in one piece has no place for them, so that each is said
// in one sentence for the whole workflow.
func (u *unit) featuresBeside() {
	for _, f := range u.features {
		u.b.preamble[f.ID] = true
	}
}

// withFeatures adds those sentences to the metaGuidance, each once.
func (b *builder) withFeatures(guidance []string) []string {
	for _, id := range slices.Sorted(maps.Keys(b.preamble)) {
		if line := b.features[id].Summary; !slices.Contains(guidance, line) {
			guidance = append(guidance, line)
		}
	}
	return guidance
}

// featureList is what was applied, with the digest of all it says: the hash of a
// workflow changes when a feature does, also where no step shows it.
func (b *builder) featureList() []Feature {
	var out []Feature
	for _, f := range byKey(b.features) {
		from := injection(f.ID, f.Summary+"\n"+featureText(f))
		out = append(out, Feature{FeatureID: f.ID, ContentHash: from.ContentHash, Bytes: from.Bytes})
	}
	return out
}

// featureText is what prompt blocks get of a feature.
func featureText(f builtin.FeatureDef) string {
	return strings.Join(slices.Concat(f.Constraints, f.Procedure, f.Verify), "\n")
}
