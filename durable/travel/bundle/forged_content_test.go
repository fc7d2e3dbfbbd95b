package bundle_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
)

var contentForgeries = []forgery{
	{"depth bomb in an event", events(in(5, `{"a":[[],{}]}`, strings.Repeat(`[`, 60)+strings.Repeat(`]`, 60))), format,
		"nested deeper than 64 levels"},
	{"depth bomb in a snapshot", replaced(`"snapshots":{`, `"snapshots":{"`+digest("x")+`":{"a":`+
		strings.Repeat("[", 100_000)), format, "nested deeper than 64 levels"},
	{"depth bomb in a side log", func(t *testing.T, p *parts) {
		p.logs["annotations"].items["events"] = list([]string{event(t, 0, "note", strings.Repeat(`[`, 59)+
			strings.Repeat(`]`, 59))})
	}, format, "nested deeper than 64 levels"},
	{"duplicate key in an event", events(in(5, `"v":1`, `"v":1,"v":1`)), format, `duplicate key "v"`},
	{"duplicate key far inside", events(in(5, `[[],{}]`, `[[],{"b":1,"b":2}]`)), format,
		`at /session/events/5/data/nested/a/1, byte`},
	{"caseCollision in an event", events(in(5, `"kind"`, `"KIND":"y","kind"`)), format, "differ only in case"},
	{"caseCollision beyond ASCII", events(in(5, `"nested"`, `"sum":1,"\u017fum":2,"nested"`)), format,
		"differ only in case"},
	{"caseCollision in a snapshot", func(_ *testing.T, p *parts) {
		p.snapshots.items[digest(`{"steps":[]}`)] = `{"aB":1,"ab":2}`
		p.snapshots.names = append(p.snapshots.names, digest(`{"steps":[]}`))
	}, format, "differ only in case"},
	{"a number beyond doubles", events(in(5, `"v":1`, `"v":1e999`)), format, "not exactly a double"},
	{"an inexact number", events(in(5, `"v":1`, `"v":9007199254740993`)), format, "not exactly a double"},
	{"a half surrogate pair", events(in(5, `日本`, `\udc00`)), format, "half a surrogate pair"},
	{"an unknown escape", events(in(5, `日本`, `\x`)), format, "unknown escape"},
	{"an event that is none", events(func(l []string) []string { return append(l, `7`) }), format,
		"want an object, at /session/events/6"},
	{"a trailing comma", replaced(`"snapshots":{`, `"snapshots":{,`), format, "unexpected ','"},
	{"no comma", replaced(`},{"data"`, `}{"data"`), format, "unexpected '{': want , or ]"},
	{"an event of more than a line", events(in(5, `日本`, strings.Repeat("x", limits.LineBytesMax))), format,
		"more than 1048575 bytes"},
	{"a huge event in spaces", events(in(5, `"v":1`, `"v": `+strings.Repeat(" ", 5<<20)+`1`)), format, "more than"},
	{"a snapshot that is too large", replaced(`"snapshots":{`, `"snapshots":{"`+digest("x")+`":{"a":"`+
		strings.Repeat("x", limits.SnapshotBytesMax)+`"},`), format, "more than 4194304 bytes"},
	{"a reference in capitals", replaced(`"snapshots":{"sha256:`, `"snapshots":{"SHA256:`), format, "not a digest"},
	{"a reference that is a path", replaced(`"snapshots":{`, `"snapshots":{"../x":{},`), format, "not a digest"},
	{"a snapshot twice", func(t *testing.T, p *parts) {
		p.snapshots.names = append(p.snapshots.names,
			p.snapshots.names[0])
	}, format, "duplicate member"},
	{"a snapshot that is a list", replaced(`"snapshots":{`, `"snapshots":{"`+digest("[]")+`":[],`), format,
		"want an object"},
	{"swapped snapshots", func(_ *testing.T, p *parts) {
		n := p.snapshots.names
		n[0], n[1] = n[1], n[0]
		i := p.snapshots.items
		i[n[0]], i[n[1]] = i[n[1]], i[n[0]]
	}, integrity, "unlike its name"},
	{"another workflow", func(_ *testing.T, p *parts) { p.workflows.items[p.workflows.names[0]] = `{"steps":[1]}` },
		integrity, "/session/pinnedWorkflows/sha256:"},
	{"other bytes of an artifact", func(_ *testing.T, p *parts) { p.artifacts.items[p.artifacts.names[0]] = `"AAAA"` },
		integrity, "unlike their name"},
	{"an artifact without padding", replaced(`MDEyMzQ1Njc4OWE=`, `MDEyMzQ1Njc4OWE`), format, "not base64"},
	{"an artifact with text after its padding", replaced(`MDEyMzQ1Njc4OWE=`, `MDEyMzQ1Njc4OWE=AAAA`), format,
		"not base64"},
	{"an artifact with loose bits", replaced(`MDEyMzQ1Njc4OWE=`, `MDEyMzQ1Njc4OWF=`), format, "not base64"},
	{"an artifact with line ends", replaced(`MDEyMzQ1Njc4OWE=`, `MDEyMz\nQ1Njc4OWE=`), format, "not base64"},
	{"an artifact with raw line ends", replaced(`MDEyMzQ1Njc4OWE=`, "MDEyMz\n\n\n\nQ1Njc4OWE="), format, "not base64"},
	{"an artifact with padding inside", func(_ *testing.T, p *parts) {
		// The padding ends one chunk of the reader; the text after it is the next chunk.
		most := strings.Repeat("x", 32<<10/4*3-1)
		p.artifacts.names = append(p.artifacts.names, digest(most+"yyy"))
		p.artifacts.items[digest(most+"yyy")] = `"` + base64.StdEncoding.EncodeToString([]byte(most)) +
			base64.StdEncoding.EncodeToString([]byte("yyy")) + `"`
	}, format, "not base64"},
	{"an artifact that is too large", replaced(`"artifacts":{`, `"artifacts":{"`+digest("x")+`":"`+
		strings.Repeat("AAAA", limits.ArtifactBytesMax/3+1)+`",`), format, "more than 67108864 bytes"},
	{"an artifact of the other alphabet", replaced(`MDEyMzQ1Njc4OWE=`, `MDEyMzQ1Njc4O-_=`), format, "not base64"},
	{"an artifact as a number", replaced(`"MDEyMzQ1Njc4OWE="`, `7`), format, `unexpected '7'`},
	{"a tombstone with more", replaced(`{"erased":`, `{"at":1,"erased":`), format, `unknown key "at"`},
	{"a tombstone of another", func(_ *testing.T, p *parts) {
		p.artifacts.items[digest("secret")] = `{"erased":{"sha256":"` + digest("x") + `"}}`
	}, format, "does not name this artifact"},
	{"a tombstone that is empty",
		func(_ *testing.T, p *parts) { p.artifacts.items[digest("secret")] = `{"erased":null}` }, format,
		"want an object"},

	{"no entry", entries(func(e []string) []string { return nil }), integrity, "no entry for session/events"},
	{"an entry fewer", entries(func(e []string) []string { return slices.Delete(e, 2, 3) }), integrity,
		"no entry for session/"},
	{"an entry fewer, of a log", entries(func(e []string) []string { return e[:len(e)-1] }), integrity,
		"no entry for session/logs/later/manifest"},
	{"an entry twice", entries(func(e []string) []string { return append(e, e[0]) }), integrity,
		"a second entry for session/events"},
	{"an object's entry twice", entries(func(e []string) []string { return append(e, e[3]) }), integrity,
		"a second entry for session/"},
	{"an entry for nothing", entries(func(e []string) []string {
		return append(e, `{"path":"session","sha256":"`+
			digest("")+`","bytes":0}`)
	}), integrity, `"session", which is not in the bundle`},
	{"an entry for a path", entries(func(e []string) []string {
		return append(e, `{"path":"session/snapshots/../x","sha256":"`+digest("")+`","bytes":0}`)
	}), integrity, "not in the bundle"},
	{"an entry in capitals", entries(func(e []string) []string { return in(0, "session/events", "session/Events")(e) }),
		integrity, "not in the bundle"},
	{"an entry for a missing object", entries(func(e []string) []string {
		return append(e, `{"path":"session/snapshots/`+digest("no")+`","sha256":"`+digest("no")+`","bytes":2}`)
	}), integrity, "not in the bundle"},
	{"an entry for a log that does not exist", entries(func(e []string) []string {
		return append(e, `{"path":"session/logs/missing/events","sha256":"`+digest("[]")+`","bytes":2}`)
	}), integrity, "not in the bundle"},
	{"another digest of events", entries(in(0, "sha256:", "sha256:0123456789")), format, "want sha256:"},
	{"another length of events", entries(in(0, `"bytes":`, `"bytes":1`)), integrity, "session/events has"},
	{"another length of an object",
		entries(func(e []string) []string { return in(len(e)-5, `"bytes":`, `"bytes":1`)(e) }), integrity,
		"another digest or length"},
	{"another digest of an artifact", entries(func(e []string) []string {
		i := slices.IndexFunc(e, func(s string) bool { return strings.Contains(s, "session/artifacts/") })
		e[i] = e[i][:strings.Index(e[i], `"sha256":`)] + `"sha256":"` + digest("z") +
			e[i][strings.Index(e[i], `","bytes"`):]
		return e
	}), integrity, ""},
	{"another digest of a snapshot", entries(func(e []string) []string {
		i := slices.IndexFunc(e, func(s string) bool { return strings.Contains(s, "session/snapshots/") })
		e[i] = e[i][:strings.Index(e[i], `"sha256":`)] + `"sha256":"` + digest("z") +
			e[i][strings.Index(e[i], `","bytes"`):]
		return e
	}), integrity, "another digest or length"},
	{"a length beyond numbers",
		entries(func(e []string) []string { return in(len(e)-5, `"bytes":`, `"bytes":429496729`)(e) }), integrity,
		"another digest or length"},
	{"a length that wraps around", entries(func(e []string) []string {
		i := slices.IndexFunc(e, func(s string) bool { return strings.Contains(s, "session/snapshots/") })
		at := strings.Index(e[i], `"bytes":`) + len(`"bytes":`)
		var n int64
		fmt.Sscan(strings.TrimSuffix(e[i][at:], "}"), &n)
		e[i] = fmt.Sprintf("%s%d}", e[i][:at], n+1<<32)
		return e
	}), integrity, "another digest or length"},
	{"a length below zero", entries(in(0, `"bytes":`, `"bytes":-`)), format, "want a count"},
	{"a length as text", entries(in(0, `"bytes":`, `"bytes":"1","x":`)), format, ""},
	{"an entry with more", entries(in(0, `"path"`, `"mode":1,"path"`)), format, `unknown key "mode"`},
	{"an entry with a duplicate", entries(in(0, `"path"`, `"bytes":1,"path"`)), format, `duplicate key "bytes"`},
	{"an entry with a case collision", entries(in(0, `"path"`, `"Bytes":1,"path"`)), format, "differ only in case"},
	{"an entry with less", entries(in(0, `"path":"session/events",`, ``)), format, `missing key "path"`},
	{"an entry's zeros", entries(in(0, `"bytes":`, `"bytes":0`)), format, "unexpected"},
}
