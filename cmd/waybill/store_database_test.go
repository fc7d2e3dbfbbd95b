//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/waybill/waybill/ports/porttest/pgtest"
)

// sharing is a machine with a store that others may share: a directory with the home and the settings of its user.
type sharing struct {
	t     *testing.T
	dir   string
	store string   // its $WAYBILL_STORE
	env   []string // further variables
}

// newMachine returns a machine with a workflow of two steps, of which the second one is a command.
func newMachine(t *testing.T, store string) sharing {
	t.Helper()
	m := sharing{t: t, dir: t.TempDir(), store: store}
	flow := `{"id":"team.two","name":"Two","description":"d","version":"1.0.0","steps":[{"id":"one","title":"One","prompt":"p"},
		{"id":"two","title":"Two","prompt":"p","action":{"kind":"command","argv":["echo","hello"]}}]}`
	if err := os.WriteFile(filepath.Join(m.dir, "flow.json"), []byte(flow), 0o600); err != nil {
		t.Fatal(err)
	}
	return m
}

// command is a command that is not started yet.
func (m sharing) command(args ...string) *exec.Cmd { return m.process("waybill", args...) }

// process is command for another program than waybill.
func (m sharing) process(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), "HOME="+m.dir, "XDG_CONFIG_HOME="+filepath.Join(m.dir, "config"), "WAYBILL_STORE="+m.store, "WAYBILL_HOME=")
	cmd.Env = append(cmd.Env, m.env...)
	return cmd
}

// run runs a command and returns what it prints. The exit status must be want.
func (m sharing) run(want int, args ...string) string {
	m.t.Helper()
	return m.program(want, "waybill", args...)
}

// program is run for another program than waybill.
func (m sharing) program(want int, name string, args ...string) string {
	m.t.Helper()
	cmd := m.process(name, args...)
	out, _ := cmd.CombinedOutput()
	if got := cmd.ProcessState.ExitCode(); got != want {
		m.t.Fatalf("%v: exit status %d, want %d:\n%s", args, got, want, out)
	}
	return string(out)
}

// code returns the error code of a command that fails.
func (m sharing) code(want int, args ...string) string {
	m.t.Helper()
	var doc struct{ Error struct{ Code string } }
	text := m.run(want, append(args, "--json")...)
	text = text[max(0, strings.LastIndex(text, `{"v":1`)):] // what a run shows is before it, on stderr
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		m.t.Fatalf("%v: %v: %s", args, err, text)
	}
	return doc.Error.Code
}

// sharedStore makes a store in a database and returns its URL, and its schema with a point.
func sharedStore(t *testing.T) (store, schema string) {
	t.Helper()
	store = pgtest.URL(t)
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	if out := newMachine(t, store).run(0, "store", "init"); !strings.Contains(out, "Created the tables of a store, version 1") {
		t.Fatalf("init: %s", out)
	}
	return store, `"` + u.Query().Get("schema") + `".`
}

