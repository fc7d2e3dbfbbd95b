package command_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/run/command"
)

func TestBriefOfBothForms(t *testing.T) {
	apart := command.Result{ExitStatus: 2, DurationMs: 7, Tries: 3, Failure: "why", OutputBytes: 9,
		Stdout: &command.Stream{Bytes: 3, Head: "out"},
		Stderr: &command.Stream{Bytes: 9, Head: "first\n", Tail: "last\n"}}
	want := command.Brief{ExitStatus: 2, DurationMs: 7, Tries: 3, Failure: "why", StdoutTail: "out", StderrTail: "last\n"}
	if got := apart.Brief(10); got != want || !apart.Apart() {
		t.Errorf("%+v", got)
	}
	old := command.Result{Tries: 1, OutputBytes: 5, OutputHead: "both\n"}
	if got := old.Brief(10); got.StdoutTail != "both\n" || got.StderrTail != "" || old.Apart() {
		t.Errorf("%+v", got)
	}
	if out := old.Out(); out.Bytes != 5 || out.Head != "both\n" || old.Err() != (command.Stream{}) {
		t.Errorf("%+v", out)
	}
}

func TestLastBytes(t *testing.T) {
	for _, row := range []struct {
		text string
		n    int
		want string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "bcd"}, {"one\ntwo\nthree\n", 10, "two\nthree\n"},
		{"one\ntwo\nthree\n", 9, "three\n"}, {strings.Repeat("é", 4), 3, "é"}, {"abcde\n", 3, "de\n"},
	} {
		if got := command.LastBytes(row.text, row.n); got != row.want {
			t.Errorf("%q, %d: %q, want %q", row.text, row.n, got, row.want)
		}
	}
}

func TestLeftOut(t *testing.T) {
	for _, tc := range []struct {
		s    command.Stream
		want int64
	}{
		{command.Stream{Bytes: 3, Head: "out"}, 0},
		{command.Stream{Bytes: 9, Head: "\uFFFD"}, 0}, // nine bytes that were no text
		{command.Stream{Bytes: 30, Head: "head", Tail: "tail", Omitted: 29}, 29},
		{command.Stream{Bytes: 30, Head: "head", Tail: "tail"}, 22}, // by a program that does not count them
		{command.Stream{Bytes: 4, Head: "\uFFFD\uFFFD", Tail: "\uFFFD"}, 0},
	} {
		if got := tc.s.LeftOut(); got != tc.want {
			t.Errorf("%+v: %d, want %d", tc.s, got, tc.want)
		}
	}
}
