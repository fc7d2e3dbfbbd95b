// Package pinfile reads the files that the checks of a workflow depend on: pinned files below the root
// of a project, and programs (docs/design.md#checks). It implements ports.Pins and decides nothing about
// what differs. Start with Files.
package pinfile

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/infra/gitobserver"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// Files implements ports.Pins for one project.
type Files struct {
	Root    string   // absolute path of the root of the project, links resolved
	Environ []string // environment of the person, as from os.Environ
}

// The reasons why a file is none that can be pinned, as clauses without a subject.
var (
	errLink      = errors.New("is reached through a symbolic link")
	errIrregular = errors.New("is no regular file")
	errMissing   = errors.New("does not exist")
)

// Fix implements ports.Pins.
func (f Files) Fix(ctx context.Context, checks []source.Check) (trust.Fixed, error) {
	if len(checks) == 0 {
		return trust.Fixed{}, nil
	}
	fixed := trust.Fixed{Env: trust.Environment(f.Environ, f.usable), Pins: map[string]canon.Digest{}, Programs: map[string]trust.Program{}}
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return fixed, fault.Wrap(err, fault.StoreIO, "the folder of the project cannot be read: %s", reason(err))
	}
	defer root.Close()
	for _, c := range checks {
		if err := ctx.Err(); err != nil {
			return fixed, err
		}
		for _, pin := range c.Pins {
			if fixed.Pins[pin], _, err = digest(root, pin); err != nil {
				return fixed, unusable(c, pin, err).
					Suggest("Put a regular file there, or remove it from the pins of the check.")
			}
		}
		program, err := f.program(c, fixed.Env["PATH"])
		if err != nil {
			return fixed, unusable(c, c.Argv[0], err).
				Suggest("Install the program, or correct the argv of the check. A program of the project is named by its path, " +
					"such as ./bin/test: folders of PATH in the project are not searched.")
		}
		fixed.Programs[c.Program()] = program
	}
	return fixed, nil
}

// usable reports whether programs of checks are looked up in a folder of PATH: one that exists and is not
// in the project, links resolved.
func (f Files) usable(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && !osfs.Within(real, f.Root)
}

// unusable is the fault for a file of a check that cannot be fixed.
func unusable(c source.Check, name string, err error) *fault.Fault {
	return fault.New(fault.ValidationError, "check %q depends on %q, which %v", c.ID, name, err).
		With("checkId", c.ID).With("path", name)
}

// Compare implements ports.Pins.
func (f Files) Compare(ctx context.Context, c source.Check, fixed trust.Fixed) (ports.PinState, error) {
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return ports.PinState{}, fault.Wrap(err, fault.StoreIO, "the folder of the project cannot be read: %s", reason(err))
	}
	defer root.Close()
	now := ports.PinState{Pins: map[string]canon.Digest{}, Versions: map[string]string{}}
	for _, pin := range c.Pins {
		if err := ctx.Err(); err != nil {
			return ports.PinState{}, err
		}
		is, version, err := digest(root, pin)
		if err == nil {
			now.Pins[pin], now.Versions[pin] = is, version
		}
		if was, ok := fixed.Pins[pin]; err != nil || !ok || is != was {
			now.Changed = append(now.Changed, pin)
		}
	}
	was, ok := fixed.Programs[c.Program()]
	is, version, err := fileDigest(was.Path, limits.ProgramBytesMax)
	if !ok || err != nil || is != was.SHA256 {
		now.Changed = append(now.Changed, c.Argv[0])
	}
	now.Versions[c.Argv[0]] += version
	slices.Sort(now.Changed)
	now.Changed = slices.Compact(now.Changed)
	return now, nil
}

// Place implements ports.Pins.
func (f Files) Place(context.Context) ports.Place {
	root, _ := canon.ParseDigest(gitobserver.RootDigest(f.Root))
	return ports.Place{Root: root, GitHead: gitobserver.Head(f.Root)}
}

// digest returns the SHA-256 of a file below the root that no symbolic link leads to, and its version
// before it was read.
func digest(root *os.Root, name string) (is canon.Digest, version string, err error) {
	if !filepath.IsLocal(filepath.FromSlash(name)) || path.Clean(name) != name {
		return is, "", errors.New("is no path below the root of the project")
	}
	var last fs.FileInfo
	for i := range len(name) + 1 {
		if i < len(name) && name[i] != '/' {
			continue
		}
		fi, err := root.Lstat(filepath.FromSlash(name[:i]))
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			return is, "", errMissing
		case err != nil:
			return is, "", errors.New("cannot be read: " + reason(err))
		case fi.Mode()&fs.ModeSymlink != 0:
			return is, "", errLink
		}
		last = fi
	}
	if !last.Mode().IsRegular() {
		return is, "", errIrregular
	}
	// A pipe that took the place of the file must not make this wait for its other end.
	file, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return is, "", errors.New("cannot be read: " + reason(err))
	}
	defer file.Close()
	opened, err := file.Stat()
	if err != nil || !os.SameFile(last, opened) {
		return is, "", errIrregular
	}
	is, err = sum(file, limits.PinBytesMax)
	return is, versionOf(opened), err
}

// sum is the SHA-256 of a file of at most max bytes.
func sum(file io.Reader, max int64) (canon.Digest, error) {
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(file, max+1))
	switch {
	case err != nil:
		return canon.Digest{}, errors.New("cannot be read: " + reason(err))
	case n > max:
		return canon.Digest{}, fmt.Errorf("has more than %d bytes", max)
	}
	return canon.DigestOf([sha256.Size]byte(h.Sum(nil))), nil
}

// program returns the executable file of a check. A name without a slash is looked up in the folders of
// PATH that checks get. Links are followed: the digest is that of the content.
func (f Files) program(c source.Check, searched string) (trust.Program, error) {
	name := c.Program()
	found := name
	switch {
	case filepath.IsAbs(name):
	case strings.HasPrefix(name, "./"):
		found = filepath.Join(f.Root, filepath.FromSlash(name))
	default:
		found = ""
		for _, dir := range filepath.SplitList(searched) {
			if at, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				found = at
				break
			}
		}
	}
	if found == "" {
		return trust.Program{}, errors.New("was not found in the folders of PATH outside of the project")
	}
	if _, err := exec.LookPath(found); err != nil {
		return trust.Program{}, errors.New("is no program: " + reason(err))
	}
	is, _, err := fileDigest(found, limits.ProgramBytesMax)
	return trust.Program{Path: found, SHA256: is}, err
}

// fileDigest is the SHA-256 of a regular file, links followed, and its version and that of the link
// before it was read.
func fileDigest(name string, max int64) (is canon.Digest, version string, err error) {
	link, err := os.Lstat(name)
	if err != nil {
		return is, "", errMissing
	}
	fi, err := os.Stat(name)
	switch {
	case err != nil:
		return is, "", errMissing
	case !fi.Mode().IsRegular():
		return is, "", errIrregular
	}
	file, err := os.Open(name)
	if err != nil {
		return is, "", errors.New("cannot be read: " + reason(err))
	}
	defer file.Close()
	is, err = sum(file, max)
	return is, versionOf(link) + " " + versionOf(fi), err
}

// reason is the innermost error, which contains no path.
func reason(err error) string {
	for next := errors.Unwrap(err); next != nil; next = errors.Unwrap(err) {
		err = next
	}
	return err.Error()
}
