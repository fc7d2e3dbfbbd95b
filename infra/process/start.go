package process

import (
	"cmp"
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
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/ports"
)

// startFailure describes why a command could not start: a clause and a suggested fix for the user.
type startFailure struct {
	clause string
	fix    fault.Suggestion
}

// outcome is a failed outcome without output.
func (f *startFailure) outcome() ports.CommandOutcome {
	return ports.CommandOutcome{ExitStatus: -1, Failure: f.clause, Fix: f.fix, OutputDigest: canon.Sum(nil)}
}

// prepare resolves the program and the directory. Standard input is the null device unless the command
// brings one: no user answers a step, and the input would be missing from the log.
//
// The environment is that of the Runner followed by the variables of the command, which take
// precedence.
//
// The error is ports.ErrOutside.
func (r *Runner) prepare(c ports.Command) (*exec.Cmd, *startFailure, error) {
	if len(c.Argv) == 0 {
		return nil, &startFailure{"it names no program", fault.Suggest("Give the step's action an argv.")}, nil
	}
	// A relative path to the program would otherwise be resolved in the command's directory twice.
	from := r.Dir
	if c.AtRoot {
		from = cmp.Or(r.Root, r.Dir)
	}
	base, err := filepath.Abs(from)
	if err != nil {
		return nil, &startFailure{"the current folder is not known: " + reason(err),
			fault.Suggest("Start %s in a folder that is there.", fault.Command{"run"})}, nil
	}
	dir := base
	if c.Cwd != "" {
		dir = joinUnlessAbs(base, c.Cwd)
		if c.Below {
			if dir, err = r.below(base, c.Cwd); err != nil {
				return nil, nil, err
			}
		}
		if fi, err := os.Stat(dir); dir == "" || err != nil || !fi.IsDir() {
			return nil, &startFailure{fmt.Sprintf("there is no folder %q", c.Cwd),
				fault.Suggest("Start %s in the folder that the step's cwd is relative to, or make the folder in an "+
					"earlier step.", fault.Command{"run"})}, nil
		}
	}
	cmd := &exec.Cmd{Args: c.Argv, Dir: dir, Env: r.environment(c), SysProcAttr: sysProcAttr(), Path: c.Program}
	if c.Program != "" {
		return cmd, nil, nil
	}
	program, err := findProgram(c.Argv[0], dir, c.Env)
	if err != nil {
		return nil, startFailureOf(err, cmd, c), nil
	}
	cmd.Path = program
	return cmd, nil, nil
}

// environment returns the environment of a command: that of the Runner, or the command's own, and its
// variables, which take precedence.
func (r *Runner) environment(c ports.Command) []string {
	var env []string
	switch {
	case c.Environ != nil:
		for name, value := range c.Environ {
			env = append(env, name+"="+value)
		}
	case r.Env != nil:
		env = append(env, r.Env...)
	default:
		env = os.Environ()
	}
	for name, value := range c.Env {
		env = append(env, name+"="+value)
	}
	return env
}

// below returns the folder that a relative name results in, with links resolved: the command runs
// there, so that a link which changes afterwards leads nowhere else. ErrOutside if it is not below
// the root of the project; "" for one that does not exist.
func (r *Runner) below(base, name string) (string, error) {
	root, err := filepath.EvalSymlinks(cmp.Or(r.Root, base))
	if err != nil || !filepath.IsLocal(name) {
		return "", ports.ErrOutside
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(base, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	rel, relErr := filepath.Rel(root, dir)
	if err != nil || relErr != nil || !filepath.IsLocal(rel) {
		return "", ports.ErrOutside
	}
	return dir, nil
}

// joinUnlessAbs resolves name relative to base.
func joinUnlessAbs(base, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(base, name)
}

// findProgram finds a program as a shell in the command's directory and environment would:
// exec.LookPath considers neither.
func findProgram(name, dir string, env map[string]string) (string, error) {
	if strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator) {
		return exec.LookPath(joinUnlessAbs(dir, name))
	}
	path, own := env["PATH"]
	if !own {
		return exec.LookPath(name)
	}
	for _, entry := range filepath.SplitList(path) {
		if found, err := exec.LookPath(filepath.Join(joinUnlessAbs(dir, entry), name)); err == nil {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}

// startFailureOf explains to the user why a program did not start, by its name in the workflow:
// absolute paths must not be recorded.
func startFailureOf(err error, cmd *exec.Cmd, c ports.Command) *startFailure {
	name := c.Argv[0]
	switch {
	case errors.Is(err, exec.ErrDot):
		return &startFailure{fmt.Sprintf("the program %q would be taken from the current folder", name),
			fault.Suggest("Write ./%s in argv if that is meant.", name)}
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		if fi, statErr := os.Stat(cmd.Path); cmd.Path != "" && statErr == nil && !fi.IsDir() {
			return &startFailure{fmt.Sprintf("the interpreter that %q names in its first line was not found", name),
				fault.Suggest("Install it, or correct the line that begins with #!.")}
		}
		if strings.ContainsAny(name, `/\`) {
			return &startFailure{fmt.Sprintf("the program %q was not found", name),
				fault.Suggest("Correct its path: it counts from the folder that the command runs in.")}
		}
		return &startFailure{fmt.Sprintf("the program %q was not found", name),
			fault.Suggest("Install it, or add the folder that it lies in to PATH.")}
	case errors.Is(err, fs.ErrPermission):
		return &startFailure{fmt.Sprintf("the file %q may not be executed", name),
			fault.Suggest("Allow it: chmod +x %s.", name)}
	case runtime.GOOS != "windows" && errors.Is(err, syscall.ENOEXEC):
		return &startFailure{fmt.Sprintf("the file %q is no program that this system can run", name),
			fault.Suggest("Begin a script with a line such as #!/bin/sh.")}
	}
	return &startFailure{clause: fmt.Sprintf("the program %q could not be started: %s", name, reason(err))}
}

// reason is the innermost error, which contains no path.
func reason(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}
