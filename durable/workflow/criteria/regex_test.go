package criteria

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
)

// TestUnsupportedConstructs: constructs of other regular expression engines are reported with
// their position.
func TestUnsupportedConstructs(t *testing.T) {
	for pattern, want := range map[string][2]string{
		`foo(?=bar)`:            {"lookahead ((?= at character 4) is not in RE2", "several rules"},
		`é(?!bar)`:              {"lookahead ((?! at character 2) is not in RE2", "under not"},
		`(?<=a)b`:               {"lookbehind ((?<= at character 1)", "as part"},
		`(?<!a)b`:               {"lookbehind ((?<! at character 1)", "under not"},
		`(a)\1`:                 {`a backreference (\1 at character 4)`, "Write the repeated text"},
		`(?<q>a)\k<q>`:          {`a backreference (\k< at character 8)`, "Write the repeated text"},
		`(?>a)`:                 {"an atomic group", "plain group"},
		`a++`:                   {"a possessive quantifier (++ at character 2)", "single +"},
		`a\u00e`:                {`a \u escape of no whole character (\u at character 2)`, `\uXXXX or \u{X…}`},
		`é\u{110000}`:           {`a \u escape of no whole character (\u at character 2)`, `\u{X…}`},
		`\u{}`:                  {`a \u escape of no whole character (\u at character 1)`, `\u{X…}`},
		`\ud83d`:                {`a \u escape of no whole character (\u at character 1)`, `surrogate pair`},
		`\ude00\u00e9`:          {`a \u escape of no whole character (\u at character 1)`, `surrogate pair`},
		`\u00e9(?=bar)`:         {"lookahead ((?= at character 7) is not in RE2", "several rules"},
		`\u00e9[\u00ff-\u{1}](`: {`invalid character class range: \u00ff-\u{1} at character 8`, "RE2"},
		`a(b`:                   {"missing closing ): a(b at character 1", "RE2"},
		`x[b-a]`:                {"invalid character class range: b-a at character 3", "RE2"},
		`a**`:                   {"invalid nested repetition operator: ** at character 2", "RE2"},
		`a{1001}`:               {"invalid repeat count: {1001} at character 2", "at most 1000 times"},
		`a)`:                    {"unexpected ): a)", "RE2"},
		`(?P<q>a)(?P=q)`:        {"a backreference ((?P= at character 9)", "Write the repeated text"},
		`(a)\g{1}`:              {`a backreference (\g{ at character 4)`, "Write the repeated text"},
		`x(?R)?`:                {"recursion ((?R at character 2)", "each level"},
		`(?&word)`:              {"a subroutine call ((?& at character 1)", "Write the repeated pattern"},
		`a(?#why)b`:             {"a comment ((?# at character 2)", "message"},
		`(?x) a`:                {"the flag x ((?x at character 1)", "without spaces"},
		`(?|a|b)`:               {"a branch reset", "plain group"},
		`(?(1)a|b)`:             {"a condition ((?( at character 1)", "under or"},
		`(?'q'a)`:               {"a group named in quotes", "(?<name>"},
		`a(*SKIP)b`:             {"a control verb ((* at character 2)", "Leave it out"},
		`a?+`:                   {"a possessive quantifier (?+ at character 2)", "single ?"},
		`a{2}+`:                 {"a possessive quantifier (}+ at character 4)", "single }"},
		`end\Z`:                 {`the anchor \Z (\Z at character 4)`, `\z`},
		`[a\h]`:                 {`a horizontal blank (\h at character 3)`, `[ \t]`},
		`a\Rb`:                  {`any line break (\R at character 2)`, `\r?\n`},
		// A construct that only resembles an unsupported one is not reported for another error.
		`\\1(b`:        {"missing closing )", "RE2"},
		`[(?=]+(b`:     {"missing closing )", "RE2"},
		`[]a++](b`:     {"missing closing )", "RE2"},
		`[^]\]++](b`:   {"missing closing )", "RE2"},
		`\Qa++(?=\E(b`: {"missing closing )", "RE2"},
		`(*.go)`:       {"missing argument to repetition operator: *", "RE2"},
	} {
		rule := canon.OfMembers(
			canon.Member{Name: "type", Value: canon.OfString("regex")},
			canon.Member{Name: "message", Value: canon.OfString("m")},
			canon.Member{Name: "pattern", Value: canon.OfString(pattern)})
		var found []problem.Problem
		Parse(problem.SourceValue{Value: rule}, func(p problem.Problem) { found = append(found, p) })
		if len(found) != 1 {
			t.Errorf("%s: found %v", pattern, found)
			continue
		}
		if p := found[0]; p.Pointer != "/pattern" || !strings.Contains(p.Message, want[0]) ||
			!strings.Contains(p.Fix, want[1]) {
			t.Errorf("%s: found %+v", pattern, p)
		}
	}
}

