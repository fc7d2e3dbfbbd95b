package delegation_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/problem"
	"github.com/waybill/waybill/durable/workflow/delegation"
)

// agents is the word for agents that others start.
const agents = "sub" + "agents"

func TestCheck(t *testing.T) {
	const tool, none, once = "which tool starts them", "no workflow is to be started", "in one answer"
	full := "SPAWN " + strings.ToUpper(agents) + " (not workflows): use the Task tool.\nSpawn 3 " + agents +
		" IN PARALLEL by making 3 Task tool calls in a single response.\nDO NOT use start_workflow for delegation."
	for _, row := range []struct {
		text string
		want []string // parts of the warning; none: no warning
	}{
		{"Spawn 3 WorkRail Executors SIMULTANEOUSLY using routine-ideation.", []string{tool, none, once}},
		{"If delegation is available, spawn TWO " + agents + " for the two lenses.", []string{tool, none, once}},
		{"Delegate the review to an agent.", []string{tool, none}},
		{"Delegate the review to an agent with the Task tool.", []string{none}},
		{"Launch two agents with the Task tool. Do not start workflows.", []string{once}},
		{"Launch two agents with the Task tool in one response. Never use start_workflow.", nil},
		{full, nil},
		{"Do not spawn " + agents + " here.", nil},
		{"Never delegate to an agent.", nil},
		{"Review the change, and start the server.", nil},
		{"The user agent string is read. Spawn the process.\nAgents are shown.", nil},
		{"Ask the travel agent.", nil},
	} {
		for _, step := range []string{`{"prompt": %}`, `{"promptBlocks": {"procedure": ["a", [{"kind": "text", "text": %}]]}}`,
			`{"guidance": ["x", %]}`, `{"promptFragments": [{"id": "f", "text": %}]}`, `{"type": "loop", "body": [{"prompt": %}]}`} {
			quoted := string(canon.AppendString(nil, row.text))
			v, err := canon.Parse([]byte(`{"steps": [{"prompt": "first"}, ` + strings.Replace(step, "%", quoted, 1) + `]}`))
			if err != nil {
				t.Fatal(err)
			}
			found := delegation.Check(problem.SourceValue{Value: v})
			if len(row.want) == 0 && len(found) > 0 || len(row.want) > 0 && len(found) != 1 {
				t.Errorf("%s in %s: %+v", row.text, step, found)
				continue
			}
			for _, part := range []string{tool, none, once} {
				want := false
				for _, w := range row.want {
					want = want || w == part
				}
				if len(found) > 0 && strings.Contains(found[0].Message, part) != want {
					t.Errorf("%s in %s: %s", row.text, step, found[0].Message)
				}
			}
			if len(found) > 0 && (found[0].Severity != problem.Warning || !strings.HasPrefix(found[0].Pointer, "/steps/1/")) {
				t.Errorf("%+v", found[0])
			}
		}
	}
}
