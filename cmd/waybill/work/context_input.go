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

// contextInput is the context that a caller gives with flags.
type contextInput struct {
	file string
	set  []string
}

func (in *contextInput) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&in.set, "set", nil,
		"set the context key K: `K=V`; V is JSON where it parses, else text; null removes the key")
	f.StringVar(&in.file, "context", "", "set the context keys of the JSON object in `FILE`; - is stdin")
}

// read is the context as one value, null when none was given. --set counts over
// --context.
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
	// A key that is given twice is a slip: which one was meant cannot be told.
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
	if out.IsNull() {
		return given, nil
	}
	for i := range given.Len() {
		out = out.With(given.Key(i), given.Item(i))
	}
	return out, nil
}

// scalar reads the value of --set. Text that is JSON, but not of the strict kind,
// is refused rather than taken for a string: a number that is too long would turn
// into something else without a word.
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

// notStrict says where and why a JSON text was refused (R5).
func notStrict(where string, err error) *fault.Fault {
	var pe *canon.ParseError
	f := fault.New(fault.ValidationError, "%s: %v", where, err)
	if errors.As(err, &pe) {
		f.With("pointer", pe.Pointer).With("line", pe.Line).With("reason", pe.Reason)
	}
	return f.Suggest("Correct the JSON there and send it again.")
}
