package schema

import (
	"maps"
	"reflect"
	"slices"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/upkeep"
	"github.com/waybill/waybill/durable/learning/feedback"
	"github.com/waybill/waybill/durable/learning/proposal"
	"github.com/waybill/waybill/durable/log/audit"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/idempotency"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/run/snapshot"
	"github.com/waybill/waybill/durable/store/config"
	"github.com/waybill/waybill/durable/store/httpkeys"
	"github.com/waybill/waybill/durable/store/imported"
	"github.com/waybill/waybill/durable/store/trust"
	"github.com/waybill/waybill/durable/travel/bundle"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/infra/filestore"
	"github.com/waybill/waybill/infra/schema"
)

// storedSchemas returns the schemas of the records in a store and in a bundle, by name. They
// are closed: a record with an unknown member was written by another version
// (docs/design.md#schema-closure). Data in which docs/format.md allows readers to ignore
// unknown members is open.
func storedSchemas() []entry {
	// Package filestore owns some control files and exports their types.
	shapes := filestore.ControlTypes()
	return []entry{
		entryOf("annotation-event", "An event of a session's annotations", eventsOf(feedback.Table)),
		entryOf("audit-event", "An event of the audit log", eventsOf(audit.Table)),
		entryOf("bundle", "A session in one file", bundleSchema),
		entryOf("compiled-workflow", "A workflow that runs are pinned to", compiledSchema),
		controlEntry("config", "The control file config.json", configSchema),
		controlEntry("erased", "The control file of an erased artifact", recordOf(upkeep.Tombstone{})),
		entryOf("event", "An event of a session's log", eventsOf(event.Domain)),
		controlEntry("http_keys", "The control file keys/http.json", httpKeysSchema),
		entryOf("idempotency-event", "An event of the answers to idempotency keys", eventsOf(idempotency.Table)),
		controlEntry("imported", "The control file imported.json of a session", recordOf(imported.Mark{})),
		controlEntry("keep", "The control file keep of a session", recordOf(upkeep.Note{})),
		controlEntry("keyring", "The control file keys/keyring.json",
			func() *schema.Schema { return keyringSchema(shapes["keyring"]) }),
		entryOf("manifest-record", "A line of a log's manifest", manifestSchema),
		entryOf("proposal-event", "An event of a store's proposals", eventsOf(proposal.Table)),
		controlEntry("repair", "The control file repair.json of a folder in the quarantine", recordOf(shapes["repair"])),
		entryOf("side-log-event", "An event of a side log of any name", sideLogSchema),
		entryOf("snapshot", "The execution state at a node", snapshotSchema),
		controlEntry("store", "The control file store.json",
			func() *schema.Schema { return schema.OpenObjects(recordSchema(shapes["store"])) }),
		controlEntry("trash", "The control file trash.json of a deleted session", recordOf(upkeep.Note{})),
		controlEntry("trust", "The control file trust.json", recordOf(trust.List{}), trust.Version),
	}
}

// recordSchema returns the schema of the type of v. It is closed: it rejects members that the
// type does not have.
func recordSchema(v any) *schema.Schema { return schema.Of(reflect.TypeOf(v)) }

// recordOf returns a function that calls recordSchema, so that it is built on demand.
func recordOf(v any) func() *schema.Schema {
	return func() *schema.Schema { return recordSchema(v) }
}

// envelope has the members of every event line of a log. The member that names the owner
// differs between logs and is added by eventSchema and ownedBy.
type envelope struct {
	Actor       *event.Actor `json:"actor,omitzero"`
	Data        struct{}     `json:"data"`
	DedupeKey   string       `json:"dedupeKey"`
	EventID     string       `json:"eventId"`
	EventIndex  int64        `json:"eventIndex"`
	Ignorable   bool         `json:"ignorable,omitzero"`
	Kind        string       `json:"kind"`
	Scope       *event.Scope `json:"scope,omitzero"`
	TimestampMs int64        `json:"timestampMs,omitzero"`
	V           int64        `json:"v"`
}

// logSchema returns the schema of an event line without the member that names its owner.
func logSchema() *schema.Schema {
	s := recordSchema(envelope{})
	s.Properties["data"] = &schema.Schema{Type: "object"}
	s.Properties["v"] = schema.Const(event.Version)
	s.Properties["dedupeKey"].Pattern = "^[a-z0-9_:>-]{1,256}$"
	s.Properties["eventId"].Pattern = schema.IDForm("evt")
	return s
}

// owners maps each member that names the owner of a line to the prefix of the owner's id.
var owners = map[string]string{"sessionId": "sess", "storeId": "store"}

