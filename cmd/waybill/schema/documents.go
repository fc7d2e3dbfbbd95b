package schema

import (
	"maps"
	"reflect"
	"slices"

	"github.com/waybill/waybill/cmd/waybill/cli/document"
	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine"
	"github.com/waybill/waybill/durable/learning/capabilities"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/store/doctor"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/infra/schema"
)

// eventsDocument describes the document "events". The document itself is put
// together from bytes, so that each event is exactly as it is stored.
type eventsDocument struct {
	Events []canon.Value   `json:"events"`
	Health manifest.Health `json:"health"`
}

// documentTypes are the documents that --json prints and that the tools of MCP
// give: the kind, and the type of its data. A test calls every command and
// compares.
func documentTypes() map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for kind, data := range map[string]any{
		"step": engine.Answer{}, "blocked": engine.Answer{},
		"annotation": feedback.Annotation{}, "annotations": engine.AnnotationList{},
		"annotation_summary": engine.FeedbackSummary{}, "retracted": engine.Retracted{},
		"runs": engine.RunPage{}, "run": engine.RunDetails{}, "timeline": engine.History{}, "graph": engine.Graph{},
		"events":     eventsDocument{},
		"candidates": engine.ResumeList{}, "replay": engine.ReplayReport{}, "cancelled": engine.Cancelled{},
		"verification": engine.Verification{}, "audit": engine.AuditTrail{},
		"audit_verification": engine.AuditVerification{},
		"export":             engine.Export{}, "import": engine.Import{}, "bundle": engine.BundleShown{},
		"bundle_diff": engine.BundleDiff{},
		"sessions":    engine.SessionList{}, "kept": engine.KeptSession{}, "deleted": engine.DeletedSessions{},
		"trash_emptied": engine.DeletedSessions{},
		"restored":      engine.TrashedSession{}, "gc": engine.GCReport{}, "du": engine.Usage{},
		"erased": engine.ErasedArtifact{},
		"repair": engine.RepairReport{}, "keys": engine.KeyList{}, "doctor": doctor.Report{},
		"workflows": document.Workflows{}, "workflow": document.Inspection{}, "validation": document.Validation{},
		"compiled": document.Compiled{}, "workflow_file": document.WorkflowFile{},
		"trust": document.Trust{}, "trusted": trust.List{}, "config": document.Settings{}, "version": document.Build{},
		"completion": document.Completion{}, "schemas": schemaList{},
		"proposal": proposal.Proposal{}, "proposals": engine.ProposalList{},
		"proposal_history": engine.ProposalDetails{}, "proposal_events": engine.ProposalEvents{},
		"installed": engine.InstalledList{}, "automations": document.Automations{},
		"capabilities": capabilities.Document{},
		"error":        document.Error{},
	} {
		out[kind] = reflect.TypeOf(data)
	}
	return out
}

// documentKinds lists the kinds in alphabetical order, which is that of the
// command's list.
func documentKinds() []string { return slices.Sorted(maps.Keys(documentTypes())) }

// documentSchema is the schema of a whole document of a kind. It is open: a
// later version may add members, and readers ignore what they do not know.
func documentSchema(kind string) *schema.Schema {
	// Errors have another member in the place of data.
	part := "data"
	if kind == "error" {
		part = "error"
	}
	s := schema.Object(map[string]*schema.Schema{"v": schema.Const(1), "kind": schema.Const(kind),
		part: schema.Of(documentTypes()[kind])}, "v", "kind", part)
	// Two kinds say more than their type does.
	switch kind {
	case "events":
		// Events are printed as they are stored, those of other programs too.
		s.Properties[part].Properties["events"].Items = &schema.Schema{Type: "object"}
	case "blocked":
		s.Properties[part].Required = append(s.Properties[part].Required, "blockers")
	}
	return schema.Open(s)
}
