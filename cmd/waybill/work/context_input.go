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

// contextInput holds the flags that set context keys: a file and single keys.
type contextInput struct {
	// a JSON object, "-" for stdin
	file string
	// KEY=VALUE pairs, in the order of the command line
	set []string
}

// flags adds the flags of the context to a command.
func (in *contextInput) flags(cmd *cobra.Command) {
	cli.WithOptions(cmd,
		cli.Opt(&in.set, "set K=V",
			"set a context key: K=V; V is JSON if it parses as JSON, else text; null removes K"),
		cli.Opt(&in.file, "context FILE", "set the context keys of the JSON object in FILE; - is stdin"))
}

// read returns the context as one JSON object, null if no flag was given. A key of --set
// overrides the same key of the file. A member with the value null requests the engine to
// remove the key. Errors: USAGE_ERROR for a malformed pair or a key that --set gives twice,
// VALIDATION_ERROR for a file or value that is not strict JSON.
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
			return out, fault.New(fault.ValidationError, "--context %s: JSON %s, but an object is required", in.file,
				out.Kind())
		}
	}
	given := map[string]bool{}
	for _, pair := range in.set {
		key, text, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return out, fault.New(fault.UsageError, "--set %q is not of the form KEY=VALUE", pair).
				Suggest(`Write --set key=value, or --set 'key={"json": true}'.`)
		}
		// A repeated key is an error, since it is unclear which value is intended.
		if given[key] {
			return out, fault.New(fault.UsageError, "--set has the key %q twice", key).Suggest("Give each key once.")
		}
		given[key] = true
		v, err := scalar(key, text)
		if err != nil {
			return out, err
		}
		// It overrides the member of the file; without a file, the pairs are the whole context.
		// Nulls are kept, since the engine removes the keys.
		out = out.With(key, v)
	}
	return out, nil
}

// scalar returns the value of --set: the JSON value if the text parses as JSON, otherwise the
// text as a string. Valid JSON that canon.Parse rejects is a VALIDATION_ERROR: a number with
// too many digits would otherwise silently change or become a string
// (docs/design.md#json-from-outside).
func scalar(key, text string) (canon.Value, error) {
	if !utf8.ValidString(key) || !utf8.ValidString(text) {
		return canon.Value{}, fault.New(fault.ValidationError, "--set: the value is not valid UTF-8")
	}
	// Text that is not JSON at all, such as a word, is a string.
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

// notStrict returns the VALIDATION_ERROR for JSON text that was rejected. Its details contain
// pointer, line and reason.
func notStrict(where string, err error) *fault.Fault {
	var pe *canon.ParseError
	f := fault.New(fault.ValidationError, "%s: %v", where, err)
	if errors.As(err, &pe) {
		f.With("pointer", pe.Pointer).With("line", pe.Line).With("reason", pe.Reason)
	}
	return f.Suggest("Correct the JSON at that place and send it again.")
}
