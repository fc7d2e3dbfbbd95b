// Command waybill carries work through its steps and keeps every fact of it in
// plain files. This package holds flags, wiring and rendering; it decides nothing.
package main

import (
	"crypto/rand"
	"io"
	"os"
	"time"
)

// version is stamped by the build: -ldflags "-X main.version=1.2.3".
var version = "dev"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())) }

// run is the whole program: it takes the world as arguments, so that the script
// tests call what a user calls. It returns the exit status.
func run(args []string, in io.Reader, out, errOut io.Writer, env []string) int {
	a := &app{in: in, out: out, errOut: errOut, env: env, args: args, version: version, clock: time.Now,
		entropy: rand.Reader}
	return a.execute(newRoot(a))
}