// eventsOf returns a function that calls eventSchema.
func eventsOf(table *event.Table) func() *schema.Schema {
	return func() *schema.Schema { return eventSchema(table) }
}

// eventSchema returns the schema of the events of a table: the envelope with one alternative
// for the data of each kind. An event of an unknown kind matches no alternative and is
// rejected.
func eventSchema(table *event.Table) *schema.Schema {
	// A log has one kind of owner: a session or a store.
	s := logSchema()
	s.Properties[table.OwnerField] = idSchema(owners[table.OwnerField])
	s.Required = append(s.Required, table.OwnerField)
	for _, p := range table.Payloads() {
		data := recordSchema(p)
		if _, ok := p.(proposal.Record); ok {
			slices.Sort(data.Required) // the fields of an embedded struct come first
		}
		s.OneOf = append(s.OneOf,
			&schema.Schema{Properties: map[string]*schema.Schema{"kind": schema.Const(p.Kind()), "data": data}})
	}
	return s
}

// sideLogSchema returns the schema of the lines of any side log: the envelope and one owner
// (docs/design.md#side-logs).
func sideLogSchema() *schema.Schema {
	s := logSchema()
	ownedBy(s)
	return s
}

// ownedBy adds the members for owners to a schema; a record must have exactly one of them.
func ownedBy(s *schema.Schema) {
	for _, field := range slices.Sorted(maps.Keys(owners)) {
		s.Properties[field] = idSchema(owners[field])
		s.OneOf = append(s.OneOf, &schema.Schema{Required: []string{field}})
	}
}

// idSchema returns the schema of an id with a prefix.
func idSchema(prefix string) *schema.Schema {
	return &schema.Schema{Type: "string", Pattern: schema.IDForm(prefix)}
}

// manifestSchema returns the schema of a manifest line, which has one of two kinds.
func manifestSchema() *schema.Schema {
	// One alternative per kind of line.
	closed, pinned := recordSchema(manifest.SegmentClosed{}), recordSchema(manifest.SnapshotPinned{})
	closed.Properties["kind"], pinned.Properties["kind"] = schema.Const(manifest.KindSegmentClosed),
		schema.Const(manifest.KindSnapshotPinned)
	closed.Properties["segmentRelPath"].Pattern = `^events/\d{8,16}-\d{8,16}\.jsonl$`
	for _, s := range []*schema.Schema{closed, pinned} {
		s.Properties["v"] = schema.Const(manifest.RecordVersion)
		ownedBy(s)
	}
	return &schema.Schema{OneOf: []*schema.Schema{closed, pinned}}
}

// snapshotSchema returns the schema of a file with an execution snapshot
// (docs/design.md#snapshots).
func snapshotSchema() *schema.Schema {
	s := recordSchema(snapshot.FileValue())
	s.Properties["v"], s.Properties["kind"] = schema.Const(snapshot.Version), schema.Const(snapshot.Kind)
	s.Properties["enginePayload"].Properties["v"] = schema.Const(snapshot.Version)
	return s
}

// compiledSchema returns the schema of a pinned workflow.
func compiledSchema() *schema.Schema {
	s := recordSchema(compile.Document{})
	s.Properties["schemaVersion"] = &schema.Schema{Enum: []any{compile.Form1, compile.Form2}}
	return s
}

// controlEntry returns the entry of a control file, whose kind is the name of the schema: the
// envelope of all control files around its data. later are the format numbers besides 1.
func controlEntry(kind, title string, data func() *schema.Schema, later ...any) entry {
	return entryOf(kind, title, func() *schema.Schema {
		v := schema.Const(1)
		if len(later) > 0 {
			v = &schema.Schema{Enum: append([]any{1}, later...)}
		}
		return schema.Object(map[string]*schema.Schema{"kind": schema.Const(kind), "v": v, "data": data(),
			"sha256": {Type: "string", Pattern: schema.DigestForm}}, "kind", "v", "data", "sha256")
	})
}

// keyringSchema returns the schema of the data of the keyring: an algorithm and two keys of 32
// bytes each, in base64.
func keyringSchema(shape any) *schema.Schema {
	s := recordSchema(shape)
	s.Properties["algorithm"] = schema.Const("HMAC-SHA256")
	for _, key := range []string{"current", "previous"} {
		s.Properties[key].Pattern = "^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$" // 32 bytes
	}
	return s
}

// httpKeysSchema returns the schema of the data of keys/http.json.
func httpKeysSchema() *schema.Schema {
	s := recordSchema(httpkeys.List{})
	key := s.Properties["keys"].Items
	key.Properties["name"].Pattern = httpkeys.NameForm()
	key.Properties["sha256"].Pattern = schema.DigestForm
	return s
}

