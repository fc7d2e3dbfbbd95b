package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"time"
)

// Lines reads what the user types. Ctrl-D on an empty line is io.EOF. It is used by one goroutine.
//
// Read takes lines that the terminal edits. Between Edit and its end, ReadLine and ReadText edit
// themselves: a terminal in line mode drops what is behind the first 4,095 bytes of a line.
type Lines struct {
	in      *os.File
	echo    io.Writer        // shows what is typed between Edit and its end; nil: lines are the terminal's
	width   func(string) int // columns of a text
	pending chan typed       // a read, after its caller's context ended
	rest    []byte           // read, and not part of an answer yet
	editing bool             // between Edit and its end, where the system can
	refused bool             // the line end of a text that was too long may still arrive
}

// typed is the result of one read.
type typed struct {
	part []byte
	err  error
}

// partBytesMax bounds one read. It is the longest line that Linux edits, with its line end.
const partBytesMax = 4096

// refusedGap is the pause that ends a text whose rest is dropped.
const refusedGap = 300 * time.Millisecond

// pasteGap is longer than the time between two lines of a pasted text, and shorter than the time
// between two typed answers.
var pasteGap = 30 * time.Millisecond

// NewLines returns a reader of the terminal in.
func NewLines(in *os.File) *Lines { return &Lines{in: in} }

// NewEditedLines is NewLines for questions with long answers. echo is the terminal too, width
// returns the columns of a text.
func NewEditedLines(in *os.File, echo io.Writer, width func(string) int) *Lines {
	return &Lines{in: in, echo: echo, width: width}
}

// Read returns the next line without its line end, or the error of ctx. It reads nothing ahead:
// what is typed after the line is left for the next reader, such as an editor. A line that the end
// of the input interrupts was not entered: it is io.EOF, so that it answers no question.
func (l *Lines) Read(ctx context.Context) (string, error) {
	line, err := l.readLine(ctx)
	if err == io.ErrUnexpectedEOF {
		return "", io.EOF
	}
	return line, err
}

// readLine is Read, with io.ErrUnexpectedEOF beside an interrupted line.
func (l *Lines) readLine(ctx context.Context) (string, error) {
	for {
		if line, after, ended := bytes.Cut(l.rest, []byte("\n")); ended {
			l.rest = bytes.Clone(after)
			return strings.ToValidUTF8(strings.TrimSuffix(string(line), "\r"), "\uFFFD"), nil
		}
		part, err := l.readPart(ctx)
		l.rest = append(l.rest, part...)
		switch {
		case err == io.EOF && len(l.rest) > 0:
			line := strings.ToValidUTF8(string(l.rest), "\uFFFD")
			l.rest = nil
			return line, io.ErrUnexpectedEOF
		case err != nil:
			return "", err
		}
	}
}

// readPart returns what one read of the terminal returns: at most one line in line mode.
func (l *Lines) readPart(ctx context.Context) ([]byte, error) {
	if l.pending == nil {
		// A read from a terminal cannot be canceled: it continues when ctx ends, and the next call
		// receives its result.
		pending := make(chan typed, 1)
		l.pending = pending
		go func() {
			part := make([]byte, partBytesMax)
			n, err := l.in.Read(part)
			pending <- typed{part[:n], err}
		}()
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case t := <-l.pending:
		l.pending = nil
		return t.part, t.err
	}
}

// ErrTooLong reports an answer that is longer than the caller allows.
var ErrTooLong = errors.New("the text is too long")

// ReadText returns a text of at most `most` bytes: a line with all lines that follow without a
// pause, so that a pasted text is one answer, and not the answers to the next questions as well.
// Text that the end of the input interrupts is returned too: it is no answer of one word. A longer
// text is ErrTooLong; no more of it is read than has to be dropped.
func (l *Lines) ReadText(ctx context.Context, most int) (string, error) {
	if l.editing {
		return l.edit(ctx, most, false)
	}
	text, err := l.readLine(ctx)
	for err == nil && len(text) <= most && inputFollows(l.in, pasteGap) {
		var more string
		if more, err = l.readLine(ctx); err == io.EOF {
			return text, nil
		}
		text += "\n" + more
	}
	if err == io.ErrUnexpectedEOF {
		err = nil
	}
	if err == nil && len(text) > most {
		return "", l.refuse(ctx, true)
	}
	return text, err
}

// ReadLine is Read without the limit of a terminal's line: a line of at most `most` bytes. What
// follows it is left for the next call, and ErrTooLong is a longer one.
func (l *Lines) ReadLine(ctx context.Context, most int) (string, error) {
	if l.editing {
		return l.edit(ctx, most, true)
	}
	line, err := l.Read(ctx)
	if err == nil && len(line) > most {
		return "", l.refuse(ctx, true)
	}
	return line, err
}

// refuse drops the rest of a text that is too long and returns ErrTooLong. ended reports that what
// was read so far ends with a line end.
func (l *Lines) refuse(ctx context.Context, ended bool) error {
	if n := len(l.rest); n > 0 {
		ended = l.rest[n-1] == '\n'
	}
	l.rest = nil
	for inputFollows(l.in, refusedGap) {
		part, err := l.readPart(ctx)
		if err != nil {
			return err
		}
		if n := len(part); n > 0 {
			ended = part[n-1] == '\n' || part[n-1] == '\r'
		}
	}
	// The Enter that ends the text is typed later. It is no answer to the question that is asked again.
	l.refused = !ended
	return ErrTooLong
}

// Discard drops the input that was typed before the question was shown: in the terminal, what an
// unfinished read has received meanwhile, and what was read and not used.
func (l *Lines) Discard() {
	discardInput(l.in)
	l.rest, l.refused = nil, false
	if l.pending == nil {
		return
	}
	select {
	case <-l.pending:
		l.pending = nil
	default:
	}
}
