package resume_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/resume"
)

func session(n byte) id.Session { return id.NewSession(id.Seed{n}) }
func run(n byte) id.Run         { return id.NewRun(id.Seed{n}) }

// TestRanking plays testdata/ranking.txt: runs, queries, and the expected order.
func TestRanking(t *testing.T) {
	data, err := os.ReadFile("testdata/ranking.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []facts
	names := map[string]byte{}
	for block := range strings.SplitSeq(string(data), "\n\n") {
		asked, query := false, ""
		var got, want []string
		for line := range strings.SplitSeq(block, "\n") {
			word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			switch word {
			case "", "#":
			case "run":
				name, c := candidate(t, rest, byte(len(names)+1))
				names[name] = byte(len(names) + 1)
				all = append(all, c)
			case "query":
				asked, query = true, rest
				for _, r := range rank(parseQuery(rest, names), all) {
					got = append(got, shown(r, names))
				}
			default:
				want = append(want, strings.TrimSpace(line))
			}
		}
		if asked && strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("query %s:\n%s\nwant\n%s", query, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

func shown(r resume.Ranked, names map[string]byte) string {
	for name, n := range names {
		if r.Run == run(n) {
			out := fmt.Sprint(name, " ", strings.Trim(fmt.Sprint(r.Why), "[]"))
			if r.Place != nil {
				out += " in " + string(r.Place.Part)
				if r.Place.Note > 0 {
					out += fmt.Sprint(" ", r.Place.Note)
				}
			}
			return out
		}
	}
	return "?"
}

// facts are those of a candidate with the texts of its notes, the latest first. A text that begins with "checkpoint "
// is that of one.
type facts struct {
	resume.Candidate
	notes []string
}

// rank compares candidates with a query as package candidates does.
func rank(q resume.Query, all []facts) (out []resume.Ranked) {
	m := resume.NewMatcher(q)
	for _, f := range all {
		for _, text := range f.notes {
			text, checkpoint := strings.CutPrefix(text, "checkpoint ")
			f.Notes = append(f.Notes, resume.Note{Words: m.Words(text), Checkpoint: checkpoint})
		}
		out = append(out, m.Match(f.Candidate))
	}
	resume.Sort(out)
	return out
}

// candidate reads "NAME key=value …"; a tilde is a space, a bar separates values.
func candidate(t *testing.T, text string, n byte) (string, facts) {
	t.Helper()
	fields := strings.Fields(text)
	c := facts{Candidate: resume.Candidate{Session: session(n), Run: run(n)}}
	for _, f := range fields[1:] {
		key, value, _ := strings.Cut(f, "=")
		value = strings.ReplaceAll(value, "~", " ")
		switch number, _ := strconv.ParseInt(value, 10, 64); key {
		case "head":
			c.Heads = strings.Split(value, "|")
		case "branch":
			c.Branches = strings.Split(value, "|")
		case "notes":
			c.notes = strings.Split(strings.ReplaceAll(value, "<cut>", limits.TruncationMarker), "|")
		case "title":
			c.Title = value
		case "goal":
			c.Goal = value
		case "id":
			c.WorkflowID = value
		case "name":
			c.WorkflowName = value
		case "at":
			c.LastAtMs = number
		case "index":
			c.LastIndex = number
		default:
			t.Fatalf("unknown fact %q", key)
		}
	}
	return fields[0], c
}

func parseQuery(text string, names map[string]byte) (q resume.Query) {
	for _, f := range strings.Fields(text) {
		key, value, _ := strings.Cut(f, "=")
		value = strings.ReplaceAll(value, "~", " ")
		switch key {
		case "text":
			q.Text = value
			if n, ok := names[strings.TrimPrefix(value, "run:")]; ok {
				q.Text = " " + run(n).String() + "\n"
			}
		case "session":
			q.Session = session(names[value])
		case "run":
			q.Run = run(names[value])
		case "head":
			q.GitHead = value
		case "branch":
			q.GitBranch = value
		}
	}
	return q
}

// TestRankIsIndependentOfInputOrder: the order is total.
func TestRankIsIndependentOfInputOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []facts
		for n := range rapid.IntRange(1, 12).Draw(t, "runs") {
			all = append(all, facts{resume.Candidate{Session: session(byte(n / 2)), Run: run(byte(n)),
				Heads:    []string{rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "head")},
				Branches: []string{rapid.SampledFrom([]string{"", "main", "main-2"}).Draw(t, "branch")},
				LastAtMs: rapid.Int64Range(0, 2).Draw(t, "at"), LastIndex: rapid.Int64Range(0, 2).Draw(t, "index")},
				[]string{rapid.SampledFrom([]string{"", "fix parser", "parser"}).Draw(t, "notes")}})
		}
		q := resume.Query{Text: "parser", GitHead: "a", GitBranch: "main"}
		order := func(all []facts) (out []string) {
			for _, r := range rank(q, all) {
				out = append(out, fmt.Sprint(r.Run, r.Why, r.Place != nil))
			}
			return out
		}
		shuffled := rapid.Permutation(all).Draw(t, "shuffled")
		if got, want := order(shuffled), order(all); !slices.Equal(got, want) {
			t.Fatalf("%s\nwant\n%s", got, want)
		}
	})
}

