package docs

import (
	"bytes"
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// forbidden is what no file of the project may say: where it was made, where its
// dependencies were fetched from, and by whose help. The expressions are spelled
// with a gap ("¦") in the middle of each word, so that this file does not say them.
var forbidden = []struct{ why, words string }{
	{"a path of a build machine",
		`(^|[^A-Za-z0-9_.$}~-])/wo¦rk/|(^|[^A-Za-z0-9_.$}~-])/ro¦ot/|/tmp/way¦bill-|/Us¦ers/[a-z]`},
	{"a person's home directory; write /home/you", `/ho¦me/([^y]|y[^o]|yo[^u]|you[A-Za-z0-9_-])`},
	{"material that is no part of the project", `\.\./sha¦red|/sha¦red/(design|spec|data)`},
	{"a registry or proxy", `pro¦xy\.golang\.org|s¦um\.golang\.org|go¦proxy|reg¦istry\.npmjs|npm¦js\.org|py¦pi\.org|pythonho¦sted|cra¦tes\.io|artif¦actory`},
	{providerRule, `\bcla¦ude\b|chat¦gpt|\bcopi¦lot\b|\bgpt-¦[0-9]|\bopen¦ai\b|\banthro¦pic\b|\bgem¦ini\b|\bcursor\.¦sh|\bai ass¦istant|language mod¦el|\bll¦ms?\b`},
	{"how it was made", `co-author¦ed-by|generated wi¦th \[|sub-?ag¦ents\b|\biss¦ue\s+#\d|our conver¦sation|the us¦er's brief|previous sess¦ion of development|design/sk¦etch`},
}

// sharedData is how tests name sample data of other programs, which may lie beside
// the checkout and is no part of it. They skip where it is not there.
const sharedData = ".." + "/shared"

type banned struct {
	why string
	scan
}

func forbiddenWords() (out []banned) {
	for _, f := range forbidden {
		out = append(out, banned{f.why, newScan(strings.ReplaceAll(f.words, "¦", ""))})
	}
	return out
}

// TestWords looks at every text file of the tree, whether it is tracked yet or
// not; what .gitignore leaves out is passed over.
func TestWords(t *testing.T) {
	words, seen := forbiddenWords(), 0
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel("..", name)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == ".git" || rel == "bin" || rel == "dist" || d.Name() == "node_modules" {
				return filepath.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(name); !d.Type().IsRegular() || ext == ".test" || ext == ".prof" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
			return nil // not text
		}
		seen++
		checkWords(t, words, rel, string(text))
		return nil
	})
	if err != nil || seen < 200 {
		t.Fatalf("%d files, %v", seen, err)
	}
}

// clientNames are the names of the clients whose settings the program changes, as their users write them, and
// clientFiles the files that have to name them (docs/design.md#guard). In every other file, and in every other form,
// they are forbidden as names of tools that helped.
var (
	clientNames = regexp.MustCompile(strings.ReplaceAll(`\bCla¦ude Code\b|\bcla¦ude\b|\bGem¦ini CLI\b|\bgem¦ini\b|\bCLA¦UDE\\_CONFIG`, "¦", ""))
	clientFiles = map[string]bool{"CHANGELOG.md": true, "cmd/waybill/guard/guard.go": true, "cmd/waybill/guard/hook.go": true,
		"cmd/waybill/guard_agent_test.go": true, "cmd/waybill/guard_test.go": true, "cmd/waybill/injection_pty_test.go": true, "cmd/waybill/mcp/install.go": true,
		"cmd/waybill/mcp_docs_test.go": true, "cmd/waybill/shapes_test.go": true, "docs/agents/README.md": true, "docs/cli/guard.md": true,
		"docs/cli/mcp.md": true, "docs/design.md": true, "docs/guide/guard.md": true,
		"docs/mcp.md": true, "durable/guard/guard.go": true, "durable/guard/reply_test.go": true,
		"durable/guard/servers.go": true, "durable/guard/testdata/hooks/README.md": true,
		"cmd/waybill/guard_settings_test.go": true, "durable/guard/settings_test.go": true, "durable/limits/guard.go": true}
)

// providerNames are the files that name providers of services whose tokens redaction finds: the table of tokens, the page
// that is generated from it, and the corpus of its tests (docs/design.md#redaction). Only the names of providers are
// allowed in them; all other rules are in force.
var providerNames = regexp.MustCompile(`^(?:durable/redact/forms/[a-z]+\.go|docs/redaction\.md|durable/redact/testdata/corpus/.*)$`)

