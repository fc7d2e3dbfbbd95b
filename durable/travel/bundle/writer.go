package bundle

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
)

// Writer writes a bundle front to back in the one order and spelling that we write:
// Event, Record, Object (and Erased), then Log with Event and Record for each side
// log, then Close. Nothing of the content stays in memory but its digests.
//
// It checks what it is handed as a reader would: a call out of order, a line that is
// not canonical or does not follow, an object that is not its digest are errors. After
// an error there is no bundle, and every further call repeats it.
type Writer struct {
	out  *bufio.Writer
	size int64
	err  error

	at      stage
	session string
	logs    []*log // the session's own, then side logs
	names   []string
	sum     hash.Hash // of the list that is open
	objects [3]written

	checks spelling
	buffer bytes.Buffer // one snapshot or workflow
	copied []byte
}

// stage is where in a bundle a Writer is; they follow each other.
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

// NewWriter begins a bundle on w. Errors are those of w, and an envelope that no
// reader would take.
func NewWriter(w io.Writer, e Envelope) (*Writer, error) {
	if err := e.check(); err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	b := &Writer{out: bufio.NewWriterSize(w, listBytes), session: e.SessionID, sum: sha256.New(),
		logs: []*log{newLog("")}}
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
			_, err = canon.Parse(text) // names of rules come from people: R5 must take them back
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

// put writes bytes as they are.
func (w *Writer) put(p []byte) {
	if w.size += int64(len(p)); w.size > limits.BundleBytesMax {
		_ = w.fail("more than %d bytes, which no reader takes", limits.BundleBytesMax)
	}
	if w.err == nil {
		_, w.err = w.out.Write(p)
	}
}

func (w *Writer) text(s string) { w.put([]byte(s)) }

// fail keeps the first error, and returns it.
func (w *Writer) fail(format string, args ...any) error {
	if w.err == nil {
		w.err = fmt.Errorf("bundle: "+format, args...)
	}
	return w.err
}

// current is the log whose lists are written.
func (w *Writer) current() *log { return w.logs[len(w.logs)-1] }

// begin opens a list.
func (w *Writer) begin(l *list) {
	l.owner = w.session
	l.depth = limits.JSONDepthMax - 3 // document, session, array
	if len(w.names) > 0 {
		l.depth -= 2 // logs, and its name
	}
	w.sum.Reset()
	w.sum.Write(opening)
	w.put(opening)
}

// finish closes a list and keeps what integrity will state about it.
func (w *Writer) finish(l *list) {
	w.sum.Write(closing)
	w.put(closing)
	w.sum.Sum(l.value.sum[:0])
	l.value.bytes = max(2, l.value.bytes+1)
}

// advance goes on to a later stage of one log; what lies between is written empty.
func (w *Writer) advance(to stage) {
	for ; w.at < to; w.at++ {
		switch w.at {
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

// Event appends one event: JCS without newline, with the next eventIndex.
func (w *Writer) Event(line []byte) error {
	if w.err != nil {
		return w.err
	}
	if w.at != inEvents && w.at != inLogEvents {
		return w.fail("an event behind the events of its log")
	}
	return w.element(&w.current().events, line, eventWatch, (*list).event)
}

// Record appends one manifest record: JCS without newline, with the next manifestIndex.
func (w *Writer) Record(line []byte) error {
	if w.err != nil {
		return w.err
	}
	if w.at == inEvents || w.at == inLogEvents {
		w.advance(w.at + 1)
	}
	if w.at != inRecords && w.at != inLogRecords {
		return w.fail("a manifest record behind the manifest of its log")
	}
	return w.element(&w.current().records, line, recordWatch, (*list).record)
}

func (w *Writer) element(l *list, line []byte, watch *watch, follows func(*list, *spelling) string) error {
	if len(line) > lineMax {
		return w.fail("%s/%d: a line of %d bytes: want at most %d", l.path, l.count, len(line), lineMax)
	}
	if err := w.canonical(line, l.depth, watch); err != nil {
		return w.fail("%s/%d: %w", l.path, l.count, err)
	}
	if wrong := follows(l, &w.checks); wrong != "" {
		return w.fail("%s/%d: %s", l.path, l.count, wrong)
	}
	if l.count > 0 {
		w.sum.Write(comma)
		w.put(comma)
	}
	w.sum.Write(line)
	w.put(line)
	l.value.bytes += int64(len(line)) + 1
	l.count++
	return w.err
}

// canonical makes sure that a reader finds in text what we say it is: one object in
// JCS, of at most depth levels.
func (w *Writer) canonical(text []byte, depth int, watch *watch) error {
	if n, o := w.checks.look(text, depth, watch); o == exact && n == len(text) {
		return nil
	}
	v, err := canon.Parse(text)
	if err != nil {
		return err
	}
	if err := v.Strict(depth); err != nil {
		return err
	}
	if v.Kind() != canon.Object || !bytes.Equal(v.JCS(), text) {
		return canon.ErrSpelling
	}
	w.checks.loose = true
	w.checks.look(text, depth, watch)
	w.checks.loose = false
	return nil
}

// Log begins a side log: its events, then its records follow. Names are those that
// LogName accepts, sorted.
func (w *Writer) Log(name string) error {
	if w.err != nil {
		return w.err
	}
	last := ""
	if len(w.names) > 0 {
		last = w.names[len(w.names)-1]
	}
	if w.at == closed || !LogName(name) || name <= last || len(w.names) == limits.BundleLogsMax {
		return w.fail("no side log %q can stand behind %q", name, last)
	}
	w.leave()
	if last == "" {
		w.text(`,"logs":{`)
	} else {
		w.text(`,`)
	}
	w.at = inLogEvents
	w.logs, w.names = append(w.logs, newLog(name)), append(w.names, name)
	w.text(`"` + name + `":{"events":`)
	w.begin(&w.current().events)
	return w.err
}

// leave ends the log that is written; behind the session's own, its objects.
func (w *Writer) leave() {
	l := w.current()
	if len(w.names) > 0 {
		w.advance(inLogRecords)
		w.finish(&l.records)
		w.text(`}`)
	} else {
		w.advance(inArtifacts)
		if len(w.objects[inArtifacts-inSnapshots].lengths) > 0 {
			w.text(`}`)
		}
	}
	if l.records.next != l.events.count {
		_ = w.fail("%s: the records cover %d events of %d", l.records.path, l.records.next, l.events.count)
	}
}

// Close writes integrity and the end of the document: nil says that all of it was
// written to the io.Writer, which stays open.
func (w *Writer) Close() error {
	if w.err != nil {
		return w.err
	}
	if w.at == closed {
		return w.fail("closed already")
	}
	w.leave()
	if len(w.names) > 0 {
		w.text(`}`)
	}
	w.at = closed
	w.integrity()
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.err
}
