package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

const (
	callsFile   = "testdata/calls/calls.txtar"
	answersFile = "testdata/calls/answers.txt"
)

// TestRecordedCalls runs a list of command lines, most of them wrong, and compares exit
// status and JSON document of each with the recorded answer. Sentences meant for people are
// left out; ids, digests, tokens, times and paths are replaced by their order of appearance.
// A change of an exit status, an error code or a JSON member fails here.
func TestRecordedCalls(t *testing.T) {
	t.Parallel()
	script, err := txtar.ParseFile(callsFile)
	if err != nil {
		t.Fatal(err)
	}
	r := newCallRunner(t, script.Files)
	var out strings.Builder
	calls := 0
	for line := range strings.Lines(string(script.Comment)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		calls++
		fmt.Fprintf(&out, "> %s\n%s\n", line, r.call(line))
	}
	if calls < 200 {
		t.Errorf("%d calls are recorded, expected at least 200", calls)
	}
	if *update {
		if err := os.WriteFile(answersFile, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(answersFile)
	if err != nil {
		t.Fatal(err)
	}
	wantCalls, gotCalls := strings.Split(string(want), "\n> "), strings.Split(out.String(), "\n> ")
	if len(wantCalls) != len(gotCalls) {
		t.Fatalf("%d answers are recorded, %d calls were made", len(wantCalls), len(gotCalls))
	}
	for i := range wantCalls {
		if wantCalls[i] != gotCalls[i] {
			t.Errorf("call %d answers differently:\n%s\nrecorded:\n%s", i, gotCalls[i], wantCalls[i])
		}
	}
}

// callRunner is one working directory, one home and the values that earlier calls returned.
type callRunner struct {
	t     *testing.T
	dir   string
	env   []string
	vars  map[string]string // by name, from lines "NAME=path.to.member: args"
	seen  map[string]int    // replaced values by order of appearance, per kind
	count map[string]int
	ids   []string // bodies of ids seen, for shortened forms
}

func newCallRunner(t *testing.T, files []txtar.File) *callRunner {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		write(f.Name, f.Data)
	}
	write("binary.yaml", []byte{0, 1, 2, 0xff, 0xfe})
	write("latin.yaml", []byte("id: test.latin\nname: Gr\xfc\xdfe\n"))
	write("bom.json", append([]byte("\xef\xbb\xbf"), []byte(`{"id":"test.bom"}`)...))
	write("huge.yaml", bytes.Repeat([]byte("# comment\n"), 500_000))
	write("deep.json", []byte(strings.Repeat("[", 100)+strings.Repeat("]", 100)))
	write("deep.yaml", bytes.Repeat([]byte("["), 20_000))
	for _, sub := range []string{"directory", "directory.yaml", ".git"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"HOME=" + dir, "USERPROFILE=" + dir, "WAYBILL_HOME=" + filepath.Join(dir, "home"),
		"XDG_CONFIG_HOME=" + filepath.Join(dir, "config"), "TZ=UTC", "PATH=" + os.Getenv("PATH")}
	env = append(env, ownIdentity...)
	return &callRunner{t: t, dir: dir, env: env, vars: map[string]string{}, seen: map[string]int{},
		count: map[string]int{}}
}

var capture = expression(`^([A-Z]+)=([A-Za-z0-9.]+): (.*)$`)

// call runs one line and returns its normalized answer. "NAME=path: args" keeps a member of
// the document for later lines, which write {NAME}.
func (r *callRunner) call(line string) string {
	r.t.Helper()
	name, path := "", ""
	if m := capture().FindStringSubmatch(line); m != nil {
		name, path, line = m[1], m[2], m[3]
	}
	var args []string
	for _, word := range splitWords(line) {
		for v, value := range r.vars {
			word = strings.ReplaceAll(word, "{"+v+"}", value)
		}
		args = append(args, word)
	}
	status, stdout := r.run(append(args, "--json"))
	var doc any
	d := json.NewDecoder(bytes.NewReader(stdout))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return fmt.Sprintf("exit %d, no JSON document", status)
	}
	if name != "" {
		value := doc
		for member := range strings.SplitSeq(path, ".") {
			object, _ := value.(map[string]any)
			value = object[member]
		}
		text, ok := value.(string)
		if !ok {
			r.t.Fatalf("%s: the document has no string at %s: %s", line, path, stdout)
		}
		r.vars[name] = text
	}
	var out strings.Builder
	fmt.Fprintf(&out, "exit %d\n", status)
	r.print(&out, "", doc)
	return strings.TrimSuffix(out.String(), "\n")
}

func (r *callRunner) run(args []string) (int, []byte) {
	r.t.Helper()
	var stdout bytes.Buffer
	cmd := exec.Command("waybill", args...)
	cmd.Dir, cmd.Env, cmd.Stdout = r.dir, r.env, &stdout
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		r.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.Bytes()
}

// splitWords splits at spaces; single quotes keep spaces and empty words.
func splitWords(line string) (words []string) {
	var word strings.Builder
	quoted, any := false, false
	for _, c := range line {
		switch {
		case c == '\'':
			quoted, any = !quoted, true
		case c == ' ' && !quoted:
			if any || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			any = false
		default:
			word.WriteRune(c)
		}
	}
	if any || word.Len() > 0 {
		words = append(words, word.String())
	}
	return words
}

