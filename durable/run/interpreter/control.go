package interpreter

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/contract"
)

// LoopControlKind is the artifact kind that decides loops; LoopControlRef is its contract.
const (
	LoopControlKind = "wr.loop_control"
	LoopControlRef  = "wr.contracts.loop_control"
)

// The values of an artifact's member "decision".
const (
	decisionContinue = "continue"
	decisionStop     = "stop"
)

// applyDecisions stores the decisions of the completed step's artifacts in the loop stack.
// Each goes to the innermost loop that it can address and is valid until that loop's
// iteration ends, even if further steps of the body follow.
func (k *walker) applyDecisions() {
	decisions := map[string]string{}
	for _, a := range k.in.Artifacts {
		decision, loopID, ok := k.decisionOf(a)
		if !ok {
			continue
		}
		// Innermost first: an artifact without a loopId means the closest loop.
		for i := len(k.frames) - 1; i >= 0; i-- {
			loop, found := k.w.Loop(k.frames[i].LoopID)
			if !found || !k.addresses(loop, loopID) {
				continue
			}
			if before, twice := decisions[loop.LoopID]; twice && before != decision {
				k.addUnmet(contradiction(loop, k.frames[i].Iteration))
				decision = "" // contradictory: the order of artifacts does not decide
			}
			k.frames[i].Decision, decisions[loop.LoopID] = decision, decision
			break
		}
	}
}

// contradiction is the unmet condition for contradictory decisions about one loop.
func contradiction(loop compile.Loop, iteration int64) reason.Unmet {
	return reason.Unmet{Code: reason.InvalidOutput, Pointer: reason.OutputContract(LoopControlRef), Loop: factOf(loop, iteration),
		Kind:    LoopControlKind,
		Message: fmt.Sprintf("The artifacts decide loop %q both ways: continue and stop.", loop.LoopID),
		Fix:     "Send one decision: " + loopExample(loop) + `, or "continue".`}
}

// decisionOf reads a loop control artifact; ok is false for other artifacts and for those
// that violate the contract.
func (k *walker) decisionOf(a canon.Value) (decision, loopID string, ok bool) {
	if kind, _ := a.Get("kind"); kind.Text() != LoopControlKind {
		return "", "", false
	}
	// The pinned contract pack applies, not the built-in one of this version.
	if pack, known := k.w.Contract(LoopControlRef); !known || len(pack.Check(a)) > 0 {
		return "", "", false
	}
	d, _ := a.Get("decision")
	l, _ := a.Get("loopId")
	return d.Text(), l.Text(), d.Text() == decisionContinue || d.Text() == decisionStop
}

// addresses reports whether an artifact's optional loopId addresses a loop
// (docs/design.md#loops). A loop whose control names no id accepts any id except those of
// enclosing loops.
func (k *walker) addresses(loop compile.Loop, loopID string) bool {
	if loop.Control == nil || loop.Control.Kind != compile.ByArtifact {
		return false
	}
	if loopID == "" || loopID == loop.LoopID || loopID == loop.Control.LoopID {
		return true
	}
	if loop.Control.LoopID != "" {
		return false
	}
	for _, f := range k.frames {
		other, _ := k.w.Loop(f.LoopID)
		if other.LoopID == loopID || other.Control != nil && other.Control.LoopID == loopID {
			return false
		}
	}
	return true
}

// decisionMissing is the unmet condition for an iteration without a decision: it names the
// artifact and shows an example. A loop control artifact that was sent and not accepted is
// named with the reason.
func (k *walker) decisionMissing(loop compile.Loop, iteration int64) reason.Unmet {
	u := reason.Unmet{Code: reason.MissingOutput, Pointer: reason.OutputContract(LoopControlRef), Loop: factOf(loop, iteration),
		Message: fmt.Sprintf("Loop %q needs a decision at the end of the iteration, and none was sent.", loop.LoopID),
		Fix:     "Send an artifact such as " + loopExample(loop) + `; decision is "continue" or "stop".`}
	for _, a := range k.in.Artifacts {
		kind, _ := a.Get("kind")
		if kind.Text() != LoopControlKind {
			continue
		}
		// An artifact was sent: report what is wrong with it rather than that it is missing.
		u.Code, u.Kind = reason.InvalidOutput, LoopControlKind
		l, _ := a.Get("loopId")
		pack, _ := k.w.Contract(LoopControlRef)
		u.Message = fmt.Sprintf("The %s that was sent does not decide loop %q: %s.", LoopControlKind, loop.LoopID,
			contract.JoinMismatches(pack.Check(a)))
		if _, _, ok := k.decisionOf(a); ok {
			u.Message = fmt.Sprintf("The %s that was sent is for loop %q; this is the end of an iteration of loop %q.",
				LoopControlKind, l.Text(), loop.LoopID)
		}
	}
	return u
}

// loopExample returns a valid loop control artifact as JSON, for a suggested fix.
func loopExample(loop compile.Loop) string {
	v := canon.OfMembers(
		canon.Member{Name: "kind", Value: canon.OfString(LoopControlKind)},
		canon.Member{Name: "decision", Value: canon.OfString(decisionStop)})
	if loop.Control.LoopID != "" {
		v = v.With("loopId", canon.OfString(loop.Control.LoopID))
	}
	return string(v.JCS())
}

// variableMissing is the unmet condition for a variable that is absent at the end of an
// iteration: treating it as null could end the loop by accident (docs/design.md#loops).
func variableMissing(loop compile.Loop, iteration int64, missing []string) reason.Unmet {
	name := "?"
	if len(missing) > 0 {
		name = missing[0]
	}
	return reason.Unmet{Code: reason.MissingOutput, Pointer: contextPointer(name, loop.LoopID), Loop: factOf(loop, iteration),
		Message: fmt.Sprintf("Loop %q is decided by %s, which the context does not hold.", loop.LoopID,
			strings.Join(missing, ", ")),
		Fix: fmt.Sprintf("Send it as context: {%q: VALUE}, or --set %s=VALUE.", name, name)}
}

// contextPointer points at a context key, or at the loop if the path is not a valid pointer.
func contextPointer(path, loopID string) reason.Pointer {
	if reason.ValidContextKey(path) {
		return reason.ContextKey(path)
	}
	return reason.WorkflowStep(loopID)
}
