//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Cluster is a primary server with standbys in one directory, which differ by their ports. A commit is answered when the primary and any
// one standby have it on their disks.
//
// FailOver keeps what is acknowledged. It does what every such cluster has to do: all standbys stop following the old primary before one
// of them is promoted, and that is the one that has the most of the log, so all of them are asked.
type Cluster struct {
	Nodes    []*Server
	Primary  int      // the index of the node that was promoted last
	settings []string // of all nodes
}

// patience is how long a cluster waits for a state that it brought about.
const patience = 90 * time.Second

// NewCluster makes and starts a cluster of n nodes with further settings. The caller calls Remove at the end, also behind an error if the
// cluster is not nil.
func NewCluster(n int, settings ...string) (*Cluster, error) {
	first, err := newServer("n1", "--data-checksums") // pg_rewind needs them
	if err != nil {
		return nil, err
	}
	c := &Cluster{Nodes: []*Server{first}, settings: append([]string{"fsync=on", "full_page_writes=on", "synchronous_commit=on",
		"wal_retrieve_retry_interval=200ms", "max_wal_size=256MB"}, settings...)}
	if runtime.GOOS == "linux" {
		c.settings = append(c.settings, "recovery_init_sync_method=syncfs")
	}
	for i := 1; i < n; i++ {
		next := *first
		next.name, next.port = "n"+strconv.Itoa(i+1), firstPort+i
		c.Nodes = append(c.Nodes, &next)
	}
	// Also for the recovery by pg_rewind, which needs the log that a node has before its last checkpoint.
	if err := first.configure("wal_keep_size = '512MB'"); err != nil {
		return c, err
	}
	if err := c.Start(0); err != nil {
		return c, err
	}
	for i := 1; i < n; i++ {
		if err := c.copy(i); err != nil {
			return c, err
		}
	}
	return c, nil
}

// configure adds a line to the settings in the files of a server, which a copy has too.
func (s *Server) configure(line string) error {
	f, err := os.OpenFile(filepath.Join(s.Data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(f, line)
	return errors.Join(err, f.Close())
}

// Start starts a node that does not run. It is what its files say: a standby, or a primary with the history that it had.
func (c *Cluster) Start(i int) error {
	var others []string
	for j, one := range c.Nodes {
		if j != i {
			others = append(others, one.name)
		}
	}
	settings := c.settings
	if len(others) > 0 {
		settings = append(settings[:len(settings):len(settings)], "synchronous_standby_names=ANY 1 ("+strings.Join(others, ", ")+")")
	}
	return c.Nodes[i].Start(settings...)
}

// follow makes a node a standby of the primary, from its next reading of its settings on; nil: it is detached.
func (c *Cluster) follow(i int, primary *Server) error {
	n, text := c.Nodes[i], ""
	if primary != nil {
		text = fmt.Sprintf("primary_conninfo = 'host=%s port=%d user=waybill application_name=%s'\n", n.dir, primary.port, n.name)
	}
	for name, text := range map[string]string{"postgresql.auto.conf": text, "standby.signal": ""} {
		path := filepath.Join(n.Data(), name)
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), n.owned(path)); err != nil {
			return err
		}
	}
	return nil
}

// turn is follow for a node that runs.
func (c *Cluster) turn(i int, primary *Server) error {
	if err := c.follow(i, primary); err != nil {
		return err
	}
	return c.Nodes[i].Signal(syscall.SIGHUP)
}

// Text runs a query on a node, and returns its rows, a line each, with the columns separated by |.
func (s *Server) Text(sql string) (out []string, err error) {
	cmd := s.command("psql", "-XAtq", "-h", s.dir, "-p", strconv.Itoa(s.port), "-U", "waybill", "-d", "postgres", "-c", sql)
	cmd.Env = append(cmd.Env, "PGCONNECT_TIMEOUT=10", "PGOPTIONS=-c default_transaction_read_only=off -c statement_timeout="+strconv.FormatInt(patience.Milliseconds(), 10))
	b, err := cmd.CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("psql: %w: %s", err, b)
	}
	return strings.Fields(string(b)), nil
}

// await waits until a query on a node returns one row, which is true.
func (s *Server) await(what, sql string) error {
	for end := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		out, err := s.Text(sql)
		if err == nil && len(out) == 1 && out[0] == "t" {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%s is not %s (%q, %w): %s", s.name, what, out, err, s.Log())
		}
	}
}