const providerRule = "a tool that helped"

func checkWords(t *testing.T, words []banned, name, text string) {
	t.Helper()
	lower := strings.ToLower(text)
	words = slices.DeleteFunc(slices.Clone(words), func(w banned) bool { return !w.may(lower) })
	if len(words) == 0 {
		return
	}
	for n, line := range strings.Split(text, "\n") {
		if clientFiles[name] {
			line = clientNames.ReplaceAllString(line, "client")
		}
		if strings.HasSuffix(name, "_test.go") {
			line = strings.ReplaceAll(line, sharedData+"/data", "")
		}
		for _, w := range words {
			if w.why == providerRule && providerNames.MatchString(name) {
				continue
			}
			if found := w.FindString(line); found != "" {
				t.Errorf("%s:%d: %q is %s", name, n+1, found, w.why)
			}
		}
	}
}

// TestClientNamesOccur: an exception whose file names no client is removed.
func TestClientNamesOccur(t *testing.T) {
	for name := range clientFiles {
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil || !clientNames.Match(text) {
			t.Errorf("%s names no client, %v", name, err)
		}
	}
}

// TestWordsWouldBeFound: each expression finds what it is for, and the product's
// own words pass.
func TestWordsWouldBeFound(t *testing.T) {
	words := forbiddenWords()
	hit := func(line string) bool {
		for _, w := range words {
			if w.may(strings.ToLower(line)) && w.MatchString(line) {
				return true
			}
		}
		return false
	}
	bad := []string{"see /wo¦rk/main/docs", "cd /ro¦ot/x", "/ho¦me/fred/x", "/ho¦me/yo/x", "/ho¦me/younger",
		"../sha¦red/spec", "https://pro¦xy.golang.org",
		"Cla¦ude wrote", "Chat¦GPT", "Git¦Hub Copi¦lot", "iss¦ue #12", "Co-Author¦ed-By: x", "two sub¦agents",
		"Sub-ag¦ents", "an AI ass¦istant", "/Us¦ers/fred"}
	for _, line := range bad {
		if line = strings.ReplaceAll(line, "¦", ""); !hit(line) {
			t.Errorf("%q passes", line)
		}
	}
	for _, line := range []string{"the session of an agent", "an AI agent may call", "a helper (a subagent)",
		"/home/you/project", "$WORK/root/x", "https://go.dev/work/", "actor agent",
		"a/work/b", "./root/x", "session_created", "the user's home"} {
		if hit(line) {
			t.Errorf("%q is refused", line)
		}
	}
}

// plain is a compiled plainRule.
type plain struct {
	scan
	unless  *regexp.Regexp
	instead string
}

func unspaced(words string) string { return strings.ReplaceAll(words, "¦", "") }

func compiledRules() (out []plain) {
	for _, r := range plainRules {
		p := plain{scan: newScan(unspaced(r.words)), instead: r.instead}
		if r.unless != "" {
			p.unless = regexp.MustCompile(`(?i)` + unspaced(r.unless))
		}
		out = append(out, p)
	}
	return out
}

// find returns the first use of the word in text that is not a legitimate one.
func (p plain) find(text string) string {
	if !p.MatchString(text) {
		return ""
	}
	if p.unless != nil {
		text = p.unless.ReplaceAllString(text, "")
	}
	return p.FindString(text)
}

// piece is a part of a file that people read, with the line that it begins in.
type piece struct {
	line int
	text string
	name bool // an identifier, split into its words
}

// camel separates the words of an identifier.
var camel = regexp.MustCompile(`[A-Z]+[a-z0-9]*|[a-z0-9]+`)

// pieces are the comments, strings and declared names of a Go file, and the lines of
// another one without its examples of records.
func pieces(name, text string) (out []piece) {
	if path.Ext(name) != ".go" {
		example := false
		for n, line := range strings.Split(text, "\n") {
			if strings.HasPrefix(line, "```") {
				example = !example && strings.HasPrefix(line, "```json")
			}
			if !example {
				out = append(out, piece{n + 1, line, false})
			}
		}
		return out
	}
	fset := token.NewFileSet()
	file := fset.AddFile(name, -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		switch tok {
		case token.EOF:
			return out
		case token.COMMENT, token.STRING:
			for n, line := range strings.Split(lit, "\n") {
				out = append(out, piece{file.Line(pos) + n, line, false})
			}
		case token.IDENT:
			out = append(out, piece{file.Line(pos), strings.Join(camel.FindAllString(lit, -1), " "), true})
		}
	}
}

