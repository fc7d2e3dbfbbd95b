//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/waybill/waybill/infra/httpserver/clienttest"
)

// allScopes are the scopes of the key of most tests.
const allScopes = "manifest:read,runs:create,runs:read,runs:cancel,feedback:write,proposals:author,packs:publish,approvals:respond"

// served is a server in a process of its own, which is killed and started again.
type served struct {
	program
	flags []string
	key   string

	mu  sync.Mutex
	cmd *exec.Cmd
	url string
}

// servedFlow has commands that take a moment, so that a kill hits one.
const servedFlow = `{"id":"test.served","name":"Served","description":"d","version":"1.0.0","steps":[
 {"id":"one","title":"One","action":{"kind":"command","argv":["sh","-c","sleep 0.1; echo \"$1\"","sh","{{who}}"]},"outputs":{"word":"stdout"}},
 {"id":"two","title":"Two","action":{"kind":"command","argv":["sleep","0.1"]}}]}`

// serveAt starts a server of a new store, with a key and trust in the workflow.
func serveAt(t *testing.T, workflow string, flags ...string) *served {
	t.Helper()
	dir := t.TempDir()
	s := &served{program: program{t, dir, filepath.Join(dir, "home", "local")}, flags: flags}
	if workflow != "" {
		if err := os.MkdirAll(filepath.Join(dir, ".waybill", "workflows"), 0o700); err != nil {
			t.Fatal(err)
		}
		s.writeFile(filepath.Join(".waybill", "workflows", "w.json"), workflow)
		s.atTerminal(0, "y", "trust", filepath.Join(".waybill", "workflows", "w.json"))
	}
	s.key = keyOn(t, s.atTerminal(0, "y", "serve", "keys", "add", "all", "--scope", allScopes))
	s.start()
	t.Cleanup(s.kill)
	return s
}

