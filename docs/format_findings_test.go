package docs

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/ports/porttest/enginetest"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/verify"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/log/manifest"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/condition"
	"github.com/waybill/waybill/infra/controlfile"
	"github.com/waybill/waybill/infra/filestore"
)

// formatHarm is one change of the example store on a disk, for the table of
// section 18.
type formatHarm struct {
	name string
	do   func(s *formatStore, disk *formatDisk)
}

// formatDisk is the example store as files, to be changed.
type formatDisk struct {
	t   *testing.T
	dir string
}

func (d *formatDisk) at(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

func (d *formatDisk) put(name string, b []byte) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(d.at(name)), 0o700); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(d.at(name), b, 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *formatDisk) edit(name string, change func([]byte) []byte) {
	d.t.Helper()
	b, err := os.ReadFile(d.at(name))
	if err != nil {
		d.t.Fatal(err)
	}
	d.put(name, change(b))
}

func (d *formatDisk) remove(name string) {
	d.t.Helper()
	if err := os.Remove(d.at(name)); err != nil {
		d.t.Fatal(err)
	}
}

// link puts a symbolic link to a file outside of the store in a file's place.
func (d *formatDisk) link(name string) {
	d.t.Helper()
	target := filepath.Join(d.t.TempDir(), "target")
	if err := os.Rename(d.at(name), target); err != nil {
		d.t.Fatal(err)
	}
	if err := os.Symlink(target, d.at(name)); err != nil {
		d.t.Skip(err)
	}
}

// control replaces the data of a control file; its digest holds.
func (d *formatDisk) control(name, kind string, data any) {
	d.t.Helper()
	doc, err := controlfile.New(kind, 1, data)
	if err != nil {
		d.t.Fatal(err)
	}
	b, err := controlfile.Encode(doc)
	if err != nil {
		d.t.Fatal(err)
	}
	d.put(name, b)
}

// lines commits events that no writer of ours would write, to the first session.
func (d *formatDisk) lines(s *formatStore, lines ...string) {
	d.t.Helper()
	head, name := s.a.fold.Head, s.a.log.Root+"/"
	data := []byte(strings.Join(lines, "\n") + "\n")
	seg, err := manifest.DecodeSegment(s.a.log, head.Next, head.Next+int64(len(lines))-1, data)
	if err != nil {
		d.t.Fatal(err)
	}
	d.put(name+manifest.SegmentDir+"/"+seg.Name(), data)
	d.put(name+manifest.FileName, append(bytes.Clone(s.a.lines), manifest.Group(s.a.log, head, seg)...))
}

// line is an event at the first session's end, about its last node.
func (s *formatStore) line(after int64, p event.Payload) string {
	run := s.a.fold.Runs[s.run]
	e := event.New(s.a.log.Owner, s.a.fold.Head.Next+after, event.Scope{RunID: s.run, NodeID: run.Order[1]}, s.agent,
		formatStart, p)
	b, err := event.Domain.AppendLine(nil, e)
	if err != nil {
		s.t.Fatal(err)
	}
	return strings.TrimSuffix(string(b), "\n")
}

// resolving is a gap record that resolves a gap that was never recorded.
func (s *formatStore) resolving(ordinal int) event.GapRecorded {
	from := id.FromAttempt(id.NextAttempt(s.a.fold.Runs[s.run].Root, id.OpAck, 99), id.OpAck)
	lost := from.Gap(7)
	g := event.GapRecorded{GapID: from.Gap(ordinal), Severity: event.Info, Summary: "Resolved.",
		Resolution: event.Resolution{Kind: event.Resolves, ResolvesGapID: &lost}}
	g.Reason.Category, g.Reason.Detail = "contract_violation", "missing_required_output"
	return g
}

func (s *formatStore) newer(after int64, more string) string {
	return fmt.Sprintf(`{"data":{},"dedupeKey":"x","eventId":"","eventIndex":%d,%s"kind":"from_later","sessionId":"%s","v":1}`,
		s.a.fold.Head.Next+after, more, s.a.log.Owner)
}

// artifact is the stored artifact that the page shows.
func (s *formatStore) artifact() string {
	return "artifacts/" + canon.Sum(s.request().Artifacts[0].Bytes).FileName()
}

