package fault_test

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
)

// exits lists the exit status of every code (docs/design.md#callers): a changed status breaks
// scripts that rely on it.
var exits = map[fault.Code]int{
	// 1: failed, without a more specific status.
	"RUN_CLOSED": 1, "STEP_FAILED": 1, "INTERRUPT_RESOLVED": 1, "INTERRUPT_EXPIRED": 1, "INTERRUPT_FORBIDDEN": 1,
	"INTERRUPT_NOT_FOUND": 6, "INTERRUPT_MISMATCH": 2, "STORE_IO": 1, "STORE_FULL": 1, "STORE_READ_ONLY": 1, "STORE_NEWER": 1,
	"STORE_FOREIGN": 1, "STORE_NETWORK_FS": 1, "INTERRUPTED": 1, "OUTPUT_FAILED": 1, "GIT_FAILED": 1, "INTERNAL_ERROR": 1,
	"BUNDLE_COLLISION": 1, "SESSION_DIVERGED": 1, "ARTIFACT_ERASED": 1, "SESSION_KEPT": 1,
	"CAPABILITY_NOT_PROVIDED": 1, "PROPOSAL_STATE": 1, "PROPOSAL_FORBIDDEN": 1, "PROPOSAL_INVALID": 1,
	"PROPOSAL_CHANGED": 1, "DECISION_REFUSED": 1,
	// 2: usage, or invalid input.
	"TOKEN_INVALID_FORMAT": 2, "TOKEN_UNSUPPORTED_VERSION": 2, "TOKEN_BAD_SIGNATURE": 2, "TOKEN_SCOPE_MISMATCH": 2,
	"TOKEN_WORKFLOW_HASH_MISMATCH": 2, "RUN_AMBIGUOUS": 2, "START_KEY_TAKEN": 2, "FORK_POINT_INVALID": 2, "CAPABILITY_REQUIRED": 2, "STORE_INVALID": 2, "STORE_LIMIT": 2,
	"WORKFLOW_INVALID":   2,
	"WORKFLOW_AMBIGUOUS": 2, "VALIDATION_ERROR": 2, "USAGE_ERROR": 2, "CONFIG_INVALID": 2,
	"BUNDLE_INVALID_FORMAT": 2, "BUNDLE_UNSUPPORTED_VERSION": 2, "IDEMPOTENCY_MISMATCH": 2,
	// 3: waiting for a person.
	"RUN_WAITING": 3, "RUN_PAUSED": 3, "SESSION_HANDED_OVER": 3, "PROPOSAL_PENDING": 3, "RUN_BLOCKED": 3, "WORKFLOW_UNTRUSTED": 3, "PRINCIPALS_UNBOUND": 3, "SIGNATURE_REQUIRED": 3, "SIGNATURE_REFUSED": 3,
	// 4: busy, try again.
	"TOKEN_SESSION_LOCKED": 4, "SESSION_LOCKED": 4, "RUN_BUSY": 4, "IDEMPOTENCY_IN_FLIGHT": 4, "STORE_CONFLICT": 4, "STORE_LOCKED": 4, "STORE_UNREACHABLE": 4,
	// 5: integrity.
	"SESSION_UNHEALTHY": 5, "STORE_OUTCOME_UNKNOWN": 5, "STORE_ANSWER_UNREAD": 5, "STORE_CORRUPT": 5,
	"KEYRING_INVALID": 5, "INVARIANT_VIOLATION": 5,
	"BUNDLE_INTEGRITY_FAILED": 5, "BUNDLE_MISSING_SNAPSHOT": 5, "BUNDLE_MISSING_PINNED_WORKFLOW": 5,
	"BUNDLE_EVENT_ORDER_INVALID":    5,
	"BUNDLE_MANIFEST_ORDER_INVALID": 5, "HEAD_MISMATCH": 5,
	"POLICY_UNCONFIRMED": 5,
	// 6: not found.
	"TOKEN_UNKNOWN_NODE": 6, "SESSION_NOT_FOUND": 6, "RUN_NOT_FOUND": 6, "WORKFLOW_NOT_FOUND": 6,
	"SOURCE_NOT_FOUND": 6, "TESTS_NOT_FOUND": 6,
	"ARTIFACT_NOT_FOUND":   6,
	"ANNOTATION_NOT_FOUND": 6, "TARGET_NOT_FOUND": 6, "PROPOSAL_NOT_FOUND": 6, "COMMIT_NOT_FOUND": 6,
}

