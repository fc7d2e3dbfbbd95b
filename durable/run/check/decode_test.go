package check_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/run/testreport"
	"github.com/waybill/waybill/durable/workflow/source"
	"pgregory.net/rapid"
)

// attempt is that of every result in these tests.
var attempt = id.NextAttempt(id.RootNode(id.NewRun(id.Seed{1})), id.OpAck, 0)

// sample is a result with every member that does not exclude another one.
func sample() check.Result {
	c := source.Check{ID: "unit", Argv: []string{"go", "test", "{{package}}"}}
	return check.Result{ArgvDigest: check.ArgvDigest(c), AttemptID: attempt, Changed: []string{"a_test.go", "b_test.go"},
		CheckID: "unit", DurationMs: 1200, Exit: 1, Failure: "it was stopped", FilledDigest: canon.Sum([]byte("filled")),
		GitHead: strings.Repeat("0a", 20), Root: canon.Sum([]byte("/src")),
		Kind: check.Kind, OutputBytes: 5, OutputDigest: canon.Sum([]byte("ok\nno")),
		Pins:   map[string]canon.Digest{"a_test.go": canon.Sum([]byte("a")), "b_test.go": canon.Sum([]byte("b"))},
		Stdout: command.Stream{Bytes: 3, Head: "ok\n"}, Stderr: command.Stream{Bytes: 900, Head: "n", Tail: "o", Omitted: 898},
		StepInstanceKey: "each@2::verify", Tests: &testreport.Counts{Format: testreport.FormatGo, Passed: 3, Skipped: 1},
		ValueUnread: "its stdout is empty"}
}

