package check_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/run/command"
	"github.com/waybill/waybill/durable/workflow/source"
)

// of is a number that a check expects.
func of(n int) *int { return &n }

// ran is the result of a check that exited with status 0 and printed a text.
func ran(c source.Check, stdout string) check.Result {
	r := check.Result{Kind: check.Kind, ArgvDigest: check.ArgvDigest(c), AttemptID: attempt, CheckID: c.ID, StepInstanceKey: "verify",
		OutputDigest: canon.Sum([]byte(stdout)), OutputBytes: int64(len(stdout)),
		Stdout: command.Stream{Bytes: int64(len(stdout)), Head: strings.ToValidUTF8(stdout, "\uFFFD")}}
	for _, p := range c.Pins {
		if r.Pins == nil {
			r.Pins = map[string]canon.Digest{}
		}
		r.Pins[p] = canon.Sum([]byte(p))
	}
	r.Observe(c, []byte(stdout), true)
	return r
}

// report is a text of go test -json.
func report(passed, failed, skipped int) string {
	var b strings.Builder
	line := func(action, test string) {
		if test != "" {
			fmt.Fprintf(&b, `{"Action":%q,"Package":"p","Test":%q}`+"\n", action, test)
		} else {
			fmt.Fprintf(&b, `{"Action":%q,"Package":"p"}`+"\n", action)
		}
	}
	line("start", "")
	for i, n := range []int{passed, failed, skipped} {
		for k := range n {
			name := fmt.Sprintf("Test%d_%d", i, k)
			line("run", name)
			line([]string{"pass", "fail", "skip"}[i], name)
		}
	}
	line(map[bool]string{true: "fail", false: "pass"}[failed > 0], "")
	return b.String()
}

