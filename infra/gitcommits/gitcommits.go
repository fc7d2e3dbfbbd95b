// Package gitcommits reads the messages of commits by running git. What it is given is untrusted: the name of a commit never
// becomes an option, the configuration of the repository starts no program and no transfer, and what git prints is bounded.
//
// It does not interpret messages. Start with Read.
package gitcommits

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
)

const (
	// gitWait bounds how long one git may take: the name of a commit can search a whole history.
	gitWait = 10 * time.Second
	// headerBytesMax bounds what is in front of a message: parents, authors and a signature.
	headerBytesMax = 64 << 10
	// namesBytesMax bounds the list of the commits of a range, and an error.
	namesBytesMax = (limits.CommitsMax + 2) * 65
)

// Commit is a commit with its message.
type Commit struct {
	ID      string // 40 or 64 hex digits
	Message string // as it is stored, in any encoding
	Cut     bool   // Message is the beginning of a longer one
}

// Repository is where commits are looked up: the repository of a working directory, or the one that the environment names.
type Repository struct {
	Dir string
	Env []string // in the form of os.Environ
}

// Read returns the commit with a name, or those of a range A..B, the newest first. Errors: VALIDATION_ERROR for a name that
// cannot be one and for a range of more than limits.CommitsMax commits; COMMIT_NOT_FOUND, also outside of a repository;
// GIT_FAILED if git is not installed, refuses the repository or takes too long.
func (r Repository) Read(ctx context.Context, name string) ([]Commit, error) {
	from, to, isRange, err := parts(name)
	if err != nil {
		return nil, err
	}
	if err := r.exists(ctx); err != nil {
		return nil, err
	}
	ids := []string{""}
	if ids[0], err = r.resolve(ctx, to); err != nil {
		return nil, err
	}
	if isRange {
		without, err := r.resolve(ctx, from)
		if err != nil {
			return nil, err
		}
		if ids, err = r.between(ctx, name, without, ids[0]); err != nil {
			return nil, err
		}
	}
	return r.messages(ctx, ids)
}

// parts splits the range A..B, in which HEAD may be left out; a single commit is to. Two dots are in no name of a branch or
// tag, but may be in a text that a name searches for.
func parts(name string) (from, to string, isRange bool, err error) {
	to = name
	if !strings.ContainsAny(name, ":{") {
		from, to, isRange = strings.Cut(name, "..")
	}
	if !isRange {
		from, to = "HEAD", name
	}
	from, to = cmp.Or(from, "HEAD"), cmp.Or(to, "HEAD")
	isOption := func(s string) bool { return strings.ContainsAny(s[:1], "-^") }
	var why string
	switch {
	case name == "" || len(name) > limits.CommitNameBytesMax || strings.ContainsAny(name, "\x00\n"):
		why = "a name has 1 to " + strconv.Itoa(limits.CommitNameBytesMax) + " bytes in one line"
	case isOption(from) || isOption(to):
		why = "a name does not begin with - or ^"
	case isRange && strings.HasPrefix(to, "."):
		why = "a range is A..B, with two dots"
	default:
		return from, to, isRange, nil
	}
	return "", "", false, fault.New(fault.ValidationError, "%q names no commit: %s", cut(name, 100), why).
		Suggest("Give a commit, such as HEAD, a branch or an id, or a range such as main..HEAD.")
}

// exists returns an error outside of a repository that git reads.
func (r Repository) exists(ctx context.Context) error {
	_, err := r.run(ctx, "rev-parse", "--git-dir")
	if f := fault.Of(err); err != nil && strings.Contains(f.Message, "not a git repository") {
		return fault.New(fault.CommitNotFound, "the working directory is in no git repository").
			Suggest("Run the command in the repository of the commit.")
	}
	return err
}

