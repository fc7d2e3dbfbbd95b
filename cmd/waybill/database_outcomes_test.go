//go:build unix

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/ports/porttest/pgtest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// answer is what a program reads from the JSON of a call.
type answer struct {
	text  string
	state string
	ack   string
	code  string
}

// answer runs a command with --json, whose exit status must be want.
func (m sharing) answer(want int, args ...string) answer {
	m.t.Helper()
	return m.read(m.run(want, append(args, "--json")...))
}

// read reads the JSON of a call.
func (m sharing) read(text string) answer {
	m.t.Helper()
	var doc struct {
		Data  struct{ StateToken, AckToken, RunID string }
		Error struct{ Code string }
	}
	body := text[max(0, strings.LastIndex(text, `{"v":1`)):]
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		m.t.Fatalf("%v: %s", err, text)
	}
	return answer{body, doc.Data.StateToken, doc.Data.AckToken, doc.Error.Code}
}

// advance completes the step that an answer is at.
func (a answer) advance(more ...string) []string {
	return append([]string{"continue", "--state", a.state, "--ack", a.ack}, more...)
}

// events are those of the only run.
func (m sharing) events() string {
	m.t.Helper()
	return m.run(0, "runs", "events", "@last", "--json")
}

// once checks that a step with notes was recorded once, and that the call that recorded it is answered from the log, with the same answer.
func (m sharing) once(notes string, call []string) {
	m.t.Helper()
	first, before := m.answer(0, call...), m.events()
	if second := m.answer(0, call...); second.state != first.state || second.ack != first.ack {
		m.t.Errorf("the same token gets another answer:\n%s\n%s", first.text, second.text)
	}
	if after := m.events(); after != before || strings.Count(after, notes) != 1 {
		m.t.Errorf("%q is recorded %d times in\n%.3000s", notes, strings.Count(after, notes), after)
	}
	if out := m.run(0, "verify"); !strings.Contains(out, "no findings") {
		m.t.Errorf("verify: %s", out)
	}
}

// begin starts a command, and returns what waits for its exit status and what it prints.
func (m sharing) begin(args ...string) (wait func() (string, int)) {
	m.t.Helper()
	cmd := exec.Command("waybill", args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "HOME="+m.dir, "XDG_CONFIG_HOME="+filepath.Join(m.dir, "config"), "WAYBILL_STORE="+m.store, "WAYBILL_HOME=")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		m.t.Fatal(err)
	}
	return func() (string, int) { _ = cmd.Wait(); return out.String(), cmd.ProcessState.ExitCode() }
}

// replicas sets the replicas that commits wait for, which there are none of; "": they wait for none.
func (d *database) replicas(names string) {
	d.sql("alter system set synchronous_standby_names = '"+names+"'", "select pg_reload_conf()")
	d.await("t", "select current_setting('synchronous_standby_names') = '"+names+"'")
}

// await waits until a query has a result.
func (d *database) await(want, query string) {
	d.t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		out, err := d.server.Text(query)
		if err == nil && strings.Join(out, " ") == want {
			return
		}
		if time.Now().After(end) {
			d.t.Fatalf("%s: %v, %v", query, out, err)
		}
	}
}

// awaitingReplica is how many connections wait for a replica.
const awaitingReplica = "select count(*) from pg_stat_activity where wait_event = 'SyncRep'"

// TestCancelledCommit: the administrator cancels the commit of a step while it waits for a replica. The server commits it where it is, and
// says so in a warning. The command does not take it for recorded, and waits for what the replicas have.
func TestCancelledCommit(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, func(*database) error { return nil })
	m, a := d.team()
	d.replicas("absent")
	wait := m.begin(a.advance("--notes", "cancelled commit", "--json")...)
	d.await("1", awaitingReplica)
	d.sql("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'")
	// The next one that waits is the barrier behind which the command looks what was recorded.
	d.await("1", "select count(*) from pg_stat_activity where wait_event = 'SyncRep' and query like '%commit%' and pid <> pg_backend_pid()")
	d.replicas("")
	out, status := wait()
	if got := m.read(out); status != 0 || got.state == "" {
		t.Errorf("exit status %d: %s", status, out)
	}
	m.once("cancelled commit", a.advance("--notes", "cancelled commit"))
}

// TestCommitThatWaits: no replica answers for longer than a command waits. The answer is that the outcome is unknown; when there are
// replicas again, the same token gets the answer that was recorded.
func TestCommitThatWaits(t *testing.T) {
	if !sample.Exhaustive() {
		t.Skip("a command waits 35 seconds for its commit: for WAYBILL_EXHAUSTIVE")
	}
	t.Parallel()
	d := newDatabase(t, func(*database) error { return nil })
	m, a := d.team()
	d.replicas("absent")
	out, status := m.begin(a.advance("--notes", "a long wait", "--json")...)()
	if got := m.read(out); status != 5 || got.code != "STORE_OUTCOME_UNKNOWN" {
		t.Errorf("exit status %d: %s", status, out)
	}
	if !strings.Contains(out, "same token again") {
		t.Errorf("what to do is not in %s", out)
	}
	d.replicas("")
	m.once("a long wait", a.advance("--notes", "a long wait"))
}

