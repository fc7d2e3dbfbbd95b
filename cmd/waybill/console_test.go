package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/ports/porttest/big"
)

// shownConsole is a console that runs during a test.
type shownConsole struct {
	t                        *testing.T
	cmd                      *exec.Cmd
	log                      *bytes.Buffer
	URL, Token, File, bearer string
}

// console starts the console of a store.
func (p program) console(flags ...string) *shownConsole { return p.consoleIn(nil, flags...) }

// consoleIn is console with more variables of the environment.
func (p program) consoleIn(env []string, flags ...string) *shownConsole {
	p.t.Helper()
	c := &shownConsole{t: p.t, cmd: p.command(append([]string{"console", "--json", "--no-open"}, flags...)...), log: &bytes.Buffer{}}
	c.cmd.Stderr = c.log
	c.cmd.Env = append(c.cmd.Environ(), env...)
	out, err := c.cmd.StdoutPipe()
	if err == nil {
		err = c.cmd.Start()
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = c.cmd.Process.Kill(); _ = c.cmd.Wait() })
	line, _ := bufio.NewReader(out).ReadString('\n')
	doc := struct {
		Kind string
		Data *shownConsole
	}{Data: c}
	if err := json.Unmarshal([]byte(line), &doc); err != nil || doc.Kind != "console" || c.URL == "" {
		p.t.Fatalf("the console printed %q and %s: %v", line, c.log, err)
	}
	return c
}

// ask asks for a page with the bearer, which the first call gets for the token.
func (c *shownConsole) ask(path string) (status int, text string) {
	c.t.Helper()
	if c.bearer == "" {
		answer, err := http.Post(c.URL+"/session", "application/json", strings.NewReader(`{"token":"`+c.Token+`"}`))
		if err != nil {
			c.t.Fatal(err)
		}
		defer answer.Body.Close()
		var doc struct{ Bearer string }
		if err := json.NewDecoder(answer.Body).Decode(&doc); err != nil || doc.Bearer == "" {
			c.t.Fatalf("%s, %v", answer.Status, err)
		}
		c.bearer = doc.Bearer
	}
	r, err := http.NewRequest("GET", c.URL+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+c.bearer)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer.StatusCode, string(all)
}

// end interrupts the console, and returns its exit status.
func (c *shownConsole) end() int {
	_ = c.cmd.Process.Signal(os.Interrupt)
	_ = c.cmd.Wait()
	return c.cmd.ProcessState.ExitCode()
}

// consoleFlow waits for a person at its second step.
const consoleFlow = `{"id":"test.console","name":"Console","description":"d","version":"1.0.0","steps":[
 {"id":"one","title":"First","prompt":"p"},{"id":"two","title":"Second","prompt":"p","requireConfirmation":{"kind":"human_approval"}}]}`

// consoleProgram is the program with a directory and a store of its own.
func consoleProgram(t *testing.T) program {
	t.Helper()
	dir := t.TempDir()
	return program{t, dir, filepath.Join(dir, "home", "local")}
}

// consoleStore is a store with a run that waits for an approval.
func consoleStore(t *testing.T) (p program, run string) {
	t.Helper()
	p = consoleProgram(t)
	p.writeFile("w.json", consoleFlow)
	var step struct {
		Session struct{ RunID string }
	}
	p.json(&step, "start", "w.json", "--title", "A run to see")
	p.runPiped(0, "continue", "--run", step.Session.RunID, "--notes", "done")
	p.runPiped(3, "continue", "--run", step.Session.RunID, "--notes", "shipped")
	return p, step.Session.RunID
}

