package trial

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/placeholder"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/workflowtest"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// findValues selects the values that become inputs. Each is tried: one with which the workflow has more problems
// than without is written out.
func (d *drafting) findValues() {
	best := d.problems()
	for _, v := range d.candidates() {
		if len(d.values) == inputsMax {
			return
		}
		d.values = append(d.values, v)
		d.texts[v.text] = "{{" + v.key + "}}"
		if n := d.problems(); n > best {
			d.values = d.values[:len(d.values)-1]
			delete(d.texts, v.text)
		}
	}
}

// problems counts what is wrong with the draft.
func (d *drafting) problems() int {
	_, _, found := compile.File("draft.yaml", source.SourceProject, d.text())
	return len(found)
}

// candidates returns the texts that occur twice: those of the context of the start which occur in a step, then
// arguments of commands that occur in two places. The first two elements of a command name what it does.
func (d *drafting) candidates() (out []value) {
	keys, known := map[string]bool{}, map[string]string{}
	start := d.r.Case.Context
	for i := range start.Len() {
		keys[start.Key(i)] = true
		text := start.Item(i).Text()
		if len(text) >= valueMin && isKey.MatchString(start.Key(i)) && d.count(text) > 0 {
			out = append(out, value{text, start.Key(i), true})
			known[text] = start.Key(i)
		}
	}
	for _, s := range d.shown {
		argv := argvOf(s)
		for i, arg := range argv {
			isKnown := replaceWhole(arg, known) != arg
			if i == 0 || len(arg) < valueMin || strings.HasPrefix(arg, "-") || strings.ContainsAny(arg, "{}\n") || isKnown ||
				i == 1 && isWord.MatchString(arg) || d.count(arg) < 2 {
				continue
			}
			key := cmp.Or(keyOfFlag(argv[i-1]), "value")
			for n := 2; keys[key]; n++ {
				key = fmt.Sprintf("%s%d", strings.TrimRight(key, "0123456789"), n)
			}
			keys[key] = true
			out = append(out, value{arg, key, false})
			known[arg] = key
		}
	}
	return out
}

// isWord matches a subcommand.
var isWord = pattern.New(`^[a-z][a-z-]*$`)

// isKey matches a context key that a placeholder can name.
var isKey = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

// keyOfFlag returns a context key for the value of a flag, "" for an element that is no flag.
func keyOfFlag(arg string) string {
	name, ok := strings.CutPrefix(arg, "--")
	key := ""
	for i, part := range strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' }) {
		if i > 0 {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		key += part
	}
	if !ok || !isKey.MatchString(key) {
		return ""
	}
	return key
}

// argvOf is the command of a step.
func argvOf(s yaml.Object) (out []string) {
	for _, m := range s {
		action, ok := m.Value.(yaml.Object)
		if m.Key != "action" || !ok {
			continue
		}
		for _, member := range action {
			if argv, ok := member.Value.(canon.Value); ok && member.Key == "argv" {
				for i := range argv.Len() {
					out = append(out, argv.Item(i).Text())
				}
			}
		}
	}
	return out
}

// count returns in how many places of the steps a text occurs: elements of commands, titles and prompts.
func (d *drafting) count(text string) (n int) {
	for _, s := range d.shown {
		for i, arg := range argvOf(s) {
			if i > 0 && replaceWhole(arg, map[string]string{text: "\x00"}) != arg {
				n++
			}
		}
		for _, m := range s {
			if t, ok := m.Value.(string); ok && (m.Key == "title" || m.Key == "prompt") && replaceWhole(t, map[string]string{text: "\x00"}) != t {
				n++
			}
		}
	}
	return n
}

