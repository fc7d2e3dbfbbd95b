package command_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/run/command"
)

// TestPrinted: stdout is a value only if the record holds all of it, as it was written, and it is one
// JSON text.
func TestPrinted(t *testing.T) {
	for name, row := range map[string]struct {
		stdout    *command.Stream
		want, why string
	}{
		"older version":   {nil, "null", "older version"},
		"text":            {&command.Stream{Bytes: 7, Head: " [1,2]\n"}, "[1,2]", ""},
		"head and tail":   {&command.Stream{Bytes: 5, Head: "[1,", Tail: "2]"}, "[1,2]", ""},
		"cut":             {&command.Stream{Bytes: 9, Head: "[1,", Tail: "2]", Omitted: 4}, "null", "has 9 bytes, and not all of them were kept"},
		"bytes replaced":  {&command.Stream{Bytes: 3, Head: "\"\uFFFD\""}, "null", "not valid UTF-8"},
		"empty":           {&command.Stream{}, "null", "not one JSON text"},
		"two texts":       {&command.Stream{Bytes: 5, Head: "[] []"}, "null", "not one JSON text"},
		"duplicate names": {&command.Stream{Bytes: 13, Head: `{"a":1,"a":2}`}, "null", "not one JSON text"},
	} {
		v, why := command.Result{Stdout: row.stdout}.Printed()
		if string(v.JCS()) != row.want || !strings.Contains(why, row.why) || (why == "") != (row.why == "") {
			t.Errorf("%s: %s, %q", name, v.JCS(), why)
		}
	}
}
