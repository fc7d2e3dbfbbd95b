package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/sorting"
	"github.com/waybill/waybill/durable/workflow/builtin"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/contract"
	"github.com/waybill/waybill/durable/workflow/promptref"
)

// UseKind is what a workflow uses besides its own text, a closed set.
type UseKind string

// The kinds of uses.
const (
	UsesReference UseKind = "reference" // wr.refs.*
	UsesFeature   UseKind = "feature"   // wr.features.*
	UsesContract  UseKind = "contract"  // wr.contracts.*
	UsesTemplate  UseKind = "template"  // wr.templates.*, routines among them
	UsesPrompt    UseKind = "prompt"    // an installed prompt template
	UsesMetrics   UseKind = "metrics"   // wr.metrics.*
	UsesBinding   UseKind = "binding"   // a workflow that fills an extension point
)

// Use is one thing that a workflow uses, and what it put into the compiled workflow.
type Use struct {
	Kind UseKind `json:"kind"`
	ID   string  `json:"id"`
	// Steps are the ids of the steps that have it: whose prompt contains the text, whose artifact the
	// contract is for, or that the template put in.
	Steps []string `json:"steps"`
	// Text is what is put into a prompt; "" for a template, whose steps are listed. Bytes is the length of
	// the text in one prompt, and ContentHash its digest.
	Text        string       `json:"text,omitzero"`
	Bytes       int          `json:"bytes,omitzero"`
	ContentHash canon.Digest `json:"contentHash,omitzero"`
	// SlotID and Source belong to a binding: the slot, and who bound it (default or project).
	SlotID string `json:"slotId,omitzero"`
	Source string `json:"source,omitzero"`
}

// Uses returns what a workflow uses, sorted by kind and id.
func Uses(w compile.Compiled) []Use {
	all := map[string]*Use{}
	add := func(u Use, stepID string) {
		key := string(u.Kind) + " " + u.ID + " " + u.SlotID
		if all[key] == nil {
			u.Steps = []string{}
			all[key] = &u
		}
		if stepID != "" && !slices.Contains(all[key].Steps, stepID) {
			all[key].Steps = append(all[key].Steps, stepID)
		}
	}
	for _, f := range w.Features {
		add(feature(w, f.FeatureID), "")
	}
	sequences := [][]compile.Step{w.Steps}
	for _, l := range w.Loops {
		sequences = append(sequences, l.Body)
	}
	for _, s := range slices.Concat(sequences...) {
		for _, in := range s.Injected {
			add(injected(w, in), s.StepID)
		}
		if s.OutputContract != nil {
			add(contractUse(w, s.OutputContract.ContractRef), s.StepID)
		}
		if len(s.AssessmentRefs) > 0 {
			add(contractUse(w, "wr.contracts.assessment"), s.StepID)
		}
		if s.Provenance.Source == compile.TemplateInjected {
			add(Use{Kind: UsesTemplate, ID: s.Provenance.OriginID}, s.StepID)
		}
	}
	for _, c := range w.Contracts {
		add(contractUse(w, c.ContractRef), "")
	}
	for _, b := range w.Bindings {
		add(Use{Kind: UsesBinding, ID: b.RoutineID, SlotID: b.SlotID, Source: b.Source}, "")
	}
	out := []Use{}
	for _, u := range all {
		out = append(out, *u)
	}
	sorting.By(out, func(a, b Use) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), cmp.Compare(a.SlotID, b.SlotID))
	})
	return out
}

// injected is the use of a text in a prompt. The text of a prompt template is that of the step.
func injected(w compile.Compiled, in compile.Injection) Use {
	u := Use{Kind: UsesMetrics, ID: in.OriginID, Bytes: in.Bytes, ContentHash: in.ContentHash}
	switch {
	case strings.HasPrefix(in.OriginID, "wr.refs."):
		u.Kind = UsesReference
		u.Text, _ = builtin.Ref(in.OriginID)
	case strings.HasPrefix(in.OriginID, "wr.features."):
		return feature(w, in.OriginID)
	case strings.HasPrefix(in.OriginID, promptref.Scheme):
		u.Kind = UsesPrompt
	}
	return u
}

// feature is the use of a feature: its sentence for the workflow, and the lines for prompt blocks.
func feature(w compile.Compiled, id string) Use {
	f, _ := builtin.Feature(id)
	f, _ = f.Without(w.Capabilities.Disabled)
	return withText(Use{Kind: UsesFeature, ID: id}, f.Text())
}

// contractUse is the use of a contract: the lines that describe the artifact in a prompt.
func contractUse(w compile.Compiled, ref string) Use {
	pack, ok := w.Contract(ref)
	if !ok {
		pack, _ = contract.Builtin(ref)
	}
	return withText(Use{Kind: UsesContract, ID: ref}, strings.Join(pack.Requirements(), "\n"))
}

// withText sets the text of a use, with its length and digest.
func withText(u Use, text string) Use {
	u.Text, u.Bytes, u.ContentHash = text, len(text), canon.Sum([]byte(text))
	return u
}

// InjectedLines returns for each line of the prompt of a step the number of the injected text that has the line, from
// 1 on in the order of Injected, and 0 for a line that the author wrote. Lines are compared with the texts of uses; items of a
// list without their marks, since the block that a text is put in numbers them.
func InjectedLines(s compile.Step, uses []Use) (out []int) {
	from := map[string]int{}
	for i, in := range s.Injected {
		for _, u := range uses {
			if u.ID != in.OriginID {
				continue
			}
			for line := range strings.Lines(u.Text) {
				from[bareLine(line)] = i + 1
			}
		}
	}
	delete(from, "")
	for line := range strings.Lines(s.Prompt) {
		out = append(out, from[bareLine(line)])
	}
	return out
}

// bareLine returns a line without blanks around it and the mark of a list.
func bareLine(line string) string { return listMark.ReplaceAllString(strings.TrimSpace(line), "") }

// listMark matches the sign or number before an item of a list.
var listMark = pattern.New(`^(?:[-*•]|[0-9]{1,3}[.)]) +`)