// Follows waits until a standby follows the primary.
func (c *Cluster) Follows(i int) error {
	return c.Nodes[c.Primary].await("followed by "+c.Nodes[i].name,
		"select count(*) > 0 from pg_stat_replication where state = 'streaming' and application_name = '"+c.Nodes[i].name+"'")
}

// FailOver promotes the standby that has the most of the log of the primary, which must not answer any more or be frozen, and lets the
// others follow it. All standbys run.
func (c *Cluster) FailOver() error {
	best, most := -1, uint64(0)
	for i, n := range c.Nodes {
		if i == c.Primary {
			continue
		}
		if err := c.turn(i, nil); err != nil {
			return err
		}
		// It receives nothing, and waits for something to follow: it has replayed what it has on its disk.
		err := n.await("detached", "select current_setting('primary_conninfo') = '' and (select count(*) = 0 from pg_stat_wal_receiver) "+
			"and (select wait_event = 'RecoveryRetrieveRetryInterval' from pg_stat_activity where backend_type = 'startup')")
		if err != nil {
			return err
		}
	}
	for i, n := range c.Nodes {
		if i == c.Primary {
			continue
		}
		at, err := n.Text("select (greatest(pg_last_wal_receive_lsn(), pg_last_wal_replay_lsn()) - '0/0')::text")
		if err != nil {
			return err
		}
		if lsn, err := strconv.ParseUint(strings.Join(at, ""), 10, 64); err != nil {
			return err
		} else if lsn > most {
			best, most = i, lsn
		}
	}
	if _, err := c.Nodes[best].Text("select pg_promote(true, 60)"); err != nil {
		return err
	}
	if err := c.Nodes[best].await("promoted", "select not pg_is_in_recovery()"); err != nil {
		return err
	}
	old := c.Primary
	c.Primary = best
	for i := range c.Nodes {
		if i == old || i == best {
			continue
		}
		if err := c.turn(i, c.Nodes[best]); err != nil {
			return err
		}
		if err := c.Follows(i); err != nil {
			return err
		}
	}
	return nil
}

// Rewind makes a node that was a primary and was killed a standby of the present one. What it has beyond the history of that is discarded.
// Where that is not possible, or if copied, it gets a copy of all files.
func (c *Cluster) Rewind(i int, copied bool) (wasCopied bool, err error) {
	n, primary := c.Nodes[i], c.Nodes[c.Primary]
	if !copied {
		// Before its first checkpoint the files of a new primary do not show its history.
		if _, err := primary.Text("checkpoint"); err != nil {
			return false, err
		}
		err := n.do("pg_rewind", "-D", n.Data(), "--no-sync", "--source-server",
			fmt.Sprintf("host=%s port=%d user=waybill dbname=postgres", n.dir, primary.port))
		if err == nil {
			return false, c.attach(i)
		}
	}
	return true, c.copy(i)
}

// copy makes a node a standby of the primary with a copy of its files.
func (c *Cluster) copy(i int) error {
	n, primary := c.Nodes[i], c.Nodes[c.Primary]
	if err := os.RemoveAll(n.Data()); err != nil {
		return err
	}
	err := n.do("pg_basebackup", "-D", n.Data(), "-h", n.dir, "-p", strconv.Itoa(primary.port), "-U", "waybill",
		"-X", "stream", "-c", "fast", "--no-sync")
	if err != nil {
		return err
	}
	return c.attach(i)
}

// attach starts a node that does not run as a standby of the primary.
func (c *Cluster) attach(i int) error {
	if err := c.follow(i, c.Nodes[c.Primary]); err != nil {
		return err
	}
	if err := c.Start(i); err != nil {
		return err
	}
	return c.Follows(i)
}

// URL returns the address of a schema of the cluster with further settings. The node with the index first is in front.
func (c *Cluster) URL(schema string, first int, settings url.Values) string {
	var hosts, ports []string
	for i := range c.Nodes {
		n := c.Nodes[(first+i)%len(c.Nodes)]
		hosts, ports = append(hosts, n.dir), append(ports, strconv.Itoa(n.port))
	}
	q := url.Values{"host": {strings.Join(hosts, ",")}, "port": {strings.Join(ports, ",")}, "user": {"waybill"}, "schema": {schema}}
	for name, value := range settings {
		q[name] = value
	}
	return "postgres:///postgres?" + q.Encode()
}

// Remove ends all nodes and removes their files.
func (c *Cluster) Remove() {
	for _, n := range c.Nodes {
		n.Kill()
	}
	c.Nodes[0].Remove()
}
