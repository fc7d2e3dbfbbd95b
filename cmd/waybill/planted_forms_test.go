package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/durable/redact/forms"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// plantedForm is a row of the table of token forms as a planted secret: its example, the part of it that a
// marker replaces, and its rule.
func plantedForm(t *testing.T, row forms.Row) (c plantedSecret, rule redact.Rule) {
	t.Helper()
	counts := redact.Counts{}
	out := redact.Text(row.Yes, counts)
	before, rest, marked := strings.Cut(out, "[REDACTED:")
	word, after, _ := strings.Cut(rest, "]")
	if !marked || len(counts) != 1 {
		t.Fatalf("%s: %q", row.ID, out)
	}
	return plantedSecret{row.Yes, strings.TrimSuffix(row.Yes[len(before):], after)}, redact.Rule(word)
}

// TestFormsArePlanted plants the example of each form of token in every text that is redacted, and in imported
// annotations, as TestRedactedTextsHoldNoSecret and TestImportedAnnotationsAreShownRedacted do with a few.
func TestFormsArePlanted(t *testing.T) {
	cases := sample.OneIn(t, 400)
	for _, row := range forms.Rows() {
		if len(row.Yes) > limits.LabelBytesMax-len("ada ") || !cases.Try() {
			continue
		}
		c, _ := plantedForm(t, row)
		t.Run(row.ID, func(t *testing.T) {
			p := newPlanter(t)
			p.plants(c)
			p.reads(c)
			for _, dir := range []string{"home", "out"} {
				p.holdsNone(dir, c)
			}
		})
		t.Run(row.ID+"/imported", func(t *testing.T) { importsShowNone(t, c) })
	}
}

// TestFormsAreSuspected gives the example of each form of token as a value of the context, in notes and in an
// artifact: each is warned about with its place and its rule, and stored as it is.
func TestFormsAreSuspected(t *testing.T) {
	const flow = `{"id":"test.one","name":"N","description":"D","version":"1.0.0","steps":[{"id":"a","title":"A","prompt":"P","notesRequired":true}]}`
	rows := forms.Rows()
	const batch = limits.SecretWarningsMax - 1 // the last warning counts the rest
	cases := sample.OneIn(t, 5)
	for from := 0; from < len(rows); from += batch {
		if !cases.Try() {
			continue
		}
		p := newPlanter(t)
		p.writes("one.json", flow)
		some := rows[from:min(from+batch, len(rows))]
		context, items, notes := map[string]string{}, []string{}, ""
		rules := make([]redact.Rule, len(some))
		for i, row := range some {
			_, rules[i] = plantedForm(t, row)
			context["m"+strconv.Itoa(i)] = row.Yes
			items = append(items, row.Yes)
			notes += "one is " + row.Yes + "\n"
		}
		given, _ := json.Marshal(context)
		p.writes("context.json", string(given))
		list, _ := json.Marshal(map[string]any{"list": items})
		p.writes("list.json", string(list))
		p.suspects([]string{"start", "one.json", "--context", "context.json"}, "/context/m%d", rules)
		p.suspects([]string{"continue", "--run", "@last", "--artifact", "list.json"}, "/output/artifacts/0/list/%d", rules)
		p.suspects([]string{"continue", "--run", "@last", "--notes", notes}, "/output/notesMarkdown", rules)
		for _, row := range some {
			if c, _ := plantedForm(t, row); !p.holds("home", c) {
				t.Errorf("%s is not stored as it is", row.ID)
			}
		}
	}
}

// suspects calls a command, whose document has a warning for each rule; the pointer may have the number of one.
func (p *planter) suspects(args []string, pointer string, rules []redact.Rule) {
	p.Helper()
	_, out, errOut := p.call("", append(args, "--json")...)
	for i, rule := range rules {
		at := pointer
		if strings.Contains(at, "%d") {
			at = fmt.Sprintf(at, i)
		}
		if !strings.Contains(out, `"code":"SECRET_SUSPECTED"`) ||
			!strings.Contains(out, fmt.Sprintf(`"pointer":%q`, at)) || !strings.Contains(out, fmt.Sprintf(`"rule":%q`, rule)) {
			p.Errorf("%s: no warning about %s with the rule %s in\n%s%s", args[0], at, rule, out, errOut)
		}
	}
}
