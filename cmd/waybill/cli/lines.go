package cli

import (
	"bytes"
	"encoding/json"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill/waybill/durable/fault"
)

// ListMember is the annotation of a command with --jsonl: the member of its document that has the items.
const ListMember = "waybill: list member"

// Lines is the flag --jsonl of a command whose document has a list, the member of that name.
func Lines(a *App, member string) Option {
	add := Opt(&a.Flags.lines, "jsonl", "print one line of JSON for each item, then the document without them")
	return func(cmd *cobra.Command, f *pflag.FlagSet) {
		add(cmd, f)
		if cmd.Annotations == nil {
			cmd.Annotations = map[string]string{}
		}
		cmd.Annotations[ListMember] = member
	}
}

// LinesOf makes another list of the document the one that --jsonl prints.
func LinesOf(a *App, member string) {
	if a.list != "" {
		a.list = member
	}
}

// beginLines makes --jsonl a form of --json. The error is a USAGE_ERROR.
func beginLines(a *App, cmd *cobra.Command) error {
	if !a.Flags.lines {
		return nil
	}
	if a.given("json") {
		return UsageFault(cmd, "--json and --jsonl cannot be combined: one prints a document, the other lines")
	}
	a.Flags.JSON, a.list = true, cmd.Annotations[ListMember]
	return nil
}

// writeLines prints a document with a list as lines: each item of the list as it is in the document, then the document
// with an empty list. So the last line has what a program needs for the next page, and all warnings, at the places
// where the document of --json has them; a last line that is missing shows that the answer is cut
// (docs/design.md#lines). data is the value of data, of which further members of the document may follow.
func (a *App) writeLines(kind string, data []byte) error {
	var out, rest bytes.Buffer
	d := json.NewDecoder(bytes.NewReader(data))
	_, err := d.Token()
	for between := "{"; err == nil && d.More(); between = "," {
		var name json.Token
		var value json.RawMessage // keeps the bytes of the document
		if name, err = d.Token(); err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			break
		}
		member, _ := name.(string)
		if member == a.list {
			err = appendItems(&out, value)
			value = []byte("[]")
		}
		rest.WriteString(between + `"` + member + `":`)
		rest.Write(value)
	}
	if err == nil {
		_, err = d.Token()
	}
	if err != nil {
		return fault.Wrap(err, fault.Internal, "cannot print the answer as lines")
	}
	writeDocument(&out, kind, append(append(rest.Bytes(), '}'), data[d.InputOffset():]...))
	return a.WriteJSON(out.Bytes())
}

// appendItems writes each item of a list on a line of its own.
func appendItems(out *bytes.Buffer, list []byte) error {
	d := json.NewDecoder(bytes.NewReader(list))
	_, err := d.Token()
	for err == nil && d.More() {
		var item json.RawMessage
		if err = d.Decode(&item); err == nil {
			out.Write(item)
			out.WriteByte('\n')
		}
	}
	return err
}
