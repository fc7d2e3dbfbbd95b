package builtin

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/contract"
)

// placeholder matches text that rendering or a template would replace.
var placeholder = regexp.MustCompile(`\{\{|\{[A-Za-z]`)

// wellFormed checks one text that is inserted into prompts.
func wellFormed(t *testing.T, of, text string) {
	t.Helper()
	switch {
	case text == "" || strings.TrimSpace(text) != text:
		t.Errorf("%s is empty or has space around it", of)
	case placeholder.MatchString(text):
		t.Errorf("%s contains %s, which would be filled in", of, placeholder.FindString(text))
	case strings.ContainsAny(text, "\t\r"):
		t.Errorf("%s contains tabs or carriage returns", of)
	}
}

func TestClosedSets(t *testing.T) {
	for _, tt := range []struct {
		what, prefix string
		got, want    []string
	}{
		{"references", "wr.refs.", Refs(), []string{"adversarial_challenge_rules", "memory_query", "memory_store",
			"memory_usage", "notes_first_durability", "parallelize_cognition_serialize_synthesis", "synthesis_under_disagreement"}},
		{"features", "wr.features.", Features(), []string{"capabilities", "durable_recap_guidance", "memory_context",
			"mode_guidance", "output_contracts", "subagent_guidance"}},
		{"capabilities", "", Capabilities(), []string{Delegation, WebBrowsing}},
	} {
		for i := range tt.want {
			tt.want[i] = tt.prefix + tt.want[i]
		}
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.what, tt.got, tt.want)
		}
	}
	if _, ok := Ref("wr.refs.nothing"); ok {
		t.Error("a reference that does not exist is found")
	}
	if _, ok := Feature("wr.features.nothing"); ok {
		t.Error("a feature that does not exist is found")
	}
	if _, ok := Probe("telepathy"); ok {
		t.Error("a probe that does not exist is found")
	}
}

func TestReferencesWithinLimit(t *testing.T) {
	for _, id := range Refs() {
		text, ok := Ref(id)
		if !ok || len(text) > limits.RefBytesMax {
			t.Errorf("%s has %d bytes", id, len(text))
		}
		wellFormed(t, id, text)
	}
}

// TestAllTextsFitOneStep: a workflow can enable every feature and refer to every text in one
// step.
func TestAllTextsFitOneStep(t *testing.T) {
	size := 0
	for _, id := range Features() {
		f, ok := Feature(id)
		if !ok || f.ID != id {
			t.Fatalf("%s: %v", id, f)
		}
		all := slices.Concat([]string{f.Summary}, f.Constraints, f.Procedure, f.Verify)
		if len(all) < 2 {
			t.Errorf("%s adds nothing to a step", id)
		}
		for _, text := range all {
			wellFormed(t, id, text)
			if strings.Contains(text, "\n") || !strings.HasSuffix(text, ".") {
				t.Errorf("%s: want sentences on one line: %q", id, text)
			}
			size += len(text)
		}
	}
	for _, id := range Refs() {
		text, _ := Ref(id)
		size += len(text)
	}
	if size > limits.InjectedBytesPerStepMax {
		t.Errorf("all features and references have %d bytes", size)
	}
}

// TestProbeExamplesSatisfyContract: agents send the artifacts that a probe shows, so these
// must satisfy the contract of the probe step.
func TestProbeExamplesSatisfyContract(t *testing.T) {
	pack, _ := contract.Builtin(contract.CapabilityRef)
	for _, capability := range Capabilities() {
		p, ok := Probe(capability)
		if !ok || p.StepID != "wr_probe_"+capability || p.TemplateID != "wr.templates.capability_probe" ||
			p.Title == "" {
			t.Errorf("%s: %+v", capability, p)
		}
		if !reason.ValidStepID(p.StepID) || reason.OfCapability(capability).Check() != nil {
			t.Errorf("%s is not a capability of a run", capability)
		}
		wellFormed(t, p.StepID, p.Prompt)
		var results []string
		for line := range strings.Lines(p.Prompt) {
			if !strings.HasPrefix(line, "    {") {
				continue
			}
			v, err := canon.Parse([]byte(strings.TrimSpace(line)))
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if wrong := pack.Check(v); len(wrong) > 0 {
				t.Errorf("%s: %v", line, wrong)
			}
			named, _ := v.Get("capability")
			result, _ := v.Get("result")
			if named.Text() != capability {
				t.Errorf("%s shows %s", capability, line)
			}
			results = append(results, result.Text())
		}
		if !slices.Equal(results, []string{"success", "failure"}) {
			t.Errorf("%s shows %v", capability, results)
		}
	}
}

// TestFeaturesWithout: a feature does without the disabled capabilities that it is about, and its texts name no other
// capability than those.
func TestFeaturesWithout(t *testing.T) {
	mentions := map[string]string{Delegation: "delegat", WebBrowsing: "web"}
	for _, id := range Features() {
		f, _ := Feature(id)
		for _, disabled := range [][]string{nil, {Delegation}, {WebBrowsing}, {Delegation, WebBrowsing}} {
			g, ok := f.Without(disabled)
			all := !slices.ContainsFunc(f.About, func(c string) bool { return !slices.Contains(disabled, c) })
			if ok != (len(f.About) == 0 || !all) {
				t.Errorf("%s without %v: %v", id, disabled, ok)
			}
			if len(disabled) == 0 && g.Text() != f.Text() {
				t.Errorf("%s changes without a disabled capability", id)
			}
			for c, word := range mentions {
				has := strings.Contains(strings.ToLower(g.Text()), word)
				if want := slices.Contains(f.About, c) && !slices.Contains(disabled, c); ok && has != want {
					t.Errorf("%s without %v: mentions %s: %v\n%s", id, disabled, c, has, g.Text())
				}
			}
		}
	}
}
