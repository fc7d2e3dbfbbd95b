package faults_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/redact/faults"
)

const secret, marker = "ghp_planted0123456789abcdef0123456789abcd", "[REDACTED:github_token]"

// faultOf returns a fault that quotes a text in each of its places.
func faultOf(text string) *fault.Fault {
	return fault.New(fault.ValidationError, "no run is called %q", text).
		Suggest("See %s for %s.", fault.Command{"runs", "show", text}, text).
		With("got", text).With("names", []string{"a", text}).With(text, 1).
		With("nested", map[string]any{"in": []any{text}}).
		With("problems", []problem.Problem{{Pointer: "/" + text, Message: text, Fix: text, Line: 3}})
}

// TestRedactCoversEveryPlace: a fault that quotes a secret becomes the one that quotes its marker.
func TestRedactCoversEveryPlace(t *testing.T) {
	f := faultOf(secret)
	got, want := faults.Redact(f), faultOf(marker)
	if got.Message != want.Message || got.Suggestion.String() != want.Suggestion.String() || got.Code != f.Code || got.Retry != f.Retry {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	for name, detail := range want.Details {
		if name != "nested" && !reflect.DeepEqual(got.Details[name], detail) {
			t.Errorf("%s: %v, want %v", name, got.Details[name], detail)
		}
	}
	if len(got.Details) != len(want.Details) || reflect.DeepEqual(got.Details["nested"], f.Details["nested"]) {
		t.Errorf("details: %v", got.Details)
	}
	if !reflect.DeepEqual(f, faultOf(secret)) {
		t.Error("the fault itself was modified")
	}
}

// TestRedactKeepsOtherFaults: commands stay data, and details keep their types.
func TestRedactKeepsOtherFaults(t *testing.T) {
	f := faultOf("abc~1def")
	f.Details["open"] = math.NaN() // of no JSON form: the doors leave it out
	got := faults.Redact(f)
	delete(f.Details, "open")
	delete(got.Details, "open")
	if !reflect.DeepEqual(got, f) {
		t.Errorf("%+v\nwant %+v", got, f)
	}
	if out := faults.Redact(fault.New(fault.Internal, "x")); out.Details != nil {
		t.Errorf("details: %v", out.Details)
	}
}

// TestRedactReadsPointers: the names in a pointer are escaped.
func TestRedactReadsPointers(t *testing.T) {
	got := faults.Problems([]problem.Problem{{Pointer: "/steps/0/https:~1~1ada:hunter2x@host.example~1x"}})
	if got[0].Pointer != "/steps/0/https://ada:[REDACTED:url_password]@host.example/x" {
		t.Error(got[0].Pointer)
	}
}
