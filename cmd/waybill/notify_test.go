//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/cmd/waybill/cli/notify"
	"github.com/waybill/waybill/ports"
)

// notified collects notifications in place of the command. It implements ports.Notifier.
type notified struct {
	mu      sync.Mutex
	all     []ports.Notification
	outcome ports.CommandOutcome
	waited  func()
}

func (n *notified) Notify(_ context.Context, one ports.Notification, report func(ports.CommandOutcome)) {
	n.mu.Lock()
	n.all = append(n.all, one)
	n.mu.Unlock()
	report(n.outcome)
}

func (n *notified) Wait() {
	if n.waited != nil {
		n.waited()
	}
}

// sent are the kinds and statuses of the notifications since the last call. Each document must be valid.
func (n *notified) sent(t *testing.T) (out []string) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, one := range n.all {
		if err := validDocument(one.Document); err != nil {
			t.Error(err)
		}
		var doc struct {
			Kind string
			Data struct{ Kind, Status, RunID, Title string }
		}
		if err := json.Unmarshal(one.Document, &doc); err != nil || doc.Kind != "notify" {
			t.Errorf("%s: %v", one.Document, err)
		}
		if one.Env["WAYBILL_RUN_ID"] != doc.Data.RunID || one.Env["WAYBILL_STATUS"] != doc.Data.Status ||
			!slices.Equal(one.Argv, []string{"tell", "me"}) {
			t.Errorf("%q with %q for %s", one.Argv, one.Env, one.Document)
		}
		out = append(out, doc.Data.Kind+" "+doc.Data.Status)
	}
	n.all = nil
	return out
}

// notifying is a store with a command of notifications, in which calls are made in this process.
func notifying(t *testing.T, files map[string]string) (p program, n *notified,
	call func(want int, args ...string) (string, string)) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	p = program{t, dir, filepath.Join(dir, "store")}
	t.Chdir(dir)
	for name, text := range files {
		p.writeFile(name, text)
	}
	p.configure("notify", `["tell","me"]`)
	n = &notified{}
	return p, n, func(want int, args ...string) (string, string) {
		t.Helper()
		var out, errOut bytes.Buffer
		n.waited = func() {
			if out.Len() == 0 {
				t.Errorf("%q: the command was waited for before the answer", args)
			}
		}
		a := &cli.App{Process: cli.Process{In: strings.NewReader(""), Out: &out, Err: &errOut,
			Args: append(args, "--store", p.store), Env: os.Environ(), Notifications: notify.New(n), Clock: time.Now, Entropy: rand.Reader}}
		if status := a.Execute(newRoot(a)); status != want {
			t.Fatalf("%q: exit status %d\n%s%s", args, status, &out, &errOut)
		}
		return out.String(), errOut.String()
	}
}

const waitingFlows = `{"id":"test.%[1]s","name":"F","description":"d","version":"1.0.0","steps":[%[2]s]}`

// TestNotifications: each kind of fact is reported, and what is no fact is not.
func TestNotifications(t *testing.T) {
	flow := func(id, steps string) string { return fmt.Sprintf(waitingFlows, id, steps) }
	p, n, call := notifying(t, map[string]string{
		"work.json": flow("work", `{"id":"a","title":"A","prompt":"p","notesRequired":true}`),
		"ask.json": flow("ask", `{"id":"a","title":"A","prompt":"p","inputs":[{"contextKey":"k",
			"reason":"needs_user_choice","choiceKind":"scope_boundary","description":"d"}]}`),
		"ship.json": flow("ship", `{"id":"a","title":"A","prompt":"p","requireConfirmation":{"kind":"human_approval"}}`),
		"wait.json": flow("wait", `{"id":"a","title":"A","action":{"kind":"wait","for":"300d"}}`),
		"fail.json": flow("fail", `{"id":"a","title":"A","action":{"kind":"command","argv":["false"]}}`),
	})
	expect := func(what string, want ...string) {
		t.Helper()
		if got := n.sent(t); !slices.Equal(got, want) {
			t.Errorf("%s: sent %q, want %q", what, got, want)
		}
	}
	call(0, "start", "work.json")
	expect("work of an agent")
	call(3, "continue", "--run", "@last", "--done")
	expect("refused", "blocked blocked")
	call(3, "continue", "--run", "@last", "--done")
	expect("refused again")
	call(0, "checkpoint", "--run", "@last", "--notes", "n")
	expect("checkpoint")
	call(0, "continue", "--run", "@last", "--notes", "n")
	expect("complete", "complete complete")

	call(0, "start", "ask.json", "--title", "\x1b[31m\u202e`rm -rf /`\";$(x)")
	text := string(n.all[0].Document)
	if strings.ContainsAny(text, "\x1b\u202e") ||
		!strings.Contains(text, `\u001b[31m\u202e`+"`rm -rf /`"+`\";$(x)`) {
		t.Errorf("%q", text)
	}
	expect("question", "question in_progress")
	call(0, "runs", "cancel", "@last", "--reason", "r")
	expect("cancelled")

	call(0, "start", "ship.json")
	expect("nothing is handed in")
	call(3, "continue", "--run", "@last", "--notes", "n")
	expect("approval", "approval blocked")
	p.atTerminal(0, "y", "deny", "--reason", "r") // another process: its command is "tell", which does not exist
	call(1, "deny", "--reason", "r")
	expect("denied already")

	call(0, "start", "wait.json")
	expect("wait", "wait in_progress")
	call(1, "run", "fail.json", "--trust")
	expect("command", "failed blocked")
	call(1, "run", "--run", "@last", "fail.json", "--trust")
	expect("command again", "failed blocked")

	call(0, "export", "@last", "-o", "away.json")
	call(0, "import", "away.json", "--as-new")
	expect("imported")
}

