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

// Options say how a bundle is opened.
type Options struct {
	// Progress hears how many bytes of the file were looked at; may be nil.
	Progress func(done, total int64)
}

// Open reads a bundle of size bytes from front to back, once, and says whether it
// can be believed. Errors are BUNDLE_… faults with the details "pointer" and
// "offset", those of r, and the context's. Shape comes first, then digests, then
// order, then what is missing: wrong digests explain the rest. r must not change
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
	// A bundle of a later version may differ anywhere; that it is one explains all.
	var f *fault.Fault
	if errors.As(err, &f) && f.Code != fault.BundleUnsupportedVersion {
		if later := newScanner(ctx, r, size, scanBytes).unsupported(); later != nil {
			return nil, later
		}
	}
	return nil, err
}

// opener is a Bundle on its way.
type opener struct {
	*scanner
	b            *Bundle
	hasArtifacts bool
	// What is wrong beyond shape and digests waits here: first of each kind.
	waiting [reasons]error
}

// reason orders what may be wrong with a bundle whose digests hold.
type reason int

const (
	eventOrder reason = iota
	manifestOrder
	missingSnapshot
	missingWorkflow
	missingArtifact
	reasons
)

var reasonCodes = [reasons]fault.Code{
	eventOrder: fault.BundleEventOrderInvalid, manifestOrder: fault.BundleManifestOrderInvalid,
	missingSnapshot: fault.BundleMissingSnapshot, missingWorkflow: fault.BundleMissingPinnedWorkflow,
	missingArtifact: fault.BundleIntegrityFailed,
}

func (o *opener) wait(why reason, pointer string, at int64, format string, args ...any) {
	if o.waiting[why] == nil {
		o.waiting[why] = failAt(reasonCodes[why], pointer, at, format, args...)
	}
}

var documentMembers = []member{
	{name: "bundleId"}, {name: "bundleSchemaVersion"}, {name: "exportedAt"}, {name: "producer"},
	{name: "salvage", optional: true}, {name: "redacted", optional: true}, {name: "session"}, {name: "integrity"},
}

func (o *opener) document() error {
	c, err := o.peek()
	if err != nil {
		return err
	}
	if c == 0 {
		return o.bad("the file begins with zeros, so its content never came to the disk,")
	}
	if err := o.members(documentMembers, o.topLevel); err != nil {
		return err
	}
	if err := o.ends(); err != nil {
		return err
	}
	return o.settle()
}

func (o *opener) topLevel(name string) error {
	env := &o.b.env
	switch name {
	case "bundleId":
		text, err := o.text(limits.BundleIDBytesMax)
		if err == nil && len(text) == 0 {
			err = o.bad("an empty bundleId")
		}
		env.BundleID = string(text)
		return err
	case "bundleSchemaVersion":
		return o.version()
	case "exportedAt":
		text, err := o.text(limits.LineBytesMax)
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

func (o *opener) version() error {
	at := o.at()
	n, err := o.number()
	if err == nil && n != SchemaVersion {
		err = otherVersion(n, at)
	}
	return err
}

// decode reads a small member that is ours alone, and so has no unknown members.
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

var sessionMembers = []member{
	{name: "sessionId"}, {name: eventsName}, {name: manifestName}, {name: snapshotsName}, {name: workflowsName},
	{name: artifactsName, optional: true}, {name: logsName, optional: true},
}

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
		return o.events(&o.b.own.events, 2)
	case manifestName:
		return o.records(&o.b.own.records, 2)
	case snapshotsName:
		return o.objects(o.b.snapshots)
	case workflowsName:
		return o.objects(o.b.workflows)
	case artifactsName:
		o.hasArtifacts = true
		return o.objects(o.b.artifacts)
	}
	return o.object(o.sideLog)
}

var logMembers = []member{{name: eventsName}, {name: manifestName}}

func (o *opener) sideLog(raw []byte) error {
	name := string(raw)
	if !LogName(name) {
		return o.fail(fault.BundleInvalidFormat, o.nameAt, "%q cannot name a side log", name)
	}
	l, err := o.log(name)
	if err != nil {
		return err
	}
	if l.found {
		return o.fail(fault.BundleInvalidFormat, o.nameAt, "duplicate member %q", name)
	}
	l.found = true
	o.path = append(o.path, turn{name: name})
	err = o.members(logMembers, func(name string) error {
		if name == eventsName {
			return o.events(&l.events, 4)
		}
		return o.records(&l.records, 4)
	})
	o.path = o.path[:len(o.path)-1]
	return err
}

// log is the side log of a name, which session or integrity is the first to say.
func (o *opener) log(name string) (*log, error) {
	l, ok := o.b.logs[name]
	if !ok {
		if len(o.b.logs) == limits.BundleLogsMax {
			return nil, o.bad("more than %d side logs", limits.BundleLogsMax)
		}
		l = newLog(name)
		o.b.logs[name] = l
	}
	return l, nil
}
