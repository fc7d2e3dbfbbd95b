package cli

import (
	"errors"
	"io"
	"io/fs"

	"github.com/waybill/waybill/durable/consent"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/infra/osfs"
)

// ReadInput reads the file that a flag names, or stdin for "-", up to limit bytes. Stdin can
// be read once: a second flag with "-" is a USAGE_ERROR. A file that cannot be read or is
// longer than limit is a VALIDATION_ERROR.
func (p *Process) ReadInput(flag, name string, limit int) ([]byte, error) {
	from := p.In
	if name == "-" {
		if p.stdinTaken != "" {
			return nil, fault.New(fault.UsageError, "%s and %s cannot both read stdin", p.stdinTaken, flag).
				Suggest("Put one of the two into a file.")
		}
		p.stdinTaken = flag
	} else {
		file, err := osfs.OpenRegular(name)
		if err != nil {
			return nil, unreadable(flag, name, err)
		}
		defer file.Close()
		from = file
	}
	// Read one byte beyond the limit to detect an input that is too long. The size that the
	// file system reports is not used, since a pipe or a growing file has none.
	data, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
	if err != nil {
		return nil, unreadable(flag, name, err)
	}
	if len(data) > limit {
		return nil, fault.New(fault.ValidationError, "%s %s: more than %d bytes, the maximum",
			flag, name, limit).
			Suggest("Store large data in separate files and submit their paths.").With("maxBytes", limit)
	}
	return data, nil
}

// ReadSigners reads a file of allowed signers that a flag or an argument names. CONFIG_INVALID for any other
// content.
func (p *Process) ReadSigners(what, name string) ([]consent.Signer, error) {
	data, err := p.ReadInput(what, name, limits.AllowedSignersBytesMax)
	if err != nil {
		return nil, err
	}
	all, err := consent.ParseAllowedSigners(string(data))
	if err != nil {
		return nil, fault.Wrap(err, fault.ConfigInvalid, "%s is no file of allowed signers: %v", name, err).
			Suggest("Write one line for each key: the name of its owner, then the content of its .pub file.")
	}
	return all, nil
}

// unreadable returns the VALIDATION_ERROR for a file that cannot be opened or read.
func unreadable(flag, name string, err error) error {
	if osfs.IsTooManyFiles(err) {
		return fault.Wrap(err, fault.StoreIO, "%s %s cannot be opened: %s", flag, name, PlainCause(err))
	}
	return fault.Wrap(err, fault.ValidationError, "%s %s cannot be read: %s", flag, name, PlainCause(err)).
		Suggest("Give the path of a readable file, or - for stdin.")
}

// PlainCause returns the text of a file error without operation and path, for messages that
// contain the path already.
func PlainCause(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
