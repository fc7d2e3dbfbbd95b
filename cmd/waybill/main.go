// Command waybill carries out workflows step by step and keeps every fact of it in plain
// files. This package makes the call from the process's arguments and streams, and puts the
// commands together. What the commands share is in package cli; each group of commands has
// a package of its own.
package main

import (
	"crypto/rand"
	"io"
	"os"
	"time"

	"github.com/waybill/waybill/cmd/waybill/cli"
)

// version is stamped by the build: -ldflags "-X main.version=1.2.3". A build
// without that is called dev.
var version = "dev"

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())) }

// run is the whole program: it takes the world as arguments, so that the script
// tests call what a user calls. It returns the exit status and writes to
// nothing but the two streams and the store. env is in the form of os.Environ.
func run(args []string, in io.Reader, out, errOut io.Writer, env []string) int {
	a := &cli.App{In: in, Out: out, Err: errOut, Env: env, Args: args, Version: version, Clock: time.Now,
		Entropy: rand.Reader}
	return a.Execute(newRoot(a))
}
