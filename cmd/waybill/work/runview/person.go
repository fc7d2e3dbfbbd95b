package runview

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/terminal"
	"github.com/waybill/waybill/ports"
)

// Present reports whether a person can be asked: input and output are terminals. Otherwise the
// caller must ask nothing, since no answer would arrive.
func (v *View) Present() bool { return v.person }

// read prints the prompt sign and reads an answer with take. The end of the input is
// ports.ErrPersonStopped.
func (v *View) read(ctx context.Context, sign string, take func(context.Context) (string, error)) (string, error) {
	v.page.Print("  " + sign + " ")
	text, err := take(ctx)
	if err != nil {
		v.screen.Print("\n") // the cursor is after the sign or an echoed ^C
	}
	if err == io.EOF {
		return "", ports.ErrPersonStopped
	}
	return text, err
}

// backWord is the answer that goes back to an earlier step. With a space before it, it is text.
const backWord = "b"

// goesBack reports that a typed line goes back to an earlier step. Where there is none, the line is
// explained and asked for again: the word is never handed in by accident.
func (v *View) goesBack(line string) (again bool, err error) {
	switch {
	case line != backWord:
		return false, nil
	case v.step.Back:
		return false, ports.ErrPersonBack
	}
	v.mark(v.page.Warn("!"), "There is no earlier step. A space before the b makes it text.")
	return true, nil
}

// backHint is the part of a hint about going back, "" where there is no earlier step.
func (v *View) backHint() string {
	if !v.step.Back {
		return ""
	}
	return ", " + backWord + " for an earlier step"
}

// Notes asks for notes: a line, a pasted text, or the text that is saved in the editor.
// Required notes are asked for until they are not empty.
func (v *View) Notes(ctx context.Context, q ports.NotesQuestion) (string, error) {
	v.heading()
	// Enter is the quickest answer: it acknowledges a step with optional notes, and opens the
	// editor for required ones.
	hint := "Notes: a line, e for the editor, Enter for none"
	if q.Required {
		hint = "Notes, required: a line, or Enter for the editor"
	}
	if q.Edit {
		hint = "New notes: a line, e for the editor, Enter to leave them as they are"
	}
	hint += v.backHint()
	v.page.Blank()
	// Before the question is shown, so that a text that is pasted at once arrives whole.
	end := v.lines.Edit()
	defer func() { end() }()
	v.lines.Discard()
	for {
		v.page.Block("  ", "  ", hint, v.page.Dim)
		text, err := v.read(ctx, v.page.Accent("›"), v.readNotes)
		if errors.Is(err, terminal.ErrTooLong) {
			v.mark(v.page.Bad("✗"), fmt.Sprintf("The notes have more than %s. Keep the text in a file, attach it as an "+
				"artifact, and write here what it holds.", page.Size(limits.WholeNotesBytesMax)))
			continue
		}
		if err != nil {
			return "", err
		}
		if again, err := v.goesBack(text); err != nil {
			return "", err
		} else if again {
			continue
		}
		notes := strings.TrimSpace(text)
		if notes != "e" && (notes != "" || !q.Required) {
			v.written = notes
			return notes, nil
		}
		end() // the editor has the terminal
		text, err = v.edit(ctx, q.Draft)
		end = v.lines.Edit()
		// A failed editor is not fatal: the person can still type a line.
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil:
			v.mark(v.page.Bad("✗"), err.Error())
		case text == "" && q.Required:
			v.mark(v.page.Warn("!"), "The notes are empty.")
		default:
			v.echo(text)
			v.written = text
			return text, nil
		}
	}
}

// readNotes reads notes within their budget.
func (v *View) readNotes(ctx context.Context) (string, error) {
	return v.lines.ReadText(ctx, limits.WholeNotesBytesMax)
}

// readLine reads a line within the budget of a context value; the path of a file is shorter.
func (v *View) readLine(ctx context.Context) (string, error) {
	return v.lines.ReadLine(ctx, limits.ContextBytesMax)
}

// KeepWritten saves notes that were written and are in no attempt, because the run stopped before it
// was recorded, in a file and says where. Short ones are typed again faster than a file is found.
func (v *View) KeepWritten() {
	text := v.written
	v.written = ""
	if len(text) <= keptBytesMin && !strings.Contains(text, "\n") {
		return
	}
	name, err := v.editor.Keep(text)
	if err != nil {
		v.mark(v.page.Bad("✗"), err.Error())
		return
	}
	v.mark(v.page.Warn("!"), "Your notes are not recorded. They are kept in "+name)
}

// keptBytesMin is the longest line of notes that is not worth a file.
const keptBytesMin = 200

