package runs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/event"
	"github.com/waybill/waybill/projections/runs"
)

// TestBranches plays a run whose events are words, one every second: "+a" creates the root a, "a+b" creates b below a, "a*c" a
// checkpoint, "a>b" accepts an attempt at a that leads to b, "a!" refuses one, "a=" is an output, "-a" an edge to a, and "~a" a
// change of the context that precedes a. Each row is followed by the branch, attempt and duration of each event.
func TestBranches(t *testing.T) {
	for _, row := range []struct{ events, want string }{
		{"+a a! a>b ~b a+b -b a= b>c b+c", "1 1/1 1/2/2s 1 1 1 1 1/1/3s 1"},
		{"+a a*k k= a>b a+b", "1 1 1 1/1/3s 1"},
		// Going back: what the second attempt records at the node belongs to its branch, and so do the steps below.
		{"+a a>b a+b a= b= a>c ~c a+c -c a= b= c= c>d c+d a=", "1 1/1/1s 1 1 1 2/1 2 2 2 2 1 2 2/1/5s 2 2"},
		// A refused attempt at a node that was left begins the branch.
		{"+a a>b a+b a! a>c a+c b>d b+d", "1 1/1/1s 1 2/1 2/2 2 1/1/4s 1"},
		// Three branches, one of them within another.
		{"+a a>b a+b b>c b+c a>d a+d b>e b+e c= d= e=", "1 1/1/1s 1 1/1/1s 1 2/1 2 3/1 3 1 2 3"},
		// Without attempts, as other programs may write it.
		{"+a a+b a+c b+d", "1 1 2 1"},
		// Nodes that the log does not create.
		{"x= x>y x+y", "0 0 1"},
	} {
		branches, got := runs.NewBranches(), []string{}
		for i, word := range strings.Fields(row.events) {
			e := branchEvent(t, word)
			e.TimestampMs = int64(1000 * (i + 1))
			var m runs.TimelineEntry
			branches.Mark(&m, e)
			text := fmt.Sprint(m.Branch)
			if m.Attempt > 0 {
				text += fmt.Sprintf("/%d", m.Attempt)
			}
			if m.TookMs > 0 {
				text += fmt.Sprintf("/%ds", m.TookMs/1000)
			}
			got = append(got, text)
		}
		if strings.Join(got, " ") != row.want {
			t.Errorf("%s\n got %s\nwant %s", row.events, strings.Join(got, " "), row.want)
		}
	}
}

// branchEvent parses a word of TestBranches.
func branchEvent(t *testing.T, word string) event.Event {
	node := func(name string) id.Node {
		n, err := id.ParseNode("node_" + strings.Repeat(name, 25) + "a")
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	i := strings.IndexAny(word, "+*>!=-~")
	from, to := word[:i], word[i+1:]
	var e event.Event
	if from != "" {
		e.Scope.NodeID = node(from)
	}
	switch word[i] {
	case '+', '*':
		created := event.NodeCreated{NodeKind: event.StepNode}
		if word[i] == '*' {
			created.NodeKind = event.CheckpointNode
		}
		if from != "" {
			parent := node(from)
			created.ParentNodeID = &parent
		}
		e.Scope.NodeID, e.Data = node(to), created
	case '>':
		target := node(to)
		e.Data = event.AdvanceRecorded{Outcome: event.AdvanceOutcome{Kind: event.Advanced, ToNodeID: &target}}
	case '!':
		e.Data = event.AdvanceRecorded{Outcome: event.AdvanceOutcome{Kind: event.Blocked}}
	case '=':
		e.Data = event.NodeOutputAppended{}
	case '-':
		e.Data = event.EdgeCreated{ToNodeID: node(to)}
	case '~':
		target := node(to)
		e.Data = event.ContextSet{NodeID: &target}
	}
	return e
}
