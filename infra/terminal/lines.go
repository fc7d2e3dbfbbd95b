package terminal

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"sync"
)

// Lines reads what the user types, line by line. The terminal provides line editing; Ctrl-D on an
// empty line is io.EOF. It is used by one goroutine.
type Lines struct {
	in      *os.File
	pending *unfinished // a read, after its caller's context ended
}

// unfinished is a read of a line that may outlive its caller.
type unfinished struct {
	line chan typedLine

	mu   sync.Mutex
	held []byte // typed without a line end: Ctrl-D hands it over before the line is entered
}

// typedLine is the result of one read.
type typedLine struct {
	line string
	err  error
}

// NewLines returns a reader of the terminal in.
func NewLines(in *os.File) *Lines { return &Lines{in: in} }

// Read returns the next line without its line end, or the error of ctx. It reads nothing ahead:
// what is typed after the line is left for the next reader, such as an editor. A line that the end
// of the input interrupts was not entered: it is io.EOF, so that it answers no question.
func (l *Lines) Read(ctx context.Context) (string, error) {
	line, err := l.read(ctx)
	if err == io.ErrUnexpectedEOF {
		return "", io.EOF
	}
	return line, err
}

// read is Read, with io.ErrUnexpectedEOF beside an interrupted line.
func (l *Lines) read(ctx context.Context) (string, error) {
	if l.pending == nil {
		// A read from a terminal cannot be canceled: it continues when ctx ends, and the next call
		// receives its line.
		l.pending = &unfinished{line: make(chan typedLine, 1)}
		go func(u *unfinished) {
			line, err := u.readLine(l.in)
			u.line <- typedLine{line, err}
		}(l.pending)
	}
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case t := <-l.pending.line:
		l.pending = nil
		return t.line, t.err
	}
}

// readLine reads a single line: a terminal in line mode returns at most one per read, and nothing
// is read beyond a line end.
func (u *unfinished) readLine(in io.Reader) (string, error) {
	part := make([]byte, lineBytesMax)
	for {
		n, err := in.Read(part)
		line, ended, text := u.add(part[:n])
		switch {
		case ended:
			err = nil
		case err == io.EOF && text:
			err = io.ErrUnexpectedEOF
		case err == nil:
			continue
		}
		return strings.ToValidUTF8(line, "\uFFFD"), err
	}
}

// add adds what a read returned, and returns the text up to the line end if it has one. text reports
// that there is any.
func (u *unfinished) add(part []byte) (line string, ended, text bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.held = append(u.held, part...)
	before, _, ended := bytes.Cut(u.held, []byte("\n"))
	return strings.TrimSuffix(string(before), "\r"), ended, len(u.held) > 0
}

// discard drops what the read holds.
func (u *unfinished) discard() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.held = nil
}

const (
	// lineBytesMax is the longest line that Linux edits (MAX_CANON and its line end), in bytes.
	lineBytesMax = 4096
	// pasteLinesMax bounds a read of input that never pauses.
	pasteLinesMax = 1000
)

// ReadPaste is Read with all lines that follow without a pause: a pasted text of several lines is
// one answer, and not the answers to the next questions as well. At most pasteLinesMax lines are
// joined. Text that the end of the input interrupts is returned as well: it is no answer of one word.
func (l *Lines) ReadPaste(ctx context.Context) (string, error) {
	text, err := l.read(ctx)
	for lines := 0; err == nil && lines < pasteLinesMax && lineFollows(l.in); lines++ {
		var more string
		if more, err = l.read(ctx); err == io.EOF {
			return text, nil
		}
		text += "\n" + more
	}
	if err == io.ErrUnexpectedEOF {
		err = nil
	}
	return text, err
}

// Discard drops the input that was typed before the question was shown: in the terminal, a line that
// an unfinished read has received meanwhile, and the part of a line that it holds.
func (l *Lines) Discard() {
	discardInput(l.in)
	if l.pending == nil {
		return
	}
	select {
	case <-l.pending.line:
		l.pending = nil
	default:
		l.pending.discard()
	}
}
