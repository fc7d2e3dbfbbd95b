package decision_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/decision"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/workflow/compile"
)

// about returns the binding of a decision about outputs of one name.
func about(outputs string) decision.Bound {
	item := canon.OfMembers(canon.Member{Name: "kind", Value: canon.OfString("notes")},
		canon.Member{Name: "sha256", Value: canon.OfString(canon.Sum([]byte(outputs)).String())})
	return decision.Bound{Outputs: canon.OfList(item), SnapshotRef: canon.Sum([]byte("snapshot")), StepInstanceKey: "plan"}
}

// given returns a decision of a bound principal about outputs.
func given(word event.DecisionWord, by, outputs string, atMs int64, roles ...string) decision.Given {
	r := decision.Record{Bound: about(outputs), Account: config.Account("uid:" + by), Principal: true, Roles: roles, AtMs: atMs}
	r.Decision, r.By, r.ShownDigest = word, by, canon.Sum([]byte(outputs))
	if word != event.Approved {
		r.Reason = "because of " + outputs
	}
	return decision.Given{Record: r}
}

func approved(by, outputs string, atMs int64, roles ...string) decision.Given {
	return given(event.Approved, by, outputs, atMs, roles...)
}

func sentBack(by, outputs string) decision.Given { return given(event.SentBack, by, outputs, 1) }

// unbound is an approval from an account that is bound to no principal.
func unbound(by, outputs string) decision.Given {
	g := approved(by, outputs, 1)
	g.Principal = false
	return g
}

// plain is an approval of a version that recorded no decision.
func plain(outputs string) decision.Given {
	g := decision.Given{Plain: true}
	g.Decision, g.By, g.Bound = event.Approved, "ada", about(outputs)
	return g
}

var erased = decision.Given{Erased: true}

// elsewhere is a decision about another step of the same outputs.
func elsewhere(g decision.Given) decision.Given {
	g.StepInstanceKey = "other"
	return g
}