// TestJudge has every clause.
func TestJudge(t *testing.T) {
	plain := source.Check{ID: "unit", Argv: []string{"suite"}}
	pinned := source.Check{ID: "unit", Argv: []string{"suite"}, Pins: []string{"a.go", "b.go"}}
	filled := source.Check{ID: "unit", Argv: []string{"suite", "{{name}}"}}
	exits := func(n int) source.Check {
		return source.Check{ID: "unit", Argv: []string{"suite"}, Expect: &source.Expect{Exit: &n}}
	}
	tests := func(e source.ExpectTests) source.Check {
		return source.Check{ID: "unit", Argv: []string{"suite"}, Expect: &source.Expect{Tests: &e}}
	}
	stdout := func(e source.ExpectStdout) source.Check {
		return source.Check{ID: "unit", Argv: []string{"suite"}, Expect: &source.Expect{Stdout: &e}}
	}
	edit := func(r check.Result, change func(*check.Result)) check.Result {
		change(&r)
		return r
	}
	n, text := canon.OfInt, canon.OfString
	lint := `{"issues":[],"count":3,"tool":{"name":"SECRET","ok":true},"list":["a","SECRET"],"none":null}`
	for _, row := range []struct {
		name string
		c    source.Check
		r    check.Result
		want string
	}{
		{"exit status 0", plain, ran(plain, ""), ""},
		{"other check", plain, edit(ran(plain, ""), func(r *check.Result) { r.CheckID = "lint" }), "has the result of another command"},
		{"other argv", plain, ran(source.Check{ID: "unit", Argv: []string{"suit"}}, ""), "has the result of another command"},
		{"changed", plain, edit(ran(plain, ""), func(r *check.Result) { r.Changed, r.Exit = []string{"a.go"}, -1 }),
			`did not count, since "a.go" is not as it was when the workflow was trusted (check_changed)`},
		{"several changed", plain, edit(ran(plain, ""), func(r *check.Result) { r.Changed, r.Exit = []string{"a.go", "b.go", "suite"}, -1 }),
			`did not count, since "a.go" and 2 more are not as they were when the workflow was trusted (check_changed)`},
		{"changed while it ran", plain, edit(ran(plain, ""), func(r *check.Result) { r.Changed = []string{"a.go"} }),
			`did not count, since "a.go" was changed while it ran (check_changed)`},
		{"several changed while it ran", plain, edit(ran(plain, ""), func(r *check.Result) { r.Changed = []string{"a.go", "suite"} }),
			`did not count, since "a.go" and 1 more were changed while it ran (check_changed)`},
		{"changed precedes failure", plain, edit(ran(plain, ""), func(r *check.Result) { r.Changed, r.Failure = []string{"a"}, "x" }),
			`did not count, since "a" is not as it was when the workflow was trusted (check_changed)`},
		{"failure", plain, edit(ran(plain, ""), func(r *check.Result) { r.Failure, r.Exit = "it exceeded its 9 s", -1 }), "failed: it exceeded its 9 s"},
		{"no exit status", plain, edit(ran(plain, ""), func(r *check.Result) { r.Exit = -1 }), "failed: it did not run to an exit status"},
		{"exit status 1", plain, edit(ran(plain, ""), func(r *check.Result) { r.Exit = 1 }), "exited with status 1, want 0"},
		{"wanted status", exits(3), edit(ran(exits(3), ""), func(r *check.Result) { r.Exit = 3 }), ""},
		{"not the wanted status", exits(3), ran(exits(3), ""), "exited with status 0, want 3"},
		{"not filled", filled, ran(filled, ""), "has the result of another command"},
		{"filled", filled, edit(ran(filled, ""), func(r *check.Result) { r.FilledDigest = canon.Sum(nil) }), ""},
		{"filled without placeholders", plain, edit(ran(plain, ""), func(r *check.Result) { r.FilledDigest = canon.Sum(nil) }),
			"has the result of another command"},
		{"pins", pinned, ran(pinned, ""), ""},
		{"pin without a digest", pinned, edit(ran(pinned, ""), func(r *check.Result) { delete(r.Pins, "b.go") }),
			`proved nothing: its result has no digest of "b.go"`},

		{"tests", tests(source.ExpectTests{}), ran(tests(source.ExpectTests{}), report(1, 0, 0)), ""},
		{"no tests", tests(source.ExpectTests{}), ran(tests(source.ExpectTests{}), report(0, 0, 0)),
			"reports 0 passed tests, at least 1 needed"},
		{"all skipped", tests(source.ExpectTests{}), ran(tests(source.ExpectTests{}), report(0, 0, 4)),
			"reports 0 passed tests, at least 1 needed; 4 skipped"},
		{"too few", tests(source.ExpectTests{Min: of(3)}), ran(tests(source.ExpectTests{Min: of(3)}), report(2, 0, 1)),
			"reports 2 passed tests, at least 3 needed; 1 skipped"},
		{"enough", tests(source.ExpectTests{Min: of(3)}), ran(tests(source.ExpectTests{Min: of(3)}), report(3, 0, 1)), ""},
		{"one failed", tests(source.ExpectTests{}), ran(tests(source.ExpectTests{}), report(5, 1, 0)),
			"reports 1 failed test, at most 0 allowed"},
		{"failed before too few", tests(source.ExpectTests{Min: of(9)}), ran(tests(source.ExpectTests{Min: of(9)}), report(1, 2, 0)),
			"reports 2 failed tests, at most 0 allowed"},
		{"allowed failures", tests(source.ExpectTests{Failed: of(2)}), ran(tests(source.ExpectTests{Failed: of(2)}), report(1, 2, 0)), ""},
		{"too many skipped", tests(source.ExpectTests{Skipped: of(1)}), ran(tests(source.ExpectTests{Skipped: of(1)}), report(5, 0, 2)),
			"reports 2 skipped tests, at most 1 allowed"},
		{"allowed skips", tests(source.ExpectTests{Skipped: of(2)}), ran(tests(source.ExpectTests{Skipped: of(2)}), report(5, 0, 2)), ""},
		{"prose", tests(source.ExpectTests{}), ran(tests(source.ExpectTests{}), "5 tests passed\n"),
			"proved nothing: the output is in no format of test reports that is recognised: go test -json, JUnit XML, TAP, or the summary of pytest"},
		{"nothing", tests(source.ExpectTests{}), ran(tests(source.ExpectTests{}), ""), "proved nothing: the output is empty and has no test report"},
		{"no counts", tests(source.ExpectTests{}), edit(ran(tests(source.ExpectTests{}), ""), func(r *check.Result) { r.TestsUnread = "" }),
			"proved nothing: its result has no counts of tests"},
		{"names in a clause", tests(source.ExpectTests{}), edit(ran(tests(source.ExpectTests{}), ""), func(r *check.Result) {
			r.TestsUnread = `test "SECRET \"x\"" and "SECRET" end`
		}), "proved nothing: test … and … end"},
		{"clipped name in a clause", tests(source.ExpectTests{}), edit(ran(tests(source.ExpectTests{}), ""), func(r *check.Result) {
			r.TestsUnread = `test "SECRET`
		}), "proved nothing: test …"},

		{"equals", stdout(source.ExpectStdout{Pointer: "/count", Equals: n(3)}), ran(stdout(source.ExpectStdout{Pointer: "/count", Equals: n(3)}), lint), ""},
		{"not equal", stdout(source.ExpectStdout{Pointer: "/count", Equals: n(4)}), ran(stdout(source.ExpectStdout{Pointer: "/count"}), lint),
			`has 3 at "/count" of its stdout, want 4`},
		{"not equal to a text", stdout(source.ExpectStdout{Pointer: "/tool/name", Equals: text("SECRET2")}), ran(stdout(source.ExpectStdout{Pointer: "/tool/name"}), lint),
			`has string at "/tool/name" of its stdout, want string`},
		{"not equal to a boolean", stdout(source.ExpectStdout{Pointer: "/tool/ok", Equals: canon.OfBool(false)}), ran(stdout(source.ExpectStdout{Pointer: "/tool/ok"}), lint),
			`has true at "/tool/ok" of its stdout, want false`},
		{"gte", stdout(source.ExpectStdout{Pointer: "/count", GTE: n(3)}), ran(stdout(source.ExpectStdout{Pointer: "/count"}), lint), ""},
		{"too small", stdout(source.ExpectStdout{Pointer: "/count", GTE: n(4)}), ran(stdout(source.ExpectStdout{Pointer: "/count"}), lint),
			`has 3 at "/count" of its stdout, want at least 4`},
		{"lte", stdout(source.ExpectStdout{Pointer: "/count", LTE: n(3)}), ran(stdout(source.ExpectStdout{Pointer: "/count"}), lint), ""},
		{"too large", stdout(source.ExpectStdout{Pointer: "/count", LTE: n(2)}), ran(stdout(source.ExpectStdout{Pointer: "/count"}), lint),
			`has 3 at "/count" of its stdout, want at most 2`},
		{"no number", stdout(source.ExpectStdout{Pointer: "/tool", LTE: n(2)}), ran(stdout(source.ExpectStdout{Pointer: "/tool"}), lint),
			`has object at "/tool" of its stdout, want at most 2`},
		{"contains a part", stdout(source.ExpectStdout{Pointer: "/tool/name", Contains: text("CRE")}), ran(stdout(source.ExpectStdout{Pointer: "/tool/name"}), lint), ""},
		{"contains an item", stdout(source.ExpectStdout{Pointer: "/list", Contains: text("a")}), ran(stdout(source.ExpectStdout{Pointer: "/list"}), lint), ""},
		{"does not contain", stdout(source.ExpectStdout{Pointer: "/list", Contains: text("b")}), ran(stdout(source.ExpectStdout{Pointer: "/list"}), lint),
			`has array at "/list" of its stdout, which does not contain what is expected`},
		{"no container", stdout(source.ExpectStdout{Pointer: "/count", Contains: n(3)}), ran(stdout(source.ExpectStdout{Pointer: "/count"}), lint),
			`has 3 at "/count" of its stdout, which does not contain what is expected`},
		{"all of several", stdout(source.ExpectStdout{Pointer: "/count", GTE: n(1), LTE: n(2)}), ran(stdout(source.ExpectStdout{Pointer: "/count"}), lint),
			`has 3 at "/count" of its stdout, want at most 2`},
		{"whole text", stdout(source.ExpectStdout{Equals: n(7)}), ran(stdout(source.ExpectStdout{}), " 7\n"), ""},
		{"no value", stdout(source.ExpectStdout{Pointer: "/a/b"}), ran(stdout(source.ExpectStdout{Pointer: "/a/b"}), lint),
			`proved nothing: its stdout has no value at "/a/b"`},
		{"null", stdout(source.ExpectStdout{Pointer: "/none"}), ran(stdout(source.ExpectStdout{Pointer: "/none"}), lint),
			`proved nothing: its stdout has no value at "/none"`},
		{"no JSON", stdout(source.ExpectStdout{}), ran(stdout(source.ExpectStdout{}), "{}\nSECRET"),
			"proved nothing: its stdout is not one text of strict JSON: line 2"},
		{"empty stdout", stdout(source.ExpectStdout{}), ran(stdout(source.ExpectStdout{}), ""), "proved nothing: its stdout is empty"},
		{"long value", stdout(source.ExpectStdout{}), ran(stdout(source.ExpectStdout{}), `"`+strings.Repeat("x", limits.CheckTailBytesMax)+`"`),
			"proved nothing: the value in its stdout has 2050 bytes, at most 2048 are allowed"},
		{"many values", stdout(source.ExpectStdout{}), ran(stdout(source.ExpectStdout{}), "["+strings.Repeat("1,", limits.CheckValuesMax)+"1]"),
			"proved nothing: its stdout has more than 500000 values of JSON"},
		{"value not recorded", stdout(source.ExpectStdout{Equals: n(1)}), ran(plain, "1"), "proved nothing: its result has no value"},
	} {
		got := check.Judge(row.c, row.r)
		if got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
		if strings.Contains(got, "SECRET") {
			t.Errorf("%s: %q repeats output", row.name, got)
		}
		brief := row.r.Brief(row.c, 100)
		if brief.Passed != (got == "") || brief.Why != got || brief.ID != row.r.CheckID {
			t.Errorf("%s: %+v", row.name, brief)
		}
	}
}

