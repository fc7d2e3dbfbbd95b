package snapshot

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/reason"
)

// Key returns the step instance key (docs/design.md#snapshots): the step id, prefixed with
// "loop@iteration/…::" inside loops. Ids cannot contain these separators, so no escapes are
// needed.
//
//go:noinline
func (p PendingStep) Key() string { return InstanceKey(p.LoopPath, p.StepID) }

// InstanceKey returns the key of a step in a loop path, outermost loop first.
func InstanceKey(path []PathElement, stepID string) string {
	if len(path) == 0 {
		return stepID
	}
	parts := make([]string, len(path))
	for i, e := range path {
		parts[i] = e.LoopID + "@" + strconv.FormatInt(e.Iteration, 10)
	}
	return strings.Join(parts, "/") + "::" + stepID
}

// ParseKey is the inverse of InstanceKey and accepts only its spelling.
func ParseKey(key string) (path []PathElement, stepID string, err error) {
	if reason.ValidStepID(key) {
		return nil, key, nil // a step outside of loops
	}
	stepID = key
	if loops, step, ok := strings.Cut(key, "::"); ok {
		stepID = step
		for part := range strings.SplitSeq(loops, "/") {
			loopID, iteration, _ := strings.Cut(part, "@")
			n, err := strconv.ParseInt(iteration, 10, 64)
			if err != nil || n < 0 || !reason.ValidStepID(loopID) {
				return nil, "", fmt.Errorf("step instance key %q: want loop@iteration", key)
			}
			path = append(path, PathElement{Iteration: n, LoopID: loopID})
		}
	}
	if !reason.ValidStepID(stepID) || InstanceKey(path, stepID) != key {
		return nil, "", fmt.Errorf("step instance key %q: want [loop@iteration/…::]stepId", key)
	}
	return path, stepID, nil
}

// InWords returns a step instance key for people: the id of the step and, in loops, the rounds, which are counted from
// one, the innermost first: "inner, round 2 of again". A key that does not parse is returned as it is.
func InWords(key string) string {
	path, stepID, err := ParseKey(key)
	if err != nil {
		return key
	}
	for _, e := range slices.Backward(path) {
		stepID += fmt.Sprintf(", round %d of %s", e.Iteration+1, e.LoopID)
	}
	return stepID
}
