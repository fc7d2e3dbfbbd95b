package testreport_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/run/testreport"
)

// refused are outputs that are no report, each with a part of the sentence that explains why.
var refused = []struct{ name, text, err string }{
	{"nothing", "", "is empty"},
	{"blanks", " \n\t\r\n", "is empty"},
	{"a mark", "\xef\xbb\xbf\n", "is empty"},
	{"prose", "All tests passed.\n", "no format"},
	{"jest", "Tests:       1 failed, 3 passed, 4 total\nTime:        0.5 s\n", "no format"},
	{"rust", "test result: ok. 3 passed; 0 failed; 0 ignored; finished in 0.00s\n", "no format"},
	{"go for people", "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/shop\t0.010s\n", "without -json"},
	{"other JSON", "{\"tests\": 3}\n", "no format"},
	{"other action", "{\"Action\":\"PASS\",\"Test\":\"A\"}\n", "no format"},
	{"UTF-16", "1\x00.\x00.\x000\x00\n\x00", "no format"},

	{"TAP and pytest", "1..1\nok 1\n=== 3 passed in 0.1s ===\n", "in two formats, TAP and pytest"},
	{"pytest and TAP", "=== 3 passed in 0.1s ===\n1..0\n", "in two formats, TAP and pytest"},
	{"go and pytest", goPassed + "3 passed in 0.1s\n", "in two formats, go test -json and pytest"},
	{"go and TAP", "TAP version 13\n" + goPassed, "in two formats, go test -json and TAP"},
	{"pytest and XML", "3 passed in 0.1s\n<testsuite/>\n", "in two formats, JUnit XML and pytest"},
	{"go in pytest", goPassed + "=== test session starts ===\n", "in two formats"},

	{"go and text", goPassed + "make: done\n", "line 5"},
	{"text and go", "make: test\n" + goPassed, "line 1"},
	{"go, cut line", goPassed[:len(goPassed)-3], "line 4"},
	{"go, open test in a passed package", goEvent("start") + goEvent("run", "TestA") + goEvent("pass"),
		`package "shop" ends with "pass", with 1 test of it unfinished`},
	{"go, open test in a skipped package", goEvent("start") + goEvent("run", "TestA") + goEvent("skip"), "unfinished"},
	{"go, open package", goEvent("start"), `package "shop" has no end`},
	{"go, end without start", goEvent("start") + goEvent("pass", "TestA") + goEvent("pass"), "an end and no start"},
	{"go, ended twice", goEvent("start") + goEvent("run", "TestA") + goEvent("pass", "TestA") + goEvent("pass", "TestA") +
		goEvent("pass"), "an end and no start"},
	{"go, run twice at once", goEvent("start") + goEvent("run", "TestA") + goEvent("run", "TestA"), "starts again"},
	{"go, package twice at once", goEvent("start") + goEvent("start"), "starts again"},
	{"go, behind the end", goPassed + goEvent("run", "TestB"), "after its end"},
	{"go, a build without a package", goPassed + `{"ImportPath":"x","Action":"build-fail"}` + "\n", "no package is reported behind"},
	{"go, a failed build of no package", `{"ImportPath":"x","Action":"build-fail"}` + "\n" + goPassed, `the build of "x" failed`},
	{"go, only a build", `{"ImportPath":"x","Action":"build-output","Output":"# x\n"}`, "no package is reported behind"},
	{"go, an end of an unknown kind", goEvent("start") + goEvent("run", "TestA") + goEvent("done", "TestA") + goEvent("pass"),
		"unfinished"},

	{"XML, no end", `<testsuite tests="1"><testcase/>`, "truncated"},
	{"XML, other root", `<?xml version="1.0"?><html><testcase/></html>`, "no JUnit XML"},
	{"XML, declaration only", `<?xml version="1.0"?>`, "no testsuite"},
	{"XML, DOCTYPE", `<!DOCTYPE testsuite [<!ENTITY a "b">]><testsuite/>`, "DOCTYPE"},
	{"XML, DOCTYPE behind", `<?xml version="1.0"?><!DOCTYPE x SYSTEM "file:///etc/passwd"><testsuite/>`, "DOCTYPE"},
	{"XML, entity", `<testsuite name="&a;"/>`, "no XML"},
	{"XML, charset", `<?xml version="1.0" encoding="UTF-16"?><testsuite/>`, "no XML"},
	{"XML, text before", "make: test\n<testsuite/>", "other text"},
	{"XML, text behind", "<testsuite/>\nmake: done\n", "other text"},
	{"XML, CDATA behind", "<testsuite/><![CDATA[x]]>", "other text"},
	{"XML, two documents", "<testsuite/><testsuite/>", "second document"},
	{"XML, tests", `<testsuite name="shop" tests="3"><testcase/><testcase/></testsuite>`, `testsuite "shop" states tests=3, and its elements are 2`},
	{"XML, failures", `<testsuite failures="0"><testcase><failure/></testcase></testsuite>`, "states failures=0, and its elements are 1"},
	{"XML, errors", `<testsuite errors="0"><testcase><error/></testcase></testsuite>`, "states errors=0"},
	{"XML, skipped", `<testsuite skipped="0"><testcase><skipped/></testcase></testsuite>`, "states skipped=0"},
	{"XML, disabled", `<testsuite disabled="2"><testcase/></testsuite>`, "states disabled=2"},
	{"XML, sum", `<testsuites tests="3"><testsuite tests="1"><testcase/></testsuite></testsuites>`, "testsuites"},
	{"XML, inner suite", `<testsuites tests="1"><testsuite tests="2"><testcase/></testsuite></testsuites>`, "tests=2"},
	{"XML, two readings", `<testsuite tests="2" failures="0"><testsuite><testcase><failure/></testcase></testsuite>` +
		`<testsuite><testcase/></testsuite></testsuite>`, "failures=0"},
	{"XML, attribute twice", `<testsuite tests="0" tests="1"/>`, "twice"},
	{"XML, no number", `<testsuite tests="all"/>`, `tests="all"`},
	{"XML, case outside of a suite", `<testsuite><x><testcase/></x></testsuite>`, "testcase in"},
	{"XML, case in a case", `<testsuite><testcase><testcase/></testcase></testsuite>`, "testcase in"},
	{"XML, root is a case", `<?xml version="1.0"?><testcase/>`, "testcase in"},
	{"XML, hidden failure", `<testsuite><testcase><x><failure/></x></testcase></testsuite>`, "failure in"},
	{"XML, hidden suite", `<testsuite><system-out><testsuite/></system-out></testsuite>`, "testsuite in"},

	{"TAP, no plan", "ok 1\nok 2\n", "no plan such as 1..2"},
	{"TAP, version only", "TAP version 13\n", "no plan"},
	{"TAP, too few", "1..3\nok 1\nok 2\n", "the plan of TAP names 3 tests, and 2 are reported"},
	{"TAP, too many", "1..1\nok 1\nok 2\n", "the plan of TAP names 1 test, and 2 are reported"},
	{"TAP, points without a plan for them", "1..0 # SKIP none\nok 1\n", "0 tests, and 1 is reported"},
	{"TAP, two plans", "1..1\nok 1\n1..1\n", "two plans"},
	{"TAP, plan between points", "ok 1\n1..2\nok 2\n", "both sides"},
	{"TAP, plan from 2", "2..3\nok 2\nok 3\n", "begins with 2"},
	{"TAP, order", "1..2\nok 2\nok 1\n", "has the number 2"},
	{"TAP, gap", "1..3\nok 1\nok 3\n", "has the number 3"},
	{"TAP, twice", "1..2\nok 1\nok 1\n", "has the number 1"},
	{"TAP, zero", "1..1\nok 0\n", "has the number 0"},
	{"TAP, stopped", "1..2\nok 1\nBail out! no db\n", "Bail out!"},
	{"TAP, stopped in a subtest", "1..2\nok 1\n    Bail out! no db\nok 2\n", "Bail out!"},
	{"TAP, version 12", "TAP version 12\n1..0\n", "version 12"},
	{"TAP, version behind", "1..1\nok 1\nTAP version 13\n", "behind test points"},
	{"TAP, no line feed", "1..1\nok 1 # SKI", "line feed"},
	{"TAP, point in a block", "1..1\nok 1\n  ---\nnot ok 2\n  ...\n", "a block of YAML has a test point that is not indented"},
	{"TAP, plan in a block", "ok 1\n  ---\n1..1\n  ...\n1..1\n", "a block of YAML has a test point that is not indented"},
	{"TAP, stopped in a block", "1..1\nok 1\n  ---\nBail out!\n  ...\n", "Bail out!"},
	{"TAP, open block", "1..1\nok 1\n  ---\n  a: 1\n", "block of YAML"},

	{"pytest, no summary", "=== test session starts ===\ncollected 3 items\n", "no summary"},
	{"pytest, only collected", "=== test session starts ===\n=== 3 tests collected in 0.01s ===\n", "not known"},
	{"pytest, text behind", "=== 3 passed in 0.1s ===\nmake: done\n", "not the last line"},
	{"pytest, other category", "3 passed, 2 melted in 0.1s\n", `"melted"`},
	{"pytest, twice", "3 passed, 2 passed in 0.1s\n", "twice"},
	{"pytest, fewer failures than listed", "=== short test summary info ===\nFAILED a.py::b - x\nFAILED a.py::c\n=== 1 failed, 2 passed in 0.1s ===\n",
		"lists 2 failed"},
	{"pytest, fewer errors than listed", "=== short test summary info ===\nERROR a.py::b - x\n=== 1 failed, 2 passed in 0.1s ===\n",
		"1 error"},
	{"pytest, two summaries", "=== 2 failed, 1 passed in 0.1s ===\n=== 3 passed in 0.1s ===\n", "has two summaries"},
	{"pytest, two summaries in full", "=== test session starts ===\n=== 2 failed in 0.1s ===\n=== test session starts ===\n" +
		"=== 3 passed in 0.1s ===\n", "begins twice"},
	{"pytest, two short summaries", "9 passed in 0.1s\n--- Captured ---\n1 failed, 1 passed in 0.2s\n", "has two summaries"},
	{"pytest, the same summary twice", "3 passed in 0.1s\n3 passed in 0.1s\n", "has two summaries"},
	{"pytest, a summary in colours", "\x1b[31m=== 1 failed in 0.1s ===\x1b[0m\n3 passed in 0.1s\n", "has two summaries"},
	{"pytest, a run without a summary before", "=== test session starts ===\ncollected 3 items\n=== test session starts ===\n" +
		"=== 3 passed in 0.1s ===\n", "begins twice"},
	{"pytest, left", "!!! _pytest.outcomes.Exit: enough !!!\n3 passed in 0.1s\n", "interrupted"},
}

