package engine

import (
	"bytes"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Lost is what repairs take out of the logs: it lies in the quarantine, and no run goes
// on from it.
type Lost struct {
	Events int64       `json:"events"` // at least so many
	Logs   []LostOfLog `json:"logs"`
}

// LostOfLog is what of one log is lost. Runs are told as far as they can be read.
type LostOfLog struct {
	SessionID  string    `json:"sessionId,omitzero"`
	Log        string    `json:"log"`
	FirstEvent int64     `json:"firstEvent"`
	Events     int64     `json:"events"`   // at least so many
	Readable   int64     `json:"readable"` // of them, in what is set aside
	Runs       []LostRun `json:"runs"`
}

// LostRun is what is lost of one run: the first nodes, and how many there are.
type LostRun struct {
	RunID     id.Run    `json:"runId"`
	Events    int64     `json:"events"`
	NodeCount int       `json:"nodeCount"`
	Nodes     []id.Node `json:"nodes"`
}

// lostNodesShown bounds a list that nobody reads to its end.
const lostNodesShown = 20

func (l *Lost) add(one LostOfLog) {
	l.Events += one.Events
	l.Logs = append(l.Logs, one)
}

// loss gathers what a repair sets aside of a log.
type loss struct {
	log      manifest.Log
	end      int64 // one more than the last event that anything speaks of
	readable int64
	order    []id.Run
	runs     map[id.Run]*LostRun
	nodes    map[id.Node]bool
}

func newLoss(log manifest.Log) *loss {
	l := &loss{log: log}
	l.reset()
	return l
}

func (l *loss) reset() {
	*l = loss{log: l.log, runs: map[id.Run]*LostRun{}, nodes: map[id.Node]bool{}}
}

// aside reads what it can of bytes that hold together no more: a name and a line that
// can be read say at least that there was something.
func (l *loss) readQuarantined(name string, data []byte) {
	if name == manifest.FileName {
		for line := range bytes.Lines(data) {
			v, err := canon.Parse(bytes.TrimSuffix(line, []byte{'\n'}))
			if err != nil {
				continue
			}
			if last, ok := v.Get("lastEventIndex"); ok && last.Kind() == canon.Number && last.Float() < 1e15 {
				l.end = max(l.end, int64(last.Float())+1)
			}
		}
		return
	}
	if _, last, ok := manifest.ParseSegmentName(name); ok {
		l.end = max(l.end, last+1)
	}
	for line := range bytes.Lines(data) {
		e, err := l.log.Table.DecodeLine(bytes.TrimSuffix(line, []byte{'\n'}))
		if err != nil || e.Owner != l.log.Owner {
			continue
		}
		l.readable++
		if e.Scope.RunID.IsZero() {
			continue
		}
		run := l.runs[e.Scope.RunID]
		if run == nil {
			run = &LostRun{RunID: e.Scope.RunID, Nodes: []id.Node{}}
			l.runs[run.RunID], l.order = run, append(l.order, run.RunID)
		}
		run.Events++
		if n := e.Scope.NodeID; !n.IsZero() && !l.nodes[n] {
			l.nodes[n] = true
			if run.NodeCount++; run.NodeCount <= lostNodesShown {
				run.Nodes = append(run.Nodes, n)
			}
		}
	}
}

func (l *loss) report(sessionID string, kept manifest.Head, claimed int64) LostOfLog {
	out := LostOfLog{SessionID: sessionID, Log: l.log.Root, FirstEvent: kept.Next, Readable: l.readable,
		Runs: []LostRun{}}
	out.Events = max(l.end-kept.Next, claimed-kept.Next, l.readable, 0)
	for _, run := range l.order {
		out.Runs = append(out.Runs, *l.runs[run])
	}
	return out
}
