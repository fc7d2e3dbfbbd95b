package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/ports"
)

// notStarted says why a command could not even start.
type notStarted struct{ clause, fix string }

// outcome is a failure with no output at all.
func (n *notStarted) outcome() ports.CommandOutcome {
	return ports.CommandOutcome{ExitStatus: -1, Failure: n.clause, Fix: n.fix, OutputDigest: canon.Sum(nil)}
}

// prepare finds the program and the folder. Standard input is the null device: a
// step has nobody to answer it, and what it read would be missing from the log.
func (r *Runner) prepare(c ports.Command) (*exec.Cmd, *notStarted) {
	if len(c.Argv) == 0 {
		return nil, &notStarted{"it names no program", "Give the step's action an argv."}
	}
	// A relative path to the program would be taken from the command's folder twice.
	base, err := filepath.Abs(r.Dir)
	if err != nil {
		return nil, &notStarted{"the current folder is not known: " + reason(err),
			"Start 'waybill run' in a folder that is there."}
	}
	dir := base
	if c.Cwd != "" {
		dir = under(base, c.Cwd)
		if fi, err := os.Stat(dir); err != nil || !fi.IsDir() {
			return nil, &notStarted{fmt.Sprintf("there is no folder %q", c.Cwd),
				"Start 'waybill run' in the folder that the step's cwd is relative to, or make the folder in an " +
					"earlier step."}
		}
	}
	env := r.Env
	if env == nil {
		env = os.Environ()
	}
	cmd := &exec.Cmd{Args: c.Argv, Dir: dir, Env: append([]string(nil), env...), SysProcAttr: attributes()}
	for name, value := range c.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	program, err := look(c.Argv[0], dir, c.Env)
	if err != nil {
		return nil, explain(err, cmd, c)
	}
	cmd.Path = program
	return cmd, nil
}

func under(base, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(base, name)
}

// look finds a program as a shell in the command's own folder and environment
// would: exec.LookPath knows neither.
func look(name, dir string, env map[string]string) (string, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		return exec.LookPath(under(dir, name))
	}
	path, own := env["PATH"]
	if !own {
		return exec.LookPath(name)
	}
	for _, folder := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(under(dir, folder), name)); err == nil {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}

// explain says in a person's words why a program did not start, by the name that
// the workflow gives it: absolute paths do not belong into a log.
func explain(err error, cmd *exec.Cmd, c ports.Command) *notStarted {
	name := c.Argv[0]
	switch {
	case errors.Is(err, exec.ErrDot):
		return &notStarted{fmt.Sprintf("the program %q would be taken from the current folder", name),
			fmt.Sprintf("Write ./%s in argv if that is meant.", name)}
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		if fi, statErr := os.Stat(cmd.Path); cmd.Path != "" && statErr == nil && !fi.IsDir() {
			return &notStarted{fmt.Sprintf("the interpreter that %q names in its first line was not found", name),
				"Install it, or correct the line that begins with #!."}
		}
		if strings.ContainsAny(name, `/\`) {
			return &notStarted{fmt.Sprintf("the program %q was not found", name),
				"Correct its path: it counts from the folder that the command runs in."}
		}
		return &notStarted{fmt.Sprintf("the program %q was not found", name),
			"Install it, or add the folder that it lies in to PATH."}
	case errors.Is(err, fs.ErrPermission):
		return &notStarted{fmt.Sprintf("the file %q may not be executed", name),
			fmt.Sprintf("Allow it: chmod +x %s.", name)}
	case runtime.GOOS != "windows" && errors.Is(err, syscall.ENOEXEC):
		return &notStarted{fmt.Sprintf("the file %q is no program that this system can run", name),
			"Begin a script with a line such as #!/bin/sh."}
	}
	return &notStarted{fmt.Sprintf("the program %q could not be started: %s", name, reason(err)), ""}
}

// reason is the innermost error, which names no path.
func reason(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}
