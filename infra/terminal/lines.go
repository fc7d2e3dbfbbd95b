package terminal

import (
	"context"
	"io"
	"os"
	"strings"
	"time"
)

// Lines reads what a person types, line by line. The terminal itself lets them
// correct a line; Ctrl-D on an empty one is io.EOF.
type Lines struct {
	in      *os.File
	pending chan typed // a reading that nobody waits for any more
}

type typed struct {
	line string
	err  error
}

// NewLines reads from a terminal.
func NewLines(in *os.File) *Lines { return &Lines{in: in} }

// Read waits for a line, or for ctx's end. Nothing is read ahead: what is typed
// after the line belongs to whoever reads next, such as an editor.
func (l *Lines) Read(ctx context.Context) (string, error) {
	if l.pending == nil {
		// A read from a terminal cannot be called back; it is left behind when ctx ends.
		l.pending = make(chan typed, 1)
		go func(to chan typed) {
			line, err := l.one()
			to <- typed{line, err}
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

// one reads a single line: a terminal hands out no more than that at a time.
func (l *Lines) one() (string, error) {
	var b strings.Builder
	buf := make([]byte, lineBytesMax)
	for {
		n, err := l.in.Read(buf)
		b.Write(buf[:n])
		if line, ok := strings.CutSuffix(b.String(), "\n"); ok {
			return strings.ToValidUTF8(strings.TrimSuffix(line, "\r"), "\uFFFD"), nil
		}
		if err != nil {
			if b.Len() > 0 && err == io.EOF {
				return b.String(), nil
			}
			return "", err
		}
		if n == 0 {
			return "", io.EOF
		}
	}
}

const (
	// lineBytesMax is the longest line that Linux edits (MAX_CANON and its line end).
	lineBytesMax = 4096
	// pasteGap is longer than a terminal takes between two lines of a pasted text, and
	// shorter than a person between two answers.
	pasteGap = 30 * time.Millisecond
	// pasteLinesMax ends a reading that never pauses: nobody pastes that into a prompt.
	pasteLinesMax = 1000
)

// ReadPaste is Read, with the lines that follow at once: a text that was pasted is
// one answer, and not the answers to the next questions too.
func (l *Lines) ReadPaste(ctx context.Context) (string, error) {
	text, err := l.Read(ctx)
	for range pasteLinesMax {
		if err != nil {
			return text, err
		}
		time.Sleep(pasteGap)
		if !waiting(l.in) {
			return text, nil
		}
		var more string
		more, err = l.Read(ctx)
		if err == io.EOF {
			return text, nil
		}
		text += "\n" + more
	}
	return text, err
}

// Discard forgets what was typed so far: it was typed before the question was there.
func (l *Lines) Discard() {
	if l.pending == nil {
		discard(l.in)
	}
}
