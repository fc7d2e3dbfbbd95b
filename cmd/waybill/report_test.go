//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/engine/report"
	engineviews "github.com/waybill/waybill/durable/engine/views"
	"github.com/waybill/waybill/ports/porttest/pagetest"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// TestReportsHaveTheFactsOfTheViews: the report of each run of the golden stores, as JSON, as a page and as the page of the
// console, has the facts of 'runs show', 'runs timeline', 'runs graph', 'annotations list' and 'verify'.
func TestReportsHaveTheFactsOfTheViews(t *testing.T) {
	cases := sample.OneIn(t, 2)
	for _, store := range []string{"v1", "v1-form2", "v1-conditions", "v1-learning"} {
		if !cases.Try() {
			continue
		}
		dir := t.TempDir()
		copyStore(t, testdataOf(t, "stores/"+store+"/store"), filepath.Join(dir, "home/local"), 0o700, 0o600)
		f := facts{&viewed{T: t, dir: dir, clock: viewedAt}, store}
		t.Chdir(dir)
		var list struct {
			Data struct{ Runs []engineviews.RunSummary }
		}
		f.json(&list, "runs", "list")
		c := program{t, dir, filepath.Join(dir, "home", "local")}.console()
		for _, r := range list.Data.Runs {
			f.reported(r.RunID.String(), c)
		}
		if len(list.Data.Runs) < 4 {
			t.Errorf("%s has %d runs", store, len(list.Data.Runs))
		}
	}
}

// reported compares the report of a run with the documents of the views.
func (f facts) reported(run string, c *shownConsole) {
	f.Helper()
	var raw struct{ Data map[string]json.RawMessage }
	whole := f.view(0, false, "runs", "report", run, "--format", "json", "-o", "-")
	decodeJSON(f.T, whole, &raw)
	for member, args := range map[string][]string{"run": {"runs", "show", run}, "timeline": {"runs", "timeline", run},
		"graph": {"runs", "graph", run}, "annotations": {"annotations", "list", run}, "verification": {"verify", run}} {
		var want struct{ Data json.RawMessage }
		f.json(&want, args...)
		if !bytes.Equal(want.Data, raw.Data[member]) {
			f.Errorf("%s, %s: %s differs\nreport %s\nview   %s", f.store, run, member, raw.Data[member], want.Data)
		}
	}
	var doc struct{ Data report.Report }
	decodeJSON(f.T, whole, &doc)
	f.paged(run, doc.Data, f.view(0, false, "runs", "report", run, "-o", "-"))
	status, live := c.ask("/runs/" + run)
	if status != 200 {
		f.Errorf("%s, %s: the console answers %d", f.store, run, status)
	}
	f.paged(run, doc.Data, live)
}

// paged compares a page of a run with its document.
func (f facts) paged(run string, r report.Report, text string) {
	f.Helper()
	page := pagetest.Read(f.T, []byte(text))
	page.Structure(f.T)
	have := map[string]string{}
	page.All("data-fact", func(name string, e pagetest.Element) { have[name] = e.Text() })
	steps, nodes, moments, segments := []string{}, []string{}, []string{}, []string{}
	for _, s := range r.Run.Steps {
		steps = append(steps, s.StepInstanceKey+" "+string(s.State))
	}
	for _, n := range r.Graph.Nodes {
		nodes = append(nodes, n.NodeID.String())
	}
	for _, m := range r.Timeline.Moments {
		moments = append(moments, strconv.FormatInt(m.Index, 10))
	}
	for _, s := range r.Segments {
		segments = append(segments, s.Name)
	}
	for name, want := range map[string]string{"run-id": run, "session-id": r.Run.SessionID.String(), "workflow-id": r.Run.WorkflowID,
		"status": strings.ReplaceAll(string(r.Run.Status), "_", " "), "head": r.Run.Head.Digest.String(),
		"workflow-hash": r.Run.Workflow.WorkflowHash.String(), "goal": strings.Join(strings.Fields(r.Run.Goal), " "),
		"events": strconv.FormatInt(r.Run.Head.Next, 10)} {
		if have[name] != want {
			f.Errorf("%s, %s: %s is %q, want %q", f.store, run, name, have[name], want)
		}
	}
	var shown []string
	page.All("data-step", func(key string, e pagetest.Element) { shown = append(shown, key+" "+e.Attr("data-state")) })
	drawn := page.Values("data-graph-node")
	slices.Sort(drawn)
	slices.Sort(nodes)
	for name, both := range map[string][2][]string{"steps": {shown, steps}, "nodes": {drawn, nodes},
		"timeline": {page.Values("data-event"), moments}, "segments": {page.Values("data-segment"), segments}} {
		if !slices.Equal(both[0], both[1]) {
			f.Errorf("%s, %s: %s: page %q, document %q", f.store, run, name, both[0], both[1])
		}
	}
	all := page.Text()
	for _, s := range r.Run.Steps {
		for _, x := range s.Artifacts {
			if !x.SHA256.IsZero() && !strings.Contains(all, x.SHA256.String()) {
				f.Errorf("%s, %s: no digest of an artifact of %s", f.store, run, s.StepID)
			}
		}
	}
	counts := map[string]int{"data-decision": len(r.Run.Decisions), "data-annotation": len(r.Annotations.Annotations),
		"data-gap": len(r.Run.Gaps)}
	for name, want := range counts {
		if got := len(page.Values(name)); got != want {
			f.Errorf("%s, %s: %d of %s, want %d", f.store, run, got, name, want)
		}
	}
	if got := page.Values("data-verified"); len(got) != 1 || got[0] != strconv.FormatBool(r.Verification.OK) {
		f.Errorf("%s, %s: verified %q", f.store, run, got)
	}
}