// TestObserveWhatWasCut: output that was not kept whole has no counts and no value.
func TestObserveWhatWasCut(t *testing.T) {
	c := source.Check{ID: "unit", Argv: []string{"x"}, Expect: &source.Expect{Tests: &source.ExpectTests{},
		Stdout: &source.ExpectStdout{Equals: canon.OfInt(1)}}}
	var r check.Result
	r.Observe(c, []byte("1"), false)
	const cut = "its stdout is longer than what is read"
	if r.Tests != nil || r.TestsUnread != cut || !r.Value.IsNull() || r.ValueUnread != cut {
		t.Errorf("%+v", r)
	}
	r = check.Result{}
	r.Observe(source.Check{ID: "unit"}, []byte("1"), true)
	if r.Tests != nil || r.TestsUnread != "" || !r.Value.IsNull() || r.ValueUnread != "" {
		t.Errorf("nothing is expected, and %+v", r)
	}
}

// TestFactAndTail: a blocker has the exit status and counts, and an answer the end of the output.
func TestFactAndTail(t *testing.T) {
	c := source.Check{ID: "unit", Argv: []string{"x"}, Expect: &source.Expect{Tests: &source.ExpectTests{}}}
	r := ran(c, report(2, 1, 0))
	r.Exit = 1
	f := r.Fact()
	if f.ID != "unit" || f.Exit == nil || *f.Exit != 1 || f.OutputTail != nil ||
		f.Tests == nil || *f.Tests != (reason.CheckTests{Format: "go", Passed: 2, Failed: 1}) {
		t.Errorf("%+v %+v", f, f.Tests)
	}
	r.Exit, r.Failure, r.Tests = -1, "it was stopped", nil
	if f := r.Fact(); f.Exit != nil || f.Tests != nil {
		t.Errorf("%+v", f)
	}
	long := strings.Repeat("line\n", 10)
	for _, row := range []struct {
		out, err string
		max      int
		want     string
	}{
		{"", "", 10, ""}, {"out\n", "", 10, "out"}, {"", "err\n\n", 10, "err"}, {"out\n", "err\n", 10, "out\nerr"},
		{"first\nout\n", "err\n", 8, "out\nerr"}, {"out\n", "err\n", 4, "err"}, {"out\n", "err\n", 3, "rr"},
		{long, "", 12, "line\nline"}, {"é", "", 1, ""},
	} {
		r := check.Result{Stdout: command.Stream{Head: row.out}, Stderr: command.Stream{Head: "…", Tail: row.err}}
		if row.err == "" {
			r.Stderr.Head = ""
		}
		if got := r.Tail(row.max); got != row.want {
			t.Errorf("%q, %q in %d: got %q, want %q", row.out, row.err, row.max, got, row.want)
		}
	}
}