func (s *formatStore) segment(i int) string {
	return s.a.log.Root + "/" + manifest.SegmentDir + "/" + s.a.segs[i].Name()
}

func formatHarms() []formatHarm {
	other := func(b []byte) []byte { return bytes.Replace(b, []byte("Decision"), []byte("decision"), 1) }
	return append([]formatHarm{
		{"a letter of the last segment is another",
			func(s *formatStore, d *formatDisk) { d.edit(s.segment(3), other) }},
		{"the last byte of the last segment is gone", func(s *formatStore, d *formatDisk) {
			d.edit(s.segment(3), func(b []byte) []byte { return b[:len(b)-1] })
		}},
		{"the last segment is gone", func(s *formatStore, d *formatDisk) { d.remove(s.segment(3)) }},
		{"`manifest.jsonl` is gone",
			func(s *formatStore, d *formatDisk) { d.remove(s.a.log.Root + "/" + manifest.FileName) }},
		{"an event of a later version is committed, and another", func(s *formatStore, d *formatDisk) {
			d.lines(s, s.newer(0, ""), s.newer(1, ""))
		}},
		{"an event of a later version that is `ignorable`", func(s *formatStore, d *formatDisk) {
			d.lines(s, s.newer(0, `"ignorable":true,`))
		}},
		{"a gap is resolved that was never recorded",
			func(s *formatStore, d *formatDisk) { d.lines(s, s.line(0, s.resolving(0))) }},
		{"the same behind an event that cannot be read", func(s *formatStore, d *formatDisk) {
			d.lines(s, s.newer(0, `"ignorable":true,`), s.line(1, s.resolving(0)))
		}},
		{"an event occurs twice", func(s *formatStore, d *formatDisk) {
			again := event.DivergenceRecorded{DivergenceID: id.FromAttempt(id.NextAttempt(s.a.fold.Runs[s.run].Root,
				id.OpAck, 99), id.OpAck).Divergence(0),
				Reason: "efficiency_skip", Summary: "Twice."}
			d.lines(s, s.line(0, again), s.line(1, again))
		}},
		{"`byteLength` is not that of the artifact", func(s *formatStore, d *formatDisk) {
			b := s.request().Artifacts[0].Bytes
			d.lines(s, s.line(0, event.NodeOutputAppended{OutputChannel: event.Artifact,
				OutputID: id.FromStart(s.a.fold.Runs[s.run].Root).Output(9),
				Payload: event.OutputPayload{PayloadKind: event.ArtifactRef, SHA256: canon.Sum(b),
					ByteLength: int64(len(b)) + 1, ContentType: "application/json"}}))
		}},
		{"a snapshot of another form", func(s *formatStore, d *formatDisk) {
			later := []byte(`{"enginePayload":{"engineState":{"kind":"later"},"v":1},"kind":"execution_snapshot","v":1}`)
			d.put("snapshots/"+canon.Sum(later).FileName()+".json", later)
			run := s.a.fold.Runs[s.run]
			e := event.New(s.a.log.Owner, s.a.fold.Head.Next,
				event.Scope{RunID: s.run, NodeID: id.RootNode(id.NewRun(id.Seed{8}))}, s.agent, formatStart,
				event.NodeCreated{NodeKind: event.StepNode, ParentNodeID: &run.Root, SnapshotRef: canon.Sum(later),
					WorkflowHash: s.w.Hash()})
			line, err := event.Domain.AppendLine(nil, e)
			if err != nil {
				s.t.Fatal(err)
			}
			d.lines(s, strings.TrimSuffix(string(line), "\n"))
		}},
		{"the artifact is gone", func(s *formatStore, d *formatDisk) { d.remove(s.artifact()) }},
		{"a letter of the artifact is another", func(s *formatStore, d *formatDisk) {
			d.edit(s.artifact(), func(b []byte) []byte { return bytes.ToUpper(b) })
		}},
		{"an artifact that no event names", func(s *formatStore, d *formatDisk) {
			d.put("artifacts/"+canon.Sum([]byte("1")).FileName(), []byte("1"))
		}},
	}, formatStoreHarms()...)
}

