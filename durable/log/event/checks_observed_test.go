package event_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"pgregory.net/rapid"
)

func TestChecksOfObservations(t *testing.T) {
	sha1 := strings.Repeat("0a", 20)
	checkAll(t, noScope, []refusal{
		{"branch of 80 bytes", observed("git_branch", "short_string", strings.Repeat("é", 40)), ""},
		{"branch of 81 bytes", observed("git_branch", "short_string", text(81)),
			"short_string of 81 bytes: want 1 to 80"},
		{"branch without a name", observed("git_branch", "short_string", ""), "short_string of 0 bytes: want 1 to 80"},
		{"path of 512 bytes", observed("repo_root", "path", text(512)), ""},
		{"path of 513 bytes", observed("repo_root", "path", text(513)), "path of 513 bytes: want 1 to 512"},
		{"path without a name", observed("repo_root", "path", ""), "path of 0 bytes: want 1 to 512"},
		{"commit", observed("git_head_sha", "git_sha1", sha1), ""},
		{"commit too short", observed("git_head_sha", "git_sha1", sha1[1:]), "git_sha1: want 40 hexadecimal digits"},
		{"commit in capitals", observed("git_head_sha", "git_sha1", strings.ToUpper(sha1)),
			"git_sha1: want 40 hexadecimal digits"},
		{"commit and a newline", observed("git_head_sha", "git_sha1", sha1+"\n"),
			"git_sha1: want 40 hexadecimal digits"},
		{"digest", observed("repo_root_hash", "sha256", aDigest.String()), ""},
		{"digest without prefix", observed("repo_root_hash", "sha256", aDigest.String()[7:]),
			"want sha256: and 64 lowercase hexadecimal digits"},
		{"of unknown key", observed("hostname", "short_string", "h"), `unknown observation key "hostname"`},
		{"of unknown type", observed("git_branch", "text", "h"), `unknown value type "text"`},
		{"of unknown confidence",
			with(observed("git_branch", "short_string", "b"),
				func(o *event.ObservationRecorded) { o.Confidence = "sure" }), `unknown confidence "sure"`},
	})
}

func TestChecksOfCapabilities(t *testing.T) {
	with := func(change func(*event.Provenance)) event.CapabilityObserved {
		p := probe
		change(&p)
		return probed(p)
	}
	use := func(d event.ProvenanceDetail) event.CapabilityObserved {
		return probed(event.Provenance{Kind: "attempted_use", EnforcementGrade: "strong", Detail: d})
	}
	claim := func(grade, by, what string) event.CapabilityObserved {
		return probed(event.Provenance{Kind: "manual_claim", EnforcementGrade: grade,
			Detail: event.ProvenanceDetail{ClaimedBy: by, Claim: what}})
	}
	const step, code = "workflow_step", "attempted_use wants failureCode exactly with result=failure"
	checkAll(t, atRoot, []refusal{
		{"of unknown capability", event.CapabilityObserved{Capability: "flight", Status: "available",
			Provenance: probe}, `unknown capability "flight"`},
		{"of unknown status", event.CapabilityObserved{Capability: "web_browsing", Status: "maybe", Provenance: probe},
			`unknown status "maybe"`},
		{"of unknown provenance", with(func(p *event.Provenance) { p.Kind = "dream" }), `unknown provenance "dream"`},
		{"by a weak probe", with(func(p *event.Provenance) { p.EnforcementGrade = "weak" }),
			`provenance probe_step is strong, not "weak"`},
		{"by a probe without result", with(func(p *event.Provenance) { p.Detail.Result = "" }),
			"probe_step wants probeTemplateId, probeStepId and result"},
		{"by a probe without template", with(func(p *event.Provenance) { p.Detail.ProbeTemplateID = "" }),
			"probe_step wants probeTemplateId, probeStepId and result"},
		{"by a probe without step", with(func(p *event.Provenance) { p.Detail.ProbeStepID = "" }),
			"probe_step wants probeTemplateId, probeStepId and result"},
		{"by a probe with a claim", with(func(p *event.Provenance) { p.Detail.Claim = "available" }),
			"provenance probe_step with members of another kind"},
		{"by use", use(event.ProvenanceDetail{AttemptContext: step, Result: "success"}), ""},
		{"by failed use", use(event.ProvenanceDetail{AttemptContext: "system_probe", Result: "failure",
			FailureCode: "tool_missing"}), ""},
		{"by failed use without code", use(event.ProvenanceDetail{AttemptContext: step, Result: "failure"}), code},
		{"by use that did not fail, with code",
			use(event.ProvenanceDetail{AttemptContext: step, Result: "success", FailureCode: "unknown"}), code},
		{"by use with unknown code",
			use(event.ProvenanceDetail{AttemptContext: step, Result: "failure", FailureCode: "bad_luck"}), code},
		{"by use and an unknown code without failure",
			use(event.ProvenanceDetail{AttemptContext: step, Result: "success", FailureCode: "bad_luck"}), code},
		{"by use nowhere", use(event.ProvenanceDetail{Result: "success"}),
			"attempted_use wants attemptContext and result"},
		{"by claim", claim("weak", "agent", "unavailable"), ""},
		{"by a strong claim", claim("strong", "agent", "available"), `provenance manual_claim is weak, not "strong"`},
		{"claim without claimedBy", claim("weak", "", "available"), "manual_claim wants claimedBy and claim"},
		{"by a claim of nothing", claim("weak", "user", "unknown"), "manual_claim wants claimedBy and claim"},
	})
}

