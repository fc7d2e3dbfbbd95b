// Package bundle is the one file in which a session travels (locks section 1.3;
// R5): it writes one in a single pass, and reads one that may be a lie.
//
// A reader checks what a bundle says of itself: its shape, its digests, its order
// and that nothing is missing. Whether segments hang together is manifest.Read's
// business, over the lines that a Bundle hands out. No file is opened here.
package bundle

import (
	"fmt"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/pattern"
)

// SchemaVersion is the bundleSchemaVersion that is written and read.
const SchemaVersion = 1

// IntegrityKind is the one kind of integrity that the locks have.
const IntegrityKind = "sha256_manifest_v1"

// Envelope is what a bundle says about itself, beside its integrity.
type Envelope struct {
	BundleID   string // 1 to limits.BundleIDBytesMax bytes; ours are an id.Bundle
	ExportedAt string // RFC 3339 in UTC with milliseconds as we write it; informational, any text is read
	Producer   Producer
	Salvage    *Salvage  // the log is not healthy, and this is its good prefix
	Redacted   *Redacted // the content was rewritten by rules
	SessionID  string    // an id.Session
}

// Producer is the program that wrote a bundle (locks section 1.3). It is
// informational: members that we do not know are passed over, and not kept.
type Producer struct {
	AppVersion        string       `json:"appVersion"`
	AppliedConfigHash canon.Digest `json:"appliedConfigHash,omitzero"`
}

// Salvage is the verdict over a log of which a bundle holds the good prefix.
type Salvage struct {
	Findings []manifest.Finding `json:"findings"`
	Health   manifest.Health    `json:"health"`
}

// Redacted counts what each rule replaced, by the rule's name.
type Redacted struct {
	Rules map[string]int64 `json:"rules"`
}

var healths = []manifest.Health{manifest.Healthy, manifest.CorruptTail, manifest.CorruptHead, manifest.UnknownVersion}

// check refuses what no bundle may say: a writer's bug, or a reader's fault.
func (e Envelope) check() error {
	if n := len(e.BundleID); n == 0 || n > limits.BundleIDBytesMax {
		return fmt.Errorf("bundleId of %d bytes: want 1 to %d", n, limits.BundleIDBytesMax)
	}
	if _, err := id.ParseSession(e.SessionID); err != nil {
		return fmt.Errorf("session/sessionId: %w", err)
	}
	if err := e.Salvage.check(); err != nil {
		return err
	}
	return e.Redacted.check()
}

// check refuses a health that is none.
func (s *Salvage) check() error {
	if s != nil && !slices.Contains(healths, s.Health) {
		return fmt.Errorf("salvage/health is %.80q, which is no health", s.Health)
	}
	return nil
}

// check refuses what is no count.
func (r *Redacted) check() error {
	if r == nil {
		return nil
	}
	for rule, n := range r.Rules {
		if n < 0 {
			return fmt.Errorf("redacted/rules/%.80s is %d: want a count", rule, n)
		}
	}
	return nil
}

// Names of the members of a session, which are also what integrity paths are made of.
const (
	eventsName    = "events"
	manifestName  = "manifest"
	snapshotsName = "snapshots"
	workflowsName = "pinnedWorkflows"
	artifactsName = "artifacts"
	logsName      = "logs"
)

// sectionOf is the member of session that holds objects of a kind.
func sectionOf(kind manifest.ObjectKind) string {
	switch kind {
	case manifest.Snapshot:
		return snapshotsName
	case manifest.Workflow:
		return workflowsName
	}
	return artifactsName
}

// objectBytesMax bounds one object of a kind, by its bytes in the store.
func objectBytesMax(kind manifest.ObjectKind) int64 {
	switch kind {
	case manifest.Snapshot:
		return limits.SnapshotBytesMax
	case manifest.Workflow:
		return limits.CompiledBytesMax
	}
	return limits.ArtifactBytesMax
}

// listPath is the integrity path of a log's events or manifest; log is "" for the
// session's own.
func listPath(log, list string) string {
	if log == "" {
		return "session/" + list
	}
	return "session/logs/" + log + "/" + list
}

var logName = pattern.New(`^[a-z][a-z0-9_]{0,31}$`)

// takenNames lie beside the side logs in a session's folder and are none.
var takenNames = []string{"events", "cache", "keep", "suspect", "manifest", "imported"}

// LogName reports a name that a side log may have: it becomes a folder, so nothing
// that leads elsewhere, and nothing that a session's folder holds already.
func LogName(name string) bool {
	return logName.MatchString(name) && !slices.Contains(takenNames, name)
}
