package ports

import (
	"context"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// SessionImporter imports sessions: each becomes visible as a whole or not at all.
type SessionImporter interface {
	// BeginImport begins the import of the session s. What is written is not visible to readers before
	// Commit. A store that does not exist is created. Until End, no cleanup can start;
	// STORE_LOCKED: a cleanup is running.
	BeginImport(ctx context.Context, s id.Session) (SessionImport, error)

	// BeginExtension begins the import of events that continue logs of a session of this store. The caller
	// has locked these logs, the session's own first, and passes the events behind their heads;
	// a log without any is not changed. Control takes the import mark only, and must be called before
	// Commit: the mark is durable before any event is visible. Errors are those of Logs.Append.
	//
	// Commit extends the session's own log, then its side logs, each as a whole. An error that is not
	// STORE_OUTCOME_UNKNOWN promises that no log was extended. A crash leaves each log with all
	// of its events or with none, and no side log is extended without the session's own. The
	// next writer of a log removes the remains, and what the import mark states about events that the log
	// does not have.
	BeginExtension(ctx context.Context, s id.Session, logs []Extended) (SessionImport, error)
}

// Extended names a log that an import extends, with the witness of its lock and its head.
type Extended struct {
	Log     manifest.Log
	Witness Witness
	At      manifest.Head
	Lease   int64 // as Plan.Lease: the session is held while it is extended
}

// SessionImport is the import of one session. It is used by one goroutine. The caller that began it calls
// End, also after Commit. After the first error of any call every later call returns that error and
// does nothing.
type SessionImport interface {
	// Segment writes the next segment of a log with its Group. log is "" for the session's own log,
	// otherwise the name of a side log (see bundle.ValidLogName). Bytes and group are written unchanged;
	// the caller has checked that they match each other and the preceding segments. Segments of
	// several logs may be interleaved.
	Segment(ctx context.Context, log string, seg manifest.Segment) error

	// Object writes an object; bytes is read to its end. STORE_CORRUPT: the digest of the bytes is
	// not ref; STORE_LIMIT: they exceed the limit of that kind. An error of reading is returned
	// unchanged. An intact object of that name is not written again, a damaged one is replaced. An
	// artifact with a tombstone stays erased.
	Object(ctx context.Context, kind manifest.ObjectKind, ref canon.Digest, bytes io.Reader) error

	// Tombstone writes the tombstone of an erased artifact: data of a control file of kind "erased"
	// (see Tombstones). An existing artifact or tombstone of that digest is not changed.
	Tombstone(ctx context.Context, ref canon.Digest, data canon.Value) error

	// Control writes a control file of the session (see SessionControls).
	Control(ctx context.Context, f ControlFile, c Control) error

	// Commit makes the session visible. nil promises that everything that was written is as
	// durable as an Append. placed is false if the session already exists: then nothing became visible, and
	// the caller reads the existing session and calls Confirm before it relies on it. An unborn
	// session (nothing was committed to it) is replaced; SESSION_LOCKED: a writer holds it. Any
	// error but STORE_OUTCOME_UNKNOWN promises that nothing became visible. Other processes may
	// read the session before Commit has returned; they cannot acknowledge anything about it before
	// End.
	Commit(ctx context.Context) (placed bool, err error)

	// End releases all locks and removes what was not committed, except objects and tombstones,
	// which the next cleanup removes. A second End does nothing.
	End() error
}