// TestJudge: what decisions amount to for the outputs "x".
func TestJudge(t *testing.T) {
	two, expiring := compile.Approval{Count: 2}, compile.Approval{ExpiresAfter: "1h"}
	reviewers := compile.Approval{Approvers: []string{"ada", "reviewer"}}
	const hour = 60 * 60 * 1000
	for name, tc := range map[string]struct {
		rule       compile.Approval
		all        []decision.Given
		atMs       int64
		performers []config.Account
		counting   string // the people whose approvals count
		met        bool
		expired    string
		unchanged  bool
		lost       bool
		sentBack   string // the reason of the last one
	}{
		"nothing decided":                    {},
		"approved":                           {all: []decision.Given{approved("ada", "x", 1)}, counting: "ada", met: true},
		"other outputs approved":             {all: []decision.Given{approved("ada", "y", 1)}},
		"another step approved":              {all: []decision.Given{elsewhere(approved("ada", "x", 1))}},
		"sent back":                          {all: []decision.Given{sentBack("ada", "x")}, unchanged: true, sentBack: "because of x"},
		"sent back, then approved as it is":  {all: []decision.Given{sentBack("ada", "x"), approved("bob", "x", 2)}, counting: "bob", met: true},
		"approved, then sent back":           {all: []decision.Given{approved("ada", "x", 1), sentBack("bob", "x")}, unchanged: true, sentBack: "because of x"},
		"other outputs sent back":            {all: []decision.Given{sentBack("ada", "y")}, sentBack: "because of y"},
		"other outputs sent back afterwards": {all: []decision.Given{approved("ada", "x", 1), sentBack("ada", "y")}, sentBack: "because of y"},
		"sent back twice": {all: []decision.Given{sentBack("ada", "x"), sentBack("ada", "y")}, unchanged: true,
			sentBack: "because of y"},
		"sent back, other outputs approved since": {all: []decision.Given{sentBack("ada", "x"), approved("ada", "y", 2)},
			unchanged: true, sentBack: "because of x"},
		"sent back, another step approved since": {all: []decision.Given{sentBack("ada", "y"), elsewhere(approved("ada", "y", 2))},
			sentBack: "because of y"},
		"approved, denied": {all: []decision.Given{approved("ada", "x", 1), given(event.Denied, "bob", "x", 2)}, counting: "ada", met: true},

		"one of two":              {rule: two, all: []decision.Given{approved("ada", "x", 1)}, counting: "ada"},
		"two of two":              {rule: two, all: []decision.Given{approved("ada", "x", 1), approved("bob", "x", 2)}, counting: "ada bob", met: true},
		"one person twice":        {rule: two, all: []decision.Given{approved("ada", "x", 1), approved("ada", "x", 2)}, counting: "ada"},
		"two unbound accounts":    {rule: two, all: []decision.Given{unbound("ada", "x"), unbound("bob", "x")}, counting: "bob"},
		"one bound, one unbound":  {rule: two, all: []decision.Given{approved("ada", "x", 1), unbound("bob", "x")}, counting: "bob"},
		"two, one of other":       {rule: two, all: []decision.Given{approved("ada", "y", 1), approved("bob", "x", 2)}, counting: "bob"},
		"two around a send-back":  {rule: two, all: []decision.Given{approved("ada", "x", 1), sentBack("bob", "x"), approved("bob", "x", 2)}, counting: "bob"},
		"two, sent back by third": {rule: two, all: []decision.Given{approved("ada", "x", 1), approved("bob", "x", 1), sentBack("eve", "x")}, unchanged: true, sentBack: "because of x"},

		"the last moment":         {rule: expiring, all: []decision.Given{approved("ada", "x", 5)}, atMs: 5 + hour - 1, counting: "ada", met: true},
		"one millisecond later":   {rule: expiring, all: []decision.Given{approved("ada", "x", 5)}, atMs: 5 + hour, expired: "ada"},
		"expired and given again": {rule: expiring, all: []decision.Given{approved("ada", "x", 5), approved("ada", "x", 9)}, atMs: 5 + hour, counting: "ada", met: true},
		"an older one last":       {rule: expiring, all: []decision.Given{approved("ada", "x", 9), approved("ada", "x", 5)}, atMs: 5 + hour, expired: "ada"},
		"a clock that went back":  {rule: expiring, all: []decision.Given{approved("ada", "x", 5)}, atMs: 1, counting: "ada", met: true},
		"expired before the second": {rule: compile.Approval{Count: 2, ExpiresAfter: "1h"}, atMs: 5 + hour,
			all: []decision.Given{approved("ada", "x", 5), approved("bob", "x", 6)}, counting: "bob", expired: "ada"},
		"expired, then sent back": {rule: expiring, all: []decision.Given{approved("ada", "x", 5), sentBack("ada", "x")},
			atMs: 5 + hour, unchanged: true, sentBack: "because of x"},

		"by name":                        {rule: reviewers, all: []decision.Given{approved("ada", "x", 1, "ada")}, counting: "ada", met: true},
		"by role":                        {rule: reviewers, all: []decision.Given{approved("bob", "x", 1, "other", "reviewer")}, counting: "bob", met: true},
		"without a role":                 {rule: reviewers, all: []decision.Given{approved("ada", "x", 1)}},
		"with another role":              {rule: reviewers, all: []decision.Given{approved("ada", "x", 1, "admin")}},
		"sent back, approved by another": {rule: reviewers, all: []decision.Given{sentBack("ada", "x"), approved("eve", "x", 2)}, unchanged: true, sentBack: "because of x"},

		"the performer": {rule: compile.Approval{NotPerformer: true}, performers: []config.Account{"uid:ada"},
			all: []decision.Given{approved("ada", "x", 1)}},
		"not the performer": {rule: compile.Approval{NotPerformer: true}, performers: []config.Account{"uid:ada"},
			all: []decision.Given{approved("bob", "x", 1)}, counting: "bob", met: true},
		"the performer, where that is allowed": {performers: []config.Account{"uid:ada"}, all: []decision.Given{approved("ada", "x", 1)},
			counting: "ada", met: true},
		"two, one of them the performer": {rule: compile.Approval{Count: 2, NotPerformer: true}, performers: []config.Account{"uid:ada"},
			all: []decision.Given{approved("ada", "x", 1), approved("bob", "x", 2)}, counting: "bob"},

		"plain":                     {all: []decision.Given{plain("x")}, counting: "ada", met: true},
		"plain, sent back":          {all: []decision.Given{plain("x"), sentBack("bob", "x")}, unchanged: true, sentBack: "because of x"},
		"plain for two":             {rule: two, all: []decision.Given{plain("x")}},
		"plain with an end":         {rule: expiring, all: []decision.Given{plain("x")}},
		"plain for reviewers":       {rule: reviewers, all: []decision.Given{plain("x")}},
		"plain, without performer":  {rule: compile.Approval{NotPerformer: true}, all: []decision.Given{plain("x")}},
		"erased":                    {all: []decision.Given{erased}},
		"approved, one erased":      {all: []decision.Given{approved("ada", "x", 1), erased}, lost: true},
		"approved after the erased": {all: []decision.Given{erased, approved("ada", "x", 1)}, counting: "ada", met: true},
		"two, the second erased":    {rule: two, all: []decision.Given{approved("ada", "x", 1), erased, approved("bob", "x", 2)}, counting: "bob", lost: true},
		"sent back, one erased":     {all: []decision.Given{sentBack("ada", "x"), erased}, unchanged: true, sentBack: "because of x"},
	} {
		t.Run(name, func(t *testing.T) {
			s := decision.Judge(tc.rule, tc.all, about("x"), tc.atMs, tc.performers)
			if names(s.Approvals) != tc.counting || s.Met() != tc.met || names(s.Expired) != tc.expired || s.Unchanged != tc.unchanged ||
				s.Lost != tc.lost {
				t.Errorf("%+v", s)
			}
			if got := reasonOf(s.SentBack); got != tc.sentBack {
				t.Errorf("sent back: %q, want %q", got, tc.sentBack)
			}
			if want := max(s.Rule.Needed()-len(s.Approvals), 0); s.Missing() != want {
				t.Error(s.Missing())
			}
		})
	}
}