// TestConsoleShowsTheStore: every page, with the commands that a person can type, and the end by a signal.
func TestConsoleShowsTheStore(t *testing.T) {
	t.Parallel()
	p, run := consoleStore(t)
	c := p.console("--log-level", "info")
	for path, wants := range map[string][]string{
		"/runs":                  {run, "A run to see", "blocked", `href="/runs/` + run},
		"/runs?status=complete":  {`data-excluded="status"`},
		"/runs/" + run:           {"waybill approve " + run, "waybill send-back " + run, "First", "Second", `id="integrity"`},
		"/inbox":                 {"waybill approve " + run, "approval"},
		"/proposals":             {"No proposals"},
		"/feedback":              {"0 of 1 annotated"},
		"/doctor":                {`data-check="store"`},
		"/runs/run_nothing":      {`data-code="RUN_NOT_FOUND"`},
		"/proposals/prop_no":     {`data-code="PROPOSAL_NOT_FOUND"`},
		"/nothing":               {`data-code="TARGET_NOT_FOUND"`},
		"/runs?since=yesterdayx": {`data-code="VALIDATION_ERROR"`},
		"/runs?cursor=x":         {`data-code="VALIDATION_ERROR"`},
		"/runs/" + run + "/more": {`data-code="TARGET_NOT_FOUND"`},
	} {
		status, text := c.ask(path)
		want := http.StatusOK
		if strings.HasPrefix(wants[0], "data-code") {
			want = map[bool]int{true: http.StatusNotFound, false: http.StatusBadRequest}[strings.Contains(wants[0], "NOT_FOUND")]
		}
		if status != want || !strings.HasPrefix(text, "<!DOCTYPE html>") {
			t.Errorf("%s: %d %.200s", path, status, text)
		}
		for _, w := range wants {
			if !strings.Contains(text, w) {
				t.Errorf("%s does not have %q:\n%s", path, w, text)
			}
		}
	}
	if _, err := os.Stat(c.File); !os.IsNotExist(err) {
		t.Errorf("the file of a used token: %v", err)
	}
	if status := c.end(); status != 0 {
		t.Errorf("exit %d", status)
	}
	if log := c.log.String(); strings.Contains(log, c.Token) || strings.Contains(log, c.bearer) || !strings.Contains(log, "path=/inbox") {
		t.Errorf("the log:\n%s", log)
	}
}

// TestConsoleCommandsNameTheStore: what a person copies works in the directory of another store.
func TestConsoleCommandsNameTheStore(t *testing.T) {
	t.Parallel()
	p := consoleProgram(t)
	p.writeFile("w.json", consoleFlow)
	p.store = filepath.Join(p.dir, "a store")
	var step struct {
		Session struct{ RunID string }
	}
	p.json(&step, "start", "w.json")
	_, text := p.console().ask("/runs/" + step.Session.RunID)
	if want := "waybill run --store &#39;" + p.store + "&#39; --run " + step.Session.RunID; !strings.Contains(text, want) {
		t.Errorf("no %s in\n%s", want, text)
	}
}

