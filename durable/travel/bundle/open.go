package bundle

import (
	"cmp"
	"context"
	"errors"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
)

// Options configure Open.
type Options struct {
	// Progress is called with the number of bytes read so far; may be nil.
	Progress func(done, total int64)
}

// Open reads a bundle of size bytes once, from front to back, and verifies it. Errors are
// BUNDLE_* faults with the details "pointer" and "offset", errors of r, and ctx.Err(). Of
// several defects the reported one is chosen in the order shape, digests, event and record
// order, missing objects, since a wrong digest explains the later ones. r must not change
// while the Bundle is used.
func Open(ctx context.Context, r io.ReaderAt, size int64, o Options) (*Bundle, error) {
	if size > limits.BundleBytesMax {
		return nil, failAt(fault.BundleInvalidFormat, "", 0, "a file of %d bytes: want at most %d", size,
			limits.BundleBytesMax)
	}
	op := &opener{scanner: newScanner(ctx, r, size, scanBytes), b: &Bundle{
		r: r, size: size, own: newLog(""), logs: map[string]*log{},
	}}
	for i, s := range sections {
		op.b.tables[i] = newTable(s.kind)
	}
	op.progress = o.Progress
	op.document()
	if op.err == nil {
		return op.b, nil
	}
	// A bundle of a later version may differ anywhere, so the version is reported first.
	var f *fault.Fault
	// Errors of r and ctx are not faults of the bundle and are returned unchanged.
	if errors.As(op.err, &f) && f.Code != fault.BundleUnsupportedVersion {
		if later := newScanner(ctx, r, size, scanBytes).unsupported(); later != nil {
			return nil, later
		}
	}
	return nil, op.err
}

// opener is the state of opening one bundle.
type opener struct {
	*scanner
	b            *Bundle
	hasArtifacts bool
	// deferred holds the first error of each kind that is reported only if shape and digests
	// are valid.
	deferred [reasons]error
}

// reason is the kind of a deferred error, in the order of precedence.
type reason int

const (
	// Order errors precede missing objects: references of a wrong order may be wrong too.
	eventOrder reason = iota
	manifestOrder
	missingSnapshot
	missingWorkflow
	missingArtifact
	// The number of reasons.
	reasons
)

// reasonCodes maps the kinds of deferred errors to fault codes.
var reasonCodes = [reasons]fault.Code{
	eventOrder: fault.BundleEventOrderInvalid, manifestOrder: fault.BundleManifestOrderInvalid,
	missingSnapshot: fault.BundleMissingSnapshot, missingWorkflow: fault.BundleMissingPinnedWorkflow,
	missingArtifact: fault.BundleIntegrityFailed,
}

// deferError stores a deferred error unless one of its kind is stored already.
func (o *opener) deferError(why reason, pointer string, at int64, format string, args ...any) {
	if o.deferred[why] == nil {
		o.deferred[why] = failAt(reasonCodes[why], pointer, at, format, args...)
	}
}

// documentMembers are the members of the document.
var documentMembers = []member{
	{name: "bundleId"}, {name: "bundleSchemaVersion"}, {name: "exportedAt"}, {name: "producer"},
	{name: "salvage", optional: true}, {name: "redacted", optional: true}, {name: "session"}, {name: "integrity"},
}

// document reads the whole file.
func (o *opener) document() {
	// A file system may allocate a file before its content is written; a crash then leaves
	// zeros.
	if o.peek() == 0 {
		o.bad("the file begins with zero bytes: its content was never written")
	}
	o.members(documentMembers, o.topLevel)
	// Bytes after the document would be covered by no digest.
	o.ends()
	if o.err == nil {
		o.stop(o.finish())
	}
}