func names(all []decision.Record) string {
	var out []string
	for _, r := range all {
		out = append(out, r.By)
	}
	return strings.Join(out, " ")
}

func reasonOf(r *decision.Record) string {
	if r == nil {
		return ""
	}
	return r.Reason
}

// TestExpiry: the first approval that ends says when the answer changes.
func TestExpiry(t *testing.T) {
	rule := compile.Approval{Count: 2, ExpiresAfter: "90s"}
	all := []decision.Given{approved("ada", "x", 7000), approved("bob", "x", 5000)}
	s := decision.Judge(rule, all, about("x"), 8000, nil)
	if s.ExpiresAtMs() != 95_000 || !s.Met() {
		t.Fatalf("%d, %+v", s.ExpiresAtMs(), s)
	}
	if s = decision.Judge(rule, all, about("x"), s.ExpiresAtMs(), nil); s.Met() || s.ExpiresAtMs() != 97_000 {
		t.Errorf("%d, %+v", s.ExpiresAtMs(), s)
	}
	if s = decision.Judge(compile.Approval{}, all, about("x"), 1<<50, nil); !s.Met() || s.ExpiresAtMs() != 0 {
		t.Errorf("%+v", s)
	}
}

// TestMetWith: one more approval is judged as if it were recorded.
func TestMetWith(t *testing.T) {
	two := compile.Approval{Count: 2, ExpiresAfter: "1s"}
	for name, tc := range map[string]struct {
		all  []decision.Given
		more decision.Given
		want bool
	}{
		"the first":              {nil, approved("ada", "x", 9), false},
		"the second":             {[]decision.Given{approved("ada", "x", 9)}, approved("bob", "x", 9), true},
		"the same person":        {[]decision.Given{approved("ada", "x", 9)}, approved("ada", "x", 9), false},
		"the first sent it back": {[]decision.Given{sentBack("ada", "x")}, approved("bob", "x", 9), false},
		"an unbound account":     {[]decision.Given{approved("ada", "x", 9)}, unbound("bob", "x"), false},
	} {
		s := decision.Judge(two, tc.all, about("x"), 9, nil)
		before := names(s.Approvals)
		if got := s.MetWith(tc.more.Record); got != tc.want || names(s.Approvals) != before {
			t.Errorf("%s: %v, %+v", name, got, s)
		}
	}
}

