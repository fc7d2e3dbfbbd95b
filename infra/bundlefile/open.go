package bundlefile

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/infra/osfs"
)

// Open opens and checks the bundle in a regular file. A file that does not exist is TARGET_NOT_FOUND, one that
// cannot be read BUNDLE_INVALID_FORMAT, or STORE_IO if no more files can be opened; the other codes are those of
// bundle.Open.
func Open(ctx context.Context, name string, o bundle.Options) (*File, error) {
	f, err := osfs.OpenRegular(name)
	if err != nil {
		return nil, unreadable(name, err)
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, unreadable(name, err)
	}
	return newFile(ctx, f, info.Size(), o, f.Close)
}

// Spool copies a bundle from a pipe to a private temporary file of at most limits.BundleBytesMax
// bytes and opens that, since a bundle is read more than once. Close removes the file.
//
// A bundle above the limit is refused by bundle.Open. Errors of the reader are STORE_IO.
func Spool(ctx context.Context, in io.Reader, o bundle.Options) (*File, error) {
	f, err := os.CreateTemp("", "waybill-*.bundle")
	if err != nil {
		return nil, fault.Wrap(err, fault.StoreIO, "no temporary file can be created: %v", err)
	}
	remove := func() error { return errors.Join(f.Close(), os.Remove(f.Name())) }
	// Where the system permits it, the open file loses its name now: nothing remains then, however
	// the process ends.
	if os.Remove(f.Name()) == nil {
		remove = f.Close
	}
	n, err := io.Copy(f, io.LimitReader(contextReader{ctx, in}, limits.BundleBytesMax+1))
	if err != nil {
		_ = remove()
		return nil, fault.Wrap(err, fault.StoreIO, "the bundle could not be read completely: %v", err)
	}
	return newFile(ctx, f, n, o, remove)
}

// contextReader is a reader that ends when its context does.
type contextReader struct {
	ctx context.Context
	in  io.Reader
}

// Read implements io.Reader.
func (e contextReader) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.in.Read(p)
}

// newFile checks the bundle in r and opens it. closeFile is called after an error, else by
// File.Close.
func newFile(ctx context.Context, r io.ReaderAt, size int64, o bundle.Options, closing func() error) (*File, error) {
	b, err := bundle.Open(ctx, r, size, o)
	if err != nil {
		_ = closing()
		return nil, err
	}
	s, _ := id.ParseSession(b.Envelope().SessionID) // bundle.Open accepts no other text
	return &File{Bundle: b, session: s, content: r, size: size, close: closing}, nil
}

// unreadable is the error for a file that cannot be opened; see Open.
func unreadable(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(err, fault.TargetNotFound, "the file %s does not exist", name).
			Suggest("Name a file that %s made, or - for standard input.", fault.Command{"export"})
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	if osfs.IsTooManyFiles(err) {
		return fault.Wrap(err, fault.StoreIO, "%s cannot be opened: %v", name, err)
	}
	return fault.Wrap(err, fault.BundleInvalidFormat, "%s cannot be read: %v", name, err).
		Suggest("Name a file that %s made, or - for standard input.", fault.Command{"export"})
}
