package proposal

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// form is one shape that an artifact of a kind may have: it is told by a member, and
// named by another.
type form struct {
	sign string // the member that tells it; "" for the kind's only form
	id   []string
}

// forms are the shapes of each kind, as far as a name depends on them: what else an
// artifact must have is checked where it is applied.
var forms = map[Kind][]form{
	WorkflowChainPack: {{"steps", []string{"id"}}, {"workflows", []string{"name"}}, {"chains", []string{"name"}}},
	AgentPack:         {{"agentId", []string{"agentId"}}, {"agents", []string{"name"}}},
	PromptTemplate:    {{"", []string{"templateId"}}},
	Automation:        {{"", []string{"automationId", "id", "name"}}},
}

// SlotOf tells where an artifact of a kind would be installed, and its version, "" where
// it names none. Where no id can be told, the slot has none, and the error
// (PROPOSAL_INVALID) says what is missing: such a draft can be kept, not applied.
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
		v, there := artifact.Get(name)
		if !there {
			continue
		}
		if !label(v.Text(), slotIDBytesMax) {
			return s, version, unnamed(kind, name, fmt.Sprintf("a name of 1 to %d bytes in one line", slotIDBytesMax),
				shown(v))
		}
		s.ID = v.Text()
		return s, version, nil
	}
	return s, version, unnamed(kind, names[0], "a name", "nothing")
}

// namesOf lists the members that may name an artifact, the first that is there counts.
func namesOf(kind Kind, artifact canon.Value) (names []string, err error) {
	var signs, seen []string
	for _, f := range forms[kind] {
		signs = append(signs, f.sign)
		if _, there := artifact.Get(f.sign); there || f.sign == "" {
			seen, names = append(seen, f.sign), f.id
		}
	}
	switch {
	case artifact.Kind() != canon.Object || len(signs) == 0:
		return nil, unnamed(kind, fieldArtifact, "an object of a known kind", artifact.Kind().String())
	case len(seen) == 0:
		return nil, unnamed(kind, fieldArtifact, "a member "+strings.Join(signs, " or "), "none of them")
	case len(seen) > 1:
		// Two shapes at once would be installed under one name and read under another.
		return nil, unnamed(kind, fieldArtifact, "one of "+strings.Join(signs, ", "), strings.Join(seen, " and "))
	}
	return names, nil
}

func unnamed(kind Kind, field, expected, got string) error {
	return fault.New(fault.ProposalInvalid, "what the %s is called cannot be told: %s: expected %s, got %s", kind,
		field, expected, got).
		With("field", field).With("expected", expected).With("got", got)
}