func trace(entries ...event.TraceEntry) event.DecisionTraceAppended {
	return event.DecisionTraceAppended{TraceID: origin.Trace(0), Entries: entries}
}

func entry(summary string, refs ...event.TraceRef) event.TraceEntry {
	return event.TraceEntry{Kind: event.EvaluatedCondition, Summary: summary, Refs: refs}
}

func entries(n int, summary string) []event.TraceEntry {
	return slices.Repeat([]event.TraceEntry{entry(summary)}, n)
}

func TestChecksOfTraces(t *testing.T) {
	refs := func(n int) []event.TraceRef { return slices.Repeat([]event.TraceRef{event.StepRef("a")}, n) }
	const wantsOne = "entry 0: ref of kind %q wants the id of that kind alone, of a-z 0-9 _ -"
	bad := func(kind string) string { return strings.Replace(wantsOne, "%q", `"`+kind+`"`, 1) }
	const iteration = "entry 0: an iteration ref wants a value of 0 or more alone"
	checkAll(t, atRoot, []refusal{
		{"of nothing", trace(), "0 trace entries: want 1 to 25"},
		{"of 25 entries", trace(entries(25, "s")...), ""},
		{"of 26 entries", trace(entries(26, "s")...), "26 trace entries: want 1 to 25"},
		{"with a summary of 512 bytes", trace(entry(text(512))), ""},
		{"with a summary of 513 bytes", trace(entry(text(513))), "entry 0: summary of 513 bytes: want at most 512"},
		{"of 8192 bytes", trace(entries(16, text(512))...), ""},
		{"of 8193 bytes", trace(append(entries(16, text(512)), entry("x"))...),
			"trace summaries of 8193 bytes: want at most 8192"},
		{"with 10 refs", trace(entry("s", refs(10)...)), ""},
		{"with 11 refs", trace(entry("s", refs(11)...)), "entry 0: 11 refs: want at most 10"},
		{"of unknown kind", trace(event.TraceEntry{Kind: "guess"}), `entry 0: unknown kind "guess"`},
		{"of a step in capitals", trace(entry("s", event.StepRef("A"))), bad("step_id")},
		{"of no loop", trace(entry("s", event.LoopRef(""))), bad("loop_id")},
		{"of a loop as a condition", trace(entry("s", event.TraceRef{Kind: "condition_id", LoopID: "l"})),
			bad("condition_id")},
		{"of two ids", trace(entry("s", event.TraceRef{Kind: "step_id", StepID: "a", LoopID: "l"})), bad("step_id")},
		{"of a step with a value",
			trace(entry("s", event.TraceRef{Kind: "step_id", StepID: "a", Value: ptr(int64(1))})), bad("step_id")},
		{"of unknown ref", trace(entry("s", event.TraceRef{Kind: "line", StepID: "a"})), bad("line")},
		{"of iteration -1", trace(entry("s", event.IterationRef(-1))), iteration},
		{"of no iteration", trace(entry("s", event.TraceRef{Kind: "iteration"})), iteration},
		{"of an iteration of a loop",
			trace(entry("s", event.TraceRef{Kind: "iteration", Value: ptr(int64(0)), LoopID: "l"})), iteration},
	})
}

// NewTrace truncates summaries by bytes, keeps the order, and states how many entries are left out.
func TestNewTraceFitsBudgets(t *testing.T) {
	over := event.NewTrace(origin.Trace(0), append(entries(25, text(600)), entries(5, "x")...))
	last := over.Entries[24].Summary
	if len(over.Entries) != 25 || !strings.HasSuffix(over.Entries[0].Summary, limits.TruncationMarker) ||
		len(over.Entries[0].Summary) != 512 {
		t.Errorf("got %d entries, the first is %q", len(over.Entries), over.Entries[0].Summary)
	}
	if !strings.Contains(last, "(and 5 more decisions)") && !strings.HasSuffix(last, limits.TruncationMarker) {
		t.Errorf("the last entry is %q", last)
	}
	short := event.NewTrace(origin.Trace(0), entries(27, "x"))
	if got := short.Entries[24].Summary; got != "x (and 2 more decisions)" {
		t.Errorf("the last entry is %q", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := make([]event.TraceEntry, rapid.IntRange(1, 40).Draw(t, "n"))
		for i := range in {
			in[i] = entry(strings.Repeat(rapid.SampledFrom([]string{"x", "é", "😀"}).
				Draw(t, "rune"), rapid.IntRange(0, 700).Draw(t, "length")))
		}
		before := slices.Clone(in)
		got := event.NewTrace(origin.Trace(0), in)
		if err := got.Check(atRoot); err != nil {
			t.Fatal(err)
		}
		for i, e := range got.Entries {
			cut := strings.TrimSuffix(e.Summary, limits.TruncationMarker)
			if i < len(in)-1 && i < 24 && !strings.HasPrefix(in[i].Summary, cut) || !utf8.ValidString(e.Summary) {
				t.Fatalf("entry %d of %q became %q", i, in[i].Summary, e.Summary)
			}
			if in[i].Summary != before[i].Summary {
				t.Fatal("the caller's entries were changed")
			}
		}
	})
}
