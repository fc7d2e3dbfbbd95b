//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/waybill/waybill/ports/porttest/pgtest"
)

// errNoPatroni reports a machine without the programs.
var errNoPatroni = errors.New("there are no programs patroni and etcd; on Debian: apt-get install patroni etcd-server")

// The faults of a cluster that fails over by itself.
const (
	serverOnly kind = "server of the primary killed, its Patroni continues"
	atPatroni  kind = "primary frozen with its Patroni, continued behind the promotion"
	atMachine  kind = "primary killed with its Patroni"
	waited     kind = "no other node promoted for minutes, until the lost one came back"
	restarted  kind = "Patroni started again on all nodes, since no replica was synchronous for minutes"
)

// ofPatroniOnly are these kinds.
var ofPatroniOnly = []kind{atMachine, serverOnly, atPatroni}

// patroni is a cluster of nodes that Patroni runs, with one etcd and strict synchronous mode.
type patroni struct {
	*chaos
	dir, bin string
	id       *syscall.Credential
	etcd     *exec.Cmd
	store    int // the port of etcd
	all      []*member
}

// member is one node.
type member struct {
	name       string
	port, rest int
	cmd        *exec.Cmd // Patroni
}

// ofPatroni makes and starts such a cluster.
func ofPatroni() (cluster, error) {
	for _, name := range []string{"patroni", "etcd"} {
		if _, err := exec.LookPath(name); err != nil {
			return nil, errNoPatroni
		}
	}
	bin, id, err := pgtest.Installed()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "wbpt")
	if err == nil && id != nil {
		err = os.Chown(dir, int(id.Uid), int(id.Gid))
	}
	c := &patroni{chaos: &chaos{out: os.Stdout, counts: map[kind]int{}}, dir: dir, bin: bin, id: id}
	if err != nil {
		return c, err
	}
	ports, err := freePorts(2 + 2*nodes)
	if err != nil {
		return c, err
	}
	c.store = ports[0]
	at, peer := address(ports[0]), address(ports[1])
	if c.etcd, err = c.begin("etcd", "--data-dir", filepath.Join(dir, "etcd"), "--listen-client-urls", at, "--advertise-client-urls", at,
		"--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", "default="+peer, "--logger=zap"); err != nil {
		return c, err
	}
	for i := range nodes {
		m := &member{name: "n" + strconv.Itoa(i+1), port: ports[2+2*i], rest: ports[3+2*i]}
		c.all = append(c.all, m)
		if err := c.start(m); err != nil {
			return c, err
		}
	}
	return c, c.await(context.Background())
}

// address is the one of a port, for programs.
func address(port int) string { return "http://127.0.0.1:" + strconv.Itoa(port) }

// freePorts returns ports that nothing listens on.
func freePorts(n int) (out []int, err error) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out, nil
}

