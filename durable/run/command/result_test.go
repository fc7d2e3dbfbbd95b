package command_test

import (
	"reflect"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/source"
)

func TestOutcome(t *testing.T) {
	for want, r := range map[string]command.Result{
		"succeeded":                          {Tries: 3},
		"exited with status 2":               {ExitStatus: 2, Tries: 1},
		"exited with status 2 after 3 tries": {ExitStatus: 2, Tries: 3},
		"failed: no such program":            {ExitStatus: -1, Failure: "no such program", Tries: 1},
		"failed after 2 tries: it timed out": {ExitStatus: -1, Failure: "it timed out", Tries: 2},
	} {
		if got := r.Outcome(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestDecodeIsStrict(t *testing.T) {
	r := command.Result{ArgvDigest: command.ArgvDigest(source.Action{Argv: []string{"true"}}), Kind: command.Kind,
		OutputDigest: canon.Sum(nil), Tries: 1}
	v, err := canon.ValueOf(r)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := command.Decode(v); err != nil || !reflect.DeepEqual(back, r) {
		t.Fatal(back, err)
	}
	for name, other := range map[string]canon.Value{
		"another kind":        v.With("kind", canon.OfString("wr.other")),
		"unknown member":      v.With("more", canon.OfInt(1)),
		"missing member":      v.Without("tries"),
		"negative tries":      v.With("tries", canon.OfInt(-1)),
		"digest that is none": v.With("argvDigest", canon.OfString("sha256:x")),
	} {
		if _, err := command.Decode(other); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestArgvDigestSeparatesWords(t *testing.T) {
	a, b := command.ArgvDigest(source.Action{Argv: []string{"a", "b"}}),
		command.ArgvDigest(source.Action{Argv: []string{"a b"}})
	if a == b {
		t.Fatal("adjacent words have the same digest as one word")
	}
}

// earlier is a record of the form without stdout and stderr, as an older version stored it.
const earlier = `{"argvDigest":"sha256:8894cdad26ef749f311249c169d54f2f48118502d7fdacfad532d5d190fb98ff","durationMs":3,"exitStatus":0,` +
	`"kind":"wr.command_result","outputBytes":3,"outputDigest":"sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",` +
	`"outputHead":"out","outputTail":"","tries":1}`

func TestDecodeReadsEarlierForm(t *testing.T) {
	v, err := canon.Parse([]byte(earlier))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := command.Decode(v); err != nil || !r.OK() || r.Apart() || r.Out().Head != "out" {
		t.Errorf("%+v, %v", r, err)
	}
	stream, err := canon.Parse([]byte(`{"bytes":3,"head":"out","tail":""}`))
	if err != nil {
		t.Fatal(err)
	}
	for name, mixed := range map[string]canon.Value{"one stream": v.Without("outputHead").Without("outputTail").With("stdout", stream),
		"both forms": v.With("stdout", stream).With("stderr", stream)} {
		if _, err := command.Decode(mixed); err == nil {
			t.Errorf("%s passes", name)
		}
	}
}
