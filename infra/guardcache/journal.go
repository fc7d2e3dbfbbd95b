package guardcache

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/osfs"
	"github.com/waybill/waybill/ports"
)

// The journal of changes is a file in the cache directory: a first line that names it, and a line "SESSION MILLISECONDS"
// before and after each append to the log of a session, with " new" for the first one. A hook that has read it to a place
// asks about the sessions after that place only. It exists in stores with hooks alone, and may be deleted at any time: a hook then compares the stamps
// of all sessions and begins another one.
const (
	journalName  = "guard-changes-1"
	journalFirst = "changes " // and 16 hexadecimal digits
	isNew        = " new"
	headerBytes  = len(journalFirst) + 16 + 1
	// journalBytesMax bounds the journal: about 20,000 appends. A longer one is replaced.
	journalBytesMax = 2 << 20
)

// Announced is a store that names in the journal each session whose log it changes.
type Announced struct {
	*filestore.Store
	files Files
}

// Announce returns the store in the directory of f.
func Announce(store *filestore.Store, f Files) Announced { return Announced{store, f} }

// Append implements ports.Logs. The session is named before the append, since a process may be killed after it, and
// after it, since a hook may have read the log meanwhile. Ignorable events change no open run: what a hook records
// does not make the next one read the session again.
func (s Announced) Append(ctx context.Context, w ports.Witness, at manifest.Head, p manifest.Plan) (manifest.Head, error) {
	owner, err := id.ParseSession(p.Log.Owner)
	if err == nil && p.Log == manifest.SessionEvents(owner) && slices.ContainsFunc(p.Events, isActivity) {
		s.files.announce(owner, at.Next == 0)
		defer s.files.announce(owner, at.Next == 0)
	}
	return s.Store.Append(ctx, w, at, p)
}

// isActivity reports an event that may change an open run.
func isActivity(e event.Event) bool { return !e.Ignorable }

// Restore implements ports.Trash.
func (s Announced) Restore(ctx context.Context, name string) (id.Session, error) {
	restored, err := s.Store.Restore(ctx, name)
	if err == nil {
		s.files.announce(restored, false)
	}
	return restored, err
}

// announce adds a line to the journal, if there is one. Errors are ignored: the list of open runs is a hint, and the run
// that a hook speaks of is read from its log.
func (f Files) announce(s id.Session, first bool) {
	dir := f.cache()
	defer dir.Close()
	file, err := dir.Open(journalName, osfs.Append)
	if err != nil {
		return
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Size < journalBytesMax {
		line := fmt.Appendf(nil, "%s %d", s, time.Now().UnixMilli())
		if first {
			line = append(line, isNew...)
		}
		_, _ = file.Write(append(line, '\n'))
	}
}

// mark is a place in the journal, and the time of the directory with the sessions.
type mark struct {
	journal string
	at      int64
	dir     string // "-": it may change again within the same time
}

// parseMark reads a mark; ok is false for one that no call returned.
func parseMark(text string) (m mark, ok bool) {
	parts := strings.Split(text, " ")
	if len(parts) != 3 {
		return m, false
	}
	at, err := strconv.ParseInt(parts[1], 10, 64)
	return mark{parts[0], at, parts[2]}, err == nil && at >= int64(headerBytes) && len(parts[0]) == 16
}

func (m mark) String() string { return fmt.Sprintf("%s %d %s", m.journal, m.at, m.dir) }

// Changes implements ports.GuardFiles. Nothing is known without a journal that can be begun, and where the directory with
// the sessions changed although no session was new: one was imported, restored or removed.
func (f Files) Changes(ctx context.Context, text string) (c ports.SessionChanges, err error) {
	now := time.Now()
	before, ok := parseMark(text)
	next, tail, err := f.journal(before)
	if err != nil {
		return c, ctx.Err()
	}
	sessions := filepath.Join(f.store, "sessions")
	next.dir = "-"
	if info, err := os.Stat(sessions); err == nil && now.Sub(info.ModTime()) >= f.racy {
		next.dir = strconv.FormatInt(info.ModTime().UnixNano(), 36)
	}
	c.Known = ok && before.journal == next.journal && before.at == next.at &&
		(before.dir == next.dir && next.dir != "-" || bytes.Contains(tail, []byte(isNew+"\n")))
	c.Changed, next.at = f.changed(tail, next.at, now)
	c.Mark = next.String()
	return c, nil
}

// changed returns the sessions that lines of the journal name, each once, and the place up to which the lines are so old
// that the next call need not read them.
func (f Files) changed(tail []byte, at int64, now time.Time) (all []id.Session, next int64) {
	next = at
	settled, seen := true, map[string]bool{}
	for line := range bytes.Lines(tail) {
		name, ms, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), isNew), " ")
		when, err := strconv.ParseInt(ms, 10, 64)
		complete := line[len(line)-1] == '\n'
		settled = settled && complete && (err != nil || now.Sub(time.UnixMilli(when)).Abs() >= f.racy)
		if settled {
			next += int64(len(line))
		}
		if s, err := id.ParseSession(name); err == nil && !seen[name] {
			seen[name] = true
			all = append(all, s)
		}
	}
	return all, next
}

// journal returns the place in the journal from which a mark leads on, the beginning of its lines for another mark, and
// what follows that place. A journal that is missing, too long or none is begun.
func (f Files) journal(after mark) (m mark, tail []byte, err error) {
	dir := f.cache()
	defer dir.Close()
	for range 2 {
		m, tail, err = readJournal(dir, after)
		if err == nil {
			return m, tail, nil
		}
		if err := f.beginJournal(); err != nil {
			return m, nil, err
		}
	}
	return m, nil, err
}

// readJournal reads the journal after a mark. The error is about a journal that cannot be continued.
func readJournal(dir *osfs.Dir, after mark) (m mark, tail []byte, err error) {
	file, err := dir.Open(journalName, osfs.Read)
	if err != nil {
		return m, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return m, nil, err
	}
	var header [headerBytes]byte
	if _, err := file.ReadAt(header[:], 0); err != nil {
		return m, nil, err
	}
	name, isOne := strings.CutPrefix(string(header[:headerBytes-1]), journalFirst)
	if !isOne || info.Size >= journalBytesMax {
		return m, nil, errors.New("want a journal that is not full")
	}
	m = mark{journal: name, at: int64(headerBytes)}
	if after.journal == name && after.at <= info.Size {
		m.at = after.at
	}
	tail, err = io.ReadAll(io.NewSectionReader(file, m.at, info.Size-m.at))
	return m, tail, err
}

// beginJournal replaces the journal by one with another name and no line. The store must exist.
func (f Files) beginJournal() error {
	dir, err := f.toWrite()
	if errors.Is(err, fs.ErrNotExist) {
		return errNoStore
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	var random [8]byte
	if _, err := rand.Read(random[:]); err != nil {
		return err
	}
	return replace(dir, journalName, []byte(journalFirst+hex.EncodeToString(random[:])+"\n"))
}

// errNoStore is the error for a directory without a store, in which nothing is written.
var errNoStore = fmt.Errorf("no store: %w", fs.ErrNotExist)
