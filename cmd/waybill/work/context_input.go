package work

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/waybill/waybill/cmd/waybill/cli"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/run/command"
)

// contextInput is the context that flags give: a file, and single keys.
type contextInput struct {
	// a JSON object, "-" for stdin
	file string
	// KEY=VALUE, in the order of the command line
	set []string
}

// flags adds the flags of the context to a command.
func (in *contextInput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&in.set, "set", nil,
		"set the context key K: `K=V`; V is JSON where it parses, else text; null removes the key")
	f.StringVar(&in.file, "context", "", "set the context keys of the JSON object in `FILE`; - is stdin")
}

// read is the context as one JSON object, null where none was given. A key of
// --set takes the place of the same key in the file; a key that is given twice
// by --set is an error. A null within it is a request to remove the key, which
// the engine carries out.
func (in *contextInput) read(a *cli.App) (canon.Value, error) {
	var out canon.Value
	if in.file != "" {
		data, err := a.ReadInput("--context", in.file, limits.SourceBytesMax)
		if err != nil {
			return out, err
		}
		if out, err = canon.Parse(data); err != nil {
			return out, notStrict("--context "+in.file, err)
		}
		if out.Kind() != canon.Object {
			return out, fault.New(fault.ValidationError, "--context %s holds a JSON %s, want an object", in.file,
				out.Kind())
		}
	}
	if len(in.set) == 0 {
		return out, nil
	}
	// A key that is given twice is a mistake: either value may be meant.
	given := canon.OfMembers()
	for _, pair := range in.set {
		key, text, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return out, fault.New(fault.UsageError, "--set %q is not of the form KEY=VALUE", pair).
				Suggest(`Write --set key=value, or --set 'key={"json": true}'.`)
		}
		if _, twice := given.Get(key); twice {
			return out, fault.New(fault.UsageError, "--set gives %q twice", key).Suggest("Give each key once.")
		}
		v, err := scalar(key, text)
		if err != nil {
			return out, err
		}
		given = given.With(key, v)
	}
	// Laid over each other as they are: a null is for the engine to apply.
	// Without a file the flags are all.
	if out.IsNull() {
		return given, nil
	}
	for i := range given.Len() {
		out = out.With(given.Key(i), given.Item(i))
	}
	return out, nil
}

// scalar is the value of --set: JSON where the text parses as such, else the
// text itself. JSON that is not of the strict kind is refused: a number with
// too many digits would become another one, or a string, without notice.
func scalar(key, text string) (canon.Value, error) {
	if !utf8.ValidString(key) || !utf8.ValidString(text) {
		return canon.Value{}, fault.New(fault.ValidationError, "--set: the value is not valid UTF-8")
	}
	v, err := canon.Parse([]byte(text))
	if err == nil || !json.Valid([]byte(text)) {
		if err != nil {
			v = canon.OfString(text)
		}
		return v, nil
	}
	return v, notStrict("--set "+key, err).
		Suggest("Correct it, or send it as a string: --set %s", command.Word(fmt.Sprintf("%s=%q", key, text)))
}

// notStrict is the error for JSON text that is refused, with the place and the
// reason in its details.
func notStrict(where string, err error) *fault.Fault {
	var pe *canon.ParseError
	f := fault.New(fault.ValidationError, "%s: %v", where, err)
	if errors.As(err, &pe) {
		f.With("pointer", pe.Pointer).With("line", pe.Line).With("reason", pe.Reason)
	}
	return f.Suggest("Correct the JSON there and send it again.")
}
