package reason_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"pgregory.net/rapid"
)

func blocker(code reason.BlockerCode, p reason.Pointer) reason.Blocker {
	return reason.Blocker{Code: code, Pointer: p, Message: "m"}
}

// A report is sorted by code, then the pointer's kind, then its member, as bytes. Of two blockers
// with the same code and pointer it has the first one.
func TestNewReportOrders(t *testing.T) {
	in := []reason.Blocker{
		blocker(reason.BlockerUserOnly, reason.ContextKey("a")),
		blocker(reason.BlockerMissingOutput, reason.OutputContract("wr.b")),
		blocker(reason.BlockerInvalidOutput, reason.WorkflowStep("z")),
		blocker(reason.BlockerMissingOutput, reason.OutputContract("wr.a")),
		blocker(reason.BlockerMissingOutput, reason.ContextKey("z")),
		blocker(reason.BlockerUserOnly, reason.ContextKey("B")),
		{Code: reason.BlockerUserOnly, Pointer: reason.ContextKey("a"), Message: "a second one"},
	}
	before := slices.Clone(in)
	var got []string
	for _, b := range reason.NewReport(in).Blockers {
		got = append(got, fmt.Sprint(b.Code, " ", b.Pointer.Kind, " ", b.Pointer.Key, b.Pointer.ContractRef,
			b.Pointer.StepID, " ", b.Message))
	}
	want := []string{
		"INVALID_REQUIRED_OUTPUT workflow_step z m",
		"MISSING_REQUIRED_OUTPUT context_key z m",
		"MISSING_REQUIRED_OUTPUT output_contract wr.a m",
		"MISSING_REQUIRED_OUTPUT output_contract wr.b m",
		"USER_ONLY_DEPENDENCY context_key B m",
		"USER_ONLY_DEPENDENCY context_key a m",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Equal(in, before) {
		t.Error("the caller's list was sorted in place")
	}
}

func many(n int, message string) (out []reason.Blocker) {
	for i := range n {
		b := blocker(reason.BlockerUserOnly, reason.ContextKey(fmt.Sprintf("k%03d", i)))
		b.Message = message
		out = append(out, b)
	}
	return out
}

func TestNewReportCountsOmittedBlockers(t *testing.T) {
	long := strings.Repeat("é", limits.MessageBytesMax/2)
	tests := []struct {
		name    string
		in      []reason.Blocker
		n       int
		message string
	}{
		{"nine", many(9, "m"), 9, "m"},
		{"ten", many(10, "m"), 10, "m"},
		{"ten and a repetition", append(many(10, "m"), many(3, "m")...), 10, "m"},
		{"eleven", many(11, "m"), 10, "m (and 1 more)"},
		{"a hundred", many(100, "m"), 10, "m (and 90 more)"},
		{"a hundred long ones", many(100, long), 10, long[:limits.MessageBytesMax-len(" (and 90 more)")] +
			" (and 90 more)"},
	}
	for _, tt := range tests {
		r := reason.NewReport(tt.in)
		if len(r.Blockers) != tt.n || r.Blockers[tt.n-1].Message != tt.message {
			t.Errorf("%s: got %d, the last is %q; want %d, %q", tt.name, len(r.Blockers),
				r.Blockers[len(r.Blockers)-1].Message, tt.n, tt.message)
		}
		if err := r.Check(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		if first := r.Blockers[0].Message; first != tt.in[0].Message {
			t.Errorf("%s: the first message was changed to %q", tt.name, first)
		}
	}
}

func TestReportCheck(t *testing.T) {
	with := func(change func(*reason.Blocker)) reason.Report {
		b := blocker(reason.BlockerUserOnly, reason.ContextKey("a"))
		change(&b)
		return reason.Report{Blockers: []reason.Blocker{b}}
	}
	message := func(n int) reason.Report {
		return with(func(b *reason.Blocker) { b.Message = strings.Repeat("x", n) })
	}
	fix := func(n int) reason.Report {
		return with(func(b *reason.Blocker) { b.SuggestedFix = strings.Repeat("x", n) })
	}
	ordered := many(3, "m")
	tests := []struct {
		name string
		r    reason.Report
		want string
	}{
		{"message of 512 bytes", message(512), ""},
		{"message of 513 bytes", message(513), "blocker 0: message of 513 bytes: want 1 to 512"},
		{"message of 512 characters", with(func(b *reason.Blocker) { b.Message = strings.Repeat("é", 512) }),
			"blocker 0: message of 1024 bytes: want 1 to 512"},
		{"no message", message(0), "blocker 0: message of 0 bytes: want 1 to 512"},
		{"fix of 1024 bytes", fix(1024), ""},
		{"fix of 1025 bytes", fix(1025), "blocker 0: suggestedFix of 1025 bytes: want at most 1024"},
		{"ten", reason.Report{Blockers: many(10, "m")}, ""},
		{"eleven", reason.Report{Blockers: many(11, "m")}, "11 blockers: want 1 to 10"},
		{"none", reason.Report{}, "0 blockers: want 1 to 10"},
		{"unknown code", with(func(b *reason.Blocker) { b.Code = "OTHER" }), `blocker 0: unknown code "OTHER"`},
		{"bad pointer", with(func(b *reason.Blocker) { b.Pointer.Kind = "file" }),
			`blocker 0: unknown pointer kind "file"`},
		{"out of order", reason.Report{Blockers: []reason.Blocker{ordered[1], ordered[0]}},
			"blocker 1 is out of order"},
		{"twice", reason.Report{Blockers: []reason.Blocker{ordered[0], ordered[0]}}, "blocker 1 is out of order"},
	}
	for _, tt := range tests {
		got := ""
		if err := tt.r.Check(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// For any blockers, the report is valid and does not depend on their order.
func TestNewReportIsIndependentOfOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in []reason.Blocker
		for i := range rapid.IntRange(1, 30).Draw(t, "n") {
			row := rapid.SampledFrom(reason.Table).Draw(t, fmt.Sprint("row ", i))
			in = append(in, blocker(row.Blocker, reason.ContextKey(rapid.StringMatching(`[a-c]{1,2}`).
				Draw(t, fmt.Sprint("key ", i)))))
		}
		r := reason.NewReport(in)
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		if again := reason.NewReport(rapid.Permutation(in).Draw(t, "order")); !slices.Equal(again.Blockers,
			r.Blockers) {
			t.Fatalf("another order gives\n%v\nnot\n%v", again, r)
		}
	})
}

func TestClipAndTruncate(t *testing.T) {
	const marker = "\n\n[TRUNCATED]"
	tests := []struct {
		s              string
		n              int
		clip, truncate string
	}{
		{"abc", 3, "abc", "abc"},
		{strings.Repeat("a", 20), 19, strings.Repeat("a", 19), strings.Repeat("a", 6) + marker},
		{strings.Repeat("é", 10), 19, strings.Repeat("é", 9), strings.Repeat("é", 3) + marker},
		{strings.Repeat("😀", 5), 18, strings.Repeat("😀", 4), "😀" + marker},
		{strings.Repeat("a", 20), 13, strings.Repeat("a", 13), marker},
		{strings.Repeat("a", 20), 5, "aaaaa", "\n\n[TR"},
		{"abc", 0, "", ""},
		{"é", 1, "", "\n"},
		{"abc", -1, "", ""},
	}
	for _, tt := range tests {
		if got := reason.Clip(tt.s, tt.n); got != tt.clip {
			t.Errorf("Clip(%q, %d): got %q, want %q", tt.s, tt.n, got, tt.clip)
		}
		if got := reason.Truncate(tt.s, tt.n); got != tt.truncate {
			t.Errorf("Truncate(%q, %d): got %q, want %q", tt.s, tt.n, got, tt.truncate)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s, n := rapid.String().Draw(t, "s"), rapid.IntRange(0, 40).Draw(t, "n")
		clipped, cut := reason.Clip(s, n), reason.Truncate(s, n)
		if len(clipped) > n || len(cut) > n || !utf8.ValidString(clipped) || !utf8.ValidString(cut) {
			t.Fatalf("%q in %d bytes: %q, %q", s, n, clipped, cut)
		}
		if !strings.HasPrefix(s, clipped) || len(s) > n && n-len(clipped) >= utf8.UTFMax {
			t.Fatalf("%q in %d bytes is clipped to %q", s, n, clipped)
		}
		if len(s) <= n && (clipped != s || cut != s) {
			t.Fatalf("%q fits %d bytes and became %q, %q", s, n, clipped, cut)
		}
	})
}
