package testreport_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/testreport"
)

// reports are outputs of real programs, or written like these, with the tests that they report.
var reports = []struct {
	file string
	want testreport.Counts
}{
	{"go_pass.json", testreport.Counts{Format: "go", Passed: 7, Skipped: 1}},
	{"go_cached.json", testreport.Counts{Format: "go", Passed: 7, Skipped: 1, Cached: 1}},
	{"go_fail.json", testreport.Counts{Format: "go", Passed: 8, Failed: 2, Skipped: 1, Cached: 1}},
	{"go_build.json", testreport.Counts{Format: "go", Passed: 7, Failed: 1, Skipped: 1, Cached: 1}},
	{"go_panic.json", testreport.Counts{Format: "go", Passed: 1, Failed: 2}},
	{"go_timeout.json", testreport.Counts{Format: "go", Passed: 1, Failed: 2}},
	{"go_bench.json", testreport.Counts{Format: "go", Passed: 1}},
	{"go_twice.json", testreport.Counts{Format: "go", Passed: 2}},
	{"surefire.xml", testreport.Counts{Format: "junit", Passed: 1, Failed: 2, Skipped: 1}},
	{"gtest.xml", testreport.Counts{Format: "junit", Passed: 1, Failed: 1, Skipped: 1}},
	{"nextest.xml", testreport.Counts{Format: "junit", Passed: 2, Failed: 1}},
	{"pytest.xml", testreport.Counts{Format: "junit", Passed: 1, Failed: 2, Skipped: 1}},
	{"node.xml", testreport.Counts{Format: "junit", Passed: 3, Failed: 1, Skipped: 2}},
	{"node_nested.xml", testreport.Counts{Format: "junit", Passed: 2, Failed: 1, Skipped: 3}},
	{"node.tap", testreport.Counts{Format: "tap", Passed: 2, Failed: 1, Skipped: 2}},
	{"perl.tap", testreport.Counts{Format: "tap", Passed: 2, Skipped: 2}},
	{"skipall.tap", testreport.Counts{Format: "tap"}},
	{"tape.tap", testreport.Counts{Format: "tap", Passed: 1, Failed: 1, Skipped: 1}},
	{"bats.tap", testreport.Counts{Format: "tap", Passed: 1, Failed: 1, Skipped: 1}},
	{"subtests14.tap", testreport.Counts{Format: "tap", Passed: 1, Failed: 1}},
	{"pytest_pass.txt", testreport.Counts{Format: "pytest", Passed: 10, Skipped: 2}},
	{"pytest_fail.txt", testreport.Counts{Format: "pytest", Passed: 4, Failed: 2}},
	{"pytest_quiet.txt", testreport.Counts{Format: "pytest", Passed: 7, Skipped: 1}},
	{"pytest_colour.txt", testreport.Counts{Format: "pytest", Passed: 1, Failed: 1}},
	{"pytest_none.txt", testreport.Counts{Format: "pytest"}},
	{"pytest_collection.txt", testreport.Counts{Format: "pytest", Failed: 1}},
}

// stopped are outputs of real programs that were stopped: they are no reports.
var stopped = map[string]string{
	"bail.tap":               "Bail out!",
	"pytest_interrupted.txt": "was interrupted",
}