// pageAttacks are texts that end an element, a value, a block or a line, and addresses that are programs.
var pageAttacks = strings.Join([]string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg/onload=alert(1)>`, `</style><b>`,
	`</title><b>`, `</svg><b>`, `]]>`, `-->`, `<!--`, `&lt;b&gt;&#60;b&#62;`, `[a](javascript:alert(1))`, `[b](JaVaScRiPt:x "t")`,
	`![c](data:text/html,x)`, `<javascript:alert(1)>`, `[d][r]`, "`<b>`", `{{constructor}}`, `<a href=//x>`, `onload=x`}, " ")

// TestReportIsInert puts text that is syntax of HTML, Markdown and addresses, and characters that cannot be seen, into
// every place of a run that takes text. The pages of the run have no element, attribute or address out of the lists, and the
// text is on them.
func TestReportIsInert(t *testing.T) {
	v := &viewed{T: t, dir: t.TempDir(), clock: viewedAt}
	t.Chdir(v.dir)
	hidden := "\u202ex\u2066y\u200b\u2028\x7f"
	line := pageAttacks + hidden
	notes := "# " + line + "\n\n- " + line + "\n\n| a | " + line + " |\n| --- | --- |\n| 1 | 2 |\n\n> " + line + "\n\n```\n" + line + "\n```\n\n[r]: javascript:alert(1)\n" +
		"<https://example.org/\u202e> https://example.org/<b>\n"
	flow, err := json.Marshal(map[string]any{"id": "test.attack", "name": "N " + line[:100], "description": "d", "version": "1.0.0", "steps": []any{
		map[string]any{"id": "cmd", "title": "T " + line[:100], "action": map[string]any{"kind": "command", "argv": []string{"printf", "%s", strings.ReplaceAll(line, "{{constructor}}", "")}}},
		map[string]any{"id": "look", "title": "T {{x}}", "prompt": "P " + line + "\n\n" + notes, "notesRequired": true},
		map[string]any{"id": "end", "title": "E", "prompt": "p", "requireConfirmation": map[string]any{"kind": "human_approval"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"flow.json": flow, "a.json": []byte(`{"kind":"<b>kind","n":"<script>"}`)} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	v.record("run", "flow.json", "--trust", "--title", "R "+line[:180]+hidden, "--goal", "G "+line, "--set", "x="+line, "--as", `<b>"me`)
	v.record("checkpoint", "--run", "@last", "--notes", notes)
	v.record("continue", "--run", "@last", "--notes", notes, "--artifact", "a.json", "--set", "<b>key=1")
	v.record("annotate", "@last", "--correction", line, "--note", notes)
	v.record("annotate", "@last", "--label", "<b>"+hidden)
	v.record("continue", "--run", "@last", "--notes", line) // refused: it needs an approval
	for _, args := range [][]string{{}, {"--controls"}} {
		out := v.view(0, false, append([]string{"runs", "report", "@last", "-o", "-"}, args...)...)
		page := pagetest.Read(t, []byte(out))
		page.Structure(t)
		text := page.Text()
		for _, want := range []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "U+202E", "U+2066", "]]>", "G <script>", `<b>"me`} {
			if !strings.Contains(text, want) {
				t.Errorf("%q: no %s on the page", args, want)
			}
		}
		if len(args) > 0 {
			continue
		}
		for _, want := range []string{"[a](javascript:alert(1))", "![c](data:text/html,x)", "<javascript:alert(1)>", "<b>key", "stdout,",
			"<b>kind", "label <b>"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %s on the page", want)
			}
		}
	}
	v.markdownIsInert()
	if v.run(&bytes.Buffer{}, false, "runs", "report", "--index", "pages"); t.Failed() {
		return
	}
	index, err := os.ReadFile("pages/index.html")
	if err != nil {
		t.Fatal(err)
	}
	if page := pagetest.Read(t, index); len(page.Values("data-run")) != 1 || !strings.Contains(page.Text(), "R <script>") {
		t.Errorf("index: %s", page.Text())
	}
}

// markdownIsInert: outside of blocks of code, the Markdown of a run has no HTML, no address and no heading of a text.
func (v *viewed) markdownIsInert() {
	out := v.view(0, false, "runs", "report", "@last", "--format", "markdown", "-o", "-")
	fence, blocks := "", 0
	for line := range strings.SplitSeq(out, "\n") {
		switch {
		case fence == "" && strings.HasPrefix(line, "```"):
			fence = strings.TrimSuffix(line, "text")
			blocks++
		case fence == line:
			fence = ""
		case fence == "":
			plain := strings.NewReplacer(`\\`, "", `\[`, "", `\]`, "", `\!`, "", "\\`", "", `\#`, "").Replace(line)
			plain = plain[min(len(plain), strings.Count(plain, "#")):] // a heading of the program
			if strings.ContainsAny(plain, "<>[]") || strings.Contains(plain, "://") {
				v.Errorf("Markdown: %q", line)
			}
		}
		if i := strings.IndexFunc(line, isRaw); i >= 0 && line[i] != '\t' {
			v.Errorf("Markdown has a character that cannot be seen: %q", line)
		}
	}
	if blocks < 5 || fence != "" {
		v.Errorf("Markdown: %d blocks, the last one begins with %q", blocks, fence)
	}
}

// TestReportHasThePromptsThatWereShown: the prompt of a step that is done is the one of the answer with which it became
// pending, also where a value that it has was changed later; that of the pending step is the present one.
func TestReportHasThePromptsThatWereShown(t *testing.T) {
	v := &viewed{T: t, dir: t.TempDir(), clock: viewedAt}
	t.Chdir(v.dir)
	if err := os.WriteFile("flow.yaml", []byte(`{"id":"test.prompts","name":"P","description":"d","version":"1.0.0","steps":[
		{"id":"a","title":"A {{x}}","prompt":"Value {{x}}.","notesRequired":true},{"id":"b","title":"B","prompt":"Then {{x}}.","notesRequired":true}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	type answer struct {
		Data struct {
			Pending struct{ Prompt string }
		}
	}
	var first, second, now answer
	decodeJSON(t, v.view(0, false, "start", "flow.yaml", "--set", "x=one", "--json"), &first)
	v.record("continue", "--run", "@last", "--set", "x=two", "--done") // refused
	decodeJSON(t, v.view(0, false, "continue", "--run", "@last", "--set", "x=three", "--notes", "done", "--json"), &second)
	v.record("continue", "--run", "@last", "--set", "x=four", "--done")
	decodeJSON(t, v.view(0, false, "continue", "--run", "@last", "--json"), &now)
	var doc struct{ Data report.Report }
	decodeJSON(t, v.view(0, false, "runs", "report", "--format", "json", "-o", "-"), &doc)
	if len(doc.Data.Steps) != 2 || !strings.Contains(first.Data.Pending.Prompt, "Value one.") || now == second {
		t.Fatalf("%d steps, first %q, now %q", len(doc.Data.Steps), first.Data.Pending.Prompt, now.Data.Pending.Prompt)
	}
	for i, want := range []answer{first, now} {
		got := doc.Data.Steps[i].Prompt
		if got.Text != want.Data.Pending.Prompt || got.Bytes != int64(len(got.Text)) || got.SHA256 != canon.Sum([]byte(got.Text)) {
			t.Errorf("step %d: %q, want %q", i, got.Text, want.Data.Pending.Prompt)
		}
	}
	if tried := doc.Data.Steps[0].Tried; len(tried) != 2 || len(tried[0].Blockers) == 0 || tried[1].Outcome != "advanced" {
		t.Errorf("attempts %+v", tried)
	}
}
