package bundle_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
)

var envelopeForgeries = []forgery{
	{"no bundleId", without(top, "bundleId"), format, `missing member "bundleId"`},
	{"empty bundleId", member(top, "bundleId", `""`), format, "empty bundleId"},
	{"long bundleId", member(top, "bundleId", `"`+strings.Repeat("x", 257)+`"`), format, "more than 256 bytes"},
	{"bundleId of another type", member(top, "bundleId", `7`), format, "want a string, at /bundleId"},
	{"no version", without(top, "bundleSchemaVersion"), format, `missing member "bundleSchemaVersion"`},
	{"version as text", member(top, "bundleSchemaVersion", `"1"`), format, "want a number"},
	{"version null", member(top, "bundleSchemaVersion", `null`), format, "want a number"},
	{"version that is no number", member(top, "bundleSchemaVersion", `01`), format, "unexpected"},
	{"version beyond doubles", member(top, "bundleSchemaVersion", `1e999`), format, "not exactly a double"},
	{"version 2", member(top, "bundleSchemaVersion", `2`), version, "bundleSchemaVersion is 2"},
	{"version 1.5", member(top, "bundleSchemaVersion", `1.5`), version, "bundleSchemaVersion is 1.5"},
	{"version 2 of another shape", replaced(`{"bundleId":"b","bundleSchemaVersion":1,`,
		`{"frames":[{"a":"]}"}],"bundleSchemaVersion":2,`), version, "is 2"},
	{"version 2 at the end", replaced(`{"bundleId":"b","bundleSchemaVersion":1,`,
		`{"bundleId":[[[["}"]]]],"x":"\"","integrity":[],"bundleSchemaVersion":2,`), version, "is 2"},
	{"kind of integrity", func(_ *testing.T, p *parts) { p.kind = "blake3_tree_v1" }, version, "blake3_tree_v1"},
	{"kind after other entries", func(_ *testing.T, p *parts) {
		p.kind, p.integrityNames = "tree_v2", []string{"entries", "kind"}
		p.entries = func([]string) []string { return []string{`{"root":"x"}`} }
	}, version, "tree_v2"},
	{"no kind", func(_ *testing.T, p *parts) { p.integrityNames = []string{"entries"} }, format,
		`missing member "kind"`},
	{"unknown member", member(top, "frames", `[]`), format, `unknown member "frames"`},
	{"member in capitals", member(top, "BundleId", `"b"`), format, `unknown member "BundleId"`},
	{"duplicate member", replaced(`"exportedAt":`, `"bundleId":"c","exportedAt":`), format,
		`duplicate member "bundleId"`},
	{"duplicate under an escape", replaced(`"exportedAt":`, `"bundl\u0065Id":"c","exportedAt":`), format,
		`duplicate member "bundleId"`},
	{"member of integrity", replaced(`"integrity":{`, `"integrity":{"at":1,`), format,
		`unknown member "at", at /integrity`},
	{"member of session", member(ofSession, "notes", `[]`), format, `unknown member "notes", at /session`},
	{"caseCollision in producer", member(top, "producer", `{"appVersion":"1","AppVersion":"2"}`), format,
		"differ only in case"},
	{"duplicates in producer", member(top, "producer", `{"appVersion":"1","x":{"a":1,"a":1}}`), format,
		`duplicate key "a"`},
	{"producer without version", member(top, "producer", `{}`), format, `missing key "appVersion"`},
	{"producer's digest", member(top, "producer", `{"appVersion":"1","appliedConfigHash":"sha256:7"}`), format,
		"/producer/appliedConfigHash"},
	{"salvage of another health", member(top, "salvage", `{"health":"fine","findings":[]}`), format, "salvage/health"},
	{"salvage with more", member(top, "salvage", `{"health":"corrupt_tail","findings":[],"x":1}`), format,
		`unknown key "x"`},
	{"redacted below zero", member(top, "redacted", `{"rules":{"email":-1}}`), format, "redacted/rules/email"},
	{"half a surrogate pair", member(top, "exportedAt", `"\ud800"`), format, "half a surrogate pair"},
	{"bytes that are no UTF-8", member(top, "exportedAt", "\"\xff\""), format, "not valid UTF-8"},
	{"a control character", member(top, "exportedAt", "\"\n\""), format, "control character"},
	{"text after the document",
		func(_ *testing.T, p *parts) { p.raw = func(s string) string { return s + " {}" } }, format,
		"after the document"},
	{"a zero after the document",
		func(_ *testing.T, p *parts) { p.raw = func(s string) string { return s + "\x00" } }, format,
		"after the document"},
	{"a byte order mark", func(_ *testing.T, p *parts) { p.raw = func(s string) string { return "\ufeff" + s } },
		format, "unexpected"},
	{"session id", member(ofSession, "sessionId", `"sess_1"`), format, "/session/sessionId"},
	{"session id as a path", member(ofSession, "sessionId", `"../../x"`), format, "/session/sessionId"},
	{"no events", without(ofSession, "events"), format, `missing member "events"`},
	{"no snapshots", without(ofSession, "snapshots"), format, `missing member "snapshots"`},
	{"snapshots as a list", member(ofSession, "snapshots", `[]`), format, `unexpected '['`},
	{"events as a map", member(ofSession, "events", `{}`), format, `unexpected '{'`},
	{"log named like a directory", func(_ *testing.T, p *parts) { p.logs["events"] = p.logs["later"] }, format,
		"cannot name a side log"},
	{"log named as a path", func(_ *testing.T, p *parts) { p.logs["../x"] = p.logs["later"] }, format,
		"cannot name a side log"},
	{"log in capitals", func(_ *testing.T, p *parts) { p.logs["Annotations"] = p.logs["later"] }, format,
		"cannot name a side log"},
	{"log without a manifest", without(annotations, "manifest"), format, `missing member "manifest"`},
	{"log twice", replaced(`"logs":{`, `"logs":{"later":{"events":[],"manifest":[]},`), format,
		`duplicate member "later"`},
	{"log with more", member(annotations, "head", `{}`), format, `unknown member "head"`},
	{"too many logs", func(_ *testing.T, p *parts) {
		for i := range limits.BundleLogsMax {
			p.logs[fmt.Sprintf("x%d", i)] = p.logs["later"]
		}
	}, format, "more than 64 side logs"},
}
