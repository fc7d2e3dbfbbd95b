package runview

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/waybill/waybill/cmd/waybill/cli/page"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/infra/terminal"
	"github.com/waybill/waybill/ports"
)

// File shows the requirements for an artifact and asks for the path of a file. It asks again
// until the file can be read. The caller validates the content and calls File again with the
// errors in q.Wrong. An empty line returns no artifact if it is optional, and ports.ErrPersonStopped
// otherwise.
func (v *View) File(ctx context.Context, q ports.FileQuestion) (advance.Artifact, error) {
	v.heading()
	p := v.page
	// The first call shows the requirements, later calls the validation errors.
	if len(q.Wrong) == 0 {
		v.mark(p.Accent("?"), q.Text)
		if !q.Example.IsNull() {
			p.Line("    %s", p.Dim("Example:"))
			v.pretty(string(q.Example.JCS()), exampleLines)
		}
		v.mark(p.Dim("→"), "To submit it from another terminal: '"+q.Command+"'")
	} else {
		p.Line("  %s", p.Warn("The artifact is not valid:"))
		for _, w := range q.Wrong {
			v.mark(p.Warn("!"), w)
		}
	}
	// The hint explains the effect of an empty line.
	hint := "Path of the file, or Enter to stop here"
	if q.Optional {
		hint = "Path of the file, or Enter for none"
	}
	hint += v.backHint()
	// Input that was typed before the question must not answer it.
	defer v.lines.Edit()()
	v.lines.Discard()
	for {
		p.Block("  ", "  ", hint, p.Dim)
		// An empty line is handled before the file is read.
		name, err := v.read(ctx, p.Accent("›"), v.readLine)
		if errors.Is(err, terminal.ErrTooLong) {
			v.mark(p.Bad("✗"), "The path is too long.")
			continue
		}
		if err != nil {
			return advance.Artifact{}, err
		}
		if again, err := v.goesBack(name); err != nil {
			return advance.Artifact{}, err
		} else if again {
			continue
		}
		if name = v.path(name); name == "" {
			if q.Optional {
				return advance.Artifact{}, nil
			}
			return advance.Artifact{}, ports.ErrPersonStopped
		}
		artifact, err := v.opts.Read(name)
		if err == nil {
			return artifact, nil
		}
		// The prefix names a flag of the command line, which is not used here.
		v.mark(p.Bad("✗"), strings.TrimPrefix(fault.Of(err).Message, "--artifact "))
	}
}

// path converts typed text to a path: it removes quotes around it and replaces a leading ~/ by
// the home directory. No other shell syntax is supported.
func (v *View) path(text string) string {
	text = strings.TrimSpace(text)
	// Terminals quote the names of files that are dropped on their window.
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

// exampleLines bounds the lines of an example; no example of a contract is longer.
const exampleLines = 60

// pretty prints indented JSON, or any other text unchanged, up to `most` lines. It prints the
// number of omitted lines.
func (v *View) pretty(text string, most int) {
	var b bytes.Buffer
	if json.Indent(&b, []byte(text), "", "  ") == nil {
		text = b.String()
	}
	v.excerpt("    ", page.Clean(text), most, v.page.Warn)
}

// excerpt prints the first lines of a text, each after a sign, and the number of omitted lines with
// the style of count. A single remaining line is printed instead of counted.
func (v *View) excerpt(sign, text string, most int, count func(string) string) {
	lines := strings.Split(text, "\n")
	omitted := len(lines) - most
	if omitted > 1 {
		lines = lines[:most]
	}
	v.page.Block(sign, sign, strings.Join(lines, "\n"), v.page.Dim)
	if omitted > 1 {
		v.page.Line("%s%s", sign, count("… "+page.Plural(omitted, "line")+" more"))
	}
}