// TestRecordsAreDecoded as they were written, and what is none is refused.
func TestRecordsAreDecoded(t *testing.T) {
	want := sentBack("ada", "x").Record
	want.PolicyDigest = canon.Sum([]byte("policy"))
	v, err := want.Value()
	if err != nil {
		t.Fatal(err)
	}
	got, err := decision.Decode(v)
	if err != nil || !got.Bound.Equal(want.Bound) || got.StepDecision != want.StepDecision || got.Account != want.Account ||
		!got.Principal || got.PolicyDigest != want.PolicyDigest || got.AtMs != want.AtMs || got.Kind != decision.Kind {
		t.Errorf("%+v, %v", got, err)
	}
	for name, v := range map[string]canon.Value{
		"null": {}, "a text": canon.OfString("x"), "an empty object": canon.OfMembers(),
		"another kind":     v.With("kind", canon.OfString(decision.ApprovalKind)),
		"an unknown word":  v.With("decision", canon.OfString("maybe")),
		"without a reason": v.Without("reason"),
		"a long reason":    v.With("reason", canon.OfString(strings.Repeat("x", 4097))),
		"no person":        v.With("by", canon.OfString("")),
		"no outputs":       v.Without("outputs"),
		"outputs of text":  v.With("outputs", canon.OfString("x")),
		"nothing shown":    v.Without("shownDigest"),
	} {
		if r, err := decision.Decode(v); err == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// anyGiven draws a decision of one of three people about one of two outputs.
func anyGiven(t *rapid.T) decision.Given {
	by := rapid.SampledFrom([]string{"ada", "bob", "eve"}).Draw(t, "by")
	outputs := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "outputs")
	switch rapid.IntRange(0, 8).Draw(t, "form") {
	case 0:
		return erased
	case 1:
		return plain(outputs)
	case 2:
		return unbound(by, outputs)
	case 3, 4:
		return sentBack(by, outputs)
	}
	roles := rapid.SliceOfDistinct(rapid.SampledFrom([]string{"admin", "reviewer"}), rapid.ID[string]).Draw(t, "roles")
	return approved(by, outputs, rapid.Int64Range(0, 3000).Draw(t, "at"), roles...)
}

// TestJudgeLaws: for any decisions and any rule, outputs that were sent back last are not accepted;
// no person counts twice; each approval that counts is of these outputs, by a person that the rule admits, in
// its time; a stricter rule is never met where a looser one is not; and time alone never meets a rule.
func TestJudgeLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(anyGiven), 0, 8).Draw(t, "all")
		rule := compile.Approval{Count: rapid.IntRange(0, 3).Draw(t, "count"), NotPerformer: rapid.Bool().Draw(t, "notPerformer"),
			ExpiresAfter: rapid.SampledFrom([]string{"", "1s"}).Draw(t, "expires")}
		if rapid.Bool().Draw(t, "approvers") {
			rule.Approvers = []string{"reviewer"}
		}
		performers, now := []config.Account{"uid:eve"}, rapid.Int64Range(0, 4000).Draw(t, "now")
		s := decision.Judge(rule, all, about("x"), now, performers)
		if n := len(all); n > 0 && all[n-1].Decision == event.SentBack && (s.Met() || s.SentBack == nil) {
			t.Fatalf("sent back last, and %+v", s)
		}
		if s.Unchanged && (s.SentBack == nil || s.Met() || len(s.Approvals) > 0) {
			t.Fatalf("unchanged, and %+v", s)
		}
		for i, r := range s.Approvals {
			admitted := (rule.Approvers == nil || slices.Contains(r.Roles, "reviewer")) && !(rule.NotPerformer && r.Account == "uid:eve")
			inTime := rule.ExpiresAfter == "" || now < r.AtMs+1000
			if !r.Bound.Equal(about("x")) || !admitted || !inTime {
				t.Fatalf("counts: %+v", r)
			}
			for _, other := range s.Approvals[:i] {
				if decision.SamePerson(r, other) {
					t.Fatalf("one person counts twice: %+v", s)
				}
			}
		}
		stricter := rule
		stricter.Count, stricter.NotPerformer = rule.Needed()+1, true
		if later := decision.Judge(rule, all, about("x"), now+500, performers); later.Met() && !s.Met() ||
			decision.Judge(stricter, all, about("x"), now, performers).Met() && !s.Met() {
			t.Fatalf("%+v", s)
		}
	})
}