// edit opens the draft in an editor. The file contains the prompt of the step below the draft,
// since the editor covers the screen; a marker line separates the two.
func (v *View) edit(ctx context.Context, draft string) (string, error) {
	v.editing.Store(true)
	defer v.editing.Store(false)
	s := v.step
	step := fmt.Sprintf("step %d of %d, ", s.At, s.Of)
	if s.Returns {
		step = positionOf(s)
	}
	return v.editor.Edit(ctx, draft, limits.WholeNotesBytesMax, fmt.Sprintf("The text above this line becomes the notes of %s%s\n\n%s",
		step, page.OneLine(s.Title), page.Clean(s.Prompt)))
}

// echoLines bounds the lines of an edited text that are printed again.
const echoLines = 5

// echo prints the beginning of the text that was written in the editor.
func (v *View) echo(text string) {
	v.excerpt("  "+v.page.Dim("›")+" ", v.page.Wrap(page.Clean(text), 4), echoLines, v.page.Dim)
}

// Ask asks a question until the answer is valid. Brief choices are shown in the prompt, others
// in a numbered list. A choice may be given by name or number. An empty answer is accepted only
// if q.Optional is set.
func (v *View) Ask(ctx context.Context, q ports.Question) (string, error) {
	v.heading()
	p, brief := v.page, q.Inline && len(q.Choices) > 0
	text := page.OneLine(q.Text)
	if q.Optional && len(q.Choices) > 0 {
		text += ", or Enter for none"
	}
	if q.Key != "" {
		text += " " + p.Dim("("+page.OneLine(q.Key)+")")
	}
	if offersBack(q) {
		text += p.Dim(v.backHint())
	}
	// Before the question is shown, so that an answer that follows it at once is not dropped.
	defer v.lines.Edit()()
	v.lines.Discard()
	p.Block("  "+p.Accent("?")+" ", "    ", text, page.Plain)
	// Answers become part of the context, which is stored unencrypted.
	if q.Secret {
		v.mark(p.Warn("!"),
			"Your answer is stored in the run's log as plain text. Give the location of the secret, not the secret.")
	}
	sign, wrong := p.Accent("›"), "An answer is required. Ctrl-C stops here."
	switch {
	case brief:
		sign = p.Accent("["+page.OneLine(strings.Join(q.Choices, "/"))+"]") + " " + sign
		wrong = "Type " + page.List(q.Choices, "or") + "."
	case len(q.Choices) > 0:
		wrong = fmt.Sprintf("Type a number from 1 to %d.", len(q.Choices))
		shown := q.Choices[:min(len(q.Choices), limits.ChoicesShownMax)]
		for i, choice := range shown {
			p.Line("    %s %s", p.Accent(page.Itoa(i+1)), page.OneLine(choice))
		}
		if more := len(q.Choices) - len(shown); more > 0 {
			p.Line("    %s", p.Dim(fmt.Sprintf("and %d more: type one of them as it is", more)))
			wrong = fmt.Sprintf("Type a number from 1 to %d, or one of the choices as it is.", len(shown))
		}
	}
	for {
		text, err := v.read(ctx, sign, v.readLine)
		if errors.Is(err, terminal.ErrTooLong) {
			v.mark(p.Bad("✗"), "The answer has more than "+page.Size(limits.ContextBytesMax)+".")
			continue
		}
		if err != nil {
			return "", err
		}
		if offersBack(q) {
			if again, err := v.goesBack(text); err != nil {
				return "", err
			} else if again {
				continue
			}
		}
		text = strings.TrimSpace(text)
		if text == "" && q.Optional || text != "" && len(q.Choices) == 0 {
			return text, nil
		}
		if choice, ok := chosen(q, text); ok {
			return choice, nil
		}
		v.mark(p.Warn("!"), wrong)
	}
}

// offersBack reports that the word goes back: it is not an answer to the question itself.
func offersBack(q ports.Question) bool {
	_, isChoice := chosen(q, backWord)
	return !isChoice && !q.NoBack
}

// chosen returns the choice that was typed: by name, then by number, and for brief choices also
// in any case and by an unambiguous prefix. ok is false if none matches.
func chosen(q ports.Question, text string) (string, bool) {
	if slices.Contains(q.Choices, text) {
		return text, true
	}
	// A choice that is itself a number was found by name above. Those that are not shown have none.
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= min(len(q.Choices), limits.ChoicesShownMax) {
		return q.Choices[n-1], true
	}
	if !q.Inline || text == "" {
		return "", false
	}
	var matches []string
	for _, c := range q.Choices {
		if strings.EqualFold(c, text) {
			return c, true
		}
		if strings.HasPrefix(strings.ToLower(c), strings.ToLower(text)) {
			matches = append(matches, c)
		}
	}
	if len(matches) != 1 {
		return "", false
	}
	return matches[0], true
}
