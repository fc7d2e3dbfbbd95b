package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/run/advance"
)

// play plays scenarios that stand in a test.
func play(t *testing.T, scenarios string) {
	t.Helper()
	all, err := parseScenarios(scenarios)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		t.Run(s.name, func(t *testing.T) {
			for _, wrong := range playScenario(t, s) {
				t.Error(wrong)
			}
		})
	}
}

// A loop may ask for the approval of its first step: status, intent and the ready
// call speak of it as of a step's own (R16, R20).
func TestAnApprovalThatALoopAsksFor(t *testing.T) {
	t.Parallel()
	play(t, `workflow
  steps:
  - id: rounds
    type: loop
    requireConfirmation: {kind: human_approval}
    loop: {type: for, count: 2, maxIterations: 3}
    body:
    - id: a
  - id: b

scenario in a run that never stops
given preferences autonomy=full_auto_never_stop
when start
when ack notes x
then blocked
  USER_ONLY_DEPENDENCY workflow_step:a
then status blocked
then run blocked openCriticalGaps=1
then intent await_user_confirmation
then answer lacks --notes
when approve
then status in_progress
then intent perform_pending_then_continue
then answer lacks --notes
when ack
then pending rounds@1::a
then answer has --notes

scenario in a guided run
when start
when ack notes x
then blocked
  USER_ONLY_DEPENDENCY workflow_step:a
then status blocked
then intent await_user_confirmation
when approve
then answer lacks --notes
when ack
then pending rounds@1::a
`)
}

// What a refused attempt brought beside the point cannot be taken back, so the next
// attempt is not held against it.
func TestAMalformedAsideIsLeftOut(t *testing.T) {
	t.Parallel()
	play(t, `workflow
  steps:
  - id: one
  - id: two

scenario a divergence
when start
when ack artifact {"kind":"wr.divergence","reason":"felt_like_it","summary":"s"}
then blocked
  INVALID_REQUIRED_OUTPUT output_contract:wr.divergence | leave it out
when ack notes done
then pending two
then gaps on the path none

scenario an observation
when start
when ack artifact {"kind":"wr.capability_observation","capability":"delegation"}
then blocked
  INVALID_REQUIRED_OUTPUT output_contract:wr.contracts.capability_observation | leave it out
when ack
then pending two
then capabilities none
`)
}

// A step is found by its name whatever the ids of nodes begin with. With a step for
// each letter that ids are made of, some node's id begins with the name of another's.
func TestAStepIsMeantBeforeAnID(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const letters = "abcdefghijklmnopqrstuvwxyz234567"
	var steps []string
	for _, c := range letters {
		steps = append(steps, fmt.Sprintf(`{"id":"%c","title":"T","prompt":"p"}`, c))
	}
	a := w.start(`{"id":"test.letters","name":"L","description":"d","version":"1.0.0","steps":[` +
		strings.Join(steps, ",") + `]}`)
	at := map[string]engine.Position{}
	for !a.IsComplete {
		at[a.Pending.StepID] = a.Position()
		a = w.must(a, advance.Request{})
	}
	run := a.Session.RunID.String()
	alike := 0
	for step, want := range at {
		if got, err := w.process().LocateNode(context.Background(), run, step); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", step, got, err, want)
		}
		for _, other := range at {
			if other != want && strings.HasPrefix(other.Node.String(), "node_"+step) {
				alike++
			}
		}
		for _, ref := range []string{want.Node.String(), want.Node.String()[:12], want.Node.String()[5:16]} {
			if got, err := w.process().LocateNode(context.Background(), run, ref); err != nil || got != want {
				t.Errorf("%s: %v, %v; want %v", ref, got, err, want)
			}
		}
	}
	if alike == 0 {
		t.Error("no id begins like a step")
	}
}

// What an event copies out of an artifact is bounded: over it is the caller's to mend,
// and no plan that cannot be written.
func TestNamesOutOfArtifactsAreBounded(t *testing.T) {
	t.Parallel()
	play(t, `workflow
  steps:
  - id: one
  - id: two

scenario a kind
when start
when ack artifact {"kind":"<k * 600000>"}
then refused VALIDATION_ERROR | kind of artifact 0
then events none
when checkpoint artifact {"kind":"<k * 600000>"}
then refused VALIDATION_ERROR | kind of artifact 0
when look
when ack artifact {"kind":"<k * 512>"}
then pending two

scenario the step of a divergence
when start
when ack artifact {"kind":"wr.divergence","reason":"safety_stop","summary":"s","relatedStepId":"<k * 600000>"}
then blocked
  INVALID_REQUIRED_OUTPUT output_contract:wr.divergence | relatedStepId has 600000 bytes
`)
}

// An input that a person has to approve is no human_approval step: it does not stop a
// run that never stops (R16).
func TestAnInputToApproveIsNoApproval(t *testing.T) {
	t.Parallel()
	play(t, `workflow
  steps:
  - id: one
    inputs:
    - {contextKey: consent, reason: needs_user_approval, description: d}
    requireConfirmation: {kind: human_approval}
  - id: two

scenario the input is missing, the step is approved
when start
when ack
then blocked
  USER_ONLY_DEPENDENCY context_key:consent
  USER_ONLY_DEPENDENCY workflow_step:one
when ack
  notes x
  preferences autonomy=full_auto_never_stop
then blocked
  USER_ONLY_DEPENDENCY workflow_step:one
then status blocked
when approve
then gaps
  critical user_only_dependency:needs_user_approval context_key:consent
then status in_progress
when ack
then pending two
`)
}