// resolve returns the id of the commit with a name: of the object with the name, which may be a tag, and then of its commit.
// A name that searches for a text would take a suffix for a part of it.
func (r Repository) resolve(ctx context.Context, name string) (id string, err error) {
	for _, suffix := range []string{"", "^{commit}"} {
		var out []byte
		out, err = r.run(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", cmp.Or(id, name)+suffix)
		switch id = strings.TrimSpace(string(out)); {
		case err != nil && ctx.Err() == nil && failed(err):
			return "", fault.New(fault.CommitNotFound, "the repository has no commit %q", cut(name, 100))
		case err != nil:
			return "", err
		case !isID(id):
			return "", fault.New(fault.GitFailed, "git answered with %q for the id of a commit", cut(id, 100))
		}
	}
	return id, nil
}

// between returns the commits that are reachable from one commit and not from another.
func (r Repository) between(ctx context.Context, name, without, from string) ([]string, error) {
	out, err := r.run(ctx, "rev-list", "--max-count="+strconv.Itoa(limits.CommitsMax+1), from, "^"+without, "--")
	ids := strings.Fields(string(out))
	if err == nil && len(ids) > limits.CommitsMax {
		err = fault.New(fault.ValidationError, "%q has more than %d commits", name, limits.CommitsMax).
			Suggest("Give a shorter range.")
	}
	if err == nil && slices.ContainsFunc(ids, func(id string) bool { return !isID(id) }) {
		err = fault.New(fault.GitFailed, "git answered with something else than ids of commits")
	}
	return ids, err
}

// isID reports the id of an object.
func isID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// messages returns the commits with some ids.
func (r Repository) messages(ctx context.Context, ids []string) (out []Commit, err error) {
	if len(ids) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, gitWait)
	defer cancel()
	cmd := r.command(ctx, "cat-file", "--batch")
	cmd.Stdin = strings.NewReader(strings.Join(ids, "\n") + "\n")
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, gitFault(err, nil)
	}
	objects := bufio.NewReaderSize(pipe, 64<<10)
	for _, id := range ids {
		c, err := next(objects, id)
		if err != nil {
			cancel()
			_ = cmd.Wait()
			return nil, fault.Wrap(err, fault.GitFailed, "git did not return commit %s: %v", id, err)
		}
		out = append(out, c)
	}
	cancel() // everything was read
	_ = cmd.Wait()
	return out, nil
}

// next reads one object of cat-file: a line with id, type and size, the object, and a line feed.
func next(in *bufio.Reader, id string) (c Commit, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return c, errors.New("its output ended")
	}
	words := strings.Fields(string(line))
	if len(words) != 3 || words[0] != id || words[1] != "commit" {
		return c, errors.New("it is none, or is not here")
	}
	size, err := strconv.ParseInt(words[2], 10, 64)
	if err != nil || size < 0 {
		return c, errors.New("its size is none")
	}
	head, err := io.ReadAll(io.LimitReader(in, min(size, headerBytesMax+limits.CommitMessageBytesMax)))
	if err == nil {
		_, err = io.CopyN(io.Discard, in, size-int64(len(head))+1)
	}
	if err != nil {
		return c, errors.New("its output ended")
	}
	header, message, found := bytes.Cut(head, []byte("\n\n"))
	if !found && size > int64(len(head)) {
		message = header
	}
	c = Commit{ID: id, Message: string(message), Cut: int64(len(head)) < size}
	if len(message) > limits.CommitMessageBytesMax {
		c.Message, c.Cut = string(message[:limits.CommitMessageBytesMax]), true
	}
	return c, nil
}

// quiet is the environment of every git: no translated messages, no replaced objects, and no transfer of objects that a
// partial clone does not have, which would start the programs that its configuration names.
var quiet = []string{"LC_ALL=C", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=", "GIT_OPTIONAL_LOCKS=0",
	"GIT_TERMINAL_PROMPT=0"}

// command returns a git that ends with ctx.
func (r Repository) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--no-pager"}, args...)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = r.Dir, append(slices.Clone(r.Env), quiet...), time.Second
	return cmd
}

// run runs git and returns what it prints. The error is GIT_FAILED.
func (r Repository) run(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitWait)
	defer cancel()
	var out, errOut bounded
	cmd := r.command(ctx, args...)
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return nil, gitFault(err, errOut.kept.Bytes())
	}
	return out.kept.Bytes(), nil
}

// failed reports that git ran and ended with another status than 0.
func failed(err error) bool {
	var exit *exec.ExitError
	return errors.As(err, &exit)
}

// gitFault is GIT_FAILED with the first line of what git reported.
func gitFault(err error, reported []byte) error {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, exec.ErrDot):
		return fault.Wrap(err, fault.GitFailed, "git is not installed, or not on the search path")
	case errors.Is(err, context.DeadlineExceeded):
		return fault.Wrap(err, fault.GitFailed, "git did not answer within %v", gitWait)
	case errors.Is(err, context.Canceled):
		return fault.Wrap(err, fault.Interrupted, "the command was interrupted")
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(reported)), "\n")
	if line == "" {
		line = err.Error()
	}
	return fault.Wrap(err, fault.GitFailed, "git failed: %s", cut(strings.ToValidUTF8(line, "\ufffd"), 300))
}

// cut returns the beginning of a text.
func cut(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + " …"
	}
	return s
}

// bounded keeps what a process prints, up to namesBytesMax bytes. The buffer is not embedded, since its ReadFrom would take
// any number of bytes.
type bounded struct{ kept bytes.Buffer }

// Write implements io.Writer. What is over the bound is dropped.
func (b *bounded) Write(p []byte) (int, error) {
	b.kept.Write(p[:min(len(p), namesBytesMax-b.kept.Len())])
	return len(p), nil
}