// TestLostConnections cuts the connection of a call at each message in both directions: some of them, and all in an exhaustive run.
// The call says that nothing was recorded, and nothing was, or it gives its answer; the same token gets the same answer once.
func TestLostConnections(t *testing.T) {
	t.Parallel()
	store, _ := sharedStore(t)
	proxy, err := pgtest.NewProxy(pgtest.Current())
	if err != nil {
		t.Fatal(err)
	}
	defer proxy.Close()
	m := newMachine(t, store)
	through := m
	if through.store, err = proxy.Through(store); err != nil {
		t.Fatal(err)
	}
	a := m.answer(0, "start", "flow.json")
	proxy.Watch(-1, false)
	through.answer(0, a.advance("--notes", "counted")...)
	messages, recorded := proxy.Count(), 0
	some := sample.OneIn(t, 300)
	for cut := range messages {
		for _, forward := range []bool{false, true} {
			if !some.Try() {
				continue
			}
			notes := "cut at " + strconv.Itoa(cut) + " " + strconv.FormatBool(forward)
			a = m.answer(0, "start", "flow.json")
			call, before := a.advance("--notes", notes), m.events()
			proxy.Watch(cut, forward)
			out, status := through.begin(append(call, "--json")...)()
			proxy.Watch(-1, false)
			got, after := through.read(out), m.events()
			switch {
			case status == 0 && after != before:
				recorded++
			case status == 4 && got.code == "STORE_UNREACHABLE" && after == before:
			case status == 5 && (got.code == "STORE_ANSWER_UNREAD" && after != before || got.code == "STORE_OUTCOME_UNKNOWN"):
			default:
				t.Errorf("%s: exit status %d, changed: %v: %s", notes, status, after != before, out)
			}
			if status != 0 && jargon.MatchString(out) {
				t.Errorf("%s: %s", notes, out)
			}
			m.once(notes, call)
		}
	}
	if recorded == 0 {
		t.Error("no call was recorded: its connection is cut too early")
	}
}

// TestReplica: a replica is not used, where it is the only server of the address; beside the primary it is passed over.
func TestReplica(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster of two servers")
	}
	t.Parallel()
	pgtest.Shared(t)
	c, err := pgtest.NewCluster(2)
	if c != nil {
		t.Cleanup(c.Remove)
	}
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, c.URL("team", 1, nil))
	m.run(0, "store", "init")
	m.run(0, "start", "flow.json")
	before := m.events()
	replica := newMachine(t, c.Nodes[1].URL("team"))
	for _, args := range [][]string{{"runs", "list"}, {"start", "flow.json"}, {"store", "init"}} {
		out := replica.run(4, args...)
		if !strings.Contains(out, "is a replica, and no primary server answers [STORE_UNREACHABLE]") || !strings.Contains(out, "Name the primary server in --store") {
			t.Errorf("%v: %s", args, out)
		}
	}
	if out := replica.run(1, "store", "check"); !strings.Contains(out, "is a replica") {
		t.Errorf("store check: %s", out)
	}
	if after := m.events(); after != before {
		t.Errorf("the run has changed to %s", after)
	}
}

// TestRestoredDatabase: a backup is restored that is older than what was acknowledged. Tokens of what is missing say so, nothing is
// overwritten, and what was pushed elsewhere comes back from there, byte for byte.
func TestRestoredDatabase(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, func(*database) error { return nil })
	m, started := d.team()
	backup := func() {
		t.Helper()
		d.server.Stop(false)
		if err := d.server.Copied("backup"); err != nil {
			t.Fatal(err)
		}
		if err := d.server.Start(); err != nil {
			t.Fatal(err)
		}
	}
	run := regexp.MustCompile("run_[a-z2-7]{26}").FindString(m.run(0, "runs", "list", "--json"))
	backup()
	call := started.advance("--notes", "after the backup")
	acknowledged := m.answer(0, call...)
	later := m.answer(0, "start", "flow.json", "--title", "Later")
	mirror := newMachine(t, "")
	mirror.store = filepath.Join(mirror.dir, "own")
	mirror.run(0, "pull", run, "--from", m.store, "--accept")
	history := m.run(0, "runs", "events", run, "--json")
	backup() // restores it
	for _, tt := range []struct {
		what, code string
		call       []string
	}{
		{"a token of a step that is missing", "TOKEN_UNKNOWN_NODE", acknowledged.advance("--notes", "on top")},
		{"a token of a run that is missing", "TOKEN_UNKNOWN_NODE", later.advance("--notes", "on top")},
	} {
		got := m.answer(6, tt.call...)
		if got.code != tt.code || !strings.Contains(got.text, "backup") {
			t.Errorf("%s: %s", tt.what, got.text)
		}
	}
	if out := m.run(0, "runs", "events", run, "--json"); strings.Contains(out, "after the backup") {
		t.Fatalf("the backup was not restored: %s", out)
	}
	// The copy is ahead. It is not replaced by what is older, and gives back what is missing.
	if out := mirror.run(0, "pull", run, "--from", m.store, "--accept"); !strings.Contains(out, "Nothing was written") {
		t.Errorf("a pull of what is older: %s", out)
	}
	mirror.run(0, "push", run, "--to", m.store, "--accept")
	if out := m.run(0, "runs", "events", run, "--json"); out != history {
		t.Errorf("the history that was pushed back is\n%s\nwant\n%s", out, history)
	}
	if got := m.answer(0, call...); got.state != acknowledged.state {
		t.Errorf("the token from before the backup gets %s, want the answer that was acknowledged: %s", got.text, acknowledged.text)
	}
	// Without the copy, the run continues in another way, and the copy says that it differs.
	backup()
	m.run(0, started.advance("--notes", "another way")...)
	if got := mirror.code(1, "push", run, "--to", m.store, "--accept"); got != "SESSION_DIVERGED" {
		t.Errorf("a push of another history: %s", got)
	}
	if out := m.run(0, "verify"); !strings.Contains(out, "no findings") {
		t.Errorf("verify: %s", out)
	}
}
