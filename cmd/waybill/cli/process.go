package cli

import (
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli/notify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/infra/terminal"
)

// Process is what a call gets from its process: arguments, streams, environment, account, clock
// and entropy. main sets the exported fields; tests set their own. Clock and Entropy are read
// here and not by the packages below, so that the result of a use case depends only on its
// arguments.
type Process struct {
	In   io.Reader
	Out  io.Writer
	Err  io.Writer
	Env  []string // in the form of os.Environ
	Args []string // without the program name

	Version string // of this binary

	// Account is the account that the process runs as; the zero Account is none.
	Account config.Account

	// Names returns the names that the machine has for the person who runs the program; nil: none.
	Names func() config.Names

	// Notifications starts the commands of notifications; nil: none are started.
	Notifications *notify.Process

	Clock   func() time.Time
	Entropy io.Reader

	stdinTaken string          // the flag that reads stdin, "" for none
	pager      *terminal.Pager // of the text on stdout; nil: it is written as it comes
}

// Getenv returns the value of an environment variable, "" if it is not set. If Env has
// several entries of a name, the last one counts, as in os/exec.
func (p *Process) Getenv(name string) string {
	value, _ := p.lookupEnv(name)
	return value
}

// lookupEnv is Getenv that distinguishes an empty value from none.
func (p *Process) lookupEnv(name string) (value string, ok bool) {
	for i := len(p.Env) - 1; i >= 0; i-- {
		if value, ok := strings.CutPrefix(p.Env[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// stdout is where text is written: through the pager of the call, if it has one.
func (p *Process) stdout() io.Writer {
	if p.pager != nil {
		return p.pager
	}
	return p.Out
}

// IsCompletion reports that the shell asks for completions: stderr must be empty then.
func (p *Process) IsCompletion() bool {
	return len(p.Args) > 0 && (p.Args[0] == cobra.ShellCompRequestCmd || p.Args[0] == cobra.ShellCompNoDescRequestCmd)
}

// NowMs returns the time of Clock in milliseconds since 1970 UTC. Use cases take the time as
// an argument.
func (p *Process) NowMs() int64 { return p.Clock().UnixMilli() }

// Seed reads one seed from Entropy. A use case derives all its new ids and keys from it. The
// error is INTERNAL, if the operating system returns no random bytes.
//
//go:noinline
func (p *Process) Seed() (id.Seed, error) {
	var s id.Seed
	return s, p.Random(s[:])
}

// Random fills b from Entropy. Errors are those of Seed.
func (p *Process) Random(b []byte) error {
	if _, err := io.ReadFull(p.Entropy, b); err != nil {
		return fault.Wrap(err, fault.Internal, "cannot read random bytes from the operating system")
	}
	return nil
}
