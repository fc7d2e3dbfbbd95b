package engine_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/durable/run/advance"
	"github.com/waybill/waybill/durable/workflow/compile"
	"github.com/waybill/waybill/durable/workflow/source"
	"github.com/waybill/waybill/durable/workflow/yaml"
)

// The README beside testdata/scenarios/*.txt describes their form. The following functions read it:
// statements, and the indented lines below each.

// scenario is one named sequence of statements in a file.
type scenario struct {
	name     string
	line     int
	workflow compile.Compiled
	says     []statement
}

// statement is one line that is not indented, with the lines that are below it.
type statement struct {
	line  int
	word  string // given, when, then, call
	text  string // the rest of the line
	below []statement
}

// parseScenarios reads a file. A workflow before the first scenario is that of all scenarios which
// have none of their own.
func parseScenarios(data string) ([]scenario, error) {
	var out []scenario
	var shared compile.Compiled
	lines := strings.Split(data, "\n")
	for i := 0; i < len(lines); {
		at, line := i+1, lines[i]
		i++
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, text, _ := strings.Cut(line, " ")
		var block []string
		for ; i < len(lines) && (strings.TrimSpace(lines[i]) == "" || strings.HasPrefix(lines[i], "  ")); i++ {
			block = append(block, lines[i])
		}
		switch word {
		case "workflow":
			w, err := readWorkflow(strings.Join(block, "\n"))
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", at, err)
			}
			if len(out) == 0 {
				shared = w
			} else {
				out[len(out)-1].workflow = w
			}
		case "scenario":
			out = append(out, scenario{name: text, line: at, workflow: shared})
		case "given", "when", "then", "call":
			if len(out) == 0 {
				return nil, fmt.Errorf("line %d: %q comes before the first scenario", at, word)
			}
			s := statement{line: at, word: word, text: strings.TrimSpace(text)}
			for j, b := range block {
				if b = strings.TrimSpace(b); b != "" && !strings.HasPrefix(b, "# ") {
					s.below = append(s.below, statement{line: at + 1 + j, text: b})
				}
			}
			last := &out[len(out)-1]
			last.says = append(last.says, s)
		default:
			return nil, fmt.Errorf("line %d: want workflow, scenario, given, when, then or call, got %q", at, word)
		}
	}
	return out, nil
}

// readWorkflow compiles YAML or JSON; members that every file needs and that no scenario tests may
// be left out.
func readWorkflow(text string) (compile.Compiled, error) {
	v, err := yaml.Parse([]byte(dedent(text)))
	if err != nil {
		return compile.Compiled{}, err
	}
	for _, m := range []canon.Member{{Name: "id", Value: canon.OfString("test.scenario")},
		{Name: "name", Value: canon.OfString("Scenario")},
		{Name: "description", Value: canon.OfString("A scenario.")},
		{Name: "version", Value: canon.OfString("1.0.0")}} {
		v = withDefault(v, m.Name, m.Value)
	}
	steps, _ := v.Get("steps")
	v = v.With("steps", titled(steps))
	_, c, problems := compile.File("scenario.json", source.SourceProject, v.JCS())
	if source.HasErrors(problems) {
		return c, fmt.Errorf("the workflow does not compile: %v", problems)
	}
	return c, nil
}

func withDefault(v canon.Value, name string, or canon.Value) canon.Value {
	if _, has := v.Get(name); has {
		return v
	}
	return v.With(name, or)
}

// titled gives steps their id as title and a prompt, bodies included.
func titled(steps canon.Value) canon.Value {
	if steps.Kind() != canon.Array {
		return steps // a body that is a name
	}
	var out []canon.Value
	for i := range steps.Len() {
		step := steps.Item(i)
		stepID, _ := step.Get("id")
		step = withDefault(step, "title", stepID)
		kind, _ := step.Get("type")
		body, loops := step.Get("body")
		_, does := step.Get("action")
		_, blocks := step.Get("promptBlocks")
		_, calls := step.Get("templateCall")
		switch {
		case loops:
			step = step.With("body", titled(body))
		case kind.Text() == "" && !does && !blocks && !calls:
			step = withDefault(step, "prompt", canon.OfString("Do "+stepID.Text()+"."))
		}
		out = append(out, step)
	}
	return canon.OfList(out...)
}

// dedent removes two spaces from each line: those that make it a block.
func dedent(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}

var repeated = regexp.MustCompile(`<(\S+) \* (\d+)>`)

// spell writes <x * 3> out as xxx, so that texts of a certain size stay readable.
func spell(text string) string {
	return repeated.ReplaceAllStringFunc(text, func(m string) string {
		part := repeated.FindStringSubmatch(m)
		n, _ := strconv.Atoi(part[2])
		return strings.Repeat(part[1], n)
	})
}

// request reads what an attempt sends: one item in the line itself, or one in each line below. nth
// fills in <n>.
func request(items []statement, nth int) (advance.Request, error) {
	var req advance.Request
	for _, item := range items {
		what, text, _ := strings.Cut(spell(strings.ReplaceAll(item.text, "<n>", strconv.Itoa(nth))), " ")
		var err error
		switch what {
		case "notes":
			req.Notes = strings.TrimSpace(text)
		case "artifact":
			var v canon.Value
			if v, err = canon.Parse([]byte(text)); err == nil {
				req.Artifacts = append(req.Artifacts, advance.JSONArtifact(v))
			}
		case "file":
			contentType, bytes, _ := strings.Cut(text, " ")
			req.Artifacts = append(req.Artifacts, advance.Artifact{ContentType: contentType, Bytes: []byte(bytes)})
		case "context":
			req.Context, err = canon.Parse([]byte(text))
		case "preferences":
			req.Preferences, err = preferences(text)
		default:
			err = fmt.Errorf("want notes, artifact, file, context or preferences, got %q", what)
		}
		if err != nil {
			return req, fmt.Errorf("line %d: %w", item.line, err)
		}
	}
	return req, nil
}

func preferences(text string) ([]event.PreferenceChange, error) {
	var out []event.PreferenceChange
	for _, pair := range strings.Fields(text) {
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("want key=value, got %q", pair)
		}
		out = append(out, event.PreferenceChange{Key: key, Value: value})
	}
	return out, nil
}
