package gitobserver

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/pattern"
)

// smallMax bounds files with one line, packedMax the list of packed refs, both in bytes: a
// repository with 100,000 tags has about 8 MiB of them.
const (
	smallMax  = 4 << 10
	packedMax = 32 << 20
)

// gitDir is the directory with the HEAD of a working tree: .git itself, or the target of a .git
// file (worktrees and submodules).
func gitDir(root string) (string, bool) {
	at := filepath.Join(root, ".git")
	info, err := os.Stat(at)
	if err != nil {
		return "", false
	}
	if !info.IsDir() {
		line, err := oneLine(at)
		target, ok := strings.CutPrefix(line, "gitdir: ")
		if err != nil || !ok {
			return "", false
		}
		at = absolute(root, target)
	}
	_, err = os.Stat(filepath.Join(at, "HEAD"))
	return at, err == nil
}

// absolute resolves path relative to base.
func absolute(base, path string) string {
	path = filepath.FromSlash(path)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

// head returns the branch that is checked out and its commit, "" for unknown values.
func head(root string) (branch, commit string) {
	dir, ok := gitDir(root)
	if !ok {
		return "", ""
	}
	line, err := oneLine(filepath.Join(dir, "HEAD"))
	if err != nil {
		return "", ""
	}
	ref, ok := strings.CutPrefix(line, "ref: ")
	if !ok {
		return "", line // detached
	}
	if ref = strings.TrimSpace(ref); !utf8.ValidString(ref) || !branchRef.MatchString(ref) {
		return "", ""
	}
	return strings.TrimPrefix(ref, "refs/heads/"), resolve(commonDir(dir), ref)
}

// branchRef matches a ref that names a branch and cannot lead out of the repository: no element is
// empty or begins with a dot. Repositories with another ref format (reftable) contain
// "refs/heads/.invalid" instead.
var branchRef = pattern.New(`^refs/heads(?:/[^./][^/]*)+$`)

// commonDir is the directory with the refs of a worktree: that of its main repository.
func commonDir(dir string) string {
	line, err := oneLine(filepath.Join(dir, "commondir"))
	if err != nil {
		return dir
	}
	return absolute(dir, line)
}

// resolve returns the commit of a ref: from its own file, else from the packed refs. A branch
// without a commit, as in a new repository, has neither.
//
// At most packedMax bytes of the packed refs are read.
func resolve(dir, ref string) string {
	line, err := oneLine(filepath.Join(dir, filepath.FromSlash(ref)))
	if err == nil {
		return line
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	file, err := os.Open(filepath.Join(dir, "packed-refs"))
	if err != nil {
		return ""
	}
	defer file.Close()
	lines := bufio.NewScanner(io.LimitReader(file, packedMax))
	for lines.Scan() {
		if commit, name, ok := strings.Cut(lines.Text(), " "); ok && name == ref {
			return commit
		}
	}
	return ""
}

// oneLine reads a regular file of at most smallMax bytes and trims it.
func oneLine(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > smallMax {
		return "", errors.New("not a small file")
	}
	data, err := os.ReadFile(path)
	return strings.TrimSpace(string(data)), err
}