func TestExitStatuses(t *testing.T) {
	for code, want := range exits {
		if got := fault.ExitOf(fault.New(code, "x")); got != want {
			t.Errorf("%s exits with %d, want %d", code, got, want)
		}
	}
	if got := fault.ExitOf(nil); got != 0 {
		t.Errorf("no error exits with %d", got)
	}
	if got := fault.ExitOf(errors.New("x")); got != 1 {
		t.Errorf("an error without a fault exits with %d", got)
	}
}

// The table has exactly one row for every Code constant of the source, and exits exactly one
// expectation.
func TestTableIsComplete(t *testing.T) {
	declared := codeConstants(t)
	rows := map[fault.Code]int{}
	for _, row := range fault.Table {
		rows[row.Code]++
	}
	for code, name := range declared {
		if rows[code] != 1 {
			t.Errorf("%s (%s) has %d rows, want 1", code, name, rows[code])
		}
		if _, ok := exits[code]; !ok {
			t.Errorf("%s (%s) has no expected exit status", code, name)
		}
	}
	for code := range rows {
		if _, ok := declared[code]; !ok {
			t.Errorf("row %s has no constant", code)
		}
	}
	if len(declared) != len(exits) {
		t.Errorf("%d constants, %d expected exit statuses", len(declared), len(exits))
	}
}

// codeConstants reads the constants of type Code from the source: the compiler
// cannot list them.
func codeConstants(t *testing.T) map[fault.Code]string {
	f, err := parser.ParseFile(token.NewFileSet(), "codes.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[fault.Code]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if typ, ok := spec.Type.(*ast.Ident); !ok || typ.Name != "Code" {
			return true
		}
		for i, name := range spec.Names {
			text, err := strconv.Unquote(spec.Values[i].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			if other, twice := out[fault.Code(text)]; twice {
				t.Errorf("%s and %s are both %s", name, other, text)
			}
			out[fault.Code(text)] = name.Name
		}
		return true
	})
	return out
}

// Meanings and suggestions are sentences, and the retry advice agrees with the exit status.
func TestRows(t *testing.T) {
	spelling := regexp.MustCompile(`^[A-Z]+(_[A-Z]+)*$`)
	sentence := regexp.MustCompile(`^[A-Z'].*\.$`)
	for _, row := range fault.Table {
		if !spelling.MatchString(string(row.Code)) {
			t.Errorf("%q is not spelled as a code", row.Code)
		}
		if !sentence.MatchString(row.Meaning) || !sentence.MatchString(row.Suggestion.String()) {
			t.Errorf("%s: meaning and suggestion must be sentences: %q, %q", row.Code, row.Meaning, row.Suggestion)
		}
		if strings.Contains(row.Suggestion.Format, "'") {
			t.Errorf("%s: the suggestion has a command that is no Command: %q", row.Code, row.Suggestion.Format)
		}
		if busy, retry := row.Exit == fault.ExitBusy, row.Retry.Kind != fault.NotRetryable; busy && !retry {
			t.Errorf("%s is busy and not retryable", row.Code)
		}
		if after := row.Retry.Kind == fault.RetryableAfterMs; after != (row.Retry.AfterMs > 0) {
			t.Errorf("%s: retry %+v", row.Code, row.Retry)
		}
	}
}

func TestLookupOfUnknownCodeIsInternal(t *testing.T) {
	if got := fault.Lookup("NO_SUCH_CODE").Code; got != fault.Internal {
		t.Errorf("got %s", got)
	}
}

