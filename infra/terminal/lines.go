package terminal

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
)

// Lines reads what the user types, line by line. The terminal provides line editing; Ctrl-D on an
// empty line is io.EOF. It is used by one goroutine.
type Lines struct {
	in      *os.File
	pending chan typedLine // an unfinished read, after its caller's context ended
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
		l.pending = make(chan typedLine, 1)
		go func(to chan typedLine) {
			line, err := l.readLine()
			to <- typedLine{line, err}
		}(l.pending)
	}
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case t := <-l.pending:
		l.pending = nil
		return t.line, t.err
	}
}

// readLine reads a single line: a terminal in line mode returns at most one per read, and nothing
// is read beyond a line end.
func (l *Lines) readLine() (string, error) {
	line, err := bufio.NewReaderSize(l.in, lineBytesMax).ReadString('\n')
	if err == io.EOF && line != "" {
		err = io.ErrUnexpectedEOF
	}
	line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	return strings.ToValidUTF8(line, "\uFFFD"), err
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

// Discard drops the input that was typed before the question was shown, and the line that an
// unfinished read has received meanwhile.
func (l *Lines) Discard() {
	select {
	case <-l.pending: // blocks for ever if there is no read, so that default is taken
		l.pending = nil
	default:
	}
	discardInput(l.in)
}
