//go:build unix

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/ports/porttest/pgtest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// database is a server of a test, with a store in the schema "team".
type database struct {
	t      *testing.T
	server *pgtest.Server
	port   int // of 127.0.0.1; 0: it has a socket only
}

// newDatabase starts a server of the test, behind what prepare does to its files.
func newDatabase(t *testing.T, prepare func(*database) error, settings ...string) *database {
	t.Helper()
	pgtest.Shared(t) // skips the test where there are no programs of a server
	s, err := pgtest.New()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Remove)
	d := &database{t: t, server: s}
	if err = prepare(d); err == nil {
		err = s.Start(settings...)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// sql runs a statement as the administrator.
func (d *database) sql(statements ...string) {
	d.t.Helper()
	for _, one := range statements {
		if _, err := d.server.Text(one); err != nil {
			d.t.Fatal(err)
		}
	}
}

// team is the store on the server: a machine that uses it, with a run that waits at its first step.
func (d *database) team() (m sharing, started answer) {
	d.t.Helper()
	m = newMachine(d.t, d.server.URL("team"))
	m.run(0, "store", "init")
	return m, m.answer(0, "start", "flow.json")
}

// listening lets a server listen, and gives it a certificate of another name, which no authority signed.
func listening(d *database) (err error) {
	if d.port, err = d.server.Listen(); err != nil {
		return err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	cert := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "other"}, DNSNames: []string{"other.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	if err != nil {
		return err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return d.server.Encrypt(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// badInput is a database that cannot be used as it is.
type badInput struct {
	name, url string
	env       []string
	before    []string // statements, with what they change undone by after
	after     []string
}

// badInputs are the databases that cannot be used; closed is a port at which nothing listens, silent one that never answers.
func (d *database) badInputs(closed, silent int) []badInput {
	team := d.server.URL("team")
	as := func(role string) string { return strings.Replace(team, "user=waybill", "user="+role, 1) }
	tcp := func(role string, port int, more string) string {
		return "postgres://" + role + "@127.0.0.1:" + strconv.Itoa(port) + "/postgres?schema=team" + more
	}
	schema := func(name string, statements ...string) badInput {
		return badInput{url: d.server.URL(name), before: append([]string{"create schema " + name, "set search_path = " + name}, statements...)}
	}
	named := func(name string, b badInput) badInput { b.name = name; return b }
	marker := "create table %s.waybill (one boolean primary key default true, version bigint not null)"
	return []badInput{
		{name: "no socket", url: "postgres:///postgres?host=/nowhere&user=waybill&schema=team"},
		{name: "wrong port", url: tcp("open", closed, "")},
		{name: "two hosts without a server", url: "postgres://open@127.0.0.1:" + strconv.Itoa(closed) + ",127.0.0.1:" + strconv.Itoa(closed) + "/postgres"},
		{name: "a server that never answers", url: tcp("open", silent, "&connect_timeout=1")},
		{name: "no password", url: tcp("keyed", d.port, "")},
		{name: "wrong password", url: tcp("keyed", d.port, ""), env: []string{"PGPASSWORD=hunter2"}},
		{name: "no such role", url: tcp("absent", d.port, ""), env: []string{"PGPASSWORD=hunter2"}},
		{name: "no such database", url: strings.Replace(team, "/postgres?", "/absent?", 1)},
		{name: "a certificate of another name", url: tcp("open", d.port, "&sslmode=verify-full")},
		{name: "sslmode without verification", url: "postgres://open@db.example.org/postgres?sslmode=require"},
		{name: "a replica by choice", url: tcp("open", d.port, "&target_session_attrs=any")},
		{name: "an unknown parameter", url: tcp("open", d.port, "&colour=red")},
		{name: "too many connections", url: as("crowded"), before: []string{"create role crowded login connection limit 0"}},
		{name: "a role without rights", url: as("outsider")},
		{name: "a role that may read only", url: as("reader")},
		{name: "a role of read-only transactions", url: as("still")},
		{name: "a read-only server", url: team, before: []string{"alter database postgres set default_transaction_read_only = on"},
			after: []string{"alter database postgres reset default_transaction_read_only"}},
		named("no schema", badInput{url: d.server.URL("absent")}),
		named("tables of another program", schema("foreigner", "create table foreigner.other (n int)")),
		named("a table of another program with our name", schema("namesake", "create table namesake.waybill (name text)")),
		named("a version without tables", schema("half", fmt.Sprintf(marker, "half"), "insert into half.waybill values (true, 1)")),
		named("tables without a version", schema("blank", fmt.Sprintf(marker, "blank"))),
		named("tables without the one with the version", schema("headless", "create table headless.logs (n int)", "create table headless.groups (n int)")),
		{name: "a version that no store has", url: team, before: []string{"update team.waybill set version = 0"}, after: []string{"update team.waybill set version = 1"}},
		{name: "a newer store", url: team, before: []string{"update team.waybill set version = 99"}, after: []string{"update team.waybill set version = 1"}},
	}
}

// TestDatabaseInputs: for each database that cannot be used, a table has what commands print. They end in time, none of them prints a
// password or words of the client library, and the store is as before. It tries some, and all in an exhaustive run.
func TestDatabaseInputs(t *testing.T) {
	t.Parallel()
	d := newDatabase(t, listening)
	d.sql("create role open login superuser", "create role keyed login password '"+pgtest.PasswordOf+"'", "create role outsider login",
		"create role reader login", "create role still login", "alter role still set default_transaction_read_only = on")
	m, _ := d.team()
	m.run(0, "store", "init", "--reader", "reader", "--writer", "still")
	before := m.run(0, "runs", "list", "--json")
	mute, err := net.Listen("tcp", "127.0.0.1:0") // its connections are not accepted
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed, silent := gone.Addr().(*net.TCPAddr).Port, mute.Addr().(*net.TCPAddr).Port
	_ = gone.Close()

	known := strings.NewReplacer(d.server.Socket(), "/DIRECTORY", strconv.Itoa(d.port), "PORT", strconv.Itoa(closed), "CLOSED", strconv.Itoa(silent), "SILENT")
	const golden = "testdata/database-inputs.golden"
	printed, _ := os.ReadFile(golden)
	isTried, all := func() bool { return true }, ""
	if !*update {
		isTried = sample.OneIn(t, 6).Try
	}
	for _, in := range d.badInputs(closed, silent) {
		if !isTried() {
			continue
		}
		d.sql(in.before...)
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n", in.name)
		for _, line := range []string{"runs list", "start flow.json", "store check", "store init"} {
			out, status := d.print(in, m.dir, strings.Fields(line))
			if jargon.MatchString(out) || strings.Contains(out, "hunter2") || strings.Contains(out, pgtest.PasswordOf) {
				t.Errorf("%s: %s: %s", in.name, line, out)
			}
			fmt.Fprintf(&b, "$ waybill %s\n%sexit %d\n", line, normal(known.Replace(out)), status)
		}
		b.WriteString("\n")
		d.sql(in.after...)
		all += b.String()
		if !*update && !strings.Contains(string(printed), b.String()) {
			t.Errorf("%s does not have:\n%s", golden, b.String())
		}
	}
	if *update || sample.Exhaustive() {
		current(t, golden, all)
	}
	if after := m.run(0, "runs", "list", "--json"); after != before {
		t.Errorf("the store has changed from %s to %s", before, after)
	}
}

// jargon matches words of the client library and of the language.
var jargon = regexp.MustCompile("SQLSTATE|dial |failed to|`|pq:|pgconn|EOF|x509|tls:|conn closed|context deadline|write failed|broken pipe")

// print runs a command over a database that cannot be used; it is ended when it takes too long.
func (d *database) print(in badInput, dir string, args []string) (string, int) {
	d.t.Helper()
	m := newMachine(d.t, in.url)
	cmd := exec.CommandContext(d.t.Context(), "waybill", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+m.dir, "XDG_CONFIG_HOME="+m.dir, "WAYBILL_STORE="+in.url, "WAYBILL_HOME=", "PGPASSFILE="+m.dir+"/none", "PGPASSWORD=")
	cmd.Env = append(cmd.Env, in.env...)
	late := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	out, _ := cmd.CombinedOutput()
	return string(out), cmd.ProcessState.ExitCode()
}

// ofRun matches what differs from run to run: ids, times, and the version of the server.
var ofRun = regexp.MustCompile(`(store|run)_[a-z2-7]{26}|PostgreSQL [0-9.]+( \([^)]*\))?|[0-9.]+ ms|(in progress .*) (now|[0-9]+ [a-z]+)`)

// normal replaces it.
func normal(text string) string { return ofRun.ReplaceAllString(text, "$1$3…") }