// plainWords reports the wording of a file that plainRules do not allow.
func plainWords(rules []plain, name, text string) (out []string) {
	for sentence := range plainExceptions.sentences {
		text = strings.ReplaceAll(text, unspaced(sentence), "")
	}
	seen := map[string]bool{}
	for _, p := range pieces(name, text) {
		lower := strings.ToLower(p.text)
		for _, r := range rules {
			if !r.may(lower) {
				continue
			}
			found := r.find(p.text)
			if found == "" || p.name && seen[p.text] {
				continue
			}
			seen[p.text] = p.name
			what := "write"
			if p.name {
				what = "in the name " + strings.ReplaceAll(p.text, " ", "·") + ", use"
			}
			out = append(out, fmt.Sprintf("%s:%d: %q: %s: %s", name, p.line, found, what, r.instead))
		}
	}
	return out
}

// excepted reports whether a whole file keeps its words.
func excepted(name string) bool {
	for file := range plainExceptions.files {
		if name == file || strings.HasSuffix(file, "/") && strings.HasPrefix(name, file) {
			return true
		}
	}
	return false
}

// TestPlainWords: comments, messages, help, names and pages use the field's words.
func TestPlainWords(t *testing.T) {
	rules := compiledRules()
	for name, text := range textFiles(t) {
		if strings.HasPrefix(name, "docs/words_") || excepted(name) {
			continue
		}
		for _, bad := range plainWords(rules, name, text) {
			t.Error(bad)
		}
		for _, r := range rules {
			words := strings.Join(camel.FindAllString(path.Base(name), -1), " ")
			if found := r.find(words); found != "" {
				t.Errorf("%s: %q in the name of the file: %s", name, found, r.instead)
			}
		}
	}
}

// TestPlainWordsWouldBeFound: each rule finds its bad examples, in a comment, in a string
// and in a page, and passes the good ones.
func TestPlainWordsWouldBeFound(t *testing.T) {
	for i, r := range plainRules {
		rule := compiledRules()[i : i+1]
		for bad := range strings.SplitSeq(unspaced(r.bad), "|") {
			for name, text := range map[string]string{"x/y.go": "package x\n\n// x: " + bad + "\n",
				"x/z.go": "package x\n\nvar a = \"x: " + bad + "\"\n", "x.md": "# X\n\n" + bad + "\n"} {
				if len(plainWords(rule, name, text)) != 1 {
					t.Errorf("%q passes in %s", bad, name)
				}
			}
		}
		for _, good := range r.good {
			if found := rule[0].find(unspaced(good)); found != "" {
				t.Errorf("%q is refused for %q", unspaced(good), found)
			}
		}
	}
	for name, want := range map[string]bool{"is" + "To" + "ld": true, "car" + "goOf": true, "Owe" + "d": true,
		"trail" + "Of": true, "standard": false, "bodyIndex": false, "trailing": false} {
		if got := len(plainWords(compiledRules(), "x.go", "package x\n\nvar "+name+" int\n")) > 0; got != want {
			t.Errorf("the name %s is refused: %v", name, got)
		}
	}
	if got := plainWords(compiledRules(), "x.md", "```json x\n{\"a\":\"st"+"ands\"}\n```\nx"); len(got) != 0 {
		t.Errorf("an example of a record is refused: %v", got)
	}
}

// TestPlainExceptionsOccur: an exception whose text or file is gone is removed.
func TestPlainExceptionsOccur(t *testing.T) {
	var all strings.Builder
	for name, text := range textFiles(t) {
		if !strings.HasPrefix(name, "docs/words_") {
			all.WriteString(text)
		}
	}
	for sentence, why := range plainExceptions.sentences {
		if !strings.Contains(all.String(), unspaced(sentence)) || why == "" {
			t.Errorf("no file has %q (%s)", unspaced(sentence), why)
		}
	}
	for file, why := range plainExceptions.files {
		if found, err := filepath.Glob(filepath.Join("..", file)); err != nil || len(found) == 0 || why == "" {
			t.Errorf("%s does not exist (%s)", file, why)
		}
	}
}