// formatStoreHarms are those of the store as a whole.
func formatStoreHarms() []formatHarm {
	return []formatHarm{
		{"`lockWaitMs` is a text", func(_ *formatStore, d *formatDisk) {
			d.control("config.json", "config", map[string]any{"lockWaitMs": "long"})
		}},
		{"a member of `config` that is not known", func(_ *formatStore, d *formatDisk) {
			d.control("config.json", "config", map[string]any{"fromLater": int64(1)})
		}},
		{"a member of `trust` that is not known", func(_ *formatStore, d *formatDisk) {
			d.control("trust.json", "trust", map[string]any{"fromLater": int64(1), "trusted": []any{}})
		}},
		{"`features` of `store` is gone", func(s *formatStore, d *formatDisk) {
			d.control("store.json", "store", map[string]any{"storeId": s.storeID().String()})
		}},
		{"a byte follows `store.json`", func(_ *formatStore, d *formatDisk) {
			d.edit("store.json", func(b []byte) []byte { return append(b, 'x') })
		}},
		{"`store.json` is gone", func(_ *formatStore, d *formatDisk) { d.remove("store.json") }},
		{"`keyring.json` is gone", func(_ *formatStore, d *formatDisk) { d.remove("keys/keyring.json") }},
		{"others can read `keyring.json`", func(_ *formatStore, d *formatDisk) { d.mode("keys/keyring.json") }},
		{"keys of programs that no person confirmed",
			func(s *formatStore, d *formatDisk) { d.put("keys/http.json", s.httpKeys()) }},
		{"a scope of `http_keys` that is not known", func(s *formatStore, d *formatDisk) {
			d.control("keys/http.json", "http_keys", map[string]any{"keys": []any{map[string]any{"addedMs": int64(1),
				"name": "ci", "scopes": []any{"runs:delete"}, "sha256": canon.Sum(nil).String()}}})
		}},
		{"`http.json` without keys, which others can read", func(_ *formatStore, d *formatDisk) {
			d.control("keys/http.json", "http_keys", map[string]any{"keys": []any{}})
			d.mode("keys/http.json")
		}},
		{"a file `notes.txt` exists in `keys/`", func(_ *formatStore, d *formatDisk) { d.put("keys/notes.txt", nil) }},
		{"others can read a segment", func(s *formatStore, d *formatDisk) { d.mode(s.segment(0)) }},
		{"`suspect` exists in the session's directory",
			func(s *formatStore, d *formatDisk) { d.put(s.a.log.Root+"/suspect", nil) }},
		{"a file `notes.txt` exists in the store", func(_ *formatStore, d *formatDisk) { d.put("notes.txt", nil) }},
		{"a link in place of `config.json`", func(_ *formatStore, d *formatDisk) { d.link("config.json") }},
		{"a link in place of the artifact", func(s *formatStore, d *formatDisk) { d.link(s.artifact()) }},
		{"a link in place of a segment", func(s *formatStore, d *formatDisk) { d.link(s.segment(0)) }},
		{"a link in place of the session's directory", func(s *formatStore, d *formatDisk) { d.link(s.a.log.Root) }},
	}
}

