package compile

import (
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/workflow/builtin"
)

// resolveFeatures returns the features that apply to the steps of u, sorted by id: its own
// and those of the units that call it.
func (u *unit) resolveFeatures(outer []builtin.FeatureDef) []builtin.FeatureDef {
	all := map[string]builtin.FeatureDef{}
	for _, f := range outer {
		all[f.ID] = f
	}
	for _, at := range u.src.Root.Member("features").Items() {
		id := at.Value.Text()
		f, ok := builtin.Feature(id)
		if !ok {
			u.report.Error(at, Suggest(id, builtin.Features()), "feature %q does not exist", id)
			continue
		}
		if f, ok = f.Without(u.b.disabled); !ok {
			u.report.Warn(at, "Remove the feature, or the capability from the workflow's disabled ones.",
				"feature %q is about a capability that the workflow disables; its text is left out", id)
			continue
		}
		all[id] = f
	}
	maps.Copy(u.b.features, all)
	return byKey(all)
}

// applyFeatures appends the lines of features to the author's prompt blocks, in the order of
// the feature ids (docs/design.md#compilation).
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

// featuresInPreamble marks the features of u for the metaGuidance. It is called for steps
// with a raw prompt, into which the lines of a feature cannot be inserted.
func (u *unit) featuresInPreamble() {
	for _, f := range u.features {
		u.b.preamble[f.ID] = true
	}
}

// withFeatures appends the summaries of the marked features to the metaGuidance, each once.
func (b *builder) withFeatures(guidance []string) []string {
	for _, id := range slices.Sorted(maps.Keys(b.preamble)) {
		if line := b.features[id].Summary; !slices.Contains(guidance, line) {
			guidance = append(guidance, line)
		}
	}
	return guidance
}

// featureList returns the applied features with the digests of their texts. The workflow
// hash therefore changes with a feature's text, even if no step contains it.
func (b *builder) featureList() []Feature {
	var out []Feature
	for _, f := range byKey(b.features) {
		from := injection(f.ID, f.Summary+"\n"+featureText(f))
		out = append(out, Feature{FeatureID: f.ID, ContentHash: from.ContentHash, Bytes: from.Bytes})
	}
	return out
}

// featureText joins the lines that a feature adds to prompt blocks.
func featureText(f builtin.FeatureDef) string {
	return strings.Join(slices.Concat(f.Constraints, f.Procedure, f.Verify), "\n")
}
