//go:build !unix

package pgtest

import "testing"

// Settings are of no effect: servers are started on systems with sockets only.
var Settings []string

// Server is a server that never runs.
type Server struct{}

// Main runs the tests of a package.
func Main(m *testing.M) int { return m.Run() }

// End does nothing.
func End() {}

// Shared skips the test.
func Shared(t testing.TB) *Server {
	t.Helper()
	t.Skip("no PostgreSQL server is started on this system")
	return nil
}

// Current is no server.
func Current() *Server { return nil }

// URL skips the test.
func URL(t testing.TB) string {
	Shared(t)
	return ""
}

// Dump returns nothing.
func (*Server) Dump(string, ...string) ([]byte, error) { return nil, nil }
