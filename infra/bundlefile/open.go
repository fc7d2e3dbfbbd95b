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
)

// Open opens and checks the bundle in a file. One that is not there, or that cannot
// be read, is BUNDLE_INVALID_FORMAT; the other codes are those of bundle.Open.
func Open(ctx context.Context, name string, o bundle.Options) (*File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, unread(name, err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		// A pipe cannot be read twice, and a device has no end.
		if info.IsDir() {
			_ = f.Close()
			return nil, fault.New(fault.BundleInvalidFormat, "%s is a folder; a bundle is one file", name).
				Suggest("To look at a store, name it with --store.")
		}
		defer f.Close()
		return Spool(ctx, f, o)
	}
	if err != nil {
		_ = f.Close()
		return nil, unread(name, err)
	}
	return open(ctx, f, info.Size(), o, f.Close)
}

// Spool reads a bundle that comes through a pipe into a temporary file, private and
// of at most limits.BundleBytesMax, and opens that: a bundle is read more than once.
func Spool(ctx context.Context, in io.Reader, o bundle.Options) (*File, error) {
	f, err := os.CreateTemp("", "waybill-*.bundle")
	if err != nil {
		return nil, fault.Wrap(err, fault.StoreIO, "there is no room for a temporary file: %v", err)
	}
	remove := func() error { return errors.Join(f.Close(), os.Remove(f.Name())) }
	// Where an open file may lose its name it does so now: then nothing is left of it
	// however the process ends.
	if os.Remove(f.Name()) == nil {
		remove = f.Close
	}
	n, err := io.Copy(f, io.LimitReader(endable{ctx, in}, limits.BundleBytesMax+1))
	if err != nil {
		_ = remove()
		return nil, fault.Wrap(err, fault.StoreIO, "the bundle could not be read to its end: %v", err)
	}
	return open(ctx, f, n, o, remove)
}

// endable is a reader that ends with its context.
type endable struct {
	ctx context.Context
	in  io.Reader
}

// Read implements io.Reader.
func (e endable) Read(p []byte) (int, error) {
	if err := e.ctx.Err(); err != nil {
		return 0, err
	}
	return e.in.Read(p)
}

func open(ctx context.Context, r io.ReaderAt, size int64, o bundle.Options, closing func() error) (*File, error) {
	b, err := bundle.Open(ctx, r, size, o)
	if err != nil {
		_ = closing()
		return nil, err
	}
	s, err := id.ParseSession(b.Envelope().SessionID)
	if err != nil {
		_ = closing()
		return nil, fault.New(fault.BundleInvalidFormat, "sessionId: %v", err)
	}
	return &File{Bundle: b, session: s, close: closing}, nil
}

func unread(name string, err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fault.Wrap(err, fault.BundleInvalidFormat, "%s cannot be read: %v", name, err).
		Suggest("Name a file that 'waybill export' made, or - for standard input.")
}