// TestTiesAreOrderedBySessionID: run ids alone would give the opposite order.
func TestTiesAreOrderedBySessionID(t *testing.T) {
	a, b := facts{Candidate: resume.Candidate{Session: session(1), Run: run(1)}},
		facts{Candidate: resume.Candidate{Session: session(2), Run: run(2)}}
	if a.Session.String() > b.Session.String() {
		a.Session, b.Session = b.Session, a.Session
	}
	if a.Run.String() < b.Run.String() {
		a.Run, b.Run = b.Run, a.Run
	}
	if got := rank(resume.Query{}, []facts{b, a}); got[0].Session != a.Session {
		t.Error("the session with the larger id comes first")
	}
}

func TestNormalize(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"Fix the Parser!", "fix the parser"},
		{"wr.bug-investigation_2", "wr bug-investigation_2"},
		{"ＦＩＸ ①②", "fix 12"},                      // full width and circled: compatibility forms
		{"ﬁle", "file"},                           // a ligature
		{"K2", "k2"},                              // the Kelvin sign
		{"I İ", "i i"},                            // independent of the locale
		{"naïve", "na ve"},                        // composed: a letter outside of tokens
		{"na\u0069\u0308ve", "na ve"},             // and decomposed the same
		{"поиск, 東京", ""},                         // other scripts have no tokens
		{"a\xffb", "a b"},                         // invalid UTF-8 separates
		{"tail\n\n[TRUNCATED]", "tail truncated"}, // Rank removes the marker
	} {
		if got := strings.Join(resume.Normalize(row.text), " "); got != row.want {
			t.Errorf("%q: %q, want %q", row.text, got, row.want)
		}
	}
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"Fix the Parser!", "ＦＩＸ ①", "na\u0069\u0308ve", "İ", "\xff", "a-b_c"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := resume.Normalize(s)
		for _, token := range once {
			if strings.Trim(token, "abcdefghijklmnopqrstuvwxyz0123456789_-") != "" || token == "" {
				t.Fatalf("%q gives the token %q", s, token)
			}
		}
		joined := strings.Join(once, " ")
		if again := strings.Join(resume.Normalize(joined), " "); again != joined {
			t.Fatalf("%q gives %q, and that %q", s, joined, again)
		}
		if utf8.ValidString(s) {
			if up := strings.Join(resume.Normalize(joined+" "+strings.ToUpper(joined)),
				" "); up != strings.TrimSpace(joined+" "+joined) {
				t.Fatalf("%q: capitals differ: %q", s, up)
			}
		}
	})
}

func TestSnippet(t *testing.T) {
	if got := resume.Snippet("short"); got != "short" {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("é", 2000) + limits.TruncationMarker
	got := resume.Snippet(long)
	if len(got) > limits.ResumeSnippetBytesMax || !utf8.ValidString(got) ||
		strings.Count(got, limits.TruncationMarker) != 1 ||
		!strings.HasSuffix(got, limits.TruncationMarker) {
		t.Errorf("%d bytes, ends %q", len(got), got[len(got)-20:])
	}
}

// TestBounds: what is compared once for both is what Match compares.
func TestBounds(t *testing.T) {
	for _, text := range []string{"fast search", "release main", "feat/x fast", ""} {
		m := resume.NewMatcher(resume.Query{Text: text, GitBranch: "main"})
		for _, notes := range []string{"", "fast", "Search is twice as fast."} {
			alone := resume.Candidate{Session: session(1), Run: run(1), WorkflowID: "release", Title: "main search",
				Goal: "fast", Branches: []string{"feat/x", "main"}}
			whole := alone
			whole.Notes = []resume.Note{{Words: m.Words(notes)}}
			without, with := m.Bounds(whole)
			if !reflect.DeepEqual(without, m.Match(alone)) || !reflect.DeepEqual(with, m.Match(whole)) {
				t.Errorf("%q with notes %q: %+v and %+v", text, notes, without, with)
			}
		}
	}
}
