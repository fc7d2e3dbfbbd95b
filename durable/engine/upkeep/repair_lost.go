package upkeep

import (
	"bytes"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/log/manifest"
)

// Lost is what repairs remove from logs. The bytes remain in the quarantine; no
// run continues from them.
type Lost struct {
	Events int64     `json:"events"` // lower bound
	Logs   []LostLog `json:"logs"`
}

// LostLog is what one log lost. Runs are listed as far as the quarantined
// bytes can be read.
type LostLog struct {
	SessionID  string `json:"sessionId,omitzero"`
	Log        string `json:"log"`
	FirstEvent int64  `json:"firstEvent"`
	Events     int64  `json:"events"` // lower bound
	// Readable counts those decoded from the quarantined bytes.
	Readable int64     `json:"readable"`
	Runs     []LostRun `json:"runs"`
}

// LostRun is what one run lost: the number of its nodes and the first of them.
type LostRun struct {
	RunID     id.Run    `json:"runId"`
	Events    int64     `json:"events"`
	NodeCount int       `json:"nodeCount"`
	Nodes     []id.Node `json:"nodes"`
}

// lostNodesShown bounds the list of nodes in a report.
const lostNodesShown = 20

// add adds the losses of one log.
func (l *Lost) add(one LostLog) {
	l.Events += one.Events
	l.Logs = append(l.Logs, one)
}

// loss collects what a repair moves out of a log.
type loss struct {
	log manifest.Log
	// end is one more than the highest event index found.
	end      int64
	readable int64
	order    []id.Run
	runs     map[id.Run]*LostRun
	nodes    map[id.Node]bool
}

// newLoss returns an empty collection for a log.
func newLoss(log manifest.Log) *loss {
	l := &loss{log: log}
	l.reset()
	return l
}

// reset forgets what a dry run collected.
func (l *loss) reset() {
	*l = loss{log: l.log, runs: map[id.Run]*LostRun{}, nodes: map[id.Node]bool{}}
}

// readQuarantined reads what it can from quarantined bytes. They are damaged,
// so lines are decoded one by one; a file name or a readable line is evidence
// that events existed.
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
		// Lines of another owner may be remains of a foreign file.
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

// report summarizes the losses. kept is the head after the repair, claimed the
// number of events that the head cache proves.
func (l *loss) report(sessionID string, kept manifest.Head, claimed int64) LostLog {
	out := LostLog{SessionID: sessionID, Log: l.log.Root, FirstEvent: kept.Next, Readable: l.readable,
		Runs: []LostRun{}}
	out.Events = max(l.end-kept.Next, claimed-kept.Next, l.readable, 0)
	for _, run := range l.order {
		out.Runs = append(out.Runs, *l.runs[run])
	}
	return out
}
