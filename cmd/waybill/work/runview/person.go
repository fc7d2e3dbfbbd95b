package runview

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/waybill/waybill/ports"
)

// Present reports whether there is a person: one who can type, and see what
// they are asked. Without one no question may be asked, since the answer would
// never come.
func (v *View) Present() bool { return v.here }

// read shows the prompt sign and takes an answer by take.
func (v *View) read(ctx context.Context, sign string, take func(context.Context) (string, error)) (string, error) {
	v.screen.Print(strings.Repeat(" ", indent) + sign + " ")
	v.set = false
	text, err := take(ctx)
	if err != nil {
		v.screen.Print("\n") // the cursor is behind the sign, or a ^C
	}
	if err == io.EOF {
		return "", ports.ErrLeft
	}
	return text, err
}

// Notes asks for notes: a line, a pasted text, or whatever the editor saves.
func (v *View) Notes(ctx context.Context, q ports.NotesQuestion) (string, error) {
	v.heading()
	// Enter is the shortest way through a checklist: it acknowledges where nothing has
	// to be written, and opens the editor where something has to.
	hint := "Notes: a line, e for the editor, Enter for none"
	if q.Required {
		hint = "Notes, required: a line, or Enter for the editor"
	}
	v.gap()
	v.lines.Discard()
	for {
		for _, line := range v.folded(hint, indent) {
			v.print(indent, v.styles.Dim(line))
		}
		text, err := v.read(ctx, v.styles.Accent("›"), v.lines.ReadPaste)
		if err != nil {
			return "", err
		}
		said := strings.TrimSpace(text)
		if said != "e" && (said != "" || !q.Required) {
			return said, nil
		}
		text, err = v.edit(ctx, q.Draft)
		switch {
		case ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil:
			v.mark(v.styles.Bad("✗"), clean(err.Error()))
		case text == "" && q.Required:
			v.mark(v.styles.Warn("!"), "Nothing was written.")
		default:
			v.echo(text)
			return text, nil
		}
	}
}

// edit lends the terminal to an editor. The prompt goes along, since the editor
// takes it off the screen.
func (v *View) edit(ctx context.Context, draft string) (string, error) {
	v.editing.Store(true)
	defer v.editing.Store(false)
	s := v.step
	return v.editor.Edit(ctx, draft,
		fmt.Sprintf("What stands above this line becomes the notes of step %d of %d, %s\n\n%s",
			s.At, s.Of, clean(s.Title), clean(s.Prompt)))
}

// echoLines is how much of an edited text is shown again: enough to know it by.
const echoLines = 5

// echo shows what was written in the editor, which took it off the screen.
func (v *View) echo(text string) {
	lines := strings.Split(v.wrapped(clean(text), indent+2), "\n")
	for i, line := range lines {
		if i == echoLines && len(lines) > echoLines+1 {
			v.print(indent, v.styles.Dim(fmt.Sprintf("› … %s more", count(len(lines)-i, "line"))))
			return
		}
		v.print(indent, v.styles.Dim(strings.TrimRight("› "+line, " ")))
	}
}

// Ask asks until there is an answer that fits. Brief choices follow the text,
// others in a list below it, and each may be named or numbered.
func (v *View) Ask(ctx context.Context, q ports.Question) (string, error) {
	v.heading()
	brief := q.Brief && len(q.Choices) > 0
	text := clean(q.Text)
	if q.Optional && len(q.Choices) > 0 {
		text += ", or Enter for none"
	}
	if q.Key != "" {
		text += " " + v.styles.Dim("("+clean(q.Key)+")")
	}
	v.mark(v.styles.Accent("?"), text)
	if q.Secret {
		v.mark(v.styles.Warn("!"),
			"What you type is kept in the run's log as it is. Name a place to find the secret rather than the secret.")
	}
	v.lines.Discard()
	sign := v.styles.Accent("›")
	switch {
	case brief:
		sign = v.styles.Accent("["+clean(strings.Join(q.Choices, "/"))+"]") + " " + sign
	default:
		for i, choice := range q.Choices {
			v.print(indent+2, v.styles.Accent(strconv.Itoa(i+1))+" "+clean(choice))
		}
	}
	for {
		text, err := v.read(ctx, sign, v.lines.Read)
		if err != nil {
			return "", err
		}
		text = strings.TrimSpace(text)
		if text == "" && q.Optional || text != "" && len(q.Choices) == 0 {
			return text, nil
		}
		if choice, ok := chosen(q, text); ok {
			return choice, nil
		}
		switch {
		case len(q.Choices) == 0:
			v.mark(v.styles.Warn("!"), "The step cannot be left without it. Ctrl-C stops here.")
		case brief:
			v.mark(v.styles.Warn("!"), "Type "+clean(alternatives(q.Choices))+".")
		default:
			v.mark(v.styles.Warn("!"), fmt.Sprintf("Type a number from 1 to %d.", len(q.Choices)))
		}
	}
}

// chosen finds the choice that was typed: by its name, which goes before its
// number, and where the choices are words also by its beginning. A beginning
// that several choices have finds none.
func chosen(q ports.Question, text string) (string, bool) {
	if slices.Contains(q.Choices, text) {
		return text, true
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(q.Choices) {
		return q.Choices[n-1], true
	}
	if !q.Brief || text == "" {
		return "", false
	}
	var fits []string
	for _, c := range q.Choices {
		if strings.EqualFold(c, text) {
			return c, true
		}
		if strings.HasPrefix(strings.ToLower(c), strings.ToLower(text)) {
			fits = append(fits, c)
		}
	}
	if len(fits) != 1 {
		return "", false
	}
	return fits[0], true
}

// alternatives are words with "or" before the last.
func alternatives(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// Confirm shows the step, with its command where it has one, and asks for a
// yes. Everything else is a no. What was typed before the question is dropped.
func (v *View) Confirm(ctx context.Context, question string) (bool, error) {
	v.heading()
	if len(v.step.Argv) > 0 {
		v.commandLine(v.step.Argv, v.step.Cwd)
	}
	v.lines.Discard()
	text, err := v.read(ctx, v.styles.Accent("?")+" "+v.styles.Bold(question)+" [y/N]", v.lines.Read)
	return yes(text), err
}

func yes(text string) bool {
	return slices.Contains([]string{"y", "yes"}, strings.ToLower(strings.TrimSpace(text)))
}