const goPassed = `{"Action":"start","Package":"shop"}
{"Action":"run","Package":"shop","Test":"TestA"}
{"Action":"pass","Package":"shop","Test":"TestA","Elapsed":0}
{"Action":"pass","Package":"shop","Elapsed":0.1}
`

// goEvent is an event of the package shop, of a test if one is given.
func goEvent(action string, test ...string) string {
	line := `{"Action":"` + action + `","Package":"shop"`
	for _, name := range test {
		line += `,"Test":"` + name + `"`
	}
	return line + "}\n"
}

func TestNoReport(t *testing.T) {
	for _, row := range refused {
		got, err := testreport.Read([]byte(row.text))
		if err == nil || !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %+v, %v; want %q", row.name, got, err, row.err)
			continue
		}
		if text := err.Error(); strings.ContainsAny(text, "\n\x1b") || strings.HasSuffix(text, ".") || got != (testreport.Counts{}) {
			t.Errorf("%s: %+v, %q", row.name, got, text)
		}
	}
}

// TestCounted has the small cases of each format.
func TestCounted(t *testing.T) {
	for _, row := range []struct {
		name, text              string
		passed, failed, skipped int
	}{
		{"go, without start", strings.SplitAfterN(goPassed, "\n", 2)[1], 1, 0, 0},
		{"go, two runs of a package", goPassed + goPassed, 2, 0, 0},
		{"go, no line feed", strings.TrimSpace(goPassed), 1, 0, 0},
		{"go, package without its name", strings.ReplaceAll(goPassed, `,"Package":"shop"`, ""), 1, 0, 0},
		{"go, package fails without a test", goEvent("start") + goEvent("fail"), 0, 1, 0},
		{"go, package fails behind passed tests", goEvent("start") + goEvent("run", "TestA") + goEvent("pass", "TestA") +
			goEvent("fail"), 1, 1, 0},
		{"go, package fails with a failed test", goEvent("start") + goEvent("run", "TestA") + goEvent("fail", "TestA") +
			goEvent("fail"), 0, 1, 0},
		{"go, package passes with a failed test", goEvent("start") + goEvent("run", "TestA") + goEvent("fail", "TestA") +
			goEvent("pass"), 0, 1, 0},
		{"go, crash", goEvent("start") + goEvent("run", "TestA") + goEvent("run", "TestA/b") + goEvent("fail"), 0, 2, 0},
		{"go, benchmark fails", goEvent("start") + goEvent("run", "BenchmarkA") + goEvent("fail", "BenchmarkA") +
			goEvent("fail"), 0, 1, 0},
		{"go, benchmark with an end", goEvent("start") + goEvent("run", "BenchmarkA") + goEvent("bench", "BenchmarkA") +
			goEvent("run", "BenchmarkB") + goEvent("pass", "BenchmarkB") + goEvent("pass"), 0, 0, 0},
		{"XML, to do and passed", `<testsuite skipped="1"><testcase><skipped type="todo"/></testcase></testsuite>`, 1, 0, 0},
		{"XML, each failure", `<testsuite failures="2"><testcase><failure/><failure/></testcase></testsuite>`, 0, 1, 0},
		{"XML, siblings", "<testsuite>" + strings.Repeat("<testcase></testcase><testcase/>", 100) + "</testsuite>", 200, 0, 0},
		{"XML, no totals", `<testsuites><testsuite><testcase/></testsuite></testsuites>`, 1, 0, 0},
		{"XML, empty", `<testsuites/>`, 0, 0, 0},
		{"XML, failure and skipped", `<testsuite><testcase><skipped/><failure/></testcase></testsuite>`, 0, 1, 0},
		{"XML, failure and error", `<testsuite failures="1" errors="1"><testcase><failure/><error/></testcase></testsuite>`, 0, 1, 0},
		{"XML, status", `<testsuite failures="1"><testcase status="failed"/></testsuite>`, 0, 1, 0},
		{"XML, not run", `<testsuite tests="2" skipped="1"><testcase/><testcase status="notrun"/></testsuite>`, 1, 0, 1},
		{"XML, error of a suite", `<testsuite tests="1" errors="1"><testcase/><error/></testsuite>`, 1, 1, 0},
		{"XML, nested sums", `<testsuites tests="2"><testsuite tests="2"><testsuite tests="2"><testcase/><testcase/></testsuite></testsuite></testsuites>`, 2, 0, 0},
		{"XML, totals of own cases", `<testsuite tests="1"><testcase/><testsuite tests="1"><testcase/></testsuite></testsuite>`, 2, 0, 0},
		{"XML, mark", "\xef\xbb\xbf<?xml version=\"1.0\"?><testsuite><testcase/></testsuite>", 1, 0, 0},
		{"TAP, no numbers", "ok\nnot ok\nok - c\n1..3\n", 2, 1, 0},
		{"TAP, zero", "1..0\n", 0, 0, 0},
		{"TAP, indented points in a block", "1..1\nok 1\n  ---\n  not ok 2\n  a: |\n\n    1..2\n  ...\n", 1, 0, 0},
		{"TAP, todo", "1..3\nnot ok 1 # TODO a\nok 2 # todo\nnot ok 3 # TODOS\n", 1, 1, 1},
		{"TAP, skip", "1..3\nok 1 # SKIP\nnot ok 2 # SKIP a\nok 3 # Skipped: b\n", 0, 1, 2},
		{"TAP, escaped", "1..2\nok 1 - a \\# SKIP\nnot ok 2 - \\# TODO\n", 1, 1, 0},
		{"TAP, colours", "1..2\n\x1b[32mok 1\x1b[0m\n\x1b[31mnot ok 2\x1b[0m\n", 1, 1, 0},
		{"pytest, old", "=== 3 passed in 0.12 seconds ===\n", 3, 0, 0},
		{"pytest, no line feed", "3 passed in 0.12s", 3, 0, 0},
		{"pytest, days", "=== 3 passed in 90000.12s (1 day, 1:00:00) ===\n", 3, 0, 0},
		{"pytest, reruns", "1 failed, 3 passed, 2 rerun in 0.12s\n", 3, 1, 0},
		{"pytest, subtests", "3 failed, 1 passed, 5 subtests passed in 0.03s\n", 6, 3, 0},
		{"pytest, deselected", "3 deselected in 0.03s\n", 0, 0, 0},
		{"pytest, stopped by the first failure", "!!! stopping after 1 failures !!!\n1 failed in 0.2s\n", 0, 1, 0},
	} {
		got, err := testreport.Read([]byte(row.text))
		if err != nil || got.Passed != row.passed || got.Failed != row.failed || got.Skipped != row.skipped {
			t.Errorf("%s: %+v, %v; want %d passed, %d failed, %d skipped", row.name, got, err, row.passed, row.failed, row.skipped)
		}
	}
}
