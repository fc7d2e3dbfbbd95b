//go:build unix

// Package pgtest starts PostgreSQL servers for tests: on a socket in a temporary directory, with data that no sync is waited for,
// as a user who is not root, since the server refuses root. Tests without the programs of a server are skipped, with a message. Start
// with Main and URL; Cluster is several servers with replication, which do wait for their disks.
package pgtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Programs is the environment variable with the directory of initdb and postgres, where they are not in one of the usual places.
const Programs = "WAYBILL_POSTGRES"

// ErrMissing reports a machine without the programs.
var ErrMissing = errors.New("there are no programs of a PostgreSQL server; on Debian: apt-get install postgresql")

// programs returns the directory of the programs of the newest version.
func programs() (string, error) {
	if dir := os.Getenv(Programs); dir != "" {
		return dir, nil
	}
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(all) > 0 {
		return filepath.Dir(slices.Max(all)), nil
	}
	path, err := exec.LookPath("postgres")
	if err != nil {
		return "", ErrMissing
	}
	// The other programs are beside the file, and not always beside a link to it.
	path, err = filepath.EvalSymlinks(path)
	return filepath.Dir(path), err
}

// Server is a running server.
type Server struct {
	dir, bin string // its files, its programs
	name     string // of its data and its log in dir
	port     int    // of its socket in dir
	cmd      *exec.Cmd
	ended    chan error
	id       *syscall.Credential
	release  func() // ends the watch over a frozen server
}

// unprivileged are users that systems have, in the order in which they are tried.
var unprivileged = []string{"postgres", "daemon"}

// account returns the user as whom a server runs: this one, or an ordinary user instead of root.
func account() (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range unprivileged {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("no ordinary user exists to run the server as")
}

// New makes the files of a server in a new temporary directory. The caller calls Start, and Remove at the end.
func New() (s *Server, err error) { return newServer("data") }

// newServer is New with a name of the files and further arguments of initdb.
func newServer(name string, args ...string) (s *Server, err error) {
	s = &Server{name: name, port: firstPort}
	if s.bin, err = programs(); err != nil {
		return nil, err
	}
	if s.id, err = account(); err != nil {
		return nil, err
	}
	// Not in the directory of a test: the path of a socket has at most 107 bytes.
	if s.dir, err = os.MkdirTemp("", "wbpg"); err != nil {
		return nil, err
	}
	if err = s.owned(s.dir); err == nil {
		err = s.do("initdb", append(args, "-D", s.Data(), "-U", "waybill", "--auth=trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")...)
	}
	if err != nil {
		s.Remove()
		return nil, err
	}
	return s, nil
}

// firstPort is the port of a server that is alone in its directory.
const firstPort = 5432

// owned gives a file to the user of the server.
func (s *Server) owned(path string) error {
	if s.id == nil {
		return nil
	}
	return os.Chown(path, int(s.id.Uid), int(s.id.Gid))
}

// do runs a program of the server to its end.
func (s *Server) do(name string, args ...string) error {
	if out, err := s.command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// Data is the data directory.
func (s *Server) Data() string { return filepath.Join(s.dir, s.name) }

// Socket is the directory of the socket.
func (s *Server) Socket() string { return s.dir }

// command is a program of the server, as its user.
func (s *Server) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(s.bin, name), args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C.UTF-8", "HOME=" + s.dir}
	cmd.SysProcAttr = attributes(s.id)
	return cmd
}

// Start starts the server with further settings, such as "fsync=on", and returns when it answers.
func (s *Server) Start(settings ...string) error {
	args := []string{"-D", s.Data(), "-k", s.dir, "-p", strconv.Itoa(s.port), "-c", "listen_addresses=", "-c", "fsync=off",
		"-c", "full_page_writes=off", "-c", "max_connections=200", "-c", "shared_buffers=32MB", "-c", "autovacuum=off", "-c", "log_min_messages=warning",
		"-c", "dynamic_shared_memory_type=mmap"} // in the server's directory: a killed server leaves no shared memory behind
	for _, one := range settings {
		args = append(args, "-c", one)
	}
	log, err := os.OpenFile(s.Data()+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd, s.ended = s.command("postgres", args...), make(chan error, 1)
	s.cmd.Stdout, s.cmd.Stderr = log, log
	if err := s.cmd.Start(); err != nil {
		return err
	}
	s.release = func() {}
	ended, cmd := s.ended, s.cmd
	go func() { ended <- cmd.Wait(); close(ended) }()
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		// The last line of the file is the state: "ready" when connections are accepted.
		state, _ := os.ReadFile(filepath.Join(s.Data(), "postmaster.pid"))
		if lines := strings.Split(string(state), "\n"); len(lines) > 7 && strings.HasPrefix(lines[7], "ready") &&
			lines[0] == strconv.Itoa(cmd.Process.Pid) {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("postgres ended: %w: %s", err, s.Log())
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("postgres does not answer: %s", s.Log())
		}
	}
}

// Log is what the server wrote.
func (s *Server) Log() string {
	b, _ := os.ReadFile(s.Data() + ".log")
	return string(b)
}

// Signal sends a signal to the server's first process; it ends all others when it ends.
func (s *Server) Signal(sig syscall.Signal) error { return s.cmd.Process.Signal(sig) }

// Stop ends the server at once, as a loss of power does if crash: what was not written is lost, as far as a machine that stays on
// can show it.
func (s *Server) Stop(crash bool) {
	if s.cmd == nil {
		return
	}
	sig := syscall.SIGINT
	if crash {
		sig = syscall.SIGQUIT
	}
	_ = s.cmd.Process.Signal(sig)
	<-s.ended
	s.cmd = nil
}

// Remove ends the server and removes its files.
func (s *Server) Remove() {
	s.Stop(true)
	_ = os.RemoveAll(s.dir)
}

// Dump returns the rows of a schema as SQL, without those of some tables.
func (s *Server) Dump(schema string, without ...string) ([]byte, error) {
	args := []string{"-h", s.dir, "-U", "waybill", "--data-only", "--inserts", "-n", schema}
	for _, table := range without {
		args = append(args, "-T", schema+"."+table)
	}
	return s.command("pg_dump", append(args, "postgres")...).Output()
}

// shared is the server of the tests of a package.
var shared struct {
	once   sync.Once
	server *Server
	err    error
	count  atomic.Int64
}

// Main runs the tests of a package, and calls End.
func Main(m *testing.M) int {
	defer End()
	return m.Run()
}

// End removes the server that the tests of a package share, if one was started.
func End() {
	if shared.server != nil {
		shared.server.Remove()
	}
}

// Settings are those of the server that the tests of a package share, beside its own. They are set before the first test.
var Settings []string

// Shared returns the server that the tests of a package share, which is started by the first one. The package has a TestMain that calls
// Main or End.
func Shared(t testing.TB) *Server {
	t.Helper()
	shared.once.Do(func() {
		if shared.server, shared.err = New(); shared.err == nil {
			shared.err = shared.server.Start(Settings...)
		}
	})
	if errors.Is(shared.err, ErrMissing) {
		t.Skip(shared.err)
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// Current is the server that the tests of a package share; nil before the first call of Shared.
func Current() *Server { return shared.server }

// URL returns the address of a schema that does not exist yet on the shared server.
func URL(t testing.TB) string {
	t.Helper()
	s := Shared(t)
	return s.URL("test_" + strconv.FormatInt(shared.count.Add(1), 10))
}
