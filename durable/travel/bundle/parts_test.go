package bundle_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/travel/bundle"
)

// doc is a JSON object whose members keep their order, for documents that no encoder
// produces.
type doc struct {
	names []string
	items map[string]string
}

// encode joins the members in the order of their names.
func (d doc) encode() string {
	var parts []string
	for _, n := range d.names {
		parts = append(parts, fmt.Sprintf("%q:%s", n, d.items[n]))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func list(lines []string) string { return "[" + strings.Join(lines, ",") + "]" }

// parts is a bundle as text, member by member; each may be replaced before they are joined.
// Integrity is computed from the parts by canon alone.
type parts struct {
	top, session                    doc
	snapshots, workflows, artifacts doc
	logs                            map[string]*doc
	entries                         func([]string) []string
	integrityNames                  []string
	kind                            string
	raw                             func(string) string
}

func (c content) parts() *parts {
	values := func(in []string) doc {
		d := doc{items: map[string]string{}}
		for _, v := range in {
			d.names = append(d.names, digest(v))
			d.items[digest(v)] = v
		}
		return d
	}
	p := &parts{snapshots: values(c.snapshots), workflows: values(c.workflows),
		artifacts: values(append(slices.Clone(c.artifacts), c.erased...)),
		logs:      map[string]*doc{}, kind: bundle.IntegrityKind, integrityNames: []string{"kind", "entries"}}
	for _, v := range c.artifacts {
		p.artifacts.items[digest(v)] = `"` + base64.StdEncoding.EncodeToString([]byte(v)) + `"`
	}
	for _, v := range c.erased {
		p.artifacts.items[digest(v)] = `{"erased":` + string(tombstone(v).JCS()) + `}`
	}
	for name, l := range c.logs {
		p.logs[name] = &doc{[]string{"events", "manifest"},
			map[string]string{"events": list(l[0]), "manifest": list(l[1])}}
	}
	p.session = doc{[]string{"sessionId", "events", "manifest", "snapshots", "pinnedWorkflows", "artifacts", "logs"},
		map[string]string{"sessionId": fmt.Sprintf("%q", session), "events": list(c.events),
			"manifest": list(c.records)}}
	p.top = doc{[]string{"bundleId", "bundleSchemaVersion", "exportedAt", "producer", "session", "integrity"},
		map[string]string{"bundleId": `"b"`, "bundleSchemaVersion": "1", "exportedAt": `"now"`,
			"producer": `{"appVersion":"1"}`}}
	return p
}

// join encodes the document; integrity is valid unless entries changes it.
func (p *parts) join(t testing.TB) []byte {
	t.Helper()
	var entries []string
	state := func(path, value string) {
		v, err := canon.Canonicalize([]byte(value))
		if err != nil {
			v = []byte(value) // the value itself is forged
		}
		entries = append(entries, fmt.Sprintf(`{"path":%q,"sha256":%q,"bytes":%d}`, path, canon.Sum(v), len(v)))
	}
	state("session/events", p.session.items["events"])
	state("session/manifest", p.session.items["manifest"])
	for section, d := range map[string]doc{"snapshots": p.snapshots, "pinnedWorkflows": p.workflows,
		"artifacts": p.artifacts} {
		for _, n := range slices.Compact(slices.Sorted(slices.Values(d.names))) {
			state("session/"+section+"/"+n, d.items[n])
		}
		p.session.set(section, d.encode())
	}
	logs := doc{items: map[string]string{}}
	for _, name := range sortedKeys(p.logs) {
		state("session/logs/"+name+"/events", p.logs[name].items["events"])
		state("session/logs/"+name+"/manifest", p.logs[name].items["manifest"])
		logs.names = append(logs.names, name)
		logs.items[name] = p.logs[name].encode()
	}
	p.session.set("logs", logs.encode())
	if p.entries != nil {
		entries = p.entries(entries)
	}
	p.top.set("session", p.session.encode())
	p.top.set("integrity", doc{p.integrityNames, map[string]string{"kind": fmt.Sprintf("%q", p.kind),
		"entries": list(entries)}}.encode())
	out := p.top.encode()
	if p.raw != nil {
		out = p.raw(out)
	}
	return []byte(out)
}

// set gives a member its value unless the test has already done so.
func (d doc) set(name, value string) {
	if _, ok := d.items[name]; !ok {
		d.items[name] = value
	}
}
