// Package builtin holds the texts of Waybill that workflows refer to by name: references
// (Ref), features (Feature) and capability probes (Probe); see docs/design.md#authoring
// and docs/design.md#capabilities. Each is a closed set. The compiler embeds the text in
// the compiled workflow, so that a run keeps the text with which it was started when a
// later version changes it.
//
// The package contains text only: one file per text, in refs, features and probes. Package
// compile decides where a text is inserted and whether it fits the limits. The texts are
// hashed as part of compiled workflows: a changed word changes workflow hashes. No text
// contains braces that rendering or a template would treat as a placeholder.
package builtin

import (
	"embed"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

//go:embed refs features probes
var files embed.FS

// set is one closed set of texts: the files of a directory, each named after the id of its
// text without the prefix.
type set struct{ dir, prefix, extension string }

var (
	refs     = set{"refs", "wr.refs.", ".md"}
	features = set{"features", "wr.features.", ".yaml"}
	probes   = set{"probes", "", ".md"}
)

// ids lists the ids of all texts, sorted.
func (s set) ids() []string {
	names, _ := fs.Glob(files, s.dir+"/*"+s.extension) // fails for an invalid pattern only
	for i, name := range names {
		names[i] = s.prefix + strings.TrimSuffix(path.Base(name), s.extension)
	}
	return names
}

// text returns the text of an id, without the newline that ends its file; false for an
// unknown id.
func (s set) text(id string) (string, bool) {
	name, ok := strings.CutPrefix(id, s.prefix)
	data, err := files.ReadFile(s.dir + "/" + name + s.extension)
	return strings.TrimSuffix(string(data), "\n"), ok && err == nil
}

// Ref returns the text of an id in the namespace wr.refs.*, in Markdown, without a heading
// or a trailing newline, at most limits.RefBytesMax bytes long; false for an unknown id.
func Ref(id string) (string, bool) { return refs.text(id) }

// Refs lists the ids of all references, sorted.
func Refs() []string { return refs.ids() }

// FeatureDef is a set of rules that a workflow enables for all its steps. The compiler
// appends the lists to the prompt blocks of each step that has prompt blocks, in the order
// of the feature ids. It does not change raw prompts; for steps that have one, it adds
// Summary once to the workflow's metaGuidance.
type FeatureDef struct {
	ID      string `json:"-"`       // wr.features.*
	Summary string `json:"summary"` // one sentence, an instruction that is complete by itself
	// About are the capabilities that the texts are about; empty: none. A workflow that disables all of them
	// does without the feature, see Without.
	About []string `json:"about,omitzero"`
	// The lines added to the parts of prompt blocks; each list may be empty.
	Constraints []string `json:"constraints,omitzero"`
	Procedure   []string `json:"procedure,omitzero"`
	Verify      []string `json:"verify,omitzero"`
}

// Text returns the text of the feature: its summary, and the lines that it adds to prompt blocks.
func (f FeatureDef) Text() string {
	return strings.Join(slices.Concat([]string{f.Summary}, f.Constraints, f.Procedure, f.Verify), "\n")
}

// names are the words for the capabilities in the texts of features.
var names = map[string]string{Delegation: "delegation", WebBrowsing: "web access"}

// Without returns the feature with texts that do not mention disabled capabilities; false if it is about no
// other. Texts name the capabilities of About in its order, joined by "or".
func (f FeatureDef) Without(disabled []string) (FeatureDef, bool) {
	var all, left []string
	for _, c := range f.About {
		all = append(all, names[c])
		if !slices.Contains(disabled, c) {
			left = append(left, names[c])
		}
	}
	if len(left) == len(all) {
		return f, true
	}
	was, now := strings.Join(all, " or "), strings.Join(left, " or ")
	of := func(lines []string) []string {
		out := make([]string, len(lines))
		for i, line := range lines {
			out[i] = strings.ReplaceAll(line, was, now)
		}
		return out
	}
	f.Summary = of([]string{f.Summary})[0]
	f.Constraints, f.Procedure, f.Verify = of(f.Constraints), of(f.Procedure), of(f.Verify)
	return f, len(left) > 0
}

// Feature returns the feature with an id; false for an unknown id.
func Feature(id string) (FeatureDef, bool) {
	text, ok := features.text(id)
	if !ok {
		return FeatureDef{}, false
	}
	f := FeatureDef{ID: id}
	v, err := yaml.Parse([]byte(text))
	if err == nil {
		err = canon.Decode(v, &f)
	}
	if err != nil {
		panic("builtin: the text of " + id + ": " + err.Error())
	}
	return f, true
}

// Features lists the ids of all features, sorted.
func Features() []string { return features.ids() }

// ProbeTemplate is the template id recorded for every probe step
// (docs/design.md#capabilities).
const ProbeTemplate = "wr.templates.capability_probe"

// The capabilities that a run can observe (event capability_observed, docs/design.md#events).
const (
	Delegation  = "delegation"
	WebBrowsing = "web_browsing"
)

// ProbeDef defines a step that tests whether the performer has a capability, by requesting
// one use of it. The compiler adds the output contract
// wr.contracts.capability_observation to the step.
type ProbeDef struct {
	Capability string
	StepID     string // wr_probe_<capability>
	TemplateID string // ProbeTemplate
	Title      string // the heading of the file
	Prompt     string // the text below the heading
}

// Probe returns the probe of a capability; false for an unknown capability.
func Probe(capability string) (ProbeDef, bool) {
	text, ok := probes.text(capability)
	title, prompt, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n\n")
	return ProbeDef{capability, "wr_probe_" + capability, ProbeTemplate, title, prompt}, ok
}

// Capabilities lists all capabilities, sorted. Each has a probe.
func Capabilities() []string { return probes.ids() }