// TestAllUnsupportedConstructsAtOnce: all unsupported constructs of a pattern are reported.
func TestAllUnsupportedConstructsAtOnce(t *testing.T) {
	at := problem.SourceValue{Value: canon.OfMembers(
		canon.Member{Name: "type", Value: canon.OfString("regex")},
		canon.Member{Name: "message", Value: canon.OfString("m")},
		canon.Member{Name: "pattern", Value: canon.OfString(`(?=.*\d)(?!.*x)(a)\1`)})}
	var found []string
	Parse(at, func(p problem.Problem) { found = append(found, p.Message) })
	for i, want := range []string{"lookahead ((?= at character 1)", "lookahead ((?! at character 9)",
		`a backreference (\1 at character 19)`} {
		if len(found) != 3 || !strings.Contains(found[i], want) {
			t.Fatalf("found %q, want %q", found, want)
		}
	}
}

// TestSupportedConstructs: constructs that resemble unsupported ones are accepted.
func TestSupportedConstructs(t *testing.T) {
	for pattern, text := range map[string]string{
		`(?<year>\d{4})-\d{2}`:           "2024-05",
		`(?i)severity: (high|low)`:       "Severity: HIGH",
		`\bfile\.go:\d+\b`:               "see file.go:12.",
		`a\+\+`:                          "a++",
		`[(?=]`:                          "(",
		`\x{1F600}`:                      "😀",
		`^\u00e9\u{1f600}$`:              "é😀",
		`^\ud83d\uDE00$`:                 "😀",
		`^[\u{1F600}-\u{1F64F}\u0041]+$`: "A😀",
		`^\\u0041$`:                      `\u0041`,
		`^\Q\u0041\E\u0041$`:             `\u0041A`,
		`^\u{00000000000000041}$`:        "A",
		`^[\u2010-\u2015]$`:              "–",
	} {
		c := parsed(t, string(canon.OfMembers(
			canon.Member{Name: "type", Value: canon.OfString("regex")},
			canon.Member{Name: "message", Value: canon.OfString("m")},
			canon.Member{Name: "pattern", Value: canon.OfString(pattern)}).JCS()))
		if f := c.Check(text, canon.Value{}); f != nil {
			t.Errorf("%s refuses %q", pattern, text)
		}
	}
}

// TestLinearTime checks a pattern that a backtracking engine needs exponential time for: with
// one, the test would not end before its timeout.
func TestLinearTime(t *testing.T) {
	c := parsed(t, `{"type": "regex", "pattern": "^(a+)+$", "message": "m"}`)
	if f := c.Check(strings.Repeat("a", 100_000)+"b", canon.Value{}); len(f) != 1 {
		t.Errorf("got %v", f)
	}
}