func (d *formatDisk) mode(name string) {
	if filepath.Separator != '/' {
		d.t.Skip("no modes here")
	}
	if err := os.Chmod(d.at(name), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

var formatLong = []struct {
	re   *regexp.Regexp
	with string
}{{regexp.MustCompile(`sess_[a-z2-7]{26}`), "<session>"}, {regexp.MustCompile(`sha256_[0-9a-f]{64}`), "sha256_<hex>"}}

// formatRow is what verification says of a changed store, as the page has it.
func formatRow(t *testing.T, name, dir string) string {
	var v verify.Verification
	store, err := filestore.OpenDir(dir, filestore.Options{AllowNetworkFS: true})
	if err == nil {
		t.Cleanup(func() { _ = store.Close() })
		v, err = enginetest.Over(store).Verify(context.Background())
	}
	if err != nil {
		return fmt.Sprintf("| %s | | the error `%s` |", name, fault.CodeOf(err))
	}
	health, all := manifest.Healthy, []manifest.Finding{}
	for _, s := range v.Sessions {
		health, all = cmp.Or(map[bool]manifest.Health{true: s.Health}[s.Health != manifest.Healthy], health),
			append(all, s.Findings...)
	}
	if all = append(all, v.Findings...); v.OK == slices.ContainsFunc(all,
		func(f manifest.Finding) bool { return f.Severity == manifest.SeverityError }) {
		t.Errorf("%s: ok is %v", name, v.OK)
	}
	var cells []string
	for _, f := range all {
		at := f.Path
		for _, l := range formatLong {
			at = l.re.ReplaceAllString(at, l.with)
		}
		cell := fmt.Sprintf("`%s` `%s`", f.Code, at)
		if f.Event != nil {
			cell += fmt.Sprintf(" event %d", *f.Event)
		}
		if f.At != 0 {
			cell += fmt.Sprintf(" at %d", f.At)
		}
		cells = append(cells, cell)
	}
	cells = slices.Compact(cells) // several files of one place
	return fmt.Sprintf("| %s | `%s` | %s |", name, health, strings.Join(cells, "; "))
}

// TestFormatFindings: the page's table of changes and their findings is what
// verification says of the example store.
func TestFormatFindings(t *testing.T) {
	page := formatText(t)
	for _, harm := range formatHarms() {
		t.Run(harm.name, func(t *testing.T) {
			s, d := newFormatStore(t), &formatDisk{t, filepath.Join(t.TempDir(), "store")}
			for _, name := range slices.Sorted(maps.Keys(s.files)) {
				d.put(name, s.files[name])
			}
			harm.do(s, d)
			if row := formatRow(t, harm.name, d.dir); !strings.Contains(page, row) {
				t.Errorf("the page has no row\n%s", row)
			}
		})
	}
}

// TestFormatOperands: operators take the operands that the page's table says.
func TestFormatOperands(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\| (`equals`|`gt`|`contains`|`in`)(, [^|]+)? \\| ([^|`]+) \\|$").
		FindAllStringSubmatch(formatText(t), -1)
	kinds := []struct{ word, operand string }{{"a text", `"x"`}, {"a number", "0"}, {"a boolean", "false"},
		{"a list that is not empty", "[null]"},
		{"an empty list", "[]"}, {"null", "null"}, {"an object", "{}"}}
	seen := 0
	for _, row := range rows {
		for _, op := range regexp.MustCompile("[a-z_]+").FindAllString(row[1]+row[2], -1) {
			seen++
			for _, k := range kinds {
				v, err := canon.Parse(fmt.Appendf(nil, `{"%s":%s,"var":"a.b"}`, op, k.operand))
				if err != nil {
					t.Fatal(err)
				}
				want := row[3] == "any value" || strings.Contains(row[3], strings.TrimPrefix(k.word, "a "))
				if _, err := condition.Of(v); (err == nil) != want {
					t.Errorf("%s with %s: %v; the page says %q", op, k.word, err, row[3])
				}
			}
		}
	}
	if seen != 8 {
		t.Errorf("the page's table has %d operators", seen)
	}
}

// TestFormatWorkflowFindings: what the page says of pinned workflows that this
// version does not run, by the error that verification goes by.
func TestFormatWorkflowFindings(t *testing.T) {
	w := string(newFormatStore(t).w.Bytes())
	for _, c := range []struct {
		old, with string
		damaged   bool
	}{
		{`"schemaVersion":2`, `"schemaVersion":3`, false},
		{`{"capabilities"`, `{ "sourceKind":1,"capabilities"`, false},
		{`"features":[]`, `"features":[1]`, true},
		{`"required":[]`, `"required":["web_browsing"]`, true},
		{`"schemaVersion":2`, `"schemaVersion":0`, true},
		{`"schemaVersion":2`, `"schemaVersion":1.5`, true},
		{`"workflowId":"demo.triage"`, `"workflowId":""`, true},
		{`"name":`, `"a":1,"name":`, true},
		{`"in":["high","medium"]`, `"in":[]`, true},
		{`"source":"authored"`, `"source":"injected"`, true},
		{`{"capabilities"`, `{ "capabilities"`, true},
	} {
		_, err := compile.Decode([]byte(strings.Replace(w, c.old, c.with, 1)))
		if err == nil || fault.Is(err, fault.StoreCorrupt) != c.damaged {
			t.Errorf("%s: %v", c.with, err)
		}
	}
}
