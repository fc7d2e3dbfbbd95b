package proposal

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// form is one form of a kind's artifacts: a member identifies it, and one of others names the
// artifact.
type form struct {
	sign string   // identifies the form; "" for a kind's only form
	id   []string // members that may hold the name, first match wins
}

// forms lists the forms of each kind, as far as names depend on them. Package installable
// checks the rest when the artifact is applied.
var forms = map[Kind][]form{
	WorkflowChainPack: {{"steps", []string{"id"}}, {"workflows", []string{"name"}}, {"chains", []string{"name"}}},
	AgentPack:         {{"agentId", []string{"agentId"}}, {"agents", []string{"name"}}},
	PromptTemplate:    {{"", []string{"templateId"}}},
	Automation:        {{"", []string{"automationId", "id", "name"}}},
}

// SlotOf returns the slot and the version ("" if absent) of an artifact. If the artifact
// names no id the slot has none and the error is PROPOSAL_INVALID with what is missing: such
// a draft can be stored but not applied.
func SlotOf(kind Kind, artifact canon.Value) (s Slot, version string, err error) {
	s = Slot{Kind: kind}
	if v := textOf(artifact, "version"); label(v, versionBytesMax) {
		version = v
	}
	names, err := namesOf(kind, artifact)
	if err != nil {
		return s, version, err
	}
	for _, name := range names {
		if v, ok := artifact.Get(name); ok && label(v.Text(), slotIDBytesMax) {
			s.ID = v.Text()
			return s, version, nil
		} else if ok {
			return s, version, unnamed(kind, name, fmt.Sprintf("a name of 1 to %d bytes in one line", slotIDBytesMax),
				shown(v))
		}
	}
	return s, version, unnamed(kind, names[0], "a name", "nothing")
}

// namesOf returns the members that may name an artifact of its form, in order of preference.
// Artifacts of no form, or of several at once, are PROPOSAL_INVALID.
func namesOf(kind Kind, artifact canon.Value) (names []string, err error) {
	var signs, seen []string
	for _, f := range forms[kind] {
		signs = append(signs, f.sign)
		if _, ok := artifact.Get(f.sign); ok || f.sign == "" {
			seen, names = append(seen, f.sign), f.id
		}
	}
	switch {
	case artifact.Kind() != canon.Object || len(signs) == 0:
		return nil, unnamed(kind, fieldArtifact, "an object of a known kind", artifact.Kind().String())
	case len(seen) == 0:
		return nil, unnamed(kind, fieldArtifact, "a member "+strings.Join(signs, " or "), "none of them")
	case len(seen) > 1:
		// With two forms at once it would be installed under one name and read under another.
		return nil, unnamed(kind, fieldArtifact, "one of "+strings.Join(signs, ", "), strings.Join(seen, " and "))
	}
	return names, nil
}

// unnamed is the fault for an artifact whose name cannot be determined.
func unnamed(kind Kind, field, expected, got string) error {
	return fault.New(fault.ProposalInvalid, "the name of the %s cannot be determined: %s: expected %s, got %s", kind,
		field, expected, got).
		With("field", field).With("expected", expected).With("got", got)
}
