// Package bundle defines the file in which a session is exported (docs/design.md#bundles):
// Writer writes one in a single pass, Open reads and verifies one that may be damaged or
// forged.
//
// A reader verifies what a bundle states about itself: shape, digests, order and
// completeness. It does not verify that segments form a valid log; manifest.Read does, over
// the lines that Bundle.Events and Bundle.Records return. Nor does it import anything or open
// files: callers pass io.ReaderAt and io.Writer. Memory is bounded: content stays in the
// file, and a table holds one small row for each object. Start with Open and NewWriter.
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

// SchemaVersion is the bundleSchemaVersion that is written and accepted.
const SchemaVersion = 1

// IntegrityKind is the only kind of integrity.
const IntegrityKind = "sha256_manifest_v1"

// Envelope is a bundle's description of itself, except its integrity.
type Envelope struct {
	BundleID   string // 1 to limits.BundleIDBytesMax bytes; Waybill writes an id.Bundle
	ExportedAt string // informational: Waybill writes RFC 3339 in UTC with milliseconds, and reads any text
	Producer   Producer
	Salvage    *Salvage  // the log is not healthy, and the bundle holds its valid prefix
	Redacted   *Redacted // the content was redacted
	SessionID  string    // an id.Session
}

// Producer identifies the program that wrote a bundle (docs/design.md#bundles). It is
// informational: unknown members are ignored and not kept.
type Producer struct {
	// AppVersion is the version of Waybill, or of the program that wrote the bundle.
	AppVersion string `json:"appVersion"`
	// AppliedConfigHash identifies the configuration of the exporting store; absent in
	// bundles by other programs.
	AppliedConfigHash canon.Digest `json:"appliedConfigHash,omitzero"`
}

// Salvage is the verdict on a damaged log whose valid prefix a bundle holds.
type Salvage struct {
	// Findings are those of the exporting store, in its order.
	Findings []manifest.Finding `json:"findings"`
	// Health is the state of the log from which the prefix was taken.
	Health manifest.Health `json:"health"`
}

// Redacted counts the redactions by rule.
type Redacted struct {
	// Rules maps the name of a redaction rule to its number of matches; zero counts are
	// valid.
	Rules map[string]int64 `json:"rules"`
}

// healths lists the valid values of Salvage.Health.
var healths = []manifest.Health{manifest.Healthy, manifest.CorruptTail, manifest.CorruptHead, manifest.UnknownVersion}

// check refuses an invalid envelope: an error of the writer's caller, or a fault of the
// bundle read.
func (e Envelope) check() error {
	if n := len(e.BundleID); n == 0 || n > limits.BundleIDBytesMax {
		return fmt.Errorf("bundleId of %d bytes: want 1 to %d", n, limits.BundleIDBytesMax)
	}
	// The id becomes a directory name, so its form matters.
	if _, err := id.ParseSession(e.SessionID); err != nil {
		return fmt.Errorf("session/sessionId: %w", err)
	}
	if err := e.Salvage.check(); err != nil {
		return err
	}
	return e.Redacted.check()
}

// check refuses an unknown health.
func (s *Salvage) check() error {
	if s != nil && !slices.Contains(healths, s.Health) {
		return fmt.Errorf("salvage/health is %.80q, not a known health", s.Health)
	}
	return nil
}

// check refuses negative counts.
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

// Names of the members of a session; integrity paths consist of them.
const (
	eventsName    = "events"
	manifestName  = "manifest"
	snapshotsName = "snapshots"
	workflowsName = "pinnedWorkflows"
	artifactsName = "artifacts"
	logsName      = "logs"
)

// section describes the objects of one kind.
type section struct {
	kind     manifest.ObjectKind
	name     string // the member of session that holds them
	bytesMax int64  // of one object, as stored
	missing  reason // for an object that is referenced and not embedded
}

// sections lists the kinds of objects in a bundle, in the order in which they are written.
var sections = [...]section{
	{manifest.Snapshot, snapshotsName, limits.SnapshotBytesMax, missingSnapshot},
	{manifest.Workflow, workflowsName, limits.CompiledBytesMax, missingWorkflow},
	{manifest.Artifact, artifactsName, limits.ArtifactBytesMax, missingArtifact},
}

// sectionOf returns the index of a kind in sections, that of artifacts for a kind that no bundle
// has.
func sectionOf(kind manifest.ObjectKind) int {
	for i, s := range sections {
		if s.kind == kind {
			return i
		}
	}
	return len(sections) - 1
}

// listPath returns the integrity path of a log's events or manifest; log is "" for the
// session's own log.
func listPath(log, list string) string {
	if log == "" {
		return "session/" + list
	}
	return "session/logs/" + log + "/" + list
}

// logName is the form of a side log's name.
var logName = pattern.New(`^[a-z][a-z0-9_]{0,31}$`)

// reservedNames are used in a session's directory for other purposes than side logs.
var reservedNames = []string{"events", "cache", "keep", "suspect", "manifest", "imported"}

// ValidLogName reports whether name is valid for a side log. It becomes a directory name, so that
// it must not contain separators or equal a reserved name.
func ValidLogName(name string) bool {
	return logName.MatchString(name) && !slices.Contains(reservedNames, name)
}
