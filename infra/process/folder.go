package process

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/ports"
)

// Names of the private files of a command, and of the variables that hold their paths
// (docs/design.md#results-of-commands).
const (
	contextFile     = "context.json"
	outputFile      = "output.json"
	contextVariable = "WAYBILL_CONTEXT"
	outputVariable  = "WAYBILL_OUTPUT"
)

// folder is the private folder of a command while it runs. Its files are read and removed through
// handles: the command may have replaced every name in it.
type folder struct {
	path   string
	parent *os.Root // of all private folders of this user
	root   *os.Root
	lock   *os.File // shows other performers that the folder is in use
}

// open creates the private folder of a command, or returns nil for a command without one. Folders
// that killed performers left are removed. No link is followed, and a folder of another user is
// refused.
func (r *Runner) open(c ports.Command) (*folder, *startFailure) {
	if c.Folder == "" {
		return nil, nil
	}
	base, err := r.privateBase()
	if err != nil {
		return nil, folderFailure(err)
	}
	parent, err := os.OpenRoot(base)
	if err != nil {
		return nil, folderFailure(err)
	}
	f := &folder{path: filepath.Join(base, c.Folder), parent: parent}
	if err := r.createAlone(f, c); err != nil {
		f.remove()
		return nil, folderFailure(err)
	}
	return f, nil
}

// createAlone creates a folder while no other performer removes folders: one that was just made is
// not locked yet. The first command of a Runner removes the folders that were left.
func (r *Runner) createAlone(f *folder, c ports.Command) error {
	all, err := f.parent.Open(".")
	if err != nil {
		return err
	}
	defer all.Close() // with its lock
	lockFolder(all)
	if !r.swept {
		sweep(f.parent, all)
		r.swept = true
	}
	return f.create(c)
}

// folderFailure is the failure of a command whose private folder cannot be created.
func folderFailure(err error) *startFailure {
	return &startFailure{"its private folder cannot be created: " + reason(err),
		fault.Suggest("Remove what is in its place, or set XDG_RUNTIME_DIR to a folder of your own.")}
}

// errForeign reports a folder that cannot be trusted with the context of a run.
var errForeign = errors.New("in its place is a link, a file, or a folder of another user")

// privateBase returns the folder of all private folders, and creates it: "waybill" in
// $XDG_RUNTIME_DIR, else in the temporary folder, where the name contains the user.
func (r *Runner) privateBase() (string, error) {
	base := filepath.Join(os.TempDir(), "waybill-"+strconv.Itoa(os.Getuid()))
	if runtime := r.getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(runtime) {
		if fi, err := os.Stat(runtime); err == nil && fi.IsDir() {
			base = filepath.Join(runtime, "waybill")
		}
	}
	if err := os.Mkdir(base, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	fi, err := os.Lstat(base)
	if err == nil && (!fi.IsDir() || !isOwn(fi)) {
		err = errForeign
	}
	if err == nil && fi.Mode().Perm() != 0o700 {
		err = os.Chmod(base, 0o700)
	}
	return base, err
}

// getenv returns a variable of the environment that commands get; the last value counts.
func (r *Runner) getenv(name string) string {
	if r.Env == nil {
		return os.Getenv(name)
	}
	value := ""
	for _, pair := range r.Env {
		if len(pair) > len(name) && pair[:len(name)] == name && pair[len(name)] == '=' {
			value = pair[len(name)+1:]
		}
	}
	return value
}

// create makes the folder and its files. A folder of the same attempt was left by a performer that
// was killed: the performer's lock of the session excludes a living one.
func (f *folder) create(c ports.Command) error {
	name := filepath.Base(f.path)
	if name != c.Folder || !filepath.IsLocal(name) {
		return fmt.Errorf("%q is not the name of a folder", c.Folder)
	}
	err := f.parent.Mkdir(name, 0o700)
	if errors.Is(err, fs.ErrExist) {
		removeFolder(f.parent, name)
		err = f.parent.Mkdir(name, 0o700)
	}
	if err == nil {
		err = f.parent.Chmod(name, 0o700) // under any umask
	}
	if err == nil {
		f.root, err = f.parent.OpenRoot(name)
	}
	if err == nil {
		f.lock, err = f.root.Open(".")
	}
	if err != nil {
		return err
	}
	lockFolder(f.lock)
	if err := f.write(contextFile, c.Context); err != nil {
		return err
	}
	return f.write(outputFile, nil)
}

// write creates a private file under any umask.
func (f *folder) write(name string, content []byte) error {
	file, err := f.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Chmod(0o600), file.Close())
}

// env returns the variables with the paths of the files.
func (f *folder) env() []string {
	if f == nil {
		return nil
	}
	return []string{contextVariable + "=" + filepath.Join(f.path, contextFile),
		outputVariable + "=" + filepath.Join(f.path, outputFile)}
}

// output reads what the command wrote to its output file: a regular file within its limit, which no
// link leads to. A file that was removed is empty. Opening never waits for the other end of a pipe.
func (f *folder) output() (content []byte, unread string) {
	if f == nil {
		return nil, ""
	}
	fi, err := f.root.Lstat(outputFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ""
	case err != nil:
		return nil, "cannot be read: " + reason(err)
	case !fi.Mode().IsRegular():
		return nil, "is not a regular file"
	}
	file, err := f.root.OpenFile(outputFile, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, "cannot be read: " + reason(err)
	}
	defer file.Close()
	if opened, err := file.Stat(); err != nil || !os.SameFile(fi, opened) {
		return nil, "is not a regular file"
	}
	content, err = io.ReadAll(io.LimitReader(file, limits.CommandOutputBytesMax+1))
	switch {
	case err != nil:
		return nil, "cannot be read: " + reason(err)
	case len(content) > limits.CommandOutputBytesMax:
		return nil, fmt.Sprintf("has more than %d bytes", limits.CommandOutputBytesMax)
	}
	return content, ""
}

// remove removes the folder and closes its handles. What cannot be removed is left to the next
// performer.
func (f *folder) remove() {
	if f == nil {
		return
	}
	removeFolder(f.parent, filepath.Base(f.path))
	if f.lock != nil {
		_ = f.lock.Close()
	}
	if f.root != nil {
		_ = f.root.Close()
	}
	_ = f.parent.Close()
}

// removeFolder removes a folder and its content, also subfolders that the command made unreadable.
// A link is removed, not what it leads to.
func removeFolder(parent *os.Root, name string) {
	if parent.RemoveAll(name) == nil {
		return
	}
	_ = fs.WalkDir(parent.FS(), name, func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = parent.Chmod(path, 0o700)
		}
		return nil
	})
	_ = parent.RemoveAll(name)
}

// sweep removes the folders of performers that were killed: those that no process has locked.
func sweep(parent *os.Root, all *os.File) {
	names, _ := all.Readdirnames(-1)
	for _, name := range names {
		fi, err := parent.Lstat(name)
		if err != nil || !fi.IsDir() || !isOwn(fi) {
			continue
		}
		if left, err := parent.Open(name); err == nil {
			if isUnlocked(left) {
				removeFolder(parent, name)
			}
			_ = left.Close()
		}
	}
}
