package command

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/reason"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/durable/workflow/source"
)

// Filled is a command with the values of a context.
type Filled struct {
	Argv []string
	// Cwd is relative if it was filled. The performer checks that it is below the root of the
	// project, links resolved.
	Cwd string
	Env map[string]string
	// Digest is that of Argv as JCS; zero for an action without placeholders.
	Digest canon.Digest
}

// Unfilled says why a placeholder of a command has no value that may be used, without the value.
type Unfilled struct {
	Place string // argv/3, env/NAME or cwd
	Key   string // path of the placeholder
	Why   string // clause without a subject, such as "is not set"
}

// Error names the place and the placeholder.
func (u *Unfilled) Error() string {
	return fmt.Sprintf("{{%s}} in %s of the command %s", reason.Clip(u.Key, limits.ContextKeyMax), u.Place, u.Why)
}

// Fill returns the command of an action with the placeholders of argv, env and cwd filled from
// vars (docs/design.md#values-in-commands): the variables of the loops around the step, then
// the context. Each element stays one element, and values are not read for placeholders. An
// action that is literal is returned as written; so are those of workflows in form 1, which the
// caller must tell apart. The error is an *Unfilled, the first of Unfillable.
func Fill(a source.Action, vars canon.Value) (Filled, error) {
	if a.Literal {
		return Filled{Argv: slices.Clone(a.Argv), Cwd: a.Cwd, Env: maps.Clone(a.Env)}, nil
	}
	f := filling{vars: vars}
	out := Filled{Argv: f.argv(a.Argv), Cwd: f.cwd(a.Cwd), Env: f.env(a.Env)}
	if len(f.refused) > 0 {
		return Filled{}, &f.refused[0]
	}
	if f.found {
		out.Digest = argvDigest(out.Argv)
	}
	return out, nil
}

// Unfillable returns every placeholder of an action for which vars has no value that may be used:
// those of argv, then cwd, then env by name. Of an element with several, the first is named.
func Unfillable(a source.Action, vars canon.Value) []Unfilled {
	if a.Literal {
		return nil
	}
	f := filling{vars: vars}
	f.argv(a.Argv)
	f.cwd(a.Cwd)
	f.env(a.Env)
	return f.refused
}

// filling fills the parts of one command.
type filling struct {
	vars    canon.Value
	found   bool // there was a placeholder
	refused []Unfilled
}

// argv fills the elements of argv. A value must not become an option: an element that begins
// with a value, and would begin with "-", needs an element "--" that the author wrote before it.
// The program is the author's: a value would replace what a person trusted.
func (f *filling) argv(template []string) []string {
	out := make([]string, len(template))
	ended := false // the author ended the options
	for i, element := range template {
		parts, place := placeholder.Split(element), "argv/"+strconv.Itoa(i)
		text, ok := f.text(place, parts)
		out[i] = text
		switch {
		case !ok || !filledAny(parts):
		case i == 0:
			f.refuse(place, key(parts), "would choose the program, which is never filled")
		case strings.HasPrefix(text, "-") && parts[0].Path != "" && !ended:
			f.refuse(place, key(parts), `would become an option, since its value begins with "-" and the command has no `+
				`literal "--" before it`)
		}
		ended = ended || i > 0 && element == "--"
	}
	return out
}

// cwd fills the folder, which must stay relative and below the one in which the run was started.
func (f *filling) cwd(template string) string {
	parts := placeholder.Split(template)
	text, ok := f.text("cwd", parts)
	if !ok || !filledAny(parts) {
		return text
	}
	clean := path.Clean(strings.ReplaceAll(text, `\`, "/"))
	drive := len(text) > 1 && text[1] == ':'
	switch {
	case text == "":
		f.refuse("cwd", key(parts), "is empty, which names no folder")
	case path.IsAbs(clean) || drive:
		f.refuse("cwd", key(parts), "would make the folder absolute; a folder with a value is relative")
	case clean == ".." || strings.HasPrefix(clean, "../"):
		f.refuse("cwd", key(parts), "would lead out of the project's folder")
	}
	return text
}

// env fills the values of environment variables, those apart that other programs read as code.
func (f *filling) env(template map[string]string) map[string]string {
	out := maps.Clone(template)
	for _, name := range slices.Sorted(maps.Keys(template)) {
		parts, place := placeholder.Split(template[name]), "env/"+name
		text, ok := f.text(place, parts)
		out[name] = text
		if ok && filledAny(parts) && placeholder.CodeVariable(name) {
			f.refuse(place, key(parts), "is not filled in: programs read this variable as code, or as a path to it")
		}
	}
	return out
}

// text fills one element. False: a value is missing or was refused.
func (f *filling) text(place string, parts []placeholder.Part) (string, bool) {
	var b strings.Builder
	for _, p := range parts {
		text := p.Text
		if p.Path != "" {
			f.found = true
			v, _ := placeholder.Lookup(f.vars, p.Path)
			text = placeholder.Text(v)
			long := b.Len()+len(text) > limits.FilledBytesMax
			if why := unusable(v, text, len(parts) == 1, long); why != "" {
				f.refuse(place, p.Path, why)
				return "", false
			}
		}
		b.WriteString(text)
	}
	if b.Len() > limits.FilledBytesMax && filledAny(parts) {
		f.refuse(place, key(parts), tooLong)
		return "", false
	}
	return b.String(), true
}

// tooLong is why an element over limits.FilledBytesMax is refused.
var tooLong = fmt.Sprintf("would make it longer than %d bytes", limits.FilledBytesMax)

// unusable returns why a value may not fill an element, "" if it may. alone: the element is the
// placeholder; long: the element would exceed its limit.
func unusable(v canon.Value, text string, alone, long bool) string {
	switch {
	case v.IsNull():
		return "is not set"
	case long:
		return tooLong
	case strings.ContainsRune(text, 0):
		return "contains a NUL byte, which no argument can hold"
	case !utf8.ValidString(text):
		return "is not valid UTF-8"
	case text == "" && !alone:
		return "is empty; an empty value fills only a text that is the placeholder alone"
	}
	return ""
}

// refuse records why a placeholder is not filled.
func (f *filling) refuse(place, path, why string) {
	f.refused = append(f.refused, Unfilled{Place: place, Key: path, Why: why})
}

// filledAny reports whether one of the parts is a placeholder.
func filledAny(parts []placeholder.Part) bool { return key(parts) != "" }

// key returns the path of the first placeholder, "" without one.
func key(parts []placeholder.Part) string {
	for _, p := range parts {
		if p.Path != "" {
			return p.Path
		}
	}
	return ""
}