// sentences are the members whose text is for people.
var sentences = map[string]bool{"message": true, "suggestion": true, "fix": true, "detail": true, "advice": true,
	"means": true, "meaning": true}

// isSentence reports a member that may be reworded. Blockers and gaps are stored, so their
// sentences are compared; descriptions are sentences in a JSON Schema only, texts in a timeline.
func isSentence(path, name string) bool {
	if name == "description" {
		return path == "" || strings.HasPrefix(path, ".$defs.") || strings.HasPrefix(path, ".properties.")
	}
	if name == "text" {
		return strings.HasPrefix(path, ".data.moments.")
	}
	return sentences[name] && !strings.Contains(path, "blockers") && !strings.Contains(path, "gaps")
}

// print writes one scalar a line, members in order of their names.
func (r *callRunner) print(out *strings.Builder, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		if _, ok := v["about"]; ok {
			r.print(&strings.Builder{}, path, v["annotations"]) // ids in the order of the list
		}
		for _, name := range r.memberNames(v) {
			if isSentence(path, name) {
				continue
			}
			r.print(out, path+"."+r.normalize(name), v[name])
		}
		if len(v) == 0 {
			fmt.Fprintf(out, "  %s {}\n", path)
		}
	case []any:
		if strings.HasSuffix(path, ".sessions") { // in the order of random ids
			slices.SortStableFunc(v, func(a, b any) int { return r.seen[sessionOf(a)] - r.seen[sessionOf(b)] })
		}
		for i, item := range v {
			r.print(out, fmt.Sprintf("%s.%d", path, i), item)
		}
		if len(v) == 0 {
			fmt.Fprintf(out, "  %s []\n", path)
		}
	case string:
		if machine().MatchString(path) {
			v = "<machine>"
		}
		if strings.HasPrefix(path, ".error.details") && strings.Count(v, " ") > 2 {
			v = "<sentence>"
		}
		fmt.Fprintf(out, "  %s %q\n", path, r.normalize(v))
	case json.Number:
		if measured().MatchString(path) && v != "0" {
			v = "<measured>"
		}
		fmt.Fprintf(out, "  %s %s\n", path, v)
	default:
		fmt.Fprintf(out, "  %s %v\n", path, v)
	}
}

func sessionOf(item any) string {
	object, _ := item.(map[string]any)
	name, _ := object["sessionId"].(string)
	return name
}

// memberNames sorts the names of an object: those that are ids last, in their order of
// appearance, because their spelling differs from run to run.
func (r *callRunner) memberNames(object map[string]any) []string {
	isID := normalized[1].re().MatchString
	names := slices.Sorted(maps.Keys(object))
	slices.SortStableFunc(names, func(a, b string) int {
		switch {
		case isID(a) && isID(b):
			return r.seen[a] - r.seen[b]
		case isID(a):
			return 1
		case isID(b):
			return -1
		}
		return strings.Compare(a, b)
	})
	return names
}

var (
	// measured are numbers that differ from run to run: times, durations, sizes on disk.
	measured = expression(`(Ms|[bB]ytes|[sS]ize|count|free|inodes|heap)$`)

	// machine are texts that name the build or the machine.
	machine = expression(
		`^\.data\.(version|appVersion|go|os|arch|implementation\.version)$|^\.error\.details\.current$`)

	normalized = []struct {
		kind string
		re   func() *regexp.Regexp
	}{
		{"token", expression(`\b(?:st|ack|chk)\.v1\.[A-Za-z0-9_.-]+`)},
		{"id", expression(
			`\b(?:sess|run|node|evt|attempt|out|gap|chg|trace|capobs|div|ctx|ann|prop|bundle|store)_[a-z2-7]{26}\b`)},
		{"digest", expression(`\bsha256[:_][0-9a-f]{64}`)},
		{"time", expression(`\b20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z?`)},
		{"cursor", expression(`\b[A-Za-z0-9_-]{60,}\b`)},
	}
	shortened = expression(`\b[a-z2-7]{6,12}\b`)
)

// normalize replaces what differs between two runs of the same calls.
func (r *callRunner) normalize(s string) string {
	s = strings.ReplaceAll(s, r.dir, "<dir>")
	for _, n := range normalized {
		s = n.re().ReplaceAllStringFunc(s, func(found string) string {
			if n.kind == "time" {
				return "<time>"
			}
			if n.kind == "id" {
				_, body, _ := strings.Cut(found, "_")
				r.ids = append(r.ids, body)
			}
			key := strings.Replace(found, "sha256_", "sha256:", 1)
			if _, ok := r.seen[key]; !ok {
				r.count[n.kind]++
				r.seen[key] = r.count[n.kind]
			}
			return fmt.Sprintf("<%s %d>", n.kind, r.seen[key])
		})
	}
	return shortened().ReplaceAllStringFunc(s, func(found string) string {
		for _, body := range r.ids {
			if strings.HasPrefix(body, found) {
				return "<short id>"
			}
		}
		return found
	})
}
