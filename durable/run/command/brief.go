package command

import (
	"cmp"
	"strings"
)

// Brief is the form of a result that views and answers show: the outcome, and the end of each
// output.
type Brief struct {
	ExitStatus int64  `json:"exitStatus"`
	DurationMs int64  `json:"durationMs"`
	Tries      int64  `json:"tries"`
	Failure    string `json:"failure,omitzero"`
	// StdoutTail of a record of the earlier form is the end of both outputs together.
	StdoutTail string `json:"stdoutTail"`
	StderrTail string `json:"stderrTail"`
}

// Brief returns the outcome with the last max bytes, at most, of stdout and of stderr.
func (r Result) Brief(max int) Brief {
	return Brief{ExitStatus: r.ExitStatus, DurationMs: r.DurationMs, Tries: r.Tries, Failure: r.Failure,
		StdoutTail: LastBytes(r.Out().End(), max), StderrTail: LastBytes(r.Err().End(), max)}
}

// Outcome returns the outcome as a clause without a subject.
func (b Brief) Outcome() string {
	return Result{ExitStatus: b.ExitStatus, Failure: b.Failure, Tries: b.Tries}.Outcome()
}

// Out returns stdout. Of a record of the earlier form it is both outputs, in order of arrival.
func (r Result) Out() Stream {
	if r.Stdout == nil {
		return Stream{Bytes: r.OutputBytes, Head: r.OutputHead, Tail: r.OutputTail}
	}
	return *r.Stdout
}

// Err returns stderr; the zero value for a record of the earlier form.
func (r Result) Err() Stream {
	if r.Stderr == nil {
		return Stream{}
	}
	return *r.Stderr
}

// Apart reports that stdout and stderr were recorded apart.
func (r Result) Apart() bool { return r.Stdout != nil && r.Stderr != nil }

// End returns the stored text that ends the stream: the tail, or the head if that holds all.
func (s Stream) End() string { return cmp.Or(s.Tail, s.Head) }

// LeftOut returns the number of bytes between head and tail that are not stored. Records without it
// are those of the earlier form, and those of other programs.
func (s Stream) LeftOut() int64 {
	if s.Omitted > 0 || s.Tail == "" {
		return s.Omitted
	}
	return max(s.Bytes-int64(len(s.Head)+len(s.Tail)), 0)
}

// LastBytes returns at most the last n bytes of text, beginning with a whole line where one fits
// and never within a character.
func LastBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	whole, text := text[len(text)-n-1] == '\n', text[len(text)-n:]
	if _, rest, ok := strings.Cut(text, "\n"); ok && rest != "" && !whole {
		return rest
	}
	return strings.ToValidUTF8(text, "")
}