// sql runs a statement behind the back of the program.
func sql(t *testing.T, statement string) []string {
	t.Helper()
	out, err := pgtest.Current().Text(statement)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestTwoMachinesShareAStore: what one machine records the other one sees and continues; trust is of the machine that gave it, and a
// row cannot give it.
func TestTwoMachinesShareAStore(t *testing.T) {
	t.Parallel()
	store, schema := sharedStore(t)
	a, b := newMachine(t, store), newMachine(t, store)
	a.run(0, "start", "flow.json", "--title", "Shared")
	if out := b.run(0, "runs", "list"); !strings.Contains(out, "Shared") {
		t.Errorf("the other machine lists %s", out)
	}
	b.run(0, "continue", "--run", "@last", "--notes", "done by b", "--as", "bea")
	if out := a.run(0, "runs", "show", "@last"); !strings.Contains(out, "done by b") {
		t.Errorf("the run is %s", out)
	}
	if out := a.run(0, "runs", "events", "@last"); !strings.Contains(out, `"ref":"bea"`) {
		t.Errorf("the events are %s", out)
	}
	if got := b.code(3, "run", "--run", "@last"); got != "WORKFLOW_UNTRUSTED" {
		t.Errorf("a command that is not trusted: %s", got)
	}
	// What a program with the role of the store writes into it is no trust.
	sql(t, "insert into "+schema+"controls (place, content) values ('trust.json', convert_to('{}', 'UTF8'))")
	if got := b.code(3, "run", "--run", "@last"); got != "WORKFLOW_UNTRUSTED" {
		t.Errorf("with trust in the database: %s", got)
	}
	sql(t, "delete from "+schema+"controls where place = 'trust.json'")
	if out := a.run(0, "verify"); !strings.Contains(out, "no findings") {
		t.Errorf("verify: %s", out)
	}
	if got := sql(t, "select count(*) from "+schema+"controls where place = 'config.json'"); got[0] != "0" {
		t.Errorf("the database has %s files of settings", got[0])
	}
}

// TestStoreOfAnotherVersion: a store that is no store, or of another version, says so, and nothing is changed.
func TestStoreOfAnotherVersion(t *testing.T) {
	t.Parallel()
	store, schema := sharedStore(t)
	m := newMachine(t, store)
	m.run(0, "start", "flow.json")
	sql(t, "update "+schema+"waybill set version = 99")
	for _, args := range [][]string{{"runs", "list"}, {"start", "flow.json"}, {"store", "init"}} {
		if got := m.code(1, args...); got != "STORE_NEWER" {
			t.Errorf("a newer store, %v: %s", args, got)
		}
	}
	if out := m.run(1, "store", "check"); !strings.Contains(out, "Use a newer version of Waybill") {
		t.Errorf("check of a newer store: %s", out)
	}
	sql(t, "update "+schema+"waybill set version = 0")
	if got := m.code(2, "runs", "list"); got != "STORE_INVALID" {
		t.Errorf("an older store: %s", got)
	}
	absent := newMachine(t, pgtest.URL(t))
	if got := absent.code(6, "runs", "list"); got != "TARGET_NOT_FOUND" {
		t.Errorf("no store: %s", got)
	}
	u, err := url.Parse(absent.store)
	if err != nil {
		t.Fatal(err)
	}
	sql(t, `create schema "`+u.Query().Get("schema")+`" create table other (n int)`)
	if got := absent.code(1, "store", "init"); got != "STORE_FOREIGN" {
		t.Errorf("a schema of another program: %s", got)
	}
	gone := newMachine(t, "postgres:///postgres?host=/nowhere&user=waybill")
	if got := gone.code(4, "runs", "list"); got != "STORE_UNREACHABLE" {
		t.Errorf("no server: %s", got)
	}
	secret := newMachine(t, "postgres://waybill:hunter2@localhost/postgres")
	for _, args := range [][]string{{"runs", "list"}, {"due", "--print-timer"}, {"trailer", "--print-hook", "--store", secret.store}, {"store", "check"}, {"store", "init"}} {
		if out := secret.run(2, args...); strings.Contains(out, "hunter2") || !strings.Contains(out, "has a password") {
			t.Errorf("%v, with a password in the address: %s", args, out)
		}
	}
}

// TestRolesOfAStore: a writer writes, a reader reads, and what each may not do is refused by name.
func TestRolesOfAStore(t *testing.T) {
	t.Parallel()
	store, _ := sharedStore(t)
	owner := newMachine(t, store)
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	as := func(name string) sharing {
		role := name + "_" + q.Get("schema")
		sql(t, `create role "`+role+`" login`)
		q.Set("user", role)
		u.RawQuery = q.Encode()
		return newMachine(t, u.String())
	}
	writer, reader, other := as("writer"), as("reader"), as("other")
	owner.run(0, "store", "init", "--writer", "writer_"+q.Get("schema"), "--reader", "reader_"+q.Get("schema"))
	writer.run(0, "start", "flow.json", "--title", "Written")
	writer.run(0, "continue", "--run", "@last", "--notes", "done")
	if out := reader.run(0, "runs", "show", "@last"); !strings.Contains(out, "Written") {
		t.Errorf("a reader sees %s", out)
	}
	reader.run(0, "verify")
	if got := reader.code(1, "start", "flow.json"); got != "STORE_READ_ONLY" {
		t.Errorf("a reader that writes: %s", got)
	}
	if out := reader.run(0, "store", "check"); !strings.Contains(out, "may read only") {
		t.Errorf("check of a reader: %s", out)
	}
	if got := other.code(1, "runs", "list"); got != "STORE_READ_ONLY" {
		t.Errorf("another role: %s", got)
	}
}

// TestSharedStoreExchanges: a session is pushed to a database, continued there, and pulled: the log is the same bytes in both.
func TestSharedStoreExchanges(t *testing.T) {
	t.Parallel()
	store, _ := sharedStore(t)
	local, far := newMachine(t, ""), newMachine(t, store)
	local.store = filepath.Join(local.dir, "own")
	local.run(0, "start", "flow.json", "--title", "Travels")
	local.run(0, "push", "@last", "--to", store)
	far.run(0, "continue", "--run", "@last", "--notes", "done in the database")
	if got := local.code(3, "pull", "@last", "--from", store); got == "" {
		t.Error("a pull without --accept has no error")
	}
	local.run(0, "pull", "@last", "--from", store, "--accept")
	here, there := local.run(0, "runs", "events", "@last", "--json"), far.run(0, "runs", "events", "@last", "--json")
	if here != there || !strings.Contains(here, "done in the database") {
		t.Errorf("here\n%s\nthere\n%s", here, there)
	}
	for _, m := range []sharing{local, far} {
		if out := m.run(0, "verify"); !strings.Contains(out, "no findings") {
			t.Errorf("verify: %s", out)
		}
	}
	if out := local.run(0, "push", "@last", "--to", store); !strings.Contains(out, "Nothing was written") {
		t.Errorf("a second push: %s", out)
	}
	far.run(0, "export", "@last", "-o", "far.bundle")
	local.run(0, "export", "@last", "-o", "local.bundle")
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("the independent verifier is not asked: there is no python3")
	}
	bundle := filepath.Join(far.dir, "far.bundle")
	for _, args := range [][]string{{"verify.py", local.store}, {"bundle.py", bundle, filepath.Join(local.dir, "local.bundle"), "--against", local.store}} {
		out, err := exec.Command(python, append([]string{"-SB", "../../testdata/independent/" + args[0]}, args[1:]...)...).CombinedOutput()
		if err != nil || strings.Contains(string(out), "error ") {
			t.Errorf("the independent verifier, %v: %v: %s", args, err, out)
		}
	}
	// It reads them: a changed byte is found.
	data, err := os.ReadFile(bundle)
	if err == nil {
		err = os.WriteFile(bundle, bytes.Replace(data, []byte("done in the database"), []byte("done in the databasE"), 1), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(python, "-SB", "../../testdata/independent/bundle.py", bundle).CombinedOutput(); err == nil {
		t.Errorf("a changed bundle: %s", out)
	}
}

// TestAuditOfSharedSettings: the audit log of what a machine has set for a store is verified with the one of the store.
func TestAuditOfSharedSettings(t *testing.T) {
	t.Parallel()
	store, _ := sharedStore(t)
	m := newMachine(t, store)
	m.run(0, "start", "flow.json")
	m.program(0, "person", "y", "waybill", "trust", "flow.json")
	if out := m.run(0, "audit", "verify"); !strings.Contains(out, "no errors") {
		t.Errorf("audit verify: %s", out)
	}
	logs, err := filepath.Glob(filepath.Join(m.dir, "config/waybill/stores/*/audit/manifest.jsonl"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("the audit logs of the machine are %v, %v", logs, err)
	}
	data, err := os.ReadFile(logs[0])
	if err == nil {
		data[len(data)/2] ^= 1
		err = os.WriteFile(logs[0], data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out := m.run(5, "audit", "verify"); !strings.Contains(out, "the settings of this machine: ") {
		t.Errorf("audit verify of a changed log: %s", out)
	}
}

// TestSeamsOfSharedStores: test seams are refused before anything connects.
func TestSeamsOfSharedStores(t *testing.T) {
	t.Parallel()
	m := newMachine(t, "postgres:///postgres?host=/nowhere&user=waybill")
	if out := m.run(2, "serve", "--test-seams"); !strings.Contains(out, "other machines share") {
		t.Errorf("test seams: %s", out)
	}
}
