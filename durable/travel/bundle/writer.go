package bundle

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// Writer writes a bundle front to back, in the fixed order and form of Waybill's bundles:
// Event, Record, Object and Erased for the session's own log, then Log with Event and Record
// for each side log, then Close. Only digests of the content stay in memory.
//
// It verifies its input like a reader: a call out of order, a line that is not canonical or
// does not follow the previous one, and an object that does not match its digest are errors.
// After an error the output is not a bundle, and every further call returns that error.
type Writer struct {
	out *bufio.Writer
	// size is the number of bytes written so far, err the first error.
	size int64
	err  error

	// at is the stage of the current log; it only advances, until the next side log.
	at      stage
	session string
	logs    []*log    // the session's own, then the side logs
	sum     hash.Hash // of the open list
	// objects are the statements about objects, by kind in the order of the stages.
	objects [len(sections)]objectStatements

	// checks verifies that lines are canonical.
	checks parts
	buffer bytes.Buffer // one snapshot or workflow
	// copied is the copy buffer for artifacts, allocated on first use.
	copied []byte
}

// stage is the position of a Writer in a bundle. Within a log the stages follow each other; a
// side log starts at inLogEvents again.
type stage int

const (
	inEvents stage = iota
	inRecords
	inSnapshots
	inWorkflows
	inArtifacts
	inLogEvents
	inLogRecords
	closed
)

// NewWriter begins a bundle on w. Errors are those of w, and an envelope that a reader would
// refuse.
func NewWriter(w io.Writer, e Envelope) (*Writer, error) {
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	b := &Writer{out: bufio.NewWriterSize(w, listBytes), session: e.SessionID, sum: sha256.New(),
		logs: []*log{newLog("")}}
	// Members before the session, in the order of the format.
	lead := "{"
	for _, m := range []struct {
		name  string
		value any
		omit  bool
	}{
		{"bundleId", e.BundleID, false}, {"bundleSchemaVersion", SchemaVersion, false},
		{"exportedAt", e.ExportedAt, false},
		{"producer", e.Producer, false}, {"salvage", e.Salvage, e.Salvage == nil},
		{"redacted", e.Redacted, e.Redacted == nil},
	} {
		if m.omit {
			continue
		}
		text, err := canon.Marshal(m.value)
		if err == nil {
			_, err = canon.Parse(text) // rule names are chosen by people: a strict reader must accept them
		}
		if err == nil && len(text) > limits.LineBytesMax {
			err = fmt.Errorf("%d bytes: want at most %d", len(text), limits.LineBytesMax)
		}
		if err != nil {
			return nil, fmt.Errorf("bundle: %s: %w", m.name, err)
		}
		b.text(lead + `"` + m.name + `":` + string(text))
		lead = ","
	}
	b.text(`,"session":{"sessionId":"` + e.SessionID + `","events":`)
	b.begin(&b.current().events)
	return b, b.err
}

// put writes bytes unchanged. Exceeding limits.BundleBytesMax is an error, since a reader
// would refuse the file.
func (w *Writer) put(p []byte) {
	if w.size += int64(len(p)); w.size > limits.BundleBytesMax {
		_ = w.fail("more than %d bytes, which readers refuse", limits.BundleBytesMax)
	}
	if w.err == nil {
		_, w.err = w.out.Write(p)
	}
}

// text writes a string unchanged.
//
//go:noinline
func (w *Writer) text(s string) { w.put([]byte(s)) }

// fail stores the first error and returns it. After it every call changes nothing that is written,
// and returns it too.
func (w *Writer) fail(format string, args ...any) error {
	if w.err == nil {
		w.err = fmt.Errorf("bundle: "+format, args...)
	}
	return w.err
}

// current returns the log that is being written.
func (w *Writer) current() *log { return w.logs[len(w.logs)-1] }

// begin opens a list, and starts its digest.
func (w *Writer) begin(l *list) {
	l.owner = w.session
	l.depth = limits.JSONDepthMax - 3 // document, session, array
	if len(w.logs) > 1 {
		l.depth -= 2 // logs, and its name
	}
	w.sum.Reset()
	w.sum.Write(opening)
	w.put(opening)
}

// finish closes a list and stores its digest and length for integrity.
func (w *Writer) finish(l *list) {
	w.sum.Write(closing)
	w.put(closing)
	w.sum.Sum(l.value.sum[:0])
	// One comma less than elements, and two brackets.
	l.value.bytes = max(2, l.value.bytes+1)
}

