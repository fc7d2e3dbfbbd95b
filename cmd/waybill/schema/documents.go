package schema

import (
	"maps"
	"slices"

	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/engine/candidates"
	"github.com/waybill/waybill/durable/engine/commits"
	"github.com/waybill/waybill/durable/engine/compare"
	"github.com/waybill/waybill/durable/engine/inbox"
	"github.com/waybill/waybill/durable/engine/learning"
	"github.com/waybill/waybill/durable/engine/lists"
	"github.com/waybill/waybill/durable/engine/notice"
	"github.com/waybill/waybill/durable/engine/pausing"
	"github.com/waybill/waybill/durable/engine/report"
	"github.com/waybill/waybill/durable/engine/travel"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/durable/learning/capabilities"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/infra/schema"
)

// eventsDocument describes the document "events". 'runs events' assembles that document from
// stored bytes, so that each event is exactly as it is stored.
type eventsDocument struct {
	Events []canon.Value   `json:"events"`
	Health manifest.Health `json:"health"`
}

// documents are the documents that --json prints and MCP tools return, and the one that the command of
// notifications gets: a value of the type of the data by kind. A test calls every command and compares.
func documents() map[string]any {
	return map[string]any{
		"step": engine.Answer{}, "blocked": engine.Answer{},
		"annotation": feedback.Annotation{}, "annotations": learning.AnnotationList{},
		"annotation_summary": learning.FeedbackSummary{}, "retracted": learning.Retracted{},
		"runs": lists.RunPage{}, "run": views.RunDetails{}, "timeline": views.History{}, "graph": views.Graph{}, "run_diff": compare.RunDiff{}, "report": report.Report{},
		"report_file": document.ReportFile{}, "report_index": document.ReportIndex{},
		"run_events": document.RunEvents{}, "run_snapshot": openwop.Snapshot{}, "debug_bundle": document.DebugBundle{},
		"events": eventsDocument{}, "logs": views.Logs{}, "artifacts": views.ArtifactList{},
		"artifact": views.ArtifactDetails{}, "artifact_file": document.ArtifactFile{},
		"candidates": candidates.List{}, "search": lists.Found{}, "due": document.Due{}, "work": document.Work{}, "inbox": inbox.List{}, "replay": verify.ReplayReport{}, "trailer": document.Trailer{},
		"who": commits.Who{}, "cancelled": engine.Cancelled{}, "paused": pausing.State{}, "resumed": pausing.State{}, "taken_back": travel.HandedOver{},
		"verification": document.BundleVerification{}, "audit": verify.AuditTrail{}, "audit_entry": verify.AuditEntry{},
		"audit_verification": verify.AuditVerification{},
		"export":             travel.Export{}, "import": travel.Import{}, "push": travel.Exchanged{}, "pull": travel.Exchanged{}, "bundle": travel.BundleInfo{},
		"bundle_diff": travel.BundleDiff{},
		"sessions":    upkeep.SessionList{}, "kept": upkeep.KeptSession{}, "deleted": upkeep.DeletedSessions{},
		"trash_emptied": upkeep.DeletedSessions{},
		"restored":      upkeep.TrashedSession{}, "gc": upkeep.GCReport{}, "du": upkeep.Usage{},
		"erased": upkeep.ErasedArtifact{},
		"repair": upkeep.RepairReport{}, "keys": upkeep.KeyList{}, "doctor": doctor.Report{},
		"builtins": document.Builtins{}, "workflows": document.Workflows{}, "workflow": document.Inspection{}, "validation": document.Validation{},
		"sources": document.Sources{}, "compiled": document.Compiled{}, "workflow_file": document.WorkflowFile{},
		"workflow_test": document.TestReport{}, "workflow_test_file": document.TestWritten{},
		"trust": document.Trust{}, "trusted": document.Trusted{}, "config": document.Settings{}, "payload": document.Payload{}, "version": document.Build{},
		"completion": document.Completion{}, "schemas": schemaList{},
		"proposal": proposal.Proposal{}, "proposals": learning.ProposalList{},
		"proposal_history": learning.ProposalDetails{}, "proposal_events": learning.ProposalEvents{},
		"installed": learning.InstalledList{}, "automations": document.Automations{},
		"capabilities": capabilities.Document{}, "client_settings": document.ClientSettings{},
		"guard_test": document.GuardTest{}, "console": document.Console{}, "serve_key": document.ServeKey{}, "serve_keys": document.ServeKeys{},
		"error": document.Error{}, notice.DocumentKind: notice.Notice{},
	}
}

// documentKinds returns the kinds in alphabetical order, the order of 'waybill schema'.
func documentKinds() []string { return slices.Sorted(maps.Keys(documents())) }

// documentSchema returns the schema of a complete document of a kind. It is open: a later
// version may add members, and readers must ignore unknown ones
// (docs/design.md#schema-closure).
func documentSchema(kind string) *schema.Schema {
	// The document "error" has the member error instead of data.
	// All other documents have the members v, kind and data.
	part := "data"
	if kind == "error" {
		part = "error"
	}
	s := schema.Object(map[string]*schema.Schema{"v": schema.Const(1), "kind": schema.Const(kind),
		part: recordSchema(documents()[kind])}, "v", "kind", part)
	// Two kinds have constraints that their types do not express.
	switch kind {
	case "events":
		// Events of other programs are included, so their members are not constrained.
		s.Properties[part].Properties["events"].Items = &schema.Schema{Type: "object"}
	case "blocked":
		s.Properties[part].Required = append(s.Properties[part].Required, "blockers")
	}
	if slices.Contains(redactedKinds, kind) {
		s.Properties["redactions"] = recordSchema(beside{}).Properties["redactions"]
	}
	if kind == "proposal" {
		for name, of := range recordSchema(besideProposal{}).Properties {
			s.Properties[name] = of
		}
	}
	return schema.OpenObjects(s)
}

// besideProposal are the members of the document of a proposal beside data, whose form is closed
// (docs/design.md#replacing).
type besideProposal struct {
	Diff     string            `json:"diff,omitzero"`
	Replaces proposal.Replaces `json:"replaces,omitzero"`
	Problem  string            `json:"replacesProblem,omitzero"`
}

// redactedKinds are the documents that have the member redactions beside data.
var redactedKinds = []string{"annotation", "proposal", "run"}

// beside are the members of a document beside data, which exist only where they are not empty
// (docs/design.md#answers-about-redaction).
type beside struct {
	Redactions []redact.Finding `json:"redactions,omitzero"`
}
