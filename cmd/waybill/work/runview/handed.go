package runview

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/ports"
)

// File shows what an artifact must look like and asks for the path of a file.
// It asks again until the file can be read; whether it fits is checked by the
// caller, which then calls File again with what is wrong. An empty line is none
// for an optional artifact, and else ports.ErrLeft.
func (v *View) File(ctx context.Context, q ports.FileQuestion) (advance.Artifact, error) {
	v.heading()
	// The first time shows what is wanted, later ones what was wrong.
	if len(q.Wrong) == 0 {
		v.mark(v.styles.Accent("?"), clean(q.Text))
		if !q.Example.IsNull() {
			v.print(indent+2, v.styles.Dim("Such as:"))
			v.pretty(string(q.Example.JCS()), exampleLines)
		}
		v.mark(v.styles.Dim("→"), "It can be handed in from elsewhere too: '"+q.Command+"'")
	} else {
		v.print(indent, v.styles.Warn("It does not fit:"))
		for _, w := range q.Wrong {
			v.mark(v.styles.Warn("!"), clean(w))
		}
	}
	// An empty line has a meaning, which must be known before it is typed.
	hint := "The path of the file, or Enter to stop here"
	if q.Optional {
		hint = "The path of the file, or Enter for none"
	}
	v.lines.Discard()
	for {
		for _, line := range v.folded(hint, indent) {
			v.print(indent, v.styles.Dim(line))
		}
		name, err := v.read(ctx, v.styles.Accent("›"), v.lines.Read)
		if err != nil {
			return advance.Artifact{}, err
		}
		if name = v.path(name); name == "" {
			if q.Optional {
				return advance.Artifact{}, nil
			}
			return advance.Artifact{}, ports.ErrLeft
		}
		artifact, err := v.opts.Read(name)
		if err == nil {
			return artifact, nil
		}
		v.mark(v.styles.Bad("✗"), clean(strings.TrimPrefix(fault.Of(err).Message, "--artifact ")))
	}
}

// path is a path as a shell would take it: without quotes around it, and with
// the home folder for ~. Terminals quote the names of files that are dropped on
// them. Nothing else of a shell's language is known here.
func (v *View) path(text string) string {
	text = strings.TrimSpace(text)
	// Terminals quote the names of dropped files.
	for _, quote := range []string{"'", `"`} {
		if len(text) >= 2 && strings.HasPrefix(text, quote) && strings.HasSuffix(text, quote) {
			return text[1 : len(text)-1]
		}
	}
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		return v.opts.Getenv("HOME") + "/" + rest
	}
	return text
}

const (
	// exampleLines is more than any example of a contract has.
	exampleLines = 60
	// resultLines is how much of each result is shown for approval; what is left out is
	// counted, since it is approved too.
	resultLines = 200
)

// pretty prints JSON over several lines and any other text as it is, at most so
// many lines. Lines that are left out are counted.
func (v *View) pretty(text string, most int) {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") == nil {
		text = b.String()
	}
	lines := strings.Split(clean(text), "\n")
	for i, line := range lines {
		if i == most && len(lines) > most+1 {
			v.print(indent+2, v.styles.Warn(fmt.Sprintf("… %s more", count(len(lines)-i, "line"))))
			return
		}
		for _, part := range strings.Split(v.wrapped(line, indent+2), "\n") {
			v.print(indent+2, v.styles.Dim(part))
		}
	}
}

// Approve shows everything that the approval is bound to and waits for a yes.
// An empty line, and the end of the input, are a no.
func (v *View) Approve(ctx context.Context, q ports.ApproveQuestion) (bool, error) {
	v.heading()
	v.gap()
	// An approval of nothing is unusual, and named as such.
	if q.Notes == "" && len(q.Results) == 0 {
		v.mark(v.styles.Warn("!"), "Nothing was handed in for this step.")
	} else {
		v.print(indent, v.styles.Bold("Handed in"))
	}
	if q.Notes != "" {
		v.prompt(q.Notes)
	}
	for _, r := range q.Results {
		v.print(indent, v.styles.Accent(clean(r.Name)))
		v.pretty(r.Text, resultLines)
	}
	v.gap()
	v.lines.Discard()
	text, err := v.read(ctx, v.styles.Accent("?")+" "+v.styles.Bold("Approve it?")+" [y/N]", v.lines.Read)
	return yes(text), err
}
