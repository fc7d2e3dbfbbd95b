// Command mutants shows that the promises of SECURITY.md are tested: it breaks the code in
// one place at a time and prints the test that fails.
//
//	go run ./testdata/mutants [-check] [NAME ...]
//
// A mutant is a file NAME.txtar beside this one:
//
//	promise: the sentence of SECURITY.md that the mutant breaks
//	file: path of the source file
//	test: package and flags of 'go test'
//	-- old --
//	source text that occurs exactly once in the file; the last line end is not part of it
//	-- new --
//	its replacement
//
// The source tree is not changed: the compiler reads the mutant through -overlay. With -check
// nothing is compiled: only the form of the mutants is checked, their source texts, and
// that promise and test exist. The exit status is 1 if a mutant is not valid, does not
// compile, or no test fails.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
)

// mutant is one change that a test must detect.
type mutant struct {
	Name, Promise, File string
	Test                []string // package and flags
	Old, New            string
}

const dir = "testdata/mutants"

func main() {
	check := flag.Bool("check", false, "check the mutants without compiling them")
	flag.Parse()
	files, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(files) == 0 {
		fmt.Fprintln(os.Stderr, "run in the root of the repository: no mutants in "+dir)
		os.Exit(1)
	}
	files = slices.DeleteFunc(files, func(file string) bool {
		return flag.NArg() > 0 && !slices.Contains(flag.Args(), nameOf(file))
	})
	failed, tried := 0, len(files)
	for i, result := range tryAll(files, *check) {
		r := <-result
		if r.err != nil {
			failed++
			r.text = "NOT DETECTED: " + r.err.Error()
		}
		fmt.Printf("%-36s %s\n", nameOf(files[i]), r.text)
	}
	fmt.Printf("%d mutants, %d detected\n", tried, tried-failed)
	if failed > 0 || tried == 0 {
		os.Exit(1)
	}
}

// nameOf returns the name of a mutant's file.
func nameOf(file string) string { return strings.TrimSuffix(filepath.Base(file), ".txtar") }

// result is what try returns.
type result struct {
	text string
	err  error
}

// together is the number of mutants that are tried at the same time: much of a trial is one
// linker, and tests that wait.
const together = 2

// tryAll tries all mutants in their order, and returns a channel with the result of each.
func tryAll(files []string, onlyCheck bool) []chan result {
	out := make([]chan result, len(files))
	for i := range out {
		out[i] = make(chan result, 1)
	}
	var next atomic.Int64
	for range together {
		go func() {
			for i := next.Add(1) - 1; i < int64(len(files)); i = next.Add(1) - 1 {
				text, err := try(files[i], nameOf(files[i]), onlyCheck)
				out[i] <- result{text, err}
			}
		}()
	}
	return out
}

// try checks one mutant and, unless onlyCheck is set, runs its test against it. It returns the
// name of the first test that fails.
func try(file, name string, onlyCheck bool) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	m, err := parse(name, string(text))
	if err != nil {
		return "", err
	}
	source, err := m.source()
	if err != nil {
		return "", err
	}
	if err := m.checkPromise(); err != nil {
		return "", err
	}
	if err := m.checkTest(); err != nil {
		return "", err
	}
	if onlyCheck {
		return "is valid", nil
	}
	return m.run(source)
}

// parse reads the text of a mutant.
func parse(name, text string) (mutant, error) {
	m := mutant{Name: name}
	head, rest, ok := strings.Cut(text, "-- old --\n")
	old, replacement, ok2 := strings.Cut(rest, "-- new --\n")
	if !ok || !ok2 {
		return m, errors.New("no parts '-- old --' and '-- new --'")
	}
	m.Old, m.New = strings.TrimSuffix(old, "\n"), strings.TrimSuffix(replacement, "\n")
	for line := range strings.Lines(head) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch key {
		case "promise":
			m.Promise = value
		case "file":
			m.File = value
		case "test":
			m.Test = words(value)
		}
	}
	if m.Promise == "" || m.File == "" || len(m.Test) == 0 {
		return m, errors.New("promise, file or test is missing")
	}
	return m, nil
}

// words splits a line at spaces; text between single quotes is one word.
func words(line string) (out []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, part)
		} else {
			out = append(out, strings.Fields(part)...)
		}
	}
	return out
}

// source returns the mutated source file.
func (m mutant) source() (string, error) {
	text, err := os.ReadFile(m.File)
	if err != nil {
		return "", err
	}
	if n := strings.Count(string(text), m.Old); n != 1 {
		return "", fmt.Errorf("the old text occurs %d times in %s, expected once", n, m.File)
	}
	return strings.Replace(string(text), m.Old, m.New, 1), nil
}

// checkPromise requires that SECURITY.md contains the sentence of the mutant.
func (m mutant) checkPromise() error {
	page, err := os.ReadFile("SECURITY.md")
	if err != nil {
		return err
	}
	oneLine := func(s string) string { return strings.ReplaceAll(strings.Join(strings.Fields(s), " "), "`", "") }
	if !strings.Contains(oneLine(string(page)), oneLine(m.Promise)) {
		return fmt.Errorf("SECURITY.md does not contain: %s", m.Promise)
	}
	return nil
}

// testName is the name of a test in the flag -run.
var testName = regexp.MustCompile(`Test\w+`)

// checkTest requires that the package has each test that the mutant names.
func (m mutant) checkTest() error {
	files, err := filepath.Glob(filepath.Join(m.Test[0], "*_test.go"))
	if err != nil {
		return err
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		all.Write(text)
	}
	names := testName.FindAllString(strings.Join(m.Test[1:], " "), -1)
	if len(names) == 0 {
		return errors.New("no test is named")
	}
	for _, name := range names {
		if !strings.Contains(all.String(), "func "+name) {
			return fmt.Errorf("%s has no %s", m.Test[0], name)
		}
	}
	return nil
}

// failedTest is the line that go test prints for a test that failed.
var failedTest = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)

// run runs the test with the mutated source. Programs that the test builds are built from it
// as well.
func (m mutant) run(source string) (string, error) {
	temp, err := os.MkdirTemp("", "mutant-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	original, err := filepath.Abs(m.File)
	if err != nil {
		return "", err
	}
	mutated, overlay := filepath.Join(temp, "mutated.go"), filepath.Join(temp, "overlay.json")
	doc, err := json.Marshal(map[string]map[string]string{"Replace": {original: mutated}})
	if err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(mutated, []byte(source), 0o600), os.WriteFile(overlay, doc, 0o600)); err != nil {
		return "", err
	}
	cmd := exec.Command("go", append([]string{"test", "-count=1", "-failfast", "-vet=off"}, m.Test...)...)
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -overlay="+overlay))
	out, err := cmd.CombinedOutput()
	found := failedTest.FindStringSubmatch(string(out))
	switch {
	case err == nil:
		return "", errors.New("no test fails: " + strings.Join(m.Test, " "))
	case found == nil:
		return "", fmt.Errorf("the test did not run:\n%s", out)
	}
	return found[1], nil
}
