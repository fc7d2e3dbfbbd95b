package promptref

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
)

// TestResolveChain: which layer applies, and what the chain shows.
func TestResolveChain(t *testing.T) {
	const agent = `{"agentId":"vendor.acme.writer","systemPromptRef":"prompts/own.md","promptOverrides":{"system":"prompt:house@1.0.0","user":"prompt:ask"}}`
	for _, row := range []struct {
		kind                               Kind
		config, agent, run, workflow, host string
		resolved, chain                    string
	}{
		{System, `{"systemPromptRef":"prompt:mine@2.0.0","agentId":"vendor.acme.writer"}`, agent, ``, `{"system":"prompt:w"}`, `{"system":"prompt:h"}`,
			"prompt:mine@2.0.0", "node+ agent-intrinsic agent-overrides workflow-defaults host-defaults"},
		{System, `{"agentId":"vendor.acme.writer"}`, agent, ``, `{"system":"prompt:w"}`, ``,
			"prompt:agent.vendor.acme.writer", "node agent-intrinsic+ agent-overrides workflow-defaults host-defaults"},
		{User, `{"agentId":"vendor.acme.writer"}`, agent, ``, `{"user":"prompt:w"}`, ``,
			"prompt:ask", "node agent-overrides+ workflow-defaults host-defaults"},
		{System, `{"agentId":"vendor.acme.other"}`, agent, ``, `{"system":"prompt:w"}`, `{"system":"prompt:h"}`,
			"prompt:w", "node agent-overrides workflow-defaults+ host-defaults"},
		{System, `{}`, agent, ``, ``, `{"system":{"templateId":"h","version":"1.0.0"}}`,
			"prompt:h@1.0.0", "node agent-overrides workflow-defaults host-defaults+"},
		{FewShot, `{"fewShotPromptRefs":["prompt:one","prompt:two"]}`, ``, ``, ``, ``,
			"prompt:one", "node+ agent-overrides workflow-defaults host-defaults"},
		{System, `{"systemPromptRef":"prompt:mine"}`, ``, `{"system":"prompt:run"}`, ``, ``,
			"prompt:run", "run-configurable+ node agent-overrides workflow-defaults host-defaults"},
		{SchemaHint, ``, ``, ``, ``, ``, "", "node agent-overrides workflow-defaults host-defaults"},
	} {
		v := func(text string) canon.Value {
			if text == "" {
				return canon.Value{}
			}
			return value(t, text)
		}
		got := Resolve(Source{Kind: row.kind, NodeID: "n", Config: v(row.config), Agent: v(row.agent), Run: v(row.run), Workflow: v(row.workflow), Host: v(row.host)})
		var chain []string
		for _, l := range got.Chain {
			word := string(l.Layer)
			if l.Applied {
				word += "+"
			}
			if l.Applied == (l.Reason != "") || l.Applied && l.Source != got.Resolved.Text() {
				t.Errorf("%+v: %+v", row, l)
			}
			chain = append(chain, word)
		}
		if got.Resolved.Text() != row.resolved || got.Resolved.IsNull() != (row.resolved == "") || strings.Join(chain, " ") != row.chain {
			t.Errorf("%+v: resolved %s by %v", row, got.Resolved.JCS(), chain)
		}
	}
}

// TestPromptPages: pages of any size have each selected template once, in one order.
func TestPromptPages(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		var all []Template
		for range rapid.IntRange(0, 12).Draw(r, "n") {
			tpl := Template{ID: rapid.SampledFrom([]string{"a", "a.b", "b"}).Draw(r, "id"), Kind: rapid.SampledFrom([]Kind{System, User}).Draw(r, "kind"),
				Version: rapid.SampledFrom([]string{"1.0.0", "1.10.0", "1.9.0", "1.0.0-rc.1"}).Draw(r, "version")}
			if pack := rapid.SampledFrom([]string{"", "p", "q"}).Draw(r, "pack"); pack != "" {
				tpl.Meta = canon.OfMembers(canon.Member{Name: "packName", Value: canon.OfString(pack)}, canon.Member{Name: "source", Value: canon.OfString(OfPack)})
			}
			all = append(all, tpl)
		}
		l, limit := NewLibrary(all).Sorted(), rapid.IntRange(1, 5).Draw(r, "limit")
		f := Filter{Kind: rapid.SampledFrom([]string{"", "system"}).Draw(r, "filter")}
		fits := func(Template) bool { return true }
		whole := l.List(f, "", 1000, fits)
		var got []Template
		for cursor := ""; ; {
			page := l.List(f, cursor, limit, fits)
			got = append(got, page.Items...)
			if cursor = page.NextCursor; cursor == "" {
				break
			}
			if len(page.Items) != limit {
				r.Fatalf("a page of %d, not %d", len(page.Items), limit)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(whole.Items) {
			r.Fatalf("%v\n%v", got, whole.Items)
		}
		for _, tpl := range whole.Items {
			if f.Kind != "" && string(tpl.Kind) != f.Kind {
				r.Fatalf("%v", tpl)
			}
		}
	})
}