// encoded is a result as an artifact.
func encoded(t interface{ Fatal(...any) }, r check.Result) canon.Value {
	v, err := r.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestDecodeIsStrict: one result has one encoding, and every member has its budget.
func TestDecodeIsStrict(t *testing.T) {
	v := encoded(t, sample())
	if back, err := check.Decode(v); err != nil || !reflect.DeepEqual(back, sample()) {
		t.Fatalf("%+v, %v", back, err)
	}
	text := canon.OfString
	at := func(member, inner string, to canon.Value) canon.Value {
		in, _ := v.Get(member)
		return v.With(member, in.With(inner, to))
	}
	long := func(n int) canon.Value { return text(strings.Repeat("x", n+1)) }
	digest := text(canon.Sum(nil).String())
	names := func(n int, of func(int) string) (pins, changed canon.Value) {
		pins = canon.OfMembers()
		var list []canon.Value
		for i := range n {
			pins = pins.With(of(i), digest)
			list = append(list, text(of(i)))
		}
		return pins, canon.OfList(list...)
	}
	numbered := func(i int) string { return fmt.Sprintf("f%05d", i) }
	manyPins, _ := names(limits.PinsMax+1, numbered)
	_, manyChanged := names(limits.PinsMax+2, numbered)
	for name, other := range map[string]canon.Value{
		"no object":                      text("x"),
		"another kind":                   v.With("kind", text("wr.command_result")),
		"unknown member":                 v.With("gitTree", text(strings.Repeat("0", 40))),
		"commit that is none":            v.With("gitHead", text("main")),
		"short commit":                   v.With("gitHead", text(strings.Repeat("0", 39))),
		"empty commit":                   v.With("gitHead", text("")),
		"root that is a path":            v.With("root", text("/src")),
		"null root":                      v.With("root", canon.Value{}),
		"missing member":                 v.Without("exit"),
		"missing attempt":                v.Without("attemptId"),
		"attempt that is none":           v.With("attemptId", text("attempt_x")),
		"digest that is none":            v.With("argvDigest", text("sha256:x")),
		"check id that is none":          v.With("checkId", text("Unit tests")),
		"check id too long":              v.With("checkId", long(limits.StepIDBytesMax)),
		"no check id":                    v.With("checkId", text("")),
		"key that is none":               v.With("stepInstanceKey", text("each@x::verify")),
		"key too long":                   v.With("stepInstanceKey", long(1<<20)),
		"negative duration":              v.With("durationMs", canon.OfInt(-1)),
		"negative output":                v.With("outputBytes", canon.OfInt(-1)),
		"exit of -2":                     v.With("exit", canon.OfInt(-2)),
		"exit over 32 bits":              v.With("exit", canon.OfInt(limits.ExitStatusMax+1)),
		"exit that is no integer":        v.With("exit", canon.OfFloat(0.5)),
		"negative bytes":                 at("stdout", "bytes", canon.OfInt(-1)),
		"negative omitted":               at("stderr", "omitted", canon.OfInt(-1)),
		"omitted of 0":                   at("stdout", "omitted", canon.OfInt(0)),
		"long head":                      at("stdout", "head", long(3*limits.StreamHeadBytesMax)),
		"long tail":                      at("stderr", "tail", long(3*limits.StreamTailBytesMax)),
		"unknown member of a stream":     at("stdout", "more", canon.OfInt(1)),
		"clause too long":                v.With("failure", long(limits.MessageBytesMax)),
		"empty clause":                   v.With("failure", text("")),
		"null clause":                    v.With("failure", canon.Value{}),
		"valueUnread too long":           v.With("valueUnread", long(limits.MessageBytesMax)),
		"testsUnread too long":           v.Without("tests").With("testsUnread", long(limits.MessageBytesMax)),
		"tests and testsUnread":          v.With("testsUnread", text("no report")),
		"value and valueUnread":          v.With("value", canon.OfInt(3)),
		"value too long":                 v.Without("valueUnread").With("value", long(limits.CheckTailBytesMax)),
		"null value":                     v.Without("valueUnread").With("value", canon.Value{}),
		"format that is none":            at("tests", "format", text("mocha")),
		"negative tests":                 at("tests", "passed", canon.OfInt(-1)),
		"too many tests":                 at("tests", "skipped", canon.OfInt(limits.TestReportTestsMax+1)),
		"cached of 0":                    at("tests", "cached", canon.OfInt(0)),
		"unknown member of tests":        at("tests", "total", canon.OfInt(4)),
		"no pins":                        v.With("pins", canon.OfMembers()),
		"pin without a path":             at("pins", "", digest),
		"pin with a long path":           at("pins", strings.Repeat("p", limits.PinPathBytesMax+1), digest),
		"pin without a digest":           at("pins", "c", text("")),
		"too many pins":                  v.With("pins", manyPins),
		"nothing changed":                v.With("changed", canon.OfList()),
		"changed without a name":         v.With("changed", canon.OfList(text(""))),
		"changed out of order":           v.With("changed", canon.OfList(text("b"), text("a"))),
		"changed twice":                  v.With("changed", canon.OfList(text("a"), text("a"))),
		"changed with a long name":       v.With("changed", canon.OfList(long(limits.PinPathBytesMax))),
		"more changed than there can be": v.With("changed", manyChanged),
	} {
		if r, err := check.Decode(other); err == nil || !reflect.DeepEqual(r, check.Result{}) {
			t.Errorf("%s passes: %+v", name, r)
		}
	}
}

// TestEncodeFits: what a performer observed is brought within its budgets, and no two results are one.
func TestEncodeFits(t *testing.T) {
	r := sample()
	r.Kind, r.Pins, r.Tests = "", map[string]canon.Digest{}, nil
	r.Failure = strings.Repeat("é", limits.MessageBytesMax)
	r.TestsUnread, r.ValueUnread = r.Failure, r.Failure
	r.Changed = []string{"b", strings.Repeat("p", 2*limits.PinPathBytesMax), "a", "b"}
	changed := slices.Clone(r.Changed)
	back, err := check.Decode(encoded(t, r))
	if err != nil {
		t.Fatal(err)
	}
	for _, clause := range []string{back.Failure, back.TestsUnread, back.ValueUnread} {
		if len(clause) > limits.MessageBytesMax || !utf8.ValidString(clause) || clause == "" {
			t.Errorf("a clause of %d bytes", len(clause))
		}
	}
	if want := []string{"a", "b", strings.Repeat("p", limits.PinPathBytesMax)}; !slices.Equal(back.Changed, want) || back.Pins != nil {
		t.Errorf("%q, %v", back.Changed, back.Pins)
	}
	if !slices.Equal(r.Changed, changed) {
		t.Error("the result of the caller was changed")
	}
	for name, change := range map[string]func(*check.Result){
		"no attempt":    func(r *check.Result) { r.AttemptID = id.Attempt{} },
		"no check":      func(r *check.Result) { r.CheckID = "" },
		"two answers":   func(r *check.Result) { r.TestsUnread = "no report" },
		"negative":      func(r *check.Result) { r.DurationMs = -1 },
		"unknown count": func(r *check.Result) { r.Tests = &testreport.Counts{} },
		"no UTF-8":      func(r *check.Result) { r.Stdout.Head = "\xff" },
	} {
		r := sample()
		change(&r)
		if _, err := r.Encode(); err == nil {
			t.Errorf("%s is encoded", name)
		}
	}
}

// results draws results that a performer can observe.
func results(t *rapid.T) check.Result {
	text := rapid.StringN(0, 20, 60)
	count := rapid.Int64Range(0, 1<<40)
	digest := rapid.Map(text, func(s string) canon.Digest { return canon.Sum([]byte(s)) })
	name := rapid.StringMatching(`[a-z]{1,3}(/[a-z_.]{1,5}){0,2}`)
	stream := func(of string) command.Stream {
		return command.Stream{Bytes: count.Draw(t, of), Head: text.Draw(t, of+" head"), Tail: text.Draw(t, of+" tail"),
			Omitted: count.Draw(t, of+" omitted")}
	}
	r := check.Result{ArgvDigest: digest.Draw(t, "argv"), AttemptID: attempt, CheckID: rapid.StringMatching(`[a-z0-9_-]{1,20}`).Draw(t, "id"),
		Changed: rapid.SliceOfN(name, 0, 3).Draw(t, "changed"), DurationMs: count.Draw(t, "ms"),
		Exit: rapid.Int64Range(-1, limits.ExitStatusMax).Draw(t, "exit"), Failure: text.Draw(t, "failure"), Kind: check.Kind,
		OutputBytes: count.Draw(t, "bytes"), OutputDigest: digest.Draw(t, "output"), Stdout: stream("stdout"), Stderr: stream("stderr"),
		Pins: rapid.MapOfN(name, digest, 0, 3).Draw(t, "pins"), StepInstanceKey: rapid.SampledFrom([]string{"a", "l@0::a", "l@3/m@12::a_b"}).Draw(t, "key")}
	if rapid.Bool().Draw(t, "filled") {
		r.FilledDigest = digest.Draw(t, "filled argv")
	}
	tests := rapid.IntRange(0, limits.TestReportTestsMax)
	switch rapid.IntRange(0, 2).Draw(t, "tests") {
	case 1:
		r.Tests = &testreport.Counts{Format: rapid.SampledFrom(testreport.Formats).Draw(t, "format"), Passed: tests.Draw(t, "passed"),
			Failed: tests.Draw(t, "failed"), Skipped: tests.Draw(t, "skipped"), Cached: tests.Draw(t, "cached")}
	case 2:
		r.TestsUnread = text.Draw(t, "testsUnread")
	}
	switch rapid.IntRange(0, 2).Draw(t, "value") {
	case 1:
		r.Value = rapid.SampledFrom([]canon.Value{canon.OfInt(3), canon.OfString(""), canon.OfBool(false), canon.OfList(), canon.OfMembers()}).Draw(t, "v")
	case 2:
		r.ValueUnread = text.Draw(t, "valueUnread")
	}
	return r
}

// TestEncodeAndDecode: for any result, the artifact decodes to it and is encoded to the same bytes.
func TestEncodeAndDecode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := results(t)
		v := encoded(t, r)
		back, err := check.Decode(v)
		if err != nil {
			t.Fatal(err)
		}
		if again := encoded(t, back); string(again.JCS()) != string(v.JCS()) {
			t.Fatalf("%s\n%s", again.JCS(), v.JCS())
		}
		slices.Sort(r.Changed)
		r.Changed = slices.Compact(r.Changed)
		if !slices.Equal(back.Changed, r.Changed) || !maps.Equal(back.Pins, r.Pins) || !back.Value.Equal(r.Value) {
			t.Fatalf("%+v\n%+v", back, r)
		}
		back.Changed, back.Pins, back.Value = r.Changed, r.Pins, r.Value
		if !reflect.DeepEqual(back, r) {
			t.Fatalf("%+v\n%+v", back, r)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(encoded(f, sample()).JCS())
	f.Add([]byte(`{"kind":"wr.check_result"}`))
	f.Add([]byte(`{"kind":"wr.check_result","stdout":{"bytes":0,"head":"","tail":""},"value":null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := canon.Parse(data)
		if err != nil {
			return
		}
		r, err := check.Decode(v)
		if err != nil {
			return
		}
		if again := encoded(t, r); string(again.JCS()) != string(v.JCS()) {
			t.Fatalf("%s\n%s", again.JCS(), v.JCS())
		}
		c := source.Check{ID: r.CheckID, Argv: []string{"x"}, Expect: &source.Expect{Tests: &source.ExpectTests{},
			Stdout: &source.ExpectStdout{Equals: canon.OfInt(1)}}}
		_ = r.Brief(c, 100)
		if tail := r.Tail(limits.CheckTailBytesMax); len(tail) > limits.CheckTailBytesMax || !utf8.ValidString(tail) {
			t.Fatalf("a tail of %d bytes", len(tail))
		}
		r.ArgvDigest = check.ArgvDigest(c)
		if why := check.Judge(c, r); !utf8.ValidString(why) || strings.ContainsAny(why, "\n\x1b") && !strings.ContainsAny(r.Failure, "\n\x1b") {
			t.Fatalf("%q", why)
		}
	})
}
