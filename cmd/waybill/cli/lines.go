package cli

import (
	"bytes"
	"encoding/json"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/waybill/waybill/cmd/waybill/cli/stream"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/log/manifest"
)

// ListMember is the annotation of a command with --jsonl: the member of its document that has the items.
const ListMember = "waybill: list member"

// Lines is the flag --jsonl of a command whose document has a list, the member of that name.
func Lines(a *App, member string) Option {
	add := Opt(&a.Flags.lines, "jsonl", "print one line of JSON for each item")
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

// writeLines prints each item of the list of a document on a line of its own, with the bytes that it has in the
// document of --json, and on stderr what reportRest prints of the rest (docs/design.md#lines). data is the value of
// data, of which further members of the document may follow.
func (a *App) writeLines(kind string, data []byte) error {
	var items, rest bytes.Buffer
	err := stream.Members(data, func(name string, value json.RawMessage) error {
		if name != a.list {
			stream.WriteMember(&rest, name, value)
			return nil
		}
		stream.WriteMember(&rest, name, []byte("[]"))
		return stream.Items(value, func(item json.RawMessage) error {
			items.Write(item)
			items.WriteByte('\n')
			return nil
		})
	})
	if err != nil {
		return stream.EncodingFault(err)
	}
	if err := a.WriteJSON(items.Bytes()); err != nil {
		return err
	}
	a.reportRest(kind, append(append(rest.Bytes(), '}'), stream.AfterValue(data)...))
	return nil
}

// reportRest prints a document without the items of its list on stderr, if it says more than the items: that there are
// further pages, warnings, sessions that cannot be read, or a log that is damaged. Stdout has items only.
func (a *App) reportRest(kind string, data []byte) {
	says := len(stream.AfterValue(data)) > 0
	_ = stream.Members(data, func(name string, value json.RawMessage) error { // it was encoded here
		switch text := string(value); name {
		case "health":
			says = says || text != `"`+string(manifest.Healthy)+`"`
		case "nextCursor":
			says = says || text != `""`
		case "partial", "more":
			says = says || text == "true"
		default:
			says = says || value[0] == '[' && text != "[]"
		}
		return nil
	})
	if !says {
		return
	}
	_, _ = a.Err.Write(invisible.EscapeJSON(envelop(kind, data))) // as a note: if it cannot be written, it is lost
}

// PrintsLines reports that the items of a list are printed on lines of their own.
func (a *App) PrintsLines() bool { return a.list != "" }

// StreamLines prints the items that each passes, one on a line, while they are passed. each returns the document
// without them, of which reportRest prints what there is to say.
func StreamLines(a *App, kind string, each func(add func(item any) error) (rest any, err error)) error {
	out := stream.New(a.WriteJSON, &a.Unfinished)
	rest, err := each(func(item any) error {
		line, encoded := item.(stream.Encoded)
		if !encoded {
			var err error
			if line, err = canon.Marshal(item); err != nil {
				return stream.EncodingFault(err)
			}
		}
		return out.Add(line, []byte{'\n'})
	})
	if err != nil {
		return err
	}
	if err := out.End(); err != nil {
		return err
	}
	data, err := canon.Marshal(rest)
	if err != nil {
		return stream.EncodingFault(err)
	}
	a.reportRest(kind, data)
	return nil
}