func TestFlagOnly(t *testing.T) {
	leaf := func(text string) string {
		return string(canon.OfMembers(
			canon.Member{Name: "type", Value: canon.OfString("contains")},
			canon.Member{Name: "message", Value: canon.OfString("m")},
			canon.Member{Name: "value", Value: canon.OfString(text)}).JCS())
	}
	for text, want := range map[string]bool{
		"analysisComplete = true": true, "done: yes": true, "planningComplete": true, "securityReviewComplete": true,
		"DONE": true, "work_done": true, "isReady": true, "**finished**": true, "ok": true,
		"severity:": false, "Finding 1": false, "runbook": false, "already": false, "IN SCOPE": false,
		"file.go:12":                        false,
		"completed the review of parser.go": false, "abandoned": false, "x = 12": false,
	} {
		if got := parsed(t, leaf(text)).FlagOnly(); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
	flag, evidence, long := leaf("done"), leaf("Finding 1"), `{"type": "length", "min": 9, "message": "m"}`
	for criteria, want := range map[string]bool{
		"[" + flag + "," + flag + "]":                                                      true,
		"[" + flag + "," + evidence + "]":                                                  false,
		"[" + flag + "," + long + "]":                                                      false,
		`{"or": [` + flag + "," + evidence + `]}`:                                          true,
		`{"or": [` + long + "," + evidence + `]}`:                                          false,
		`{"not": ` + flag + `}`:                                                            false,
		`[` + flag + `, {"not": ` + evidence + `}]`:                                        true,
		`[` + flag + `, {"type": "length", "max": 90, "message": "m"}]`:                    true,
		`[` + flag + `, {"type": "length", "min": 0, "message": "m"}]`:                     true,
		`{"type": "length", "max": 90, "message": "m"}`:                                    false,
		`[` + flag + `, {"type": "schema", "schema": {"type": "object"}, "message": "m"}]`: false,
		`{"type": "regex", "pattern": "^reviewComplete\\s*=\\s*true$", "message": "m"}`:    true,
		`{"type": "regex", "pattern": "^reviewComplete$", "message": "m"}`:                 true,
		`{"type": "length", "min": 1, "message": "m"}`:                                     true,
		`{"type": "length", "min": 8, "message": "m"}`:                                     true,
		`{"type": "length", "min": 9, "message": "m"}`:                                     false,
		`[{"type": "length", "min": 1, "message": "m"},` + evidence + `]`:                  false,
		`{"or": [{"type": "length", "min": 1, "message": "m"},` + evidence + `]}`:          true,
		leaf("a"): true, leaf("7"): true, leaf("x."): true, leaf(" "): true, leaf("ab"): false, leaf("#"): false,
		leaf("é: "): false, leaf("a b"): false,
	} {
		if got := parsed(t, criteria).FlagOnly(); got != want {
			t.Errorf("%s: got %v", criteria, got)
		}
	}
	for pattern, want := range map[string]bool{
		`(?i)done`: true, `^(done|complete)$`: true, `\bdone\b`: true, `review_?complete[d]?`: true, `[dD]one`: true,
		`analysisComplete\s*[:=]\s*(true|yes)`: true, `(?i)^\s*finished[.!]?\s*$`: true, `(?:Finding \d+:|done)`: true,
		`a`: true, `[a-z]`: true, `.`: true, `.+`: true, `\d+`: true, `\S+`: true, `^\w`: true,
		`Finding \d+:`: false, `\S+\.go:\d+`: false, `[A-Z]{2,}-\d+`: false, `(?s)Findings.*Conclusion`: false,
		`.{200,}`: false, `severity: (high|medium|low)`: false, `(?m)^- .+`: false, `completed the review`: false,
		`.*`: false, // empty notes pass
	} {
		rule := canon.OfMembers(canon.Member{Name: "type", Value: canon.OfString("regex")},
			canon.Member{Name: "message", Value: canon.OfString("")}, canon.Member{Name: "pattern", Value: canon.OfString(pattern)})
		if got := parsed(t, string(rule.JCS())).FlagOnly(); got != want {
			t.Errorf("%s: got %v of %q", pattern, got, shortMatches(pattern))
		}
	}
	if (Criteria{}).FlagOnly() {
		t.Error("the zero Criteria is flag-only")
	}
}