// FuzzObserve: the result of each output is stored, and the verdict repeats none of it.
func FuzzObserve(f *testing.F) {
	for _, text := range []string{"", "1", `{"a":[1,2]}`, report(1, 1, 1), "TAP version 13\n1..1\nok 1 - SECRET\n", "== 5 passed in 1s ==\n", "<testsuite/>",
		`{"Action":"fail","Package":"SECRET"}`, "\xff"} {
		f.Add([]byte(text), "/a/0")
	}
	f.Fuzz(func(t *testing.T, out []byte, pointer string) {
		if !utf8.ValidString(pointer) {
			return
		}
		c := source.Check{ID: "unit", Argv: []string{"x"}, Expect: &source.Expect{Tests: &source.ExpectTests{},
			Stdout: &source.ExpectStdout{Pointer: pointer, Equals: canon.OfInt(1)}}}
		r := ran(c, string(out))
		back, err := check.Decode(encoded(t, r))
		if err != nil {
			t.Fatal(err)
		}
		why := check.Judge(c, r)
		if again := check.Judge(c, back); again != why {
			t.Fatalf("%q, and %q when it is judged again", why, again)
		}
		if strings.ContainsAny(why, "\n\x1b") || !utf8.ValidString(why) {
			t.Fatalf("%q", why)
		}
		// Words of the output that are not among those of the clauses.
		words := strings.FieldsFunc(string(out), func(c rune) bool { return c < 'A' || c > 'Z' })
		if i := slices.IndexFunc(words, func(w string) bool { return len(w) > 4 && strings.Contains(why, w) && !strings.Contains(pointer, w) }); i >= 0 {
			t.Fatalf("%q repeats %q", why, words[i])
		}
	})
}

