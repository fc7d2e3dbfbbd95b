package contract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
)

func parse(t testing.TB, text string) canon.Value {
	t.Helper()
	v, err := canon.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

func pack(t testing.TB, name string) Pack {
	t.Helper()
	p, ok := Builtin("wr.contracts." + name)
	if !ok {
		t.Fatalf("contract %s does not exist", name)
	}
	return p
}

// mismatchLines renders mismatches, one per line.
func mismatchLines(list []Mismatch) string {
	out := make([]string, len(list))
	for i, m := range list {
		out[i] = m.String()
	}
	return strings.Join(out, "\n")
}

func TestCheckMismatches(t *testing.T) {
	tests := []struct{ contract, artifact, want string }{
		{"loop_control", `{"kind":"wr.loop_control","decision":"continue"}`, ``},
		{"loop_control", `{"kind":"wr.loop_control","decision":"stop","loopId":"a-b_1","summary":"","metadata":{"confidence":99.5,"more":[1]}}`, ``},
		{"loop_control", `{"kind":"wr.loop_control","decision":"maybe"}`,
			`/decision: expected one of "continue", "stop", got "maybe"`},
		{"loop_control", `{"kind":"wr.loop_control"}`, `/decision: expected one of "continue", "stop", got nothing`},
		{"loop_control", `{"decision":"stop"}`, `/kind: expected "wr.loop_control", got nothing`},
		{"loop_control", `{"kind":"wr.loopcontrol","decision":"stop"}`,
			`/kind: expected "wr.loop_control", got "wr.loopcontrol"`},
		{"loop_control", `"continue"`, `expected an object with the kind "wr.loop_control", got "continue"`},
		{"loop_control", `{"kind":"wr.loop_control","decison":"stop"}`,
			"/decision: expected one of \"continue\", \"stop\", got nothing\n" +
				"/decison: expected no member of that name; did you mean \"decision\"?, got \"stop\""},
		{"loop_control", `{"kind":"wr.loop_control","decision":"stop","colour":{}}`,
			`/colour: expected no member of that name, got an object with 0 members`},
		{"loop_control", `{"kind":"wr.loop_control","decision":"stop","loopId":null}`,
			`/loopId: expected text of 1 to 64 characters that matches ^[a-z0-9_-]+$, got null`},
		{"loop_control", `{"kind":"wr.loop_control","decision":"stop","loopId":"A/b"}`,
			`/loopId: expected text of 1 to 64 characters that matches ^[a-z0-9_-]+$, got "A/b"`},
		{"loop_control", `{"kind":"wr.loop_control","decision":"stop","loopId":""}`,
			`/loopId: expected text of 1 to 64 characters that matches ^[a-z0-9_-]+$, got "" (0 characters)`},
		{"loop_control", `{"kind":"wr.loop_control","decision":"stop","loopId":"x\n"}`,
			`/loopId: expected text of 1 to 64 characters that matches ^[a-z0-9_-]+$, got "x\n"`},
		{"loop_control", `{"kind":"wr.loop_control","decision":"stop","metadata":{"issuesFound":1.5,"iterationIndex":-1,"confidence":101}}`,
			"/metadata/confidence: expected a number from 0 to 100, got 101\n" +
				"/metadata/issuesFound: expected a whole number of at least 0, got 1.5\n" +
				"/metadata/iterationIndex: expected a whole number of at least 0, got -1"},
		{"loop_control", `{"kind":"wr.loop_control","decision":"stop","metadata":{"issuesFound":1e300}}`,
			`/metadata/issuesFound: expected a whole number of at least 0, got 1e+300`},
		{"loop_control", `{"kind":"wr.loop_control","decision":"stop","decisions":1}`,
			`/decisions: expected no member of that name, got 1`},
		{"capability_observation", `{"kind":"wr.capability_observation","capability":"delegation","result":"success"}`,
			``},
		{"capability_observation",
			`{"kind":"wr.capability_observation","capability":"delegation","claim":"available","claimedBy":"user"}`,
			``},
		{"capability_observation", `{"kind":"wr.capability_observation","capability":"delegation"}`,
			`expected exactly one of the members "claim", "result", got none of them`},
		{"capability_observation",
			`{"kind":"wr.capability_observation","capability":"delegation","result":"success","claim":"available"}`,
			`expected exactly one of the members "claim", "result", got "claim" and "result"`},
		{"assessment", `{"kind":"wr.assessment","dimensions":{}}`,
			`/dimensions: expected an object of at least 1 member, got an object with 0 members`},
		{"assessment", `{"kind":"wr.assessment","dimensions":{"a":"low","b/~":3,"c":{"level":"x","why":"y"}}}`,
			"/dimensions/b~1~0: expected text that is not empty or an object, got 3\n" +
				"/dimensions/c/why: expected no member of that name, got \"y\""},
		{"assessment", `{"kind":"wr.assessment","dimensions":{"a":{"level":"x"}},"assessmentId":"r"}`, ``},
		{"shaping_handoff", `{"kind":"wr.shaping_handoff","version":2,"pitchPath":"p","selectedShape":"s","appetite":"a","keyConstraints":[],"rabbitHoles":[""],"outOfScope":{},"validationChecklist":[1,"x"]}`,
			"/outOfScope: expected a list of at most 6 items, got an object with 0 members\n" +
				"/rabbitHoles/0: expected text of 1 to 200 characters, got \"\" (0 characters)\n" +
				"/validationChecklist/0: expected text of 1 to 200 characters, got 1\n/version: expected 1, got 2"},
		{"shaping_handoff", `{"kind":"wr.shaping_handoff","version":1,"pitchPath":"p","selectedShape":"s","appetite":"a","keyConstraints":["1","2","3","4","5","6","7","8","9"],"rabbitHoles":[],"outOfScope":[],"validationChecklist":[]}`,
			`/keyConstraints: expected a list of at most 8 items, got a list of 9`},
		{"gate_verdict", `{"kind":"wr.gate_verdict","verdict":"approved","confidence":"low","rationale":"too short"}`,
			`/rationale: expected text of at least 20 characters, got "too short" (9 characters)`},
		{"review_verdict", `{"kind":"wr.review_verdict","verdict":"minor","confidence":"low","summary":"s","findings":[{"severity":"nit","summary":"s","file":"a.go","line":3}]}`, ``},
		{"review_verdict", `{"kind":"wr.review_verdict","verdict":"minor","confidence":"low","summary":"s","findings":[{"severity":"small","summary":"s"}]}`,
			`/findings/0/severity: expected one of "critical", "major", "minor", "nit", got "small"`},
	}
	for _, tt := range tests {
		p, artifact := pack(t, tt.contract), parse(t, tt.artifact)
		if got := mismatchLines(p.Check(artifact)); got != tt.want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", tt.artifact, got, tt.want)
		}
		if accepts(p.Schema(), artifact) != (tt.want == "") {
			t.Errorf("the schema disagrees about %s", tt.artifact)
		}
	}
}

