package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/waybill/waybill/durable/fault"
)

// ReadInput reads the file that a flag names, or stdin for "-", up to limit
// bytes. Stdin can be read once: a second flag that wants it is an error. More
// than limit bytes are VALIDATION_ERROR, and are not read.
func (a *App) ReadInput(flag, name string, limit int) ([]byte, error) {
	from := a.In
	if name == "-" {
		if a.stdinTaken != "" {
			return nil, fault.New(fault.UsageError, "%s and %s cannot both read stdin", a.stdinTaken, flag).
				Suggest("Put one of the two into a file.")
		}
		a.stdinTaken = flag
	} else {
		file, err := os.Open(name)
		if err != nil {
			return nil, unreadable(flag, name, err)
		}
		defer file.Close()
		from = file
	}
	// One byte more than allowed tells too much from just enough, whatever size the
	// file claims to have.
	data, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
	if err != nil {
		return nil, unreadable(flag, name, err)
	}
	if len(data) > limit {
		return nil, fault.New(fault.ValidationError, "%s %s: more than %d bytes, which is the most that is allowed",
			flag, name, limit).
			Suggest("Keep large things in files and pass their paths.").With("maxBytes", limit)
	}
	return data, nil
}

// unreadable is the error for a file that cannot be opened or read.
func unreadable(flag, name string, err error) error {
	return fault.Wrap(err, fault.ValidationError, "%s %s cannot be read: %s", flag, name, PlainCause(err)).
		Suggest("Name a file that you may read.")
}

// PlainCause is why a file could not be used, without its name: the sentence
// around it has that already.
func PlainCause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
