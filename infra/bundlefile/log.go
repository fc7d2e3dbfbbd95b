package bundlefile

import (
	"context"
	"errors"
	"io"
	"path"
	"runtime/debug"
	"strings"
	"sync"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/ports"
)

// Read implements ports.Logs. A bundle contains lines where a store has files: the manifest is
// composed of its records and each segment of its events, and both are verified like those of a
// store. A log that the bundle does not have is healthy and empty; a head other than the zero head
// is manifest.ErrNotOnChain.
func (f *File) Read(ctx context.Context, r ports.ReadRequest, visit ports.NewVisitor) (manifest.Verdict, error) {
	visitor := visit(r.From)
	name, ok := f.nameOf(r.Log)
	if !ok {
		return manifest.Verdict{Health: manifest.Healthy}, nil
	}
	if !r.From.IsZero() {
		return manifest.Verdict{}, manifest.ErrNotOnChain
	}
	reader := &segmentReader{ctx: ctx, open: func() *bundle.Lines { return f.Events(name) }}
	return manifest.Read(manifest.Input{
		Log: r.Log, Manifest: &recordReader{lines: f.Records(name)},
		Names: func() ([]string, error) { return nil, nil }, // a bundle has only the segments that its records name
		Open:  reader.get,
	}, visitor.Visit)
}

// nameOf is the name of a log in the bundle: "" for the session's own, else that of the side log.
// It is false for a log of another session.
func (f *File) nameOf(log manifest.Log) (string, bool) {
	root := manifest.SessionEvents(f.session).Root
	if log.Root == root {
		return "", true
	}
	dir, name := path.Split(log.Root)
	return name, strings.TrimSuffix(dir, "/") == root
}

// recordReader reads manifest records as the bytes of the manifest file.
type recordReader struct {
	lines *bundle.Lines
	line  []byte // reused for every record
	rest  []byte
}

// Read implements io.Reader.
func (r *recordReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		line, err := r.lines.Next()
		if err != nil {
			return 0, err
		}
		r.line = append(append(r.line[:0], line...), '\n')
		r.rest = r.line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// segmentBytesMax is the bound of a store for a segment and for the memory of one, in bytes: a
// bundle of one gibibyte may claim to be one segment.
const segmentBytesMax = 64 << 20

// segmentReader composes segments of events. They are requested in order as a rule; another order
// costs one reading from the first event.
type segmentReader struct {
	ctx  context.Context
	open func() *bundle.Lines

	mu    sync.Mutex
	lines *bundle.Lines
	next  int64 // index of the next line
	// buffer is the last returned segment. It is reused, since no caller keeps a segment after its
	// visit; new memory for each would double the garbage.
	buffer    []byte
	sinceFree int // bytes since memory was returned to the system
}

// freeMemoryEvery is after how many bytes memory is returned to the system. A large bundle is
// decoded into about twenty times the bytes of its events, most of it garbage at once, and the
// collector alone would retain much of it.
const freeMemoryEvery = 6 << 20

// get returns the bytes of a segment by its name, and false for a name that is not a segment's or
// is beyond the last event. A segment above segmentBytesMax is STORE_LIMIT.
func (s *segmentReader) get(name string) (data []byte, ok bool, err error) {
	first, last, ok := manifest.ParseSegmentName(name)
	if !ok {
		return nil, false, nil
	}
	if err := s.ctx.Err(); err != nil {
		return nil, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lines == nil || first < s.next {
		s.lines, s.next = s.open(), 0
	}
	data = s.buffer[:0]
	for ; s.next <= last; s.next++ {
		line, err := s.lines.Next()
		if err != nil {
			s.lines = nil
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return nil, false, err
		}
		if s.next >= first {
			data = append(append(data, line...), '\n')
		}
		if len(data) > segmentBytesMax {
			s.lines, s.buffer = nil, nil
			return nil, false, fault.New(fault.StoreLimit, "%s has more than %d bytes: a store accepts no such segment",
				name, segmentBytesMax)
		}
	}
	s.buffer = data
	if s.sinceFree += len(data); s.sinceFree > freeMemoryEvery {
		s.sinceFree = 0
		debug.FreeOSMemory()
	}
	return data, true, nil
}