// configSchema returns the schema of the data of config.json, built from config.Table. It is
// open: keys of a later version are kept and ignored.
func configSchema() *schema.Schema {
	s := &schema.Schema{Type: "object", Properties: map[string]*schema.Schema{}}
	for _, row := range config.Table {
		// A value is a string unless its default is a number, a list or an object.
		one := &schema.Schema{Type: "string"}
		for _, w := range row.Words {
			one.Enum = append(one.Enum, w)
		}
		switch row.Default.Kind() {
		case canon.Number:
			least, most := float64(row.Least), float64(row.Most)
			one = &schema.Schema{Type: "integer", Minimum: &least, Maximum: &most}
		case canon.Array:
			if one = stringList(); row.Key == config.Signers {
				one.Items = &schema.Schema{Type: "object"}
			}
		case canon.Object: // lists of strings by name
			one = &schema.Schema{Type: "object", AdditionalProperties: stringList()}
			if row.Key == config.Principals {
				one.AdditionalProperties = &schema.Schema{OneOf: []*schema.Schema{stringList(), principalSchema()}}
			}
		}
		s.Properties[string(row.Key)] = one
	}
	return s
}

// stringList returns the schema of a list of strings.
func stringList() *schema.Schema {
	return &schema.Schema{Type: "array", Items: &schema.Schema{Type: "string"}}
}

// principalSchema returns the schema of a principal that can be bound to an account and to keys.
func principalSchema() *schema.Schema {
	least, most := 0.0, float64(config.UIDMax)
	keys := stringList()
	keys.Items.Pattern = "^SHA256:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]$" // 32 bytes
	return schema.Object(map[string]*schema.Schema{"roles": stringList(), "keys": keys,
		"uid": {Type: "integer", Minimum: &least, Maximum: &most}})
}

// bundleSchema returns the schema of bundles of any program (docs/design.md#bundles). Events
// and snapshots in it may be any objects; the schemas "event" and "snapshot" describe those
// that this program writes.
func bundleSchema() *schema.Schema {
	object := &schema.Schema{Type: "object"}
	// Objects of the bundle are stored in maps whose keys are their digests.
	byDigest := func(value *schema.Schema) *schema.Schema {
		return &schema.Schema{Type: "object", PropertyNames: &schema.Schema{Pattern: schema.DigestForm},
			AdditionalProperties: value}
	}
	list := func() *schema.Schema { return &schema.Schema{Type: "array", Items: object} }
	// A side log has the same form as the log of the session.
	log := schema.Object(map[string]*schema.Schema{"events": list(), "manifest": list()}, "events", "manifest")
	// An artifact is base64 text, or an object that records its erasure.
	artifact := &schema.Schema{OneOf: []*schema.Schema{{Type: "string"},
		schema.Object(map[string]*schema.Schema{"erased": object}, "erased")}}
	session := schema.Object(map[string]*schema.Schema{
		"sessionId": {Type: "string", Pattern: schema.IDForm("sess")},
		"events":    list(), "manifest": list(), "snapshots": byDigest(object), "pinnedWorkflows": byDigest(object),
		"artifacts": byDigest(artifact),
		"logs": {Type: "object", PropertyNames: &schema.Schema{Pattern: "^[a-z][a-z0-9_]{0,31}$"},
			AdditionalProperties: log},
	}, "sessionId", "events", "manifest", "snapshots", "pinnedWorkflows")
	entry := schema.Object(map[string]*schema.Schema{"path": {Type: "string", Pattern: "^session/"},
		"sha256": {Type: "string", Pattern: schema.DigestForm},
		"bytes":  {Type: "integer"}}, "path", "sha256", "bytes")
	// The integrity section lists path, digest and size of every part of the session.
	integrity := schema.Object(map[string]*schema.Schema{"kind": schema.Const(bundle.IntegrityKind),
		"entries": {Type: "array", Items: entry}}, "kind", "entries")
	return schema.Object(map[string]*schema.Schema{
		"bundleId": {Type: "string"}, "bundleSchemaVersion": schema.Const(bundle.SchemaVersion),
		"exportedAt": {Type: "string"},
		"producer":   schema.OpenObjects(recordSchema(bundle.Producer{})), "salvage": recordSchema(bundle.Salvage{}),
		"redacted": recordSchema(bundle.Redacted{}),
		"session":  session, "integrity": integrity,
	}, "bundleId", "bundleSchemaVersion", "exportedAt", "producer", "session", "integrity")
}