// TestAnswered: answers have the end of each output, what changed and the whole command; recorded blockers have not.
func TestAnswered(t *testing.T) {
	c := source.Check{ID: "unit", Argv: []string{"x"}}
	r := ran(c, "done\n")
	r.Changed = []string{"a.go"}
	stored := []reason.Blocker{{Check: r.Fact(), SuggestedFix: "Trust it with 'waybill trust'."}, {Check: &reason.CheckFact{ID: "none"}}, {}}
	got := check.Answered(stored, []check.Result{r}, canon.Sum(nil))
	if *got[0].Check.OutputTail != "done" || !slices.Equal(got[0].Check.Changed, []string{"a.go"}) ||
		got[0].SuggestedFix != "Trust it with 'waybill trust "+canon.Sum(nil).String()+"'." ||
		*got[1].Check.OutputTail != "" || got[1].Check.Changed != nil || got[2].Check != nil {
		t.Errorf("%+v %+v", got[0].Check, got[1].Check)
	}
	if stored[0].Check.OutputTail != nil || stored[0].Check.Changed != nil || stored[0].SuggestedFix != "Trust it with 'waybill trust'." {
		t.Errorf("%+v", stored[0])
	}
}

// TestElsewhere: a check that ran in another folder than the run was started in is marked, if both are known.
func TestElsewhere(t *testing.T) {
	c := source.Check{ID: "unit", Argv: []string{"x"}}
	here, there := canon.Sum([]byte("/here")), canon.Sum([]byte("/there"))
	for _, row := range []struct {
		root, started canon.Digest
		want          bool
	}{{here, here, false}, {here, there, true}, {canon.Digest{}, there, false}, {here, canon.Digest{}, false}} {
		r := ran(c, "")
		r.Root = row.root
		briefs := check.Briefs([]source.Check{c}, []check.Result{r}, row.started)
		if len(briefs) != 1 || briefs[0].Elsewhere != row.want || !briefs[0].Passed || briefs[0].Root != row.root {
			t.Errorf("%v: %+v", row, briefs)
		}
	}
}
