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

// Read implements ports.Logs. A bundle holds lines, a store files: the manifest is
// put together from its records, each segment from its events, and both are judged
// as those of a store are. A reading from a later head is of another history.
func (f *File) Read(ctx context.Context, r ports.Reading, v ports.Visitor) (manifest.Verdict, error) {
	name, ok := f.nameOf(r.Log)
	if !ok {
		return manifest.Verdict{Health: manifest.Healthy}, nil
	}
	if !r.From.IsZero() {
		return manifest.Verdict{}, manifest.ErrNotOnChain
	}
	segments := &segments{ctx: ctx, open: func() *bundle.Lines { return f.Events(name) }}
	return manifest.Read(manifest.Input{
		Log: r.Log, Manifest: &records{lines: f.Records(name)},
		Names: func() ([]string, error) { return nil, nil }, // there are none but those that the records name
		Open:  segments.get,
	}, v.Visit)
}

// nameOf is the name by which the bundle knows a log of its session.
func (f *File) nameOf(log manifest.Log) (string, bool) {
	root := manifest.SessionEvents(f.session).Root
	if log.Root == root {
		return "", true
	}
	dir, name := path.Split(log.Root)
	return name, strings.TrimSuffix(dir, "/") == root
}

// records reads manifest records as the file that they came from.
type records struct {
	lines *bundle.Lines
	line  []byte // its bytes are used again for the next one
	rest  []byte
	end   error
}

// Read implements io.Reader.
func (r *records) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.end != nil {
			return 0, r.end
		}
		line, err := r.lines.Next()
		if err != nil {
			r.end = err
			continue
		}
		r.line = append(append(r.line[:0], line...), '\n')
		r.rest = r.line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// segmentBytesMax is what a store takes of one segment, and what is held in memory of
// one: a bundle of one gibibyte may say that all of it is one.
const segmentBytesMax = 64 << 20

// segments puts segments together. They are asked for in order nearly always: another
// order costs a reading from the beginning, and nothing else.
type segments struct {
	ctx  context.Context
	open func() *bundle.Lines

	mu    sync.Mutex
	lines *bundle.Lines
	next  int64 // index of the next line
	// data is the segment that was handed out last. Its bytes are used again: nobody
	// keeps a segment beyond its visit, and a new piece of memory for each would leave
	// as much again behind for the collector.
	data []byte
	read int // bytes since memory was last given back
}

// freeEvery is after how many bytes memory is given back to the system. A large bundle is
// decoded into some twenty times its events' bytes, nearly all of it garbage at once, and
// the collector alone would keep a good part of that.
const freeEvery = 6 << 20

func (s *segments) get(name string) (data []byte, ok bool, err error) {
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
	data = s.data[:0]
	for ; s.next <= last; s.next++ {
		line, err := s.lines.Next()
		if errors.Is(err, io.EOF) {
			s.lines = nil
			return nil, false, nil
		}
		if err != nil {
			s.lines = nil
			return nil, false, err
		}
		if s.next >= first {
			data = append(append(data, line...), '\n')
		}
		if len(data) > segmentBytesMax {
			s.lines, s.data = nil, nil
			return nil, false, fault.New(fault.StoreLimit, "%s has more than %d bytes: a store takes no such segment",
				name, segmentBytesMax)
		}
	}
	s.data = data
	if s.read += len(data); s.read > freeEvery {
		s.read = 0
		debug.FreeOSMemory()
	}
	return data, true, nil
}
