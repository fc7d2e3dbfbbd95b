package check_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/run/check"
	"github.com/waybill/waybill/durable/workflow/source"
)

func TestWants(t *testing.T) {
	number := func(n int) *int { return &n }
	for want, c := range map[string]source.Check{
		"a: make test exits with status 0": {ID: "a", Argv: []string{"make", "test"}},
		"b: grep -q 'x y' exits with status 1; do not change tools/b.sh, z": {ID: "b", Argv: []string{"grep", "-q", "x y"},
			Pins: []string{"tools/b.sh", "z"}, Expect: &source.Expect{Exit: number(1)}},
		"c: go test -json exits with status 0, reports at least 1 passed and at most 0 failed tests": {ID: "c",
			Argv: []string{"go", "test", "-json"}, Expect: &source.Expect{Tests: &source.ExpectTests{}}},
		"d: x exits with status 0, reports at least 3 passed and at most 2 failed tests and at most 1 skipped ones": {ID: "d", Argv: []string{"x"},
			Expect: &source.Expect{Tests: &source.ExpectTests{Min: number(3), Failed: number(2), Skipped: number(1)}}},
		`e: x exits with status 0, its JSON at "/a" is at least 1, its JSON at "/a" contains "b"`: {ID: "e", Argv: []string{"x"},
			Expect: &source.Expect{Stdout: &source.ExpectStdout{Pointer: "/a", GTE: value("1"), Contains: value(`"b"`)}}},
		`f: x exits with status 0, its JSON as a whole is {"a":1}`: {ID: "f", Argv: []string{"x"},
			Expect: &source.Expect{Stdout: &source.ExpectStdout{Equals: value(`{"a": 1}`)}}},
	} {
		if got := check.Wants(c); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	long := check.Wants(source.Check{ID: "l", Argv: []string{strings.Repeat("x", 10_000), "a\nb"}, Pins: []string{strings.Repeat("p", 500)}})
	if len(long) > 1200 || strings.Contains(long, "\n") {
		t.Errorf("%d bytes: %s", len(long), long)
	}
}

// value is a JSON value.
func value(text string) canon.Value {
	v, err := canon.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}