// TestFailureOfACommandDisturbsNothing: answer and exit status are as without a command. A failure is a diagnostic,
// without secrets, after the answer.
func TestFailureOfACommandDisturbsNothing(t *testing.T) {
	_, n, call := notifying(t, map[string]string{"ask.json": fmt.Sprintf(waitingFlows, "ask",
		`{"id":"a","title":"A","prompt":"p","requireConfirmation":true}`)})
	without, _ := call(0, "start", "ask.json", "--key", "k", "--json")
	if n.sent(t) == nil {
		t.Fatal("nothing was sent")
	}
	n.outcome = ports.CommandOutcome{ExitStatus: 3, OutputBytes: 99,
		OutputTail: "token ghp_" + strings.Repeat("a1", 18) + "\x1b[2J"}
	again, errs := call(0, "start", "ask.json", "--key", "k", "--json")
	if again != without || errs != "" || n.sent(t) != nil {
		t.Errorf("a repeated call: %s%s", again, errs)
	}
	out, errs := call(0, "start", "ask.json", "--json")
	if !strings.HasPrefix(out, `{"v":1,"kind":"step",`) || strings.Contains(out, "ghp_") {
		t.Error(out)
	}
	if !strings.Contains(errs, "the command of notifications ended") || !strings.Contains(errs, "exit=3") ||
		strings.Contains(errs, "ghp_a1") || strings.Contains(errs, "\x1b[2J") {
		t.Errorf("%q", errs)
	}
	n.outcome = ports.CommandOutcome{}
	if _, errs = call(0, "start", "ask.json"); errs != "" {
		t.Errorf("a command that succeeds: %q", errs)
	}
	t.Setenv("WAYBILL_NOTIFY", "1")
	n.sent(t)
	if call(0, "start", "ask.json"); n.sent(t) != nil {
		t.Error("what a command calls notifies")
	}
}

// TestDoorsNotify: what agents, servers and concurrent processes record is reported once. A command that hangs delays none of
// them.
func TestDoorsNotify(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	tell := filepath.Join(dir, "tell")
	if err := os.WriteFile(tell, []byte("#!/bin/sh\ncat >> \"$0.documents\"\nexec sleep 20\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	documents := func(want int) string {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			text, _ := os.ReadFile(tell + ".documents")
			if n := bytes.Count(text, []byte("\n")); n == want {
				return string(text)
			} else if n > want || time.Now().After(end) {
				t.Fatalf("%d documents, want %d:\n%s", n, want, text)
			}
		}
	}
	s := serveAt(t, fmt.Sprintf(waitingFlows, "guided", `{"id":"a","title":"A","prompt":"p","requireConfirmation":true}`))
	s.configure("notify", `["`+tell+`"]`)

	began := time.Now()
	c := s.agent()
	one := c.tool("start_workflow", `{"workflowId":"test.guided"}`)
	if took := time.Since(began); one.Kind != "step" || took > 5*time.Second {
		t.Errorf("%s after %s", one.raw, took)
	}
	documents(1)
	c.ends()

	scenario{t, s, s.key}.create("test.guided", nil)
	if text := documents(2); strings.Count(text, `"kind":"confirmation"`) != 2 {
		t.Error(text)
	}

	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			if out, err := s.command("continue", "--state", one.Data.StateToken, "--ack", one.Data.AckToken, "--json",
				"--lock-wait", "20s").CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	all.Wait()
	if text := documents(3); !strings.Contains(text, `"kind":"complete"`) {
		t.Error(text)
	}
}
