package schema

import (
	"encoding/json"
	"maps"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/learning/capabilities"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/infra/schema"
)

// WirePrefix is the prefix of the names of schemas of the OpenWOP protocol.
const WirePrefix = "openwop-"

// wireSchemas returns the schemas of what clients of the OpenWOP protocol send and get
// (docs/design.md#openwop). They are open, but for a request: readers ignore members that they do not know.
func wireSchemas() []entry {
	of := func(name, title string, v any) entry {
		return entryOf(WirePrefix+name, title, func() *schema.Schema { return schema.OpenObjects(recordSchema(v)) })
	}
	return []entry{
		entryOf(WirePrefix+"annotation", "An annotation of a run", annotationSchema),
		entryOf(WirePrefix+"create-run", "A request to create a run",
			func() *schema.Schema { return parsed(openwop.CreateRunSchema()) }),
		of("debug-bundle", "A run for diagnosis", openwop.DebugBundle{}),
		entryOf(WirePrefix+"discovery", "What a host provides", discoverySchema),
		of("error", "The body of an answer that is an error", openwop.Envelope{}),
		of("proposal", "A proposal", proposal.Proposal{}),
		entryOf(WirePrefix+"run-event", "An event of a run", runEventSchema),
		of("run-snapshot", "The state of a run", openwop.Snapshot{}),
	}
}

// parsed returns the schema that a value is. It panics for any other value, which is a bug.
func parsed(v canon.Value) *schema.Schema {
	s := &schema.Schema{}
	if err := json.Unmarshal(v.JCS(), s); err != nil {
		panic("schema: " + err.Error()) // impossible for what package openwop makes
	}
	return s
}

// annotationSchema returns the schema of annotations, whose targets name events and nodes as run events do.
func annotationSchema() *schema.Schema {
	s := schema.OpenObjects(recordSchema(feedback.Annotation{}))
	least, most := 1, openwop.NodeIDBytesMax
	for _, member := range []string{"eventId", "nodeId"} {
		s.Properties["target"].Properties[member] = &schema.Schema{Type: "string", MinLength: &least, MaxLength: &most}
	}
	return s
}

// runEventSchema returns the schema of run events: their members, and for each type with a contract the form of
// its payload. A payload of a type of another host is any object.
func runEventSchema() *schema.Schema {
	s := schema.OpenObjects(recordSchema(openwop.RunEvent{}))
	s.Properties["payload"] = &schema.Schema{Type: "object"}
	owned := &schema.Schema{}
	for _, t := range openwop.ProtocolTypes() {
		owned.Enum = append(owned.Enum, string(t))
	}
	s.Properties["type"] = &schema.Schema{Type: "string", AnyOf: []*schema.Schema{owned, {Pattern: openwop.VendorForm}}}
	s.Defs = map[string]*schema.Schema{}
	for _, t := range openwop.Contracted() {
		payload, _ := openwop.PayloadSchema(t)
		s.Defs[string(t)] = parsed(payload)
		is := &schema.Schema{Properties: map[string]*schema.Schema{"type": schema.Const(string(t))}}
		s.AllOf = append(s.AllOf, &schema.Schema{If: is, Then: &schema.Schema{
			Properties: map[string]*schema.Schema{"payload": {Ref: "#/$defs/" + string(t)}}}})
	}
	return s
}

// discoverySchema returns the schema of the discovery document: the families are at its root, and again below
// "capabilities".
func discoverySchema() *schema.Schema {
	s, families := recordSchema(capabilities.Document{}), recordSchema(capabilities.Families{})
	maps.Copy(s.Properties, families.Properties)
	s.Properties["capabilities"] = families
	s.Properties["supportedTransports"] = stringList()
	s.Required = append(s.Required, "capabilities", "supportedTransports", "replay", "debugBundle")
	return schema.OpenObjects(s)
}
