package docs

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
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
	{"somebody's home folder; write /home/you", `/ho¦me/([^y]|y[^o]|yo[^u]|you[A-Za-z0-9_-])`},
	{"material that is no part of the project", `\.\./sha¦red|/sha¦red/(design|spec|data)`},
	{"a registry or proxy", `pro¦xy\.golang\.org|s¦um\.golang\.org|go¦proxy|reg¦istry\.npmjs|npm¦js\.org|py¦pi\.org|pythonho¦sted|cra¦tes\.io|artif¦actory`},
	{"a tool that helped", `\bcla¦ude\b|chat¦gpt|\bcopi¦lot\b|\bgpt-¦[0-9]|\bopen¦ai\b|\banthro¦pic\b|\bgem¦ini\b|\bcursor\.¦sh|\bai ass¦istant|language mod¦el|\bll¦ms?\b`},
	{"how it was made", `co-author¦ed-by|generated wi¦th \[|sub-?ag¦ents\b|\biss¦ue\s+#\d|our conver¦sation|the us¦er's brief|previous sess¦ion of development|design/sk¦etch`},
}

// sharedData is how tests name sample data of other programs, which may lie beside
// the checkout and is no part of it. They skip where it is not there.
const sharedData = ".." + "/shared"

type banned struct {
	why string
	re  *regexp.Regexp
}

func forbiddenWords() (out []banned) {
	for _, f := range forbidden {
		out = append(out, banned{f.why, regexp.MustCompile("(?i)" + strings.ReplaceAll(f.words, "¦", ""))})
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
			if rel == ".git" || rel == "bin" || rel == "dist" {
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

func checkWords(t *testing.T, words []banned, name, text string) {
	t.Helper()
	for n, line := range strings.Split(text, "\n") {
		if strings.HasSuffix(name, "_test.go") {
			line = strings.ReplaceAll(line, sharedData+"/data", "")
		}
		for _, w := range words {
			if found := w.re.FindString(line); found != "" {
				t.Errorf("%s:%d: %q is %s", name, n+1, found, w.why)
			}
		}
	}
}

// TestWordsWouldBeFound: each expression finds what it is for, and the product's
// own words pass.
func TestWordsWouldBeFound(t *testing.T) {
	words := forbiddenWords()
	hit := func(line string) bool {
		for _, w := range words {
			if w.re.MatchString(line) {
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
