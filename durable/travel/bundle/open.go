package bundle

import (
	"context"
	"errors"
	"io"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
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
		snapshots: newTable(manifest.Snapshot), workflows: newTable(manifest.Workflow),
		artifacts: newTable(manifest.Artifact),
	}}
	op.progress = o.Progress
	err := op.document()
	if err == nil {
		return op.b, nil
	}
	// A bundle of a later version may differ anywhere, so the version is reported first.
	var f *fault.Fault
	// Errors of r and ctx are not faults of the bundle and are returned unchanged.
	if errors.As(err, &f) && f.Code != fault.BundleUnsupportedVersion {
		if later := newScanner(ctx, r, size, scanBytes).unsupported(); later != nil {
			return nil, later
		}
	}
	return nil, err
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
func (o *opener) document() error {
	c, err := o.peek()
	if err != nil {
		return err
	}
	// A file system may allocate a file before its content is written; a crash then leaves
	// zeros.
	if c == 0 {
		return o.bad("the file begins with zero bytes: its content was never written")
	}
	if err := o.members(documentMembers, o.topLevel); err != nil {
		return err
	}
	// Bytes after the document would be covered by no digest.
	if err := o.ends(); err != nil {
		return err
	}
	return o.finish()
}

// topLevel reads one member of the document.
func (o *opener) topLevel(name string) error {
	env := &o.b.env
	switch name {
	case "bundleId":
		text, err := o.text(limits.BundleIDBytesMax)
		// The only bound besides the length: ids of other programs have their own form.
		if err == nil && len(text) == 0 {
			err = o.bad("an empty bundleId")
		}
		env.BundleID = string(text)
		return err
	case "bundleSchemaVersion":
		return o.version()
	case "exportedAt":
		text, err := o.text(limits.LineBytesMax)
		// Not parsed: informational.
		env.ExportedAt = string(text)
		return err
	case "producer":
		return o.producer()
	case "salvage":
		env.Salvage = &Salvage{}
		return o.decode(env.Salvage, env.Salvage.check)
	case "redacted":
		env.Redacted = &Redacted{}
		return o.decode(env.Redacted, env.Redacted.check)
	case "session":
		return o.members(sessionMembers, o.session)
	}
	return o.members(integrityMembers, o.integrity)
}

// version reads bundleSchemaVersion.
func (o *opener) version() error {
	at := o.at()
	n, err := o.number()
	// The version is checked where it is read; unsupported finds it if an earlier member
	// fails.
	if err == nil && n != SchemaVersion {
		err = otherVersion(n, at)
	}
	return err
}

// decode reads a small member of Waybill's own format, strictly.
func (o *opener) decode(out any, check func() error) error {
	at := o.at()
	p, err := o.element(limits.LineBytesMax, limits.JSONDepthMax-1, nil)
	if err != nil {
		return err
	}
	if err = canon.Unmarshal(p.line, out); err == nil {
		err = check()
	}
	if err != nil {
		return o.refused(err, at)
	}
	return nil
}

// producer reads "producer", whose unknown members are ignored.
func (o *opener) producer() error {
	at := o.at()
	p, err := o.element(limits.LineBytesMax, limits.JSONDepthMax-1, nil)
	if err != nil {
		return err
	}
	v, err := canon.Parse(p.line)
	if err == nil {
		err = canon.DecodeKnown(v, &o.b.env.Producer)
	}
	if err != nil {
		return o.refused(err, at)
	}
	return nil
}

// sessionMembers are the members of "session"; the optional ones are absent in bundles by
// other programs.
var sessionMembers = []member{
	{name: "sessionId"}, {name: eventsName}, {name: manifestName}, {name: snapshotsName}, {name: workflowsName},
	{name: artifactsName, optional: true}, {name: logsName, optional: true},
}

// session reads one member of "session".
func (o *opener) session(name string) error {
	switch name {
	case "sessionId":
		at := o.at()
		text, err := o.text(nameBytesMax)
		if err != nil {
			return err
		}
		s, err := id.ParseSession(string(text))
		if err != nil {
			return o.fail(fault.BundleInvalidFormat, at, "%v", err)
		}
		o.b.env.SessionID = s.String()
		return nil
	case eventsName:
		// Two containers around the list: document and session.
		return o.events(&o.b.own.events, 2)
	case manifestName:
		return o.records(&o.b.own.records, 2)
	case snapshotsName:
		return o.objects(o.b.snapshots)
	case workflowsName:
		return o.objects(o.b.workflows)
	case artifactsName:
		// Without this member missing artifacts are no error: see finish.
		o.hasArtifacts = true
		return o.objects(o.b.artifacts)
	}
	return o.object(o.sideLog)
}

// logMembers are the members of a side log.
var logMembers = []member{{name: eventsName}, {name: manifestName}}

// sideLog reads one side log.
func (o *opener) sideLog(raw []byte) error {
	name := string(raw)
	if !ValidLogName(name) {
		return o.fail(fault.BundleInvalidFormat, o.nameAt, "%q cannot name a side log", name)
	}
	l, err := o.log(name)
	if err != nil {
		return err
	}
	// Duplicate names in session; integrity may have created the log.
	if l.found {
		return o.fail(fault.BundleInvalidFormat, o.nameAt, "duplicate member %q", name)
	}
	l.found = true
	// members adds only names of closed sets, so the log's name is added here.
	o.path = append(o.path, pathStep{name: name})
	err = o.members(logMembers, func(name string) error {
		if name == eventsName {
			// Four containers: document, session, logs and the log.
			return o.events(&l.events, 4)
		}
		return o.records(&l.records, 4)
	})
	o.path = o.path[:len(o.path)-1]
	return err
}

// log returns the side log of a name, creating it on first mention, in session or in
// integrity.
func (o *opener) log(name string) (*log, error) {
	l, ok := o.b.logs[name]
	if !ok {
		// Bounds the memory that names of logs in integrity could consume.
		if len(o.b.logs) == limits.BundleLogsMax {
			return nil, o.bad("more than %d side logs", limits.BundleLogsMax)
		}
		l = newLog(name)
		o.b.logs[name] = l
	}
	return l, nil
}