func content(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestReportsOfRealPrograms(t *testing.T) {
	known := map[string]bool{}
	for _, row := range reports {
		known[row.file] = true
		for _, form := range []string{"as it is", "with CR LF", "with blank lines around it"} {
			data := content(t, row.file)
			switch form {
			case "with CR LF":
				data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
			case "with blank lines around it":
				data = []byte("\n\n" + string(data) + "\n \n")
				data = bytes.Replace(data, []byte(`<?xml version="1.0" encoding="UTF-8"?>`), nil, 1)
				data = bytes.Replace(data, []byte(`<?xml version="1.0" encoding="utf-8"?>`), nil, 1)
			}
			got, err := testreport.Read(data)
			if err != nil || got != row.want {
				t.Errorf("%s %s: %+v, %v; want %+v", row.file, form, got, err, row.want)
			}
		}
	}
	for file, want := range stopped {
		known[file] = true
		if got, err := testreport.Read(content(t, file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v; want %q", file, got, err, want)
		}
	}
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) != len(known) {
		t.Errorf("%d files, %d are in the tables: %v", len(files), len(known), err)
	}
}

// within reports whether n is inside of a long line of JSON, where a cut at one byte is like one at
// the next.
func within(data []byte, n int) bool {
	line := data[bytes.LastIndexByte(data[:n], '\n')+1:]
	before := len(data) - len(line)
	length := bytes.IndexByte(line, '\n')
	return line[0] == '{' && n-before > 5 && length-(n-before) > 5 && n%9 != 0
}

// TestTruncatedReport cuts every report at every byte, and long lines of JSON at some. A beginning is an error or has the counts of
// the whole, except where a format cannot tell (docs/design.md#checks): go test -json between two
// packages.
func TestTruncatedReport(t *testing.T) {
	for _, row := range reports {
		data := content(t, row.file)
		packages := 0
		for n := range len(data) {
			if within(data, n) {
				continue
			}
			got, err := testreport.Read(data[:n])
			if err != nil {
				if got != (testreport.Counts{}) {
					t.Fatalf("%s, %d bytes: %+v beside an error", row.file, n, got)
				}
				continue
			}
			if row.want.Format == testreport.FormatGo && endsPackage(data[:n]) && got.Failed <= row.want.Failed {
				packages++
				continue
			}
			if got != row.want {
				t.Errorf("%s, %d of %d bytes: %+v, want an error or %+v", row.file, n, len(data), got, row.want)
			}
		}
		if row.want.Format == testreport.FormatGo && packages == 0 {
			t.Errorf("%s: no end of a package was read", row.file)
		}
	}
}

// endsPackage reports whether the last line is the end of a package.
func endsPackage(data []byte) bool {
	data = bytes.TrimSpace(data)
	var e struct{ Action, Package, Test string }
	err := json.Unmarshal(data[bytes.LastIndexByte(data, '\n')+1:], &e)
	return err == nil && e.Test == "" && e.Package != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip")
}

func TestTotalLeavesOutSkipped(t *testing.T) {
	c := testreport.Counts{Passed: 3, Failed: 2, Skipped: 4}
	if c.Total() != 5 {
		t.Errorf("%d, want 5", c.Total())
	}
	data, err := json.Marshal(testreport.Counts{Format: "tap", Passed: 1})
	if want := `{"failed":0,"format":"tap","passed":1,"skipped":0}`; err != nil || string(data) != want {
		t.Errorf("%s, %v, want %s", data, err, want)
	}
}

// TestHostileSizes reads outputs that are large or deep in one respect.
func TestHostileSizes(t *testing.T) {
	repeat := func(text string, bytes int) string { return strings.Repeat(text, bytes/len(text)) }
	size := limits.TestReportBytesMax - 4096
	suites := func(n int) string {
		return strings.Repeat("<testsuite>", n) + "<testcase/>" + strings.Repeat("</testsuite>", n)
	}
	var attributes strings.Builder
	for i := range limits.TestReportAttributesMax + 1 {
		fmt.Fprintf(&attributes, " a%d=''", i)
	}
	for name, row := range map[string]struct{ text, err string }{
		"bytes":           {repeat("ok\n", limits.TestReportBytesMax+3), "bytes"},
		"points":          {"1..5\n" + repeat("ok\n", size), "more than 1000000 tests"},
		"plan":            {"1..999999999\n", "more than 1000000 tests"},
		"long plan":       {"1.." + repeat("9", size) + "\n", "no format"},
		"summary":         {"99999999999999999999 passed in 0.1s", "more than 1000000 tests"},
		"two sums":        {"999999 passed, 999999 failed in 0.1s", "more than 1000000 tests"},
		"long summary":    {repeat("1 passed, ", size) + "1 failed in 0.1s", "no format"},
		"stated":          {`<testsuite tests="99999999999999999999"/>`, "tests="},
		"negative":        {`<testsuite tests="-1"/>`, `tests="-1", want a number`},
		"deep":            {suites(limits.TestReportDepthMax), "levels"},
		"deep and open":   {repeat("<testsuite>", size), "levels"},
		"attributes":      {"<testsuite" + attributes.String() + "/>", "attributes"},
		"open attributes": {"<testsuite" + repeat(" a=''", size), "truncated"},
		"long name":       {"<testsuite><" + repeat("a", size) + "></b>", "no XML"},
		"long charset":    {`<?xml version="1.0" encoding="` + repeat("a", size) + `"?><testsuite/>`, "no XML"},
		"long package":    {`{"Action":"start","Package":"` + repeat("é", size) + `"}`, "no end"},
		"deep JSON":       {`{"Action":"start","Package":"a","x":` + repeat("[", size), "no format"},
		"one line":        {repeat("a", size), "no format"},
		"escapes":         {repeat("\x1b[", size), "no format"},
		"open tests": {`{"Action":"start","Package":"a"}` + "\n" +
			repeat(`{"Action":"run","Package":"a","Test":"T`+"\"}\n", 1<<20), "starts again"},
	} {
		got, err := testreport.Read([]byte(row.text))
		if err == nil || !strings.Contains(err.Error(), row.err) || len(err.Error()) > 400 {
			t.Errorf("%s: %+v, %.500v; want %q", name, got, err, row.err)
		}
	}
	if got, err := testreport.Read([]byte(suites(limits.TestReportDepthMax - 1))); err != nil || got.Passed != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzRead(f *testing.F) {
	for _, row := range reports {
		f.Add(content(f, row.file))
	}
	for file := range stopped {
		f.Add(content(f, file))
	}
	for _, row := range refused {
		f.Add([]byte(row.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := testreport.Read(data)
		if err != nil {
			if got != (testreport.Counts{}) || err.Error() == "" || strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Fatalf("%+v, %q", got, err)
			}
			return
		}
		n := got.Total() + got.Skipped
		if got.Passed < 0 || got.Failed < 0 || got.Skipped < 0 || got.Cached < 0 || n > limits.TestReportTestsMax || got.Format == "" {
			t.Fatalf("%+v", got)
		}
		if again, err := testreport.Read(data); err != nil || again != got {
			t.Fatalf("%+v, %v after %+v", again, err, got)
		}
	})
}