// replaceWhole replaces texts where they stand alone, or behind the v of a version, in the literal parts of a
// text. Longer texts come first.
func replaceWhole(text string, by map[string]string) string {
	keys := slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	for _, key := range keys {
		var out strings.Builder
		for _, part := range placeholder.Split(text) {
			if part.Path != "" {
				out.WriteString(part.Text)
				continue
			}
			rest, before := part.Text, ""
			for {
				i := strings.Index(rest, key)
				if i < 0 {
					break
				}
				before += rest[:i]
				out.WriteString(rest[:i])
				rest = rest[i+len(key):]
				if aloneBefore(before) && (rest == "" || !isWordByte(rest[0])) {
					out.WriteString(by[key])
				} else {
					out.WriteString(key)
				}
				before += key
			}
			out.WriteString(rest)
		}
		text = out.String()
	}
	return text
}

// aloneBefore reports that no word continues from a text, but for a v.
func aloneBefore(before string) bool {
	n := len(before)
	return n == 0 || !isWordByte(before[n-1]) || before[n-1] == 'v' && (n == 1 || !isWordByte(before[n-2]))
}

// isWordByte reports a letter or digit, or a byte of a character that is not ASCII.
func isWordByte(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b >= 0x80
}

// text returns the draft as YAML, with the placeholders of the selected values.
func (d *drafting) text() []byte {
	used := map[string]bool{}
	steps := yaml.List{}
	for _, s := range d.shown {
		o := slices.Clone(s)
		for i, m := range o {
			switch v := m.Value.(type) {
			case string:
				if m.Key == "title" || m.Key == "prompt" {
					o[i].Value = replaceWhole(v, d.texts)
				}
			case yaml.Object:
				if m.Key == "action" {
					o[i].Value = d.action(v)
				}
			}
		}
		steps = append(steps, o)
	}
	inputs := yaml.List{}
	for _, in := range d.inputs {
		used[in.ContextKey] = true
		inputs = append(inputs, objectOf(in, "contextKey", "reason"))
	}
	for _, v := range d.values {
		if !used[v.key] {
			used[v.key] = true
			inputs = append(inputs, d.input(v))
		}
	}
	out := yaml.Object{{Key: "id", Value: d.id}, {Key: "name", Value: d.name},
		{Key: "description", Value: "What a run of " + d.r.Workflow.WorkflowID + " did, as steps."}, {Key: "version", Value: "0.1.0"}}
	out = out.Add("inputs", inputs)
	return yaml.Text(append(out, yaml.Member{Key: "steps", Value: steps}))
}

// input declares a value.
func (d *drafting) input(v value) yaml.Object {
	return yaml.Object{{Key: "contextKey", Value: v.key}, {Key: "reason", Value: "needs_user_choice"}, {Key: "choiceKind", Value: "scope_boundary"},
		{Key: "description", Value: cut("In the recorded run: "+strings.Join(strings.Fields(v.text), " "), 200)}}
}

// action returns a command with placeholders. The program itself is written out.
func (d *drafting) action(o yaml.Object) yaml.Object {
	o = slices.Clone(o)
	for i, m := range o {
		argv, ok := m.Value.(canon.Value)
		if m.Key != "argv" || !ok {
			continue
		}
		list := yaml.List{}
		for n := range argv.Len() {
			arg := argv.Item(n).Text()
			if n > 0 {
				arg = replaceWhole(arg, d.texts)
			}
			list = append(list, arg)
		}
		o[i].Value = list
	}
	return o
}

// testCase is the case of the run, with the ids of the draft and its inputs in the context.
func (d *drafting) testCase() workflowtest.Case {
	c := d.r.Case
	c.Answers, c.Expect.Path = map[string][]workflowtest.Answer{}, []string{}
	for i, v := range d.r.Visits {
		c.Expect.Path = append(c.Expect.Path, d.ids[i])
		if len(v.Answers) > 0 {
			c.Answers[d.ids[i]] = v.Answers
		}
	}
	for _, v := range d.values {
		if !v.given {
			if c.Context.IsNull() {
				c.Context = canon.OfMembers()
			}
			c.Context = c.Context.With(v.key, canon.OfString(v.text))
		}
	}
	return c
}
