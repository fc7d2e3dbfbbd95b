package interpreter

import (
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/contract"
)

// LoopControlKind is the artifact kind that decides loops, LoopControlRef its contract.
const (
	LoopControlKind = "wr.loop_control"
	LoopControlRef  = "wr.contracts.loop_control"
)

const (
	decisionContinue = "continue"
	decisionStop     = "stop"
)

// listen takes up the decisions that came with the step being left: each goes to
// the innermost loop that it can mean, and counts until that loop's iteration ends,
// however many steps of the body still follow.
func (k *walker) listen() {
	said := map[string]string{}
	for _, a := range k.in.Artifacts {
		decision, loopID, ok := k.decisionOf(a)
		if !ok {
			continue
		}
		for i := len(k.frames) - 1; i >= 0; i-- {
			loop, found := k.w.Loop(k.frames[i].LoopID)
			if !found || !k.meant(loop, loopID) {
				continue
			}
			if before, twice := said[loop.LoopID]; twice && before != decision {
				k.miss(bothWays(loop))
				decision = "" // in no order of artifacts is one of them the last word
			}
			k.frames[i].Decision, said[loop.LoopID] = decision, decision
			break
		}
	}
}

func bothWays(loop compile.Loop) reason.Unmet {
	return reason.Unmet{Code: reason.InvalidOutput, Pointer: reason.OutputContract(LoopControlRef),
		Message: fmt.Sprintf("The artifacts decide loop %q both ways: continue and stop.", loop.LoopID),
		Fix:     "Send one decision: " + loopExample(loop) + `, or "continue".`}
}

// decisionOf reads a loop_control artifact; false for anything else and for one
// that does not satisfy the contract.
func (k *walker) decisionOf(a canon.Value) (decision, loopID string, ok bool) {
	if kind, _ := a.Get("kind"); kind.Text() != LoopControlKind {
		return "", "", false
	}
	// The pack that the run is pinned to judges, not today's.
	if pack, known := k.w.Contract(LoopControlRef); !known || len(pack.Check(a)) > 0 {
		return "", "", false
	}
	d, _ := a.Get("decision")
	l, _ := a.Get("loopId")
	return d.Text(), l.Text(), d.Text() == decisionContinue || d.Text() == decisionStop
}

// meant matches an artifact's optional loopId (R22). A loop whose control names no
// id takes any but one that another loop around goes by.
func (k *walker) meant(loop compile.Loop, loopID string) bool {
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

// decisionMissing tells a caller which artifact decides, and shows one. One that
// came and was not taken is named: it is what has to be changed.
func (k *walker) decisionMissing(loop compile.Loop) reason.Unmet {
	u := reason.Unmet{Code: reason.MissingOutput, Pointer: reason.OutputContract(LoopControlRef),
		Message: fmt.Sprintf("Loop %q needs a decision at the end of the iteration, and none was sent.", loop.LoopID),
		Fix:     "Send an artifact such as " + loopExample(loop) + `; decision is "continue" or "stop".`}
	for _, a := range k.in.Artifacts {
		kind, _ := a.Get("kind")
		if kind.Text() != LoopControlKind {
			continue
		}
		u.Code = reason.InvalidOutput
		l, _ := a.Get("loopId")
		u.Message = fmt.Sprintf("The %s that was sent does not decide loop %q: %s.", LoopControlKind, loop.LoopID,
			k.mismatchWords(a))
		if _, _, ok := k.decisionOf(a); ok {
			u.Message = fmt.Sprintf("The %s that was sent is for loop %q; this is the end of an iteration of loop %q.",
				LoopControlKind, l.Text(), loop.LoopID)
		}
	}
	return u
}

func (k *walker) mismatchWords(a canon.Value) string {
	pack, _ := k.w.Contract(LoopControlRef)
	return contract.Words(pack.Check(a))
}

func loopExample(loop compile.Loop) string {
	v := canon.OfMembers(
		canon.Member{Name: "kind", Value: canon.OfString(LoopControlKind)},
		canon.Member{Name: "decision", Value: canon.OfString(decisionStop)})
	if loop.Control.LoopID != "" {
		v = v.With("loopId", canon.OfString(loop.Control.LoopID))
	}
	return string(v.JCS())
}

// variableMissing: an absent variable at the end of an iteration must not end the
// loop by accident (locks section 9, failure mode).
func variableMissing(loop compile.Loop, missing []string) reason.Unmet {
	name := "?"
	if len(missing) > 0 {
		name = missing[0]
	}
	return reason.Unmet{Code: reason.MissingOutput, Pointer: contextPointer(name, loop.LoopID),
		Message: fmt.Sprintf("Loop %q is decided by %s, which the context does not hold.", loop.LoopID,
			strings.Join(missing, ", ")),
		Fix: fmt.Sprintf("Send it as context: {%q: VALUE}, or --set %s=VALUE.", name, name)}
}

// contextPointer points at a context key, or at the loop where the path cannot
// stand in a pointer.
func contextPointer(path, loopID string) reason.Pointer {
	if reason.ValidContextKey(path) {
		return reason.ContextKey(path)
	}
	return reason.WorkflowStep(loopID)
}