// start starts the server, and waits until it listens.
func (s *served) start() {
	s.t.Helper()
	cmd := s.command(append([]string{"serve"}, s.flags...)...)
	cmd.Stderr = &bytes.Buffer{}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Error(err)
		return
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	var doc struct {
		V    int
		Kind string
		Data struct{ URL string }
	}
	if err := json.Unmarshal([]byte(line), &doc); err != nil || doc.Kind != "serve" || doc.V != 1 {
		s.t.Errorf("the server printed %q: %v", line, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cmd, s.url = cmd, doc.Data.URL
}

// kill ends the server as a power cut does.
func (s *served) kill() {
	s.mu.Lock()
	cmd := s.cmd
	s.mu.Unlock()
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// client is a client of the server, wherever it listens.
func (s *served) client() *clienttest.Client {
	return &clienttest.Client{Key: func() string { return s.key }, Pause: 10 * time.Millisecond, URL: func() string {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.url
	}}
}

// leg performs a part of a walk. killed: the server is killed at a random moment of it and started again.
func (s *served) leg(name string, killed bool, act func() error) {
	s.t.Helper()
	done := make(chan struct{})
	if killed {
		go func() {
			defer close(done)
			time.Sleep(time.Duration(rand.IntN(60)) * time.Millisecond)
			s.kill()
			s.start()
		}()
	} else {
		close(done)
	}
	if err := act(); err != nil {
		s.t.Errorf("%s: %v", name, err)
	}
	<-done
}

// TestServedWalk: a client that knows only the protocol discovers the host, creates a run, follows, cancels and annotates
// runs, and lists, revises and applies a proposal that the command line made; and the same while the server is killed in
// each part.
func TestServedWalk(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprintf("killed %t", killed), func(t *testing.T) {
			t.Parallel()
			walkServed(t, killed)
		})
	}
}

func walkServed(t *testing.T, killed bool) {
	s := serveAt(t, servedFlow, "--fixtures")
	c, ctx := s.client(), context.Background()
	s.writeFile("check.json", checkProposal)
	draft := s.createProposal("check.json")
	s.leg("discover", killed, func() error {
		doc, err := c.Discover(ctx)
		if err == nil && (doc["protocolVersion"] != "1.1" || doc["fixtures"] == nil) {
			err = fmt.Errorf("%v", doc)
		}
		return err
	})
	var run string
	body := clienttest.Object{"workflowId": "test.served", "inputs": clienttest.Object{"who": "you"}, "tags": []string{"a"}}
	s.leg("create", killed, func() (err error) {
		run, _, err = c.Create(ctx, "create", body)
		return err
	})
	if again, reply, err := c.Create(ctx, "create", body); err != nil || again != run || !reply.Replayed {
		t.Errorf("created again: %s, then %s, %v", run, again, err)
	}
	var seen []string
	s.leg("stream", killed, func() error {
		_, err := c.Stream(ctx, run, clienttest.StreamOptions{Mode: "debug"}, func(m clienttest.Message) error {
			if m.ID != "" {
				seen = append(seen, m.ID)
			}
			return nil
		})
		return err
	})
	for i, at := range seen {
		if at != fmt.Sprint(i) {
			t.Fatalf("the sequences of the stream are %v", seen)
		}
	}
	if state, err := c.Run(ctx, run); err != nil || state["status"] != "completed" ||
		state["variables"].(map[string]any)["word"] != "you" {
		t.Errorf("%v %v", state, err)
	}
	if all, err := c.Events(ctx, run, ""); err != nil || len(all) != len(seen) || len(seen) == 0 {
		t.Errorf("%d events, the stream had %d, %v", len(all), len(seen), err)
	}
	s.leg("cancel", killed, func() error {
		long, _, err := c.Create(ctx, "long", clienttest.Object{"workflowId": "conformance-cancellable"})
		if err == nil {
			_, err = c.Cancel(ctx, "cancel", long, "enough")
		}
		if err == nil {
			_, err = c.PollAll(ctx, long)
		}
		if err != nil {
			return err
		}
		if state, err := c.Run(ctx, long); err != nil || state["status"] != "cancelled" {
			return fmt.Errorf("%v %v", state, err)
		}
		return nil
	})
	s.leg("annotate", killed, func() error {
		_, err := c.Annotate(ctx, "note", run, clienttest.Object{"signal": clienttest.Object{"kind": "rating", "rating": 4},
			"target": clienttest.Object{"nodeId": "two"}, "note": "Bearer abcdefghijklmnopqrstuvwxyz0123456789"})
		return err
	})
	notes, err := c.Annotations(ctx, run)
	if err != nil || len(notes) != 1 || notes[0]["target"].(map[string]any)["nodeId"] != "two" ||
		strings.Contains(fmt.Sprint(notes), "abcdefghij") {
		t.Errorf("annotations: %v, %v", notes, err)
	}
	s.leg("proposals", killed, func() error { return s.reviseAndApply(c, draft) })
	// A server that is killed behind an annotation leaves its line of the audit log to the next act.
	if out := s.runPiped(0, "verify"); !strings.Contains(out, "✓") && !(killed && strings.Contains(out, "no errors") &&
		strings.Count(out, "warning ") == strings.Count(out, "audit_incomplete")) {
		t.Error(out)
	}
}

// reviseAndApply changes a proposal, has a person approve it, and applies it.
func (s *served) reviseAndApply(c *clienttest.Client, draft string) error {
	ctx := context.Background()
	if all, err := c.Proposals(ctx, "draft", ""); err != nil || len(all) != 1 || all[0]["id"] != draft {
		return fmt.Errorf("%v %v", all, err)
	}
	if out, err := c.Revise(ctx, "revise", draft, clienttest.Object{"title": "Another title"}); err != nil ||
		out.Body["title"] != "Another title" || out.Body["state"] != "revised" {
		return fmt.Errorf("revise: %v %v", out.Body, err)
	}
	out, err := c.Apply(ctx, "apply", draft)
	if err != nil || out.Status != 202 {
		return fmt.Errorf("applied without approval: %d %v", out.Status, err)
	}
	s.atTerminal(0, "y", "proposals", "approve", draft)
	if _, err := c.Apply(ctx, "apply-approved", draft); err != nil && !strings.Contains(err.Error(), "409") {
		return err
	}
	p, err := c.Proposal(ctx, draft)
	if err != nil || p["state"] != "applied" {
		return fmt.Errorf("%v %v", p, err)
	}
	return nil
}

// varying are the parts of events that two runs of one workflow do not share: ids, digests of them, times and actors.
var varying = expression(`(?:sess|run|node|evt|attempt|out|gap|chg|trace|ctx)_[a-z2-7]{26}|sha256:[0-9a-f]{64}|` +
	`"timestampMs":\d+|"actor":\{[^}]*\}|"byteLength":\d+`)

// eventsOf are the stored events of a run, without what varies and without observations of the folder.
func (s *served) eventsOf(run string) []string {
	s.t.Helper()
	var doc struct{ Events []json.RawMessage }
	s.json(&doc, "runs", "events", run)
	var out []string
	for _, e := range doc.Events {
		if !strings.Contains(string(e), "observation_recorded") {
			out = append(out, varying().ReplaceAllString(string(e), "x"))
		}
	}
	return out
}

// TestServedLogEqualsThatOfRun: a run that is created over HTTP has the events of one that 'waybill run' performs.
func TestServedLogEqualsThatOfRun(t *testing.T) {
	t.Parallel()
	s := serveAt(t, servedFlow)
	c, ctx := s.client(), context.Background()
	run, _, err := c.Create(ctx, "", clienttest.Object{"workflowId": "test.served", "inputs": clienttest.Object{"who": "you"}})
	if err == nil {
		_, err = c.PollAll(ctx, run)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.runPiped(0, "run", "test.served", "--set", "who=you")
	var list struct{ Runs []struct{ RunID string } }
	s.json(&list, "runs", "list")
	other := list.Runs[0].RunID
	if other == run {
		other = list.Runs[1].RunID
	}
	if got, want := s.eventsOf(run), s.eventsOf(other); !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("over HTTP:\n%s\nby run:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestServedRunsNeedTrust: a workflow whose commands no person has trusted is refused before anything is written, and so is
// one with steps that the host does not perform.
func TestServedRunsNeedTrust(t *testing.T) {
	t.Parallel()
	s := serveAt(t, servedFlow, "--fixtures")
	c, ctx := s.client(), context.Background()
	s.writeFile(filepath.Join(".waybill", "workflows", "u.json"), strings.ReplaceAll(servedFlow, "test.served", "test.untrusted"))
	s.writeFile(filepath.Join(".waybill", "workflows", "h.json"), `{"id":"test.host","name":"H","description":"d","version":"1.0.0",
		"steps":[{"id":"a","title":"A","action":{"kind":"host","typeId":"core.ai.callPrompt"}}]}`)
	for id, want := range map[string]string{"test.untrusted": "403", "test.host": "400 capability_required", "test.none": "404"} {
		if _, _, err := c.Create(ctx, "k-"+id, clienttest.Object{"workflowId": id}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", id, err, want)
		}
	}
	// The code of the program, which the envelope has beside that of the protocol.
	var e *clienttest.Error
	if _, _, err := c.Create(ctx, "again", clienttest.Object{"workflowId": "test.host"}); !errors.As(err, &e) ||
		!strings.Contains(fmt.Sprintf("%+v", *e), "CAPABILITY_REQUIRED") {
		t.Errorf("%+v", err)
	}
	if out := s.runPiped(0, "runs", "list", "--json"); strings.Contains(out, "run_") {
		t.Error(out)
	}
}

// TestServedRunContinuesAfterAPerson: a run waits for an approval at a terminal, and the server continues it then; a command
// that failed is not performed again by the server, also after it is started again.
func TestServedRunContinuesAfterAPerson(t *testing.T) {
	t.Parallel()
	s := serveAt(t, `{"id":"test.fails","name":"F","description":"d","version":"1.0.0","steps":[
 {"id":"f","title":"F","action":{"kind":"command","argv":["sh","-c","echo x >>tried; test -e allowed"]}}]}`)
	c, ctx := s.client(), context.Background()
	s.writeFile(filepath.Join(".waybill", "workflows", "g.json"), `{"id":"test.gate","name":"G","description":"d","version":"1.0.0","steps":[
		{"id":"gate","title":"G","action":{"kind":"host","typeId":"core.noop"},"requireConfirmation":{"kind":"human_approval"}}]}`)
	gate, _, err := c.Create(ctx, "gate", clienttest.Object{"workflowId": "test.gate"})
	if err != nil {
		t.Fatal(err)
	}
	failing, _, err := c.Create(ctx, "fails", clienttest.Object{"workflowId": "test.fails"})
	if err != nil {
		t.Fatal(err)
	}
	s.until(c, gate, "waiting-approval")
	s.until(c, failing, "waiting-input")
	s.approve(gate)
	if _, err := c.PollAll(ctx, gate); err != nil {
		t.Error(err)
	}
	s.until(c, gate, "completed")
	s.kill()
	s.start()
	if _, err := c.PollAll(ctx, gate); err != nil {
		t.Error(err)
	}
	tried, _ := os.ReadFile(filepath.Join(s.dir, "tried"))
	if string(tried) != "x\n" {
		t.Errorf("the command was tried %d times", strings.Count(string(tried), "x"))
	}
	s.writeFile("allowed", "")
	s.runPiped(0, "run", "--run", failing)
	s.until(c, failing, "completed")
}

// approve approves the pending step of a run at a terminal, as soon as it has outputs to approve.
func (s *served) approve(run string) {
	s.t.Helper()
	for range 100 {
		if out, err := withPerson(exec.Command("waybill", "approve", run, "--store", s.store), "y"); err == nil {
			return
		} else if time.Sleep(20 * time.Millisecond); !strings.Contains(string(out), "error") {
			s.t.Logf("%s", out)
		}
	}
	s.t.Error("the run takes no approval")
}

// until waits for a state of a run.
func (s *served) until(c *clienttest.Client, run, want string) {
	s.t.Helper()
	for range 500 {
		state, err := c.Run(context.Background(), run)
		if err != nil {
			s.t.Fatal(err)
		}
		if state["status"] == want {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Errorf("run %s does not become %s", run, want)
}

// TestServedCallersShareNoIdempotencyKey: two keys of one store that send the same request with the same idempotency key are
// two callers, each with an answer of its own.
func TestServedCallersShareNoIdempotencyKey(t *testing.T) {
	t.Parallel()
	s := serveAt(t, "", "--fixtures")
	c, ctx := s.client(), context.Background()
	other := keyOn(t, s.atTerminal(0, "y", "serve", "keys", "add", "other", "--scope", allScopes))
	d := &clienttest.Client{URL: c.URL, Key: func() string { return other }, Pause: c.Pause}
	mine, _, err := c.Create(ctx, "k", clienttest.Object{"workflowId": "conformance-noop"})
	if err != nil {
		t.Fatal(err)
	}
	if theirs, reply, err := d.Create(ctx, "k", clienttest.Object{"workflowId": "conformance-noop"}); err != nil || theirs == mine ||
		reply.Replayed {
		t.Errorf("create: %s and %s, %v", mine, theirs, err)
	}
	for _, caller := range []*clienttest.Client{c, d, c, d} {
		if _, err := caller.Annotate(ctx, "k", mine, clienttest.Object{"signal": clienttest.Object{"kind": "flag"}}); err != nil {
			t.Error(err)
		}
	}
	if notes, err := c.Annotations(ctx, mine); err != nil || len(notes) != 2 {
		t.Errorf("%d annotations of two callers, %v", len(notes), err)
	}
}

// TestServedTenants: of two stores that one server has, a key of one finds nothing of the other by any id.
func TestServedTenants(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	home := filepath.Join(dir, "home")
	keys := map[string]string{}
	for _, tenant := range []string{"a", "b"} {
		p := program{t, dir, filepath.Join(home, tenant)}
		keys[tenant] = keyOn(t, p.atTerminal(0, "y", "serve", "keys", "add", "all", "--scope", allScopes))
	}
	cmd := exec.Command("waybill", "serve", "--fixtures", "--tenant", "a", "--tenant", "b")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "WAYBILL_HOME="+home)
	cmd.Stderr = &bytes.Buffer{}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	line, _ := bufio.NewReader(out).ReadString('\n')
	url := regexp.MustCompile(`http://[^"]+`).FindString(line)
	of := func(tenant string) *clienttest.Client {
		return &clienttest.Client{URL: func() string { return url }, Key: func() string { return keys[tenant] }}
	}
	ctx := context.Background()
	mine, _, err := of("a").Create(ctx, "k", clienttest.Object{"workflowId": "conformance-noop"})
	if err != nil {
		t.Fatal(err)
	}
	theirs, _, err := of("b").Create(ctx, "k", clienttest.Object{"workflowId": "conformance-noop"})
	if err != nil || mine == theirs {
		t.Errorf("the same idempotency key in two stores: %s and %s, %v", mine, theirs, err)
	}
	if _, err := of("a").PollAll(ctx, mine); err != nil {
		t.Error(err)
	}
	b := of("b")
	_, errRun := b.Run(ctx, mine)
	_, errEvents := b.Events(ctx, mine, "")
	_, errCancel := b.Cancel(ctx, "x", mine, "")
	_, errNote := b.Annotate(ctx, "y", mine, clienttest.Object{"signal": clienttest.Object{"kind": "flag"}})
	_, errNotes := b.Annotations(ctx, mine)
	for what, err := range map[string]error{"run": errRun, "events": errEvents, "cancel": errCancel, "annotate": errNote, "annotations": errNotes} {
		if err == nil || !strings.Contains(err.Error(), "404") {
			t.Errorf("%s of another tenant: %v", what, err)
		}
	}
}
