package snapshot_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/run/snapshot"
)

const foreignBlocked = `{"enginePayload":{"engineState":{"blocked":{"blockers":{"blockers":[{"code":"MISSING_REQUIRED_OUTPUT","message":"No leaves.","pointer":{"contractRef":"tea","kind":"output_contract"},"suggestedFix":"Bring some."},{"message":"No pot."},{"code":"X"}]},"kind":"retryable_block"},` +
	`"completed":{"kind":"set","values":["pot@0::add","boil"]},"kind":"blocked","loopStack":[],"pending":{"kind":"some","step":{"loopPath":[{"iteration":1,"loopId":"pot"}],"stepId":"taste"}}},"v":1},"kind":"execution_snapshot","v":1}`

func TestDecodeForeign(t *testing.T) {
	if _, err := snapshot.Decode([]byte(foreignBlocked)); !errors.Is(err, snapshot.ErrUnknownShape) {
		t.Fatalf("accepted as a State: %v", err)
	}
	v, err := snapshot.DecodeForeign([]byte(foreignBlocked))
	if err != nil || !v.IsBlocked() || v.IsComplete() || v.PendingStep().Key() != "pot@1::taste" ||
		!slices.Equal(v.CompletedKeys(), []string{"pot@0::add", "boil"}) {
		t.Fatalf("%+v, %v", v, err)
	}
	want := []snapshot.ForeignBlocker{{Code: "MISSING_REQUIRED_OUTPUT", Message: "No leaves.",
		SuggestedFix: "Bring some."},
		{Message: "No pot."}}
	if !slices.Equal(v.Blockers(), want) {
		t.Errorf("lacks %+v", v.Blockers())
	}
	// A brief is the same without the keys of the completed steps, and shares no memory with it.
	if b := v.Brief(); b.PendingStep().Key() != "pot@1::taste" || b.PendingStep() == v.PendingStep() || b.CompletedKeys() != nil ||
		!b.IsBlocked() || !slices.Equal(b.Blockers(), want) {
		t.Errorf("brief %+v", b)
	}
	for name, change := range map[string][2]string{
		"of another version": {`"v":1},"kind"`, `"v":2},"kind"`},
		"of another kind":    {`"execution_snapshot"`, `"portrait"`},
		"without a state":    {`"engineState"`, `"mood"`},
		"no JSON":            {`{"enginePayload"`, `{enginePayload`},
	} {
		if _, err := snapshot.DecodeForeign([]byte(strings.Replace(foreignBlocked, change[0], change[1],
			1))); !errors.Is(err, snapshot.ErrUnknownShape) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, change := range map[string][2]string{
		"a step that is no object": {`{"loopPath":[{"iteration":1,"loopId":"pot"}],"stepId":"taste"}`, `"taste"`},
		"a step without a name":    {`"stepId":"taste"`, `"stepId":7`},
	} {
		v, err := snapshot.DecodeForeign([]byte(strings.Replace(foreignBlocked, change[0], change[1], 1)))
		if err != nil || v.PendingStep() != nil || v.IsComplete() {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

// TestViewMatchesState: a View equals its state, also when decoded leniently.
func TestViewMatchesState(t *testing.T) {
	for _, s := range []snapshot.State{snapshot.Done(), snapshot.At("b", nil, []string{"a"}),
		snapshot.At("b", []snapshot.Frame{{LoopID: "l", Iteration: 2}}, nil)} {
		data, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		lenient, err := snapshot.DecodeForeign(data)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range []snapshot.View{s.View(), lenient} {
			same := v.IsComplete() == s.IsComplete() && !v.IsBlocked() && len(v.Blockers()) == 0 &&
				slices.Equal(v.CompletedKeys(), s.CompletedKeys())
			if !same || (v.PendingStep() == nil) != (s.PendingStep() == nil) || v.PendingStep() != nil &&
				v.PendingStep().Key() != s.PendingStep().Key() {
				t.Errorf("%+v of %+v", v, s)
			}
		}
	}
}
