// Package identity determines how the machine names the person who runs the program: by the name and
// email address of git's configuration, and by the account. What it returns is a claim that others
// can set, and is never a reason to permit anything.
//
// It does not decide which name is recorded (durable/store/config).
package identity

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"os/user"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/store/config"
)

const (
	// gitWait bounds how long git may take: a configuration can include a pipe, or a file on a host
	// that does not answer.
	gitWait = time.Second
	// gitBytesMax bounds what git may print; names are far shorter.
	gitBytesMax = 8 << 10
)

// Machine returns the names that git's configuration in the directory dir and the account have. env is
// the environment, in the form of os.Environ. A name that cannot be determined is empty.
//
// git is started once, to read two keys. Reading keys runs nothing: no hook, alias, pager or filter.
func Machine(ctx context.Context, dir string, env []string) config.Names {
	var out config.Names
	out.Name, out.Email = namesOf(ctx, "git", dir, env)
	if u, err := user.Current(); err == nil {
		out.Account = u.Username
	}
	return out
}

// namesOf returns user.name and user.email of a git program, empty where it is not installed or does
// not have them.
func namesOf(ctx context.Context, git, dir string, env []string) (name, email string) {
	ctx, cancel := context.WithTimeout(ctx, gitWait)
	defer cancel()
	cmd := exec.CommandContext(ctx, git, "--no-pager", "config", "-z", "--get-regexp", `^user\.(name|email)$`)
	var out output
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.WaitDelay = dir, env, &out, gitWait/10
	if cmd.Run() != nil {
		return "", ""
	}
	// Keys are repeated for each file that has them; the last one is in force.
	for entry := range strings.SplitSeq(out.kept.String(), "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		switch key {
		case "user.name":
			name = value
		case "user.email":
			email = value
		}
	}
	return name, email
}

// output keeps what a process prints, up to gitBytesMax bytes. The buffer is not embedded, since its
// ReadFrom would take any number of bytes.
type output struct{ kept bytes.Buffer }

// Write implements io.Writer. An error ends the reading of the process's output.
func (o *output) Write(p []byte) (int, error) {
	if o.kept.Len()+len(p) > gitBytesMax {
		return 0, errors.New("identity: git printed too much")
	}
	return o.kept.Write(p)
}
