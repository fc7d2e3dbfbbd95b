package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/run/advance"
)

// play plays the scenarios in the text of a test.
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

// TestLoopApprovalAppliesToItsFirstStep: a loop may require the approval of its first step. Status,
// intent and the suggested call describe it as they describe a requirement of the step itself
// (docs/design.md#blocked-attempts, docs/design.md#requirements-on-the-caller).
func TestLoopApprovalAppliesToItsFirstStep(t *testing.T) {
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

// A rejected attempt may bring an artifact that no criterion requires. It cannot be withdrawn, so
// the next attempt is not judged by it.
func TestRejectedOptionalArtifactIsNotJudgedAgain(t *testing.T) {
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

// A step is found by its id even when the id of a node begins with the same letters. The workflow
// has a step for each letter that node ids consist of, so that some node id begins with the id of
// another node's step.
func TestStepIDComesBeforeNodeID(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
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

// An event copies names out of an artifact, within a bound. A longer name is a fault of the caller,
// and no plan that cannot be written.
func TestNamesCopiedFromArtifactsAreBounded(t *testing.T) {
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

// An input that a person has to approve is no human_approval step: it does not stop a run in a mode
// that never stops (docs/design.md#blocked-attempts).
func TestApprovedInputIsNoApprovalStep(t *testing.T) {
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