// TestConsoleRefusesAStranger: a program without the token gets no data and one line in the log for each request.
func TestConsoleRefusesAStranger(t *testing.T) {
	t.Parallel()
	p, run := consoleStore(t)
	c := p.console()
	for _, path := range []string{"/runs", "/runs/" + run, "/inbox", "/changes?path=/runs"} {
		answer, err := http.Get(c.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode != 403 || strings.Contains(string(text), "A run to see") {
			t.Errorf("%s: %s %s", path, answer.Status, text)
		}
	}
	if status := c.end(); status != 0 {
		t.Errorf("exit %d:\n%s", status, c.log)
	}
	if n := strings.Count(c.log.String(), "status=403"); n != 4 {
		t.Errorf("%d lines in the log:\n%s", n, c.log)
	}
}

// TestConsoleEndsInTime: after the time of --for, with its file removed.
func TestConsoleEndsInTime(t *testing.T) {
	t.Parallel()
	p, _ := consoleStore(t)
	begun := time.Now()
	out := p.runPiped(0, "console", "--for", "300ms", "--no-open")
	if !strings.Contains(out, "http://127.0.0.1:") || strings.Contains(out, "#token=") {
		t.Error(out)
	}
	if time.Since(begun) < 300*time.Millisecond {
		t.Error("it ended at once")
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if file := strings.TrimSpace(lines[len(lines)-1]); !filepath.IsAbs(file) {
		t.Errorf("no file in %s", out)
	} else if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", file, err)
	}
	for _, wrong := range [][]string{{"--for", "-1s"}, {"--addr", "0.0.0.0:0"}, {"--addr", "x"}, {"extra"}} {
		p.runPiped(2, append([]string{"console", "--no-open"}, wrong...)...)
	}
}

// TestConsoleListsOnePage: of many runs the first ones, with a link to the next page, until all were shown once.
func TestConsoleListsOnePage(t *testing.T) {
	t.Parallel()
	p := consoleProgram(t)
	const all = 120
	if err := big.WriteMany(p.store, all, 1); err != nil {
		t.Fatal(err)
	}
	c := p.console()
	seen := map[string]bool{}
	pages := 0
	for path := "/runs"; path != ""; pages++ {
		_, text := c.ask(path)
		rows := consoleRow().FindAllStringSubmatch(text, -1)
		if len(rows) == 0 || len(rows) > 50 {
			t.Fatalf("%s has %d rows", path, len(rows))
		}
		for _, row := range rows {
			if seen[row[1]] {
				t.Errorf("%s is listed twice", row[1])
			}
			seen[row[1]] = true
		}
		path = ""
		if next := consoleNext().FindStringSubmatch(text); next != nil {
			path = html.UnescapeString(next[1])
		}
	}
	if len(seen) != all || pages != 3 {
		t.Errorf("%d of %d runs on %d pages", len(seen), all, pages)
	}
}

var (
	consoleRow  = expression(`<tr data-run="([^"]*)"`)
	consoleNext = expression(`<a href="([^"]*)">Next page</a>`)
)

// TestConsoleShowsTheDifference: of a proposal that replaces a file of the project, with its lines marked as text too.
func TestConsoleShowsTheDifference(t *testing.T) {
	t.Parallel()
	p := consoleProgram(t)
	if err := os.MkdirAll(filepath.Join(p.dir, ".waybill", "workflows"), 0o700); err != nil {
		t.Fatal(err)
	}
	p.writeFile(filepath.Join(".waybill", "workflows", "w.json"), consoleFlow)
	p.writeFile("new.json", strings.Replace(consoleFlow, `"First"`, `"First <b>of</b> all"`, 1))
	var proposal struct{ ID string }
	p.json(&proposal, "proposals", "create", "new.json", "--title", "Another", "--rationale", "r")
	_, text := p.console().ask("/proposals/" + proposal.ID)
	for _, want := range []string{`<section id="difference"`, `<span class="del">-`, `<span class="add">+`, `First &lt;b&gt;of&lt;/b&gt; all`,
		"waybill proposals approve " + proposal.ID} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// TestConsoleNamesTheCommandOfShow: at a step that needs an approval before and after something was handed in, and for a
// run that is over.
func TestConsoleNamesTheCommandOfShow(t *testing.T) {
	t.Parallel()
	p := consoleProgram(t)
	p.writeFile("w.json", consoleFlow)
	var step struct {
		Session struct{ RunID string }
	}
	p.json(&step, "start", "w.json")
	run := step.Session.RunID
	c := p.console()
	for i, act := range [][]string{{"continue", "--run", run, "--notes", "one"}, {"continue", "--run", run, "--notes", "two"},
		{"runs", "cancel", run, "--reason", "r"}} {
		p.runPiped(map[bool]int{true: 3}[i == 1], act...)
		_, next, named := strings.Cut(p.runPiped(0, "runs", "show", run), "Next: ")
		next, _, _ = strings.Cut(next, "\n")
		next = strings.Replace(next, strings.TrimPrefix(run, "run_")[:8], run, 1)
		_, text := c.ask("/runs/" + run)
		want := `Next: <code class="cmd">` + next + `</code>`
		if has := strings.Contains(text, "Next: <code"); has != named || named && !strings.Contains(text, want) {
			t.Errorf("after %v: show says %q, the console does not:\n%s", act, next, text)
		}
		if (i < 2) != named || named && strings.Contains(next, " approve ") != (i == 1) {
			t.Errorf("after %v: %q", act, next)
		}
	}
}