// topLevel reads one member of the document.
func (o *opener) topLevel(name string) {
	env := &o.b.env
	switch name {
	case "bundleId":
		// The only bound besides the length: ids of other programs have their own form.
		if env.BundleID = string(o.text(limits.BundleIDBytesMax)); env.BundleID == "" {
			o.bad("an empty bundleId")
		}
	case "bundleSchemaVersion":
		// The version is checked where it is read; unsupported finds it if an earlier member
		// fails.
		at := o.at()
		if n := o.number(); n != SchemaVersion {
			o.stop(otherVersion(n, at))
		}
	case "exportedAt":
		// Not parsed: informational.
		env.ExportedAt = string(o.text(limits.LineBytesMax))
	case "producer":
		// Its unknown members are ignored.
		o.decode(func(v canon.Value) error { return canon.DecodeKnown(v, &env.Producer) })
	case "salvage":
		env.Salvage = &Salvage{}
		o.decode(func(v canon.Value) error { return cmp.Or(canon.Decode(v, env.Salvage), env.Salvage.check()) })
	case "redacted":
		env.Redacted = &Redacted{}
		o.decode(func(v canon.Value) error { return cmp.Or(canon.Decode(v, env.Redacted), env.Redacted.check()) })
	case "session":
		o.members(sessionMembers, o.session)
	case "integrity":
		o.members(integrityMembers, o.integrity)
	}
}

// decode reads a small member whose form is known.
func (o *opener) decode(into func(canon.Value) error) {
	at := o.at()
	p := o.element(limits.LineBytesMax, limits.JSONDepthMax-1, nil)
	if o.err != nil {
		return
	}
	v, err := canon.Parse(p.line)
	if err == nil {
		err = into(v)
	}
	if err != nil {
		o.refused(err, at)
	}
}

// sessionMembers are the members of "session"; the optional ones are absent in bundles by
// other programs.
var sessionMembers = []member{
	{name: "sessionId"}, {name: eventsName}, {name: manifestName}, {name: snapshotsName}, {name: workflowsName},
	{name: artifactsName, optional: true}, {name: logsName, optional: true},
}

// session reads one member of "session".
func (o *opener) session(name string) {
	switch name {
	case "sessionId":
		at := o.at()
		s, err := id.ParseSession(string(o.text(nameBytesMax)))
		if err != nil {
			o.fail(fault.BundleInvalidFormat, at, "%v", err)
		}
		o.b.env.SessionID = s.String()
	case eventsName:
		// Two containers around the list: document and session. References to objects are collected
		// from the session's own log only; the payloads of side logs are opaque here.
		o.list(&o.b.own.events, 2, eventHalf, o.collectReferences)
	case manifestName:
		o.list(&o.b.own.records, 2, recordHalf, o.collectPin)
	case logsName:
		o.object(o.sideLog)
	}
	for _, t := range o.b.tables {
		if name == t.name {
			o.objects(t)
		}
	}
	// Without this member missing artifacts are no error: see finish.
	o.hasArtifacts = o.hasArtifacts || name == artifactsName
}

// logMembers are the members of a side log.
var logMembers = []member{{name: eventsName}, {name: manifestName}}

// sideLog reads one side log.
func (o *opener) sideLog(raw []byte) {
	name := string(raw)
	if !ValidLogName(name) {
		o.fail(fault.BundleInvalidFormat, o.nameAt, "%q cannot name a side log", name)
		return
	}
	l, ok := o.log(name)
	if !ok {
		return
	}
	// Duplicate names in session; integrity may have created the log.
	if l.found {
		o.fail(fault.BundleInvalidFormat, o.nameAt, "duplicate member %q", name)
	}
	l.found = true
	// Four containers around the lists: document, session, logs and the log.
	o.within(pathStep{name: name}, func() {
		o.members(logMembers, func(name string) {
			if name == eventsName {
				o.list(&l.events, 4, eventHalf, nil)
			} else {
				o.list(&l.records, 4, recordHalf, nil)
			}
		})
	})
}

// log returns the side log of a name, creating it on first mention, in session or in
// integrity; ok is false above the limit.
func (o *opener) log(name string) (_ *log, ok bool) {
	l, ok := o.b.logs[name]
	if ok {
		return l, true
	}
	// Bounds the memory that names of logs in integrity could consume.
	if len(o.b.logs) == limits.BundleLogsMax {
		o.bad("more than %d side logs", limits.BundleLogsMax)
		return nil, false
	}
	l = newLog(name)
	o.b.logs[name] = l
	return l, true
}