func TestFormats(t *testing.T) {
	tests := []struct {
		format Format
		text   string
		fits   bool
	}{
		{DateTime, "2026-01-31T09:30:00Z", true},
		{DateTime, "2024-02-29T23:59:60.123456789+05:30", true},
		{DateTime, "2000-02-29t00:00:00z", true},
		{DateTime, "2026-02-29T00:00:00Z", false},
		{DateTime, "1900-02-29T00:00:00Z", false},
		{DateTime, "2026-04-31T00:00:00Z", false},
		{DateTime, "2026-13-01T00:00:00Z", false},
		{DateTime, "2026-01-31T24:00:00Z", false},
		{DateTime, "2026-01-31T09:30:00", false},
		{DateTime, "2026-01-31", false},
		{Date, "2026-01-31", true},
		{Date, "2026-01-31T09:30:00Z", true},
		{Date, "2026-01-31t09:30:00.5z", true},
		{Date, "2026-01-31T09:30:00", true},
		{Date, "2026-01-31 09:30", true},
		{Date, "2026-01-31T09:30:00+05:30", true},
		{Date, "2026-01-31T09:30+0530", true},
		{Date, "2024-02-29T09:30-05", true},
		{Date, "2026-02-29", false},
		{Date, "2026-04-31T09:30:00Z", false},
		{Date, "2026-13-01", false},
		{Date, "2026-1-31", false},
		{Date, "2026-01", false},
		{Date, "2026-01-31Z", false},
		{Date, "2026-01-31T", false},
		{Date, "2026-01-31T24:00", false},
		{Date, "2026-01-31T09:30:00+25:00", false},
		{Date, "2026-01-31T09:30:00+05:60", false},
		{Date, "31.01.2026", false},
		{Date, "yesterday", false},
		{Date, "2026-01-31\n", false},
		{DateTime, "2026-01-31T09:30:00Z\n", false},
		{DateTime, "2026-01-31T09:30:00." + strings.Repeat("0", 100) + "Z", false},
		{UUID, "123e4567-e89b-12d3-a456-426614174000", true},
		{UUID, "123E4567-E89B-12D3-A456-426614174000", true},
		{UUID, "123e4567e89b12d3a456426614174000", false},
		{UUID, "g23e4567-e89b-12d3-a456-426614174000", false},
		{"week", "2026-W01", false},
		{"", "anything", true},
	}
	for _, tt := range tests {
		if got := tt.format.fits(tt.text); got != tt.fits {
			t.Errorf("%s %q: %v", tt.format, tt.text, got)
		}
	}
}