// advance proceeds to a later stage of the current log; the sections in between are written
// empty.
func (w *Writer) advance(to stage) {
	for ; w.at < to; w.at++ {
		switch w.at {
		// A log without events still has both lists.
		case inEvents, inLogEvents:
			w.finish(&w.current().events)
			w.text(`,"manifest":`)
			w.begin(&w.current().records)
		case inRecords:
			w.finish(&w.current().records)
			w.text(`,"snapshots":{`)
		case inSnapshots:
			w.text(`},"pinnedWorkflows":{`)
		case inWorkflows:
			w.text(`}`) // artifacts are begun by the first of them
		}
	}
}

// Event appends an event of the current log: canonical JSON without newline, with the next
// eventIndex.
func (w *Writer) Event(line []byte) error {
	if w.at != inEvents && w.at != inLogEvents {
		return w.fail("an event after the end of its log's events")
	}
	return w.element(&w.current().events, line, eventHalf)
}

// Record appends a manifest record of the current log: canonical JSON without newline, with
// the next manifestIndex. The first record ends the log's events.
func (w *Writer) Record(line []byte) error {
	if w.at == inEvents || w.at == inLogEvents {
		w.advance(w.at + 1)
	}
	if w.at != inRecords && w.at != inLogRecords {
		return w.fail("a manifest record after the end of its log's manifest")
	}
	return w.element(&w.current().records, line, recordHalf)
}

// element appends one line to a list.
func (w *Writer) element(l *list, line []byte, h half) error {
	if len(line) > lineMax {
		return w.fail("%s/%d: a line of %d bytes: want at most %d", l.path, l.count, len(line), lineMax)
	}
	// The path in the message has the form of a reader's pointer.
	if err := w.canonical(line, l.depth, h.watch); err != nil {
		return w.fail("%s/%d: %w", l.path, l.count, err)
	}
	if wrong := h.follows(l, &w.checks); wrong != "" {
		return w.fail("%s/%d: %s", l.path, l.count, wrong)
	}
	if l.count > 0 {
		w.sum.Write(comma)
		w.put(comma)
	}
	w.sum.Write(line)
	w.put(line)
	// The line and a comma or bracket.
	l.value.bytes += int64(len(line)) + 1
	l.count++
	return w.err
}

// canonical verifies that text is one object as canonical JSON, of at most depth levels.
func (w *Writer) canonical(text []byte, depth int, watch *canon.Watch) error {
	if n, o := w.checks.Value(text, depth, watch); o == canon.Canonical && n == len(text) && text[0] == '{' {
		return nil
	}
	// Parse names the defect, where it is more than the spelling.
	v, err := canon.Parse(text)
	if err == nil {
		err = v.CheckStrict(depth)
	}
	return cmp.Or(err, canon.ErrNotCanonical)
}

// Log begins a side log; its events and then its records follow. Names must satisfy ValidLogName
// and be in ascending order.
func (w *Writer) Log(name string) error {
	last := w.current().name
	if w.at == closed || !ValidLogName(name) || name <= last || len(w.logs) > limits.BundleLogsMax {
		return w.fail("no side log %q may follow %q", name, last)
	}
	w.endLog()
	if last == "" {
		w.text(`,"logs":{`)
	} else {
		w.text(`,`)
	}
	w.at = inLogEvents
	w.logs = append(w.logs, newLog(name))
	w.text(`"` + name + `":{"events":`)
	w.begin(&w.current().events)
	return w.err
}

// endLog ends the current log; after the session's own log, its objects.
func (w *Writer) endLog() {
	l := w.current()
	if len(w.logs) > 1 {
		w.advance(inLogRecords)
		w.finish(&l.records)
		w.text(`}`)
	} else {
		w.advance(inArtifacts)
		// The member is absent in a bundle without artifacts.
		if len(w.objects[inArtifacts-inSnapshots].lengths) > 0 {
			w.text(`}`)
		}
	}
	// A reader refuses a manifest that does not cover all events.
	if l.records.next != l.events.count {
		_ = w.fail("%s: the records cover %d events of %d", l.records.path, l.records.next, l.events.count)
	}
}

// Close writes integrity and the end of the document. A nil error means that everything was
// written to the io.Writer, which stays open and is not synced.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	if w.at == closed {
		return w.fail("closed already")
	}
	w.endLog()
	if len(w.logs) > 1 {
		w.text(`}`)
	}
	w.at = closed
	w.integrity()
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}