func TestNewAndBuilders(t *testing.T) {
	f := fault.New(fault.SessionLocked, "session %s is busy", "s1")
	row := fault.Lookup(fault.SessionLocked)
	if f.Message != "session s1 is busy" || f.Retry != row.Retry ||
		f.Suggestion.String() != row.Suggestion.String() || f.Details != nil {
		t.Errorf("got %+v", f)
	}
	f.Suggest("wait %d s", 2).With("holderPid", 7).With("n", 1).After(250)
	if f.Suggestion.String() != "wait 2 s" || f.Retry != (fault.Retry{Kind: fault.RetryableAfterMs, AfterMs: 250}) ||
		f.Details["holderPid"] != 7 || f.Details["n"] != 1 {
		t.Errorf("got %+v", f)
	}
	if other := fault.New(fault.SessionLocked, "x"); other.Retry != row.Retry ||
		other.Suggestion.String() != row.Suggestion.String() ||
		other.Details != nil {
		t.Errorf("a fault changed the table: %+v", other)
	}
}

// Map reaches the commands of suggestions within suggestions, and changes no suggestion that
// other faults share.
func TestSuggestionMap(t *testing.T) {
	inner := fault.Suggest("Run %s (100%%).", fault.Command{"verify", fault.SessionWord})
	s := fault.Suggest("%s Then %s, %d times.", inner, fault.Command{"run", "--run", "R"}, 2)
	const want = "Run 'waybill verify SESSION' (100%). Then 'waybill run --run R', 2 times."
	if got := s.String(); got != want {
		t.Errorf("got %s", got)
	}
	got := s.Map(func(arg any) any {
		if c, ok := arg.(fault.Command); ok {
			return c[0]
		}
		return arg
	})
	if got.String() != "Run verify (100%). Then run, 2 times." || s.String() != want {
		t.Errorf("got %s; the original is %s", got, s)
	}
}

func TestWrapDoesNotRepeatTheCause(t *testing.T) {
	f := fault.Wrap(fs.ErrPermission, fault.StoreIO, "cannot write")
	if !errors.Is(f, fs.ErrPermission) || f.Message != "cannot write" {
		t.Errorf("got %+v", f)
	}
	for err, want := range map[*fault.Fault]string{f: "STORE_IO: cannot write (permission denied)",
		fault.New(fault.StoreIO, "cannot write"): "STORE_IO: cannot write"} {
		if err.Error() != want {
			t.Errorf("got %q, want %q", err, want)
		}
	}
}

func TestOfFindsTheFault(t *testing.T) {
	f := fault.New(fault.StoreFull, "full")
	inner := fault.Wrap(f, fault.StoreIO, "outer")
	tests := []struct {
		name string
		err  error
		want fault.Code
	}{
		{"none", nil, ""},
		{"itself", f, fault.StoreFull},
		{"wrapped", fmt.Errorf("while writing: %w", f), fault.StoreFull},
		{"joined", errors.Join(fs.ErrExist, f), fault.StoreFull},
		{"the outer of two", inner, fault.StoreIO},
		{"none inside", context.Canceled, fault.Internal},
	}
	for _, tt := range tests {
		if got := fault.CodeOf(tt.err); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
		if tt.err != nil && (!fault.Is(tt.err, tt.want) || fault.Is(tt.err, fault.UsageError)) {
			t.Errorf("%s: Is does not agree with CodeOf", tt.name)
		}
	}
	if fault.Of(nil) != nil {
		t.Error("Of(nil) is a fault")
	}
	if got := fault.Of(fmt.Errorf("x: %w", f)); got != f {
		t.Errorf("got %v, want the fault itself", got)
	}
	if got := fault.Of(context.Canceled); !errors.Is(got, context.Canceled) || got.Suggestion.String() == "" {
		t.Errorf("got %+v", got)
	}
}
