package index

import (
	"context"
	"encoding/binary"
	"slices"
	"sync"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/sealed"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/token"
	"github.com/waybill/waybill/ports"
)

// table keeps one text for each session of a store, in a sealed file of the store's cache. A text is valid as long as
// the session's files are observed in the state in which they were read. It is safe for concurrent use.
type table struct {
	states ports.SessionStates
	source Source
	place  manifest.Log
	format int
	seal   string // the context under which the key for the seal is derived
	onRead func(read, of int)

	mu sync.Mutex // one goroutine reads what changed, the others wait for it
	// unsaved are entries that were read and are not in the file: a process that lists again and again, such as a worker,
	// reads a session once for each change.
	unsaved map[id.Session]unsaved
}

// unsaved is an entry, and when the observation began after which it was read.
type unsaved struct {
	entry
	beganNs int64
}

// newTable returns the table with a name. format is the number of its form: it is raised with every change of the
// form, of the texts, or of the rules by which they are computed, so that each version of the program has a file of
// its own.
func newTable(states ports.SessionStates, source Source, name string, format int) *table {
	return &table{states: states, source: source, format: format, seal: "waybill 2026 v1 " + name, onRead: func(int, int) {},
		place: manifest.Log{Owner: name, Table: &event.Table{Name: name}}} // it is no log
}

// saved is the content of the file.
type saved struct {
	beganNs int64   // when the observation of the sessions began
	entries []entry // in the order of their ids
}

// entry is the text of a session with the state in which it was read.
type entry struct {
	session   id.Session
	state     [16]byte
	folder    [8]byte // of ports.SessionState
	changedNs int64
	text      string
	kept      bool // the text is that of the session as it is now
}

// settled reports that an entry is not of a session that changed shortly before the table was begun: a second change
// may have left the times as they are.
func (s saved) settled(e *entry) bool { return e.changedNs < s.beganNs-limits.IndexSettleNs }

// folder returns the folder of a session that is probably at a position.
func (s saved) folder(i int, session id.Session) (folder [8]byte) {
	if i >= len(s.entries) || s.entries[i].session != session {
		var found bool
		i, found = slices.BinarySearchFunc(s.entries, session, func(e entry, s id.Session) int {
			return e.session.Compare(s)
		})
		if !found {
			return folder
		}
	}
	if e := &s.entries[i]; s.settled(e) {
		return e.folder
	}
	return folder
}

// holds reports that an entry is of the state that is observed now.
func (s saved) holds(e *entry, now *ports.SessionState) bool {
	return e.state == now.State && e.state != [16]byte{} && s.settled(e)
}

// rewriteAfter is the number of sessions that are read again for each list before the file is written again: reading
// them costs less than writing all others. A store with fewer sessions has no file.
const rewriteAfter = 16

// observe observes the sessions of the store, and returns the content of the file, which is read meanwhile.
func (t *table) observe(ctx context.Context) (have saved, now ports.SessionsState, err error) {
	loaded := make(chan saved, 1)
	go func() { loaded <- t.load(ctx, sealed.Key(ctx, t.source)) }()
	content := sync.OnceValue(func() saved { return <-loaded })
	now, err = t.states.States(ctx, func(i int, s id.Session) [8]byte { return content().folder(i, s) })
	return content(), now, err
}

// read returns an entry for each session that was observed, in the order of their ids. Sessions that changed are passed
// to each, which returns the text and whether it may be kept, if they are more than leave; else their entries are not
// kept. The errors are those of each.
func (t *table) read(ctx context.Context, have saved, now ports.SessionsState, leave int,
	each func(context.Context, id.Session) ([]byte, bool, error)) (out []*entry, err error) {
	out = make([]*entry, len(now.Sessions))
	var changed []int
	found := 0 // entries of the file
	fresh := map[id.Session]unsaved{}
	for i, at := 0, 0; i < len(out); i++ {
		st := &now.Sessions[i]
		for at < len(have.entries) && have.entries[at].session != st.Session &&
			have.entries[at].session.Compare(st.Session) < 0 {
			at++
		}
		if at < len(have.entries) && have.entries[at].session == st.Session {
			found++
			if have.holds(&have.entries[at], st) {
				out[i] = &have.entries[at]
				out[i].kept = true
				continue
			}
		}
		if u, ok := t.unsaved[st.Session]; ok && (saved{beganNs: u.beganNs}).holds(&u.entry, st) {
			out[i] = &u.entry
			fresh[st.Session] = u
			continue
		}
		out[i] = &entry{session: st.Session, state: st.State, folder: st.Folder, changedNs: st.ChangedNs}
		changed = append(changed, i)
	}
	if leave > 0 && len(changed) <= leave {
		return out, nil
	}
	for n, i := range changed {
		t.onRead(n, len(changed))
		e := out[i]
		text, keep, err := each(ctx, e.session)
		if err != nil {
			return nil, err
		}
		if e.text, e.kept = string(text), keep; keep {
			fresh[e.session] = unsaved{*e, now.AtNs}
		}
	}
	t.unsaved = fresh
	// Sessions that are gone are removed from the file at once.
	if (len(fresh) >= rewriteAfter || found < len(have.entries)) && t.write(ctx, now.AtNs, out) {
		t.unsaved = nil
	}
	return out, nil
}

// write writes the entries that are kept, and reports whether it did. Errors are ignored: they are computed again.
func (t *table) write(ctx context.Context, beganNs int64, entries []*entry) bool {
	key := sealed.Key(ctx, t.source)
	doc := encode(beganNs, entries)
	if key == nil || len(doc) > limits.IndexBytesMax {
		return false
	}
	return t.source.StoreHead(ctx, t.place, t.format, sealed.Append(nil, t.seal, key, doc)) == nil
}