// TestLengthsCountCharacters: lengths are in characters, so that a text within a bound in
// UTF-16 units is always accepted.
func TestLengthsCountCharacters(t *testing.T) {
	artifact := func(shape string) canon.Value {
		return pack(t, "shaping_handoff").Example.With("selectedShape", canon.OfString(shape))
	}
	p := pack(t, "shaping_handoff")
	for text, want := range map[string]string{
		strings.Repeat("é", 200): "",
		strings.Repeat("界", 200): "",
		strings.Repeat("😀", 200): "",
		strings.Repeat("界", 201): `/selectedShape: expected text of 1 to 200 characters, got "` +
			strings.Repeat("界", 20) + `…" (201 characters)`,
		"x" + strings.Repeat("é", 300): `/selectedShape: expected text of 1 to 200 characters, got "x` +
			strings.Repeat("é", 29) + `…" (301 characters)`,
		strings.Repeat("é", 5000): `/selectedShape: expected text of 1 to 200 characters, got "` +
			strings.Repeat("é", 30) + `…" (5000 characters)`,
	} {
		if got := mismatchLines(p.Check(artifact(text))); got != want {
			t.Errorf("%d bytes: %s", len(text), got)
		}
	}
}

// TestMismatchesAreBounded: the report stays short for every artifact.
func TestMismatchesAreBounded(t *testing.T) {
	var many []canon.Value
	for range 1000 {
		many = append(many, canon.OfString(strings.Repeat("\x00", 10_000)))
	}
	long := canon.OfMembers()
	for i := range 1000 {
		long = long.With(fmt.Sprintf("%s%d", strings.Repeat("/é", 5000), i), canon.OfInt(1))
	}
	handoff := pack(t, "coding_handoff")
	for name, tt := range map[string]struct {
		p        Pack
		artifact canon.Value
		listed   int
		more     int
	}{
		"a long list": {handoff, handoff.Example.With("keyDecisions", canon.OfList(many...)),
			MismatchesMax, 1001 - MismatchesMax},
		"long names": {handoff, long.With("kind", canon.OfString("wr.coding_handoff")), MismatchesMax,
			1005 - MismatchesMax},
		"long names of dimensions": {pack(t, "assessment"), pack(t, "assessment").Example.With("dimensions", long),
			MismatchesMax, 1000 - MismatchesMax},
		"twenty and nothing further": {handoff,
			handoff.Example.With("keyDecisions", canon.OfList(many[:MismatchesMax-1]...)), MismatchesMax, 0},
	} {
		found := tt.p.Check(tt.artifact)
		more := 0
		for i, m := range found {
			if size := len(m.Expected) + len(m.Got) + len(m.Pointer); size > 600 {
				t.Errorf("%s: mismatch %d has %d bytes", name, i, size)
			}
			more += m.More
		}
		if listed := len(found) - min(more, 1); listed != tt.listed || more != tt.more {
			t.Errorf("%s: %d listed and %d more, want %d and %d", name, listed, more, tt.listed, tt.more)
		}
	}
}

func TestWordsJoinsMismatches(t *testing.T) {
	many := []Mismatch{{Expected: "a", Got: "b"}}
	for range MismatchesMax - 1 {
		many = append(many, Mismatch{Pointer: "/x", Expected: "c", Got: "d"})
	}
	many = append(many, Mismatch{More: 7})
	four := strings.Repeat("; /x: expected c, got d", 4)
	for want, list := range map[string][]Mismatch{
		"":                                       nil,
		"the artifact: expected a, got b":        many[:1],
		"the artifact: expected a, got b" + four: many[:5],
		"the artifact: expected a, got b" + four + "; and 1 more":  many[:6],
		"the artifact: expected a, got b" + four + "; and 22 more": many,
	} {
		if got := JoinMismatches(list); got != want {
			t.Errorf("%d: %s", len(list), got)
		}
	}
}
