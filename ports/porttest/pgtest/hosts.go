//go:build unix

package pgtest

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
)

// PasswordOf is the password of the role "keyed" of a server that listens.
const PasswordOf = "a-password-of-tests"

// Listen lets a server that does not run accept connections at a port of 127.0.0.1 as well, after a password but for the role "open", and
// returns the port.
func (s *Server) Listen() (port int, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	rules := "local all all trust\nhost all open 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
	return s.port, errors.Join(l.Close(), os.WriteFile(filepath.Join(s.Data(), "pg_hba.conf"), []byte(rules), 0o600))
}

// Encrypt gives a server that does not run a certificate and its key, in PEM.
func (s *Server) Encrypt(certificate, key []byte) (err error) {
	for name, content := range map[string][]byte{"server.crt": certificate, "server.key": key} {
		path := filepath.Join(s.Data(), name)
		err = errors.Join(err, os.WriteFile(path, content, 0o600), s.owned(path))
	}
	return errors.Join(err, s.configure("ssl = on"))
}

// URL returns the address of a schema of the server.
func (s *Server) URL(schema string) string {
	q := url.Values{"host": {s.dir}, "user": {"waybill"}, "schema": {schema}}
	if s.port != firstPort {
		q.Set("port", strconv.Itoa(s.port))
	}
	return "postgres:///postgres?" + q.Encode()
}

// Copied replaces the files of a server that does not run by those of a copy, or makes the copy if there is none.
func (s *Server) Copied(name string) error {
	copied := s.Data() + "." + name
	if _, err := os.Stat(copied); err != nil {
		return s.copyFiles(s.Data(), copied)
	}
	return errors.Join(os.RemoveAll(s.Data()), s.copyFiles(copied, s.Data()))
}

// copyFiles copies a directory as the user of the server.
func (s *Server) copyFiles(from, to string) error {
	cmd := exec.Command("cp", "-a", from, to)
	cmd.SysProcAttr = attributes(s.id)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cp: %w: %s", err, out)
	}
	return nil
}

// Own gives a directory to the user of the server, as one that only it may use.
func (s *Server) Own(dir string) error { return errors.Join(os.Chmod(dir, 0o700), s.owned(dir)) }

// Ends waits until a server has ended by itself, or because it was killed.
func (s *Server) Ends() { <-s.ended }

// Reload lets the server read its settings again.
func (s *Server) Reload() error { return s.Signal(syscall.SIGHUP) }

// Installed returns the directory of the programs of a server, and the user as whom it runs; nil: as this one.
func Installed() (bin string, id *syscall.Credential, err error) {
	if bin, err = programs(); err == nil {
		id, err = account()
	}
	return bin, id, err
}