// begin starts a program with a log of its own, as the user of the servers.
func (c *patroni) begin(name string, args ...string) (*exec.Cmd, error) {
	log, err := os.OpenFile(filepath.Join(c.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, log, log
	cmd.Env = []string{"PATH=" + c.bin + ":" + os.Getenv("PATH"), "HOME=" + c.dir, "LC_ALL=C.UTF-8"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c.id, Setpgid: true}
	return cmd, cmd.Start()
}

// settings are the configuration of a node.
const settings = `{"scope": "waybill", "name": %[1]q, "restapi": {"listen": "127.0.0.1:%[3]d", "connect_address": "127.0.0.1:%[3]d"},
"etcd3": {"host": "127.0.0.1:%[4]d"},
"bootstrap": {"dcs": {"ttl": 20, "loop_wait": 1, "retry_timeout": 3, "synchronous_mode": true, "synchronous_mode_strict": true,
  "postgresql": {"use_pg_rewind": true, "use_slots": true, "parameters": {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on",
    "max_connections": 200, "shared_buffers": "32MB", "wal_keep_size": "512MB"}}},
  "initdb": [{"encoding": "UTF8"}, {"locale": "C.UTF-8"}, "data-checksums"]},
"postgresql": {"listen": "127.0.0.1:%[2]d", "connect_address": "127.0.0.1:%[2]d", "data_dir": "%[5]s/%[1]s", "bin_dir": %[6]q,
  "pgpass": "%[5]s/%[1]s.pgpass", "parameters": {"unix_socket_directories": %[5]q},
  "authentication": {"superuser": {"username": "waybill"}, "replication": {"username": "waybill"}, "rewind": {"username": "waybill"}},
  "pg_hba": ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]}}`

// start starts Patroni, which starts the server of its node.
func (c *patroni) start(m *member) (err error) {
	path := filepath.Join(c.dir, m.name+".yml")
	text := fmt.Sprintf(settings, m.name, m.port, m.rest, c.store, c.dir, c.bin)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		return err
	}
	m.cmd, err = c.begin("patroni", path)
	return err
}

// processes are the server of a node with its children, and Patroni itself if with.
func (c *patroni) processes(m *member, with bool) (out []int) {
	if with && m.cmd != nil {
		out = append(out, m.cmd.Process.Pid)
	}
	state, _ := os.ReadFile(filepath.Join(c.dir, m.name, "postmaster.pid"))
	first, _, _ := strings.Cut(string(state), "\n")
	pid, err := strconv.Atoi(first)
	if program, _ := os.Readlink("/proc/" + first + "/exe"); err != nil || filepath.Base(program) != "postgres" {
		return out
	}
	children, _ := os.ReadFile("/proc/" + first + "/task/" + first + "/children")
	out = append(out, pid)
	for _, one := range strings.Fields(string(children)) {
		if n, err := strconv.Atoi(one); err == nil {
			out = append(out, n)
		}
	}
	return out
}

// signal sends a signal to processes of a node.
func (c *patroni) signal(m *member, with bool, sig syscall.Signal) {
	for _, pid := range c.processes(m, with) {
		_ = syscall.Kill(pid, sig)
	}
	if with && sig == syscall.SIGKILL && m.cmd != nil {
		_ = m.cmd.Wait()
		m.cmd = nil
	}
}

// role is what Patroni says about a node, by its HTTP interface.
func (m *member) role() (role, state string) {
	client := http.Client{Timeout: time.Second}
	res, err := client.Get(address(m.rest) + "/patroni")
	if err != nil {
		return "", ""
	}
	defer res.Body.Close()
	body, _ := io.ReadAll(res.Body)
	var doc struct {
		Role, State string
		Sync        bool `json:"sync_standby"`
	}
	_ = json.Unmarshal(body, &doc)
	if doc.Sync {
		doc.Role = "sync"
	}
	return doc.Role, doc.State
}

// patience is how long the cluster may take to have a primary, and all replicas, again.
const patience = 90 * time.Second

// leader waits for a primary that is not the one that was lost; nil: for any.
func (c *patroni) leader(ctx context.Context, lost *member) (*member, error) {
	for end := time.Now().Add(patience); time.Now().Before(end) && ctx.Err() == nil; pause(ctx, 100*time.Millisecond) {
		for _, m := range c.all {
			if role, state := m.role(); m != lost && (role == "master" || role == "primary") && state == "running" {
				return m, nil
			}
		}
	}
	return nil, fmt.Errorf("no node is the primary: %s", c.logs())
}

// await waits until one node is the primary, one its synchronous replica, and all run.
func (c *patroni) await(ctx context.Context) error {
	seen := map[string]int{}
	for end := time.Now().Add(patience); time.Now().Before(end) && ctx.Err() == nil; pause(ctx, 100*time.Millisecond) {
		running := 0
		clear(seen)
		for _, m := range c.all {
			role, state := m.role()
			if seen[role+" "+state]++; state == "running" || state == "streaming" {
				running++
			}
		}
		if seen["master running"]+seen["primary running"] == 1 && seen["sync running"]+seen["sync streaming"] == 1 && running == len(c.all) {
			return nil
		}
	}
	return fmt.Errorf("the nodes do not come back, they are %v: %s", seen, c.logs())
}

// logs are the ends of the logs of the nodes.
func (c *patroni) logs() string {
	const most = 1500
	b, _ := os.ReadFile(filepath.Join(c.dir, "patroni.log"))
	return string(b[max(0, len(b)-most):])
}

// run implements cluster. Of a round it takes the pauses and the kind of its loss.
func (c *patroni) run(ctx context.Context, rounds []round) error {
	start := time.Now()
	for i, r := range rounds {
		pause(ctx, r.before+r.between)
		old, err := c.leader(ctx, nil)
		if err != nil {
			return err
		}
		what := map[kind]kind{frozen: atPatroni, revived: serverOnly, lagging: serverOnly}[r.loss]
		if what == none {
			what = atMachine
		}
		c.counts[what]++
		lost := time.Now()
		if err := c.lose(ctx, old, what, r); err != nil {
			return err
		}
		c.promoted += time.Since(lost)
		err = c.await(ctx)
		if err != nil { // a Patroni that does not find its replica again is what an administrator starts again
			fmt.Fprintln(c.out, err)
			c.counts[restarted]++
			err = c.restart(ctx)
		}
		if err != nil {
			return fmt.Errorf("round %d (%s): %w", i+1, what, err)
		}
		fmt.Fprintf(c.out, "%4d of %d  %5.0f s  %s\n", i+1, len(rounds), time.Since(start).Seconds(), what)
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// restart starts Patroni again on all nodes. The servers continue.
func (c *patroni) restart(ctx context.Context) error {
	for _, m := range c.all {
		_ = m.cmd.Process.Kill()
		_ = m.cmd.Wait()
		if err := c.start(m); err != nil {
			return err
		}
	}
	return c.await(ctx)
}

// lose ends or freezes the primary, and returns when there is one again.
func (c *patroni) lose(ctx context.Context, old *member, what kind, r round) error {
	switch what {
	case serverOnly: // Patroni starts it again, or another one is promoted
		c.signal(old, false, syscall.SIGKILL)
		pause(ctx, r.lossFor)
		_, err := c.leader(ctx, nil)
		return err
	case atPatroni:
		c.signal(old, true, syscall.SIGSTOP)
		err := c.replaced(ctx, old)
		pause(ctx, r.lossFor)
		c.signal(old, true, syscall.SIGCONT)
		return err
	}
	c.signal(old, true, syscall.SIGKILL)
	err := c.replaced(ctx, old)
	pause(ctx, r.lossFor)
	return errors.Join(err, c.start(old))
}

// replaced waits for another primary. There is none where the lost one did not know a synchronous replica: then no node is known to have
// all that was acknowledged, and the lost one has to come back.
func (c *patroni) replaced(ctx context.Context, old *member) error {
	if _, err := c.leader(ctx, old); err != nil {
		c.counts[waited]++
	}
	return ctx.Err()
}

// URL implements cluster.
func (c *patroni) URL(schema string, first int, settings url.Values) string {
	var hosts []string
	for i := range c.all {
		hosts = append(hosts, "127.0.0.1:"+strconv.Itoa(c.all[(first+i)%len(c.all)].port))
	}
	q := url.Values{"schema": {schema}}
	for name, value := range settings {
		q[name] = value
	}
	return "postgres://waybill@" + strings.Join(hosts, ",") + "/postgres?" + q.Encode()
}

// Remove implements cluster.
func (c *patroni) Remove() {
	for _, m := range c.all {
		c.signal(m, true, syscall.SIGKILL)
	}
	if c.etcd != nil && c.etcd.Process != nil {
		_ = c.etcd.Process.Kill()
		_ = c.etcd.Wait()
	}
	_ = os.RemoveAll(c.dir)
}
