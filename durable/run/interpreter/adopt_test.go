package interpreter_test

import (
	"reflect"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/interpreter"
	"github.com/waybill/waybill/durable/run/snapshot"
)

// TestAdopt: a state of another definition is completed, and what the workflow does not have is left
// out.
func TestAdopt(t *testing.T) {
	step := func(id string) string { return `{"id":"` + id + `","title":"T","prompt":"p"}` }
	w := flow(t, steps(step("first")+`,{"id":"old","title":"O","type":"loop","loop":{"type":"for","count":2,`+
		`"maxIterations":3},"body":[`+step("gone")+`]},{"id":"outer","title":"O","type":"loop","loop":{"type":"forEach",`+
		`"items":"list","maxIterations":5},"body":[`+step("a")+`,{"id":"inner","title":"I","type":"loop","loop":{`+
		`"type":"while","maxIterations":3,"condition":{"var":"more","equals":true}},"body":[`+step("b")+`,`+step("c")+
		`]},`+step("d")+`]},`+step("end")))
	vars, err := canon.Parse([]byte(`{"list":["x","y","z"],"more":true}`))
	if err != nil {
		t.Fatal(err)
	}
	three := int64(3)
	frames := []snapshot.Frame{{LoopID: "outer", Iteration: 1, BodyIndex: 7},
		{LoopID: "inner", Iteration: 2, BodyIndex: 7, Decision: "stop", Count: &three}}
	s := snapshot.At("c", frames, []string{"first", "onboarding", "old@0::gone", "old@1::gone", "outer", "outer@0::a",
		"outer@0/inner@1::c", "outer@1::a", "outer@1::inner", "outer@1/inner@1::b", "outer@1/inner@2::b", "outer@1::gone",
		"outer@1/inner@2::c", "d"})
	got, err := interpreter.Adopt(w, s, vars)
	if err != nil {
		t.Fatal(err)
	}
	want := snapshot.At("c", []snapshot.Frame{{LoopID: "outer", Iteration: 1, BodyIndex: 1, Count: &three},
		{LoopID: "inner", Iteration: 2, BodyIndex: 1}}, []string{"first", "old", "outer@1/inner@2::b", "outer@1::a"})
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v %+v\nwant %+v %+v", got.CompletedKeys(), *got.LoopStack, want.CompletedKeys(), *want.LoopStack)
	}
	if done, err := interpreter.Adopt(w, snapshot.Done(), vars); err != nil || !done.IsComplete() {
		t.Errorf("a complete state: %+v, %v", done, err)
	}
	none := canon.OfMembers()
	if _, err := interpreter.Adopt(w, s, none); err == nil {
		t.Error("a loop without its list was adopted")
	}
}