// load returns the stored content, an empty one if none is valid.
func (t *table) load(ctx context.Context, key *token.Key) saved {
	if key == nil {
		return saved{}
	}
	data, err := t.source.CachedHead(ctx, t.place, t.format, limits.IndexBytesMax+sealed.Overhead)
	if err != nil || len(data) == 0 {
		return saved{}
	}
	doc, ok := sealed.Open(data, t.seal, key)
	if !ok {
		return saved{}
	}
	s, ok := decode(canon.SharedText(doc)) // nothing else has the bytes
	if !ok {
		return saved{}
	}
	return s
}

// forget empties the file, in this form and in those before. Errors are ignored, as far as nothing can be read.
func (t *table) forget(ctx context.Context) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unsaved = nil
	for format := 1; format <= t.format; format++ {
		if data, err := t.source.CachedHead(ctx, t.place, format, 1); err != nil || len(data) > 0 {
			_ = t.source.StoreHead(ctx, t.place, format, nil)
		}
	}
}

// encode writes the entries that are kept: numbers as varints, ids as their bytes, texts behind their lengths.
func encode(beganNs int64, entries []*entry) []byte {
	size, n := 64, 0
	for _, e := range entries {
		if e.kept {
			size, n = size+96+len(e.text), n+1
		}
	}
	w := Writer{make([]byte, 0, size)}
	w.Int(beganNs)
	w.Count(n)
	for _, e := range entries {
		if !e.kept {
			continue
		}
		raw := e.session.Raw()
		w.data = append(append(append(w.data, raw[:]...), e.state[:]...), e.folder[:]...)
		w.Int(e.changedNs)
		w.Text(e.text)
	}
	return w.data
}

// decode reads what encode wrote; ok is false for what is malformed, or not in the order of the ids. The texts are
// parts of data.
func decode(data string) (s saved, ok bool) {
	r := NewReader(data)
	s.beganNs = r.Int()
	s.entries = make([]entry, r.Count(42))
	for i := range s.entries {
		e := &s.entries[i]
		e.session = e.session.OfRaw(r.id())
		if i > 0 && s.entries[i-1].session.Compare(e.session) >= 0 {
			return saved{}, false
		}
		copy(e.state[:], r.take(len(e.state)))
		copy(e.folder[:], r.take(len(e.folder)))
		e.changedNs, e.text = r.Int(), r.Text()
	}
	return s, r.Done()
}

// Writer composes a text of numbers and texts.
type Writer struct{ data []byte }

// Int appends a number.
//
//go:noinline
func (w *Writer) Int(v int64) { w.data = binary.AppendVarint(w.data, v) }

// Count appends a number that is not negative.
//
//go:noinline
func (w *Writer) Count(n int) { w.data = binary.AppendUvarint(w.data, uint64(n)) }

// Text appends a text.
//
//go:noinline
func (w *Writer) Text(text string) {
	w.Count(len(text))
	w.data = append(w.data, text...)
}

// Texts appends a list of texts.
//
//go:noinline
func (w *Writer) Texts(all []string) {
	w.Count(len(all))
	for _, text := range all {
		w.Text(text)
	}
}

// Bool appends a truth value.
//
//go:noinline
func (w *Writer) Bool(b bool) {
	if b {
		w.data = append(w.data, 1)
		return
	}
	w.data = append(w.data, 0)
}

// Bytes returns what was written.
//
//go:noinline
func (w *Writer) Bytes() []byte { return w.data }

// Reader takes the parts of what a Writer wrote, in the same order. After the first part that is malformed it has
// failed, and returns zero values. Texts are parts of the data and not copied.
type Reader struct {
	rest   string
	failed bool
}

// NewReader returns a reader at the beginning.
func NewReader(data string) Reader { return Reader{rest: data} }

// Done reports that all was read, and nothing of it malformed.
func (r *Reader) Done() bool { return !r.failed && r.rest == "" }

func (r *Reader) take(n int) string {
	if r.failed || n < 0 || n > len(r.rest) {
		r.failed, r.rest = true, ""
		return ""
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

// id takes the bytes of an id.
func (r *Reader) id() (raw [16]byte) {
	copy(raw[:], r.take(len(raw)))
	return raw
}

// unsigned takes a number in the form of binary.Uvarint.
func (r *Reader) unsigned() (v uint64) {
	for i := range min(len(r.rest), binary.MaxVarintLen64) {
		b := r.rest[i]
		v |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if r.take(i + 1); i == binary.MaxVarintLen64-1 && b > 1 {
				r.failed = true
			}
			return v
		}
	}
	r.failed = true
	return 0
}

// Int takes a number.
func (r *Reader) Int() int64 {
	v := r.unsigned()
	out := int64(v >> 1)
	if v&1 != 0 {
		out = ^out
	}
	return out
}

// Count takes the number of things that take at least each bytes.
func (r *Reader) Count(each int) int {
	v := r.unsigned()
	if r.failed || v > uint64(len(r.rest)/each) {
		r.failed = true
		return 0
	}
	return int(v)
}

// Text takes a text.
func (r *Reader) Text() string { return r.take(r.Count(1)) }

// Texts takes a list of texts.
func (r *Reader) Texts() []string {
	n := r.Count(1)
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = r.Text()
	}
	return out
}

// Bool takes a truth value.
func (r *Reader) Bool() bool { return r.take(1) == "\x01" }
