package httpserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/openwop"
)

// sequences are the types of a list of events with their sequences.
func sequences(t *testing.T, a answered) string {
	t.Helper()
	var doc struct {
		Events []struct {
			Sequence int
			Type     string
		}
	}
	if err := json.Unmarshal([]byte(a.body), &doc); err != nil || doc.Events == nil {
		t.Fatalf("%v: %q", err, a.body)
	}
	var out []string
	for _, e := range doc.Events {
		out = append(out, fmt.Sprintf("%d:%s", e.Sequence, e.Type))
	}
	return strings.Join(out, " ")
}

// TestEventsAsOneDocument: all types unless a mode is given; the parameters are checked as for a stream.
func TestEventsAsOneDocument(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host.set(func() { s.host.pageSize = 2 })
	run := s.host.addRun().add(openwop.RunStarted, openwop.NodeStarted, openwop.VariableChanged, openwop.NodeCompleted, openwop.RunCompleted)
	open := s.host.addRun().add(openwop.RunStarted)
	for _, c := range []struct{ run, query, want string }{
		{run.id, "", "0:run.started 1:node.started 2:variable.changed 3:node.completed 4:run.completed"},
		{run.id, "?streamMode=updates", "0:run.started 3:node.completed 4:run.completed"},
		{run.id, "?streamMode=messages", ""},
		{run.id, "?lastEventId=2", "3:node.completed 4:run.completed"},
		{run.id, "?lastEventId=9", ""},
		{open.id, "", "0:run.started"}, // does not wait
	} {
		got := s.do("GET", "/v1/runs/"+c.run+"/events"+c.query, "", "Accept: application/json")
		if got.status != 200 || got.header.Get("Content-Type") != "application/json" || sequences(t, got) != c.want {
			t.Errorf("%s: %d %s", c.query, got.status, got.body)
		}
	}
	got := s.do("GET", "/v1/runs/"+run.id+"/events?streamMode=values", "", "Accept: application/json")
	if !strings.HasPrefix(got.body, `{"events":[{`) || !strings.Contains(got.body, `"status":"completed"`) {
		t.Errorf("values: %s", got.body)
	}
	if got := s.do("GET", "/v1/runs/"+run.id+"/events?streamMode=values&lastEventId=4", "", "Accept: application/json"); got.body != `{"events":[]}` {
		t.Errorf("values behind the end: %s", got.body)
	}
	for _, query := range []string{"?streamMode=x", "?bufferMs=9999"} {
		if got := s.do("GET", "/v1/runs/"+run.id+"/events"+query, "", "Accept: application/json"); got.status != 400 {
			t.Errorf("%s: %d", query, got.status)
		}
	}
	for accept, stream := range map[string]bool{"": true, "*/*": true, "text/event-stream": true, "text/html": true,
		"application/json, text/event-stream": true, "application/json;q=0.9, */*": false, "APPLICATION/JSON": false} {
		got := s.do("GET", "/v1/runs/"+run.id+"/events", "", "Accept: "+accept)
		if is := strings.HasPrefix(got.header.Get("Content-Type"), "text/event-stream"); is != stream {
			t.Errorf("Accept %q: %s", accept, got.header.Get("Content-Type"))
		}
	}
}

func TestAPollHasWhatIsBehindASequence(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host.set(func() { s.host.pageSize = 2 })
	run := s.host.addRun().add(openwop.RunStarted, openwop.NodeStarted, openwop.NodeCompleted, openwop.RunFailed)
	open := s.host.addRun().add(openwop.RunStarted, openwop.NodeStarted)
	for _, c := range []struct{ run, query, want, tail string }{
		{run.id, "", "0:run.started 1:node.started 2:node.completed 3:run.failed", `"isComplete":true,"isTerminal":true,"lastEventSeq":3`},
		{run.id, "?lastSequence=0", "1:node.started 2:node.completed 3:run.failed", `"lastEventSeq":3`},
		{run.id, "?lastSequence=3", "", `"isComplete":true,"isTerminal":true,"lastEventSeq":3`},
		{run.id, "?lastSequence=99999&timeout=1", "", `"isComplete":true`},
		{open.id, "", "0:run.started 1:node.started", `"isComplete":false,"isTerminal":false,"lastEventSeq":1`},
		{open.id, "?lastSequence=1&timeout=0", "", `"lastEventSeq":1`},
		{open.id, "?lastSequence=500&timeout=0", "", `"isComplete":false`},
	} {
		got := s.do("GET", "/v1/runs/"+c.run+"/events/poll"+c.query, "")
		if got.status != 200 || sequences(t, got) != c.want || !strings.Contains(got.body, c.tail) {
			t.Errorf("%s: %d %s", c.query, got.status, got.body)
		}
		if doc := got.json(t); doc["runId"] != c.run || doc["runStatus"] == nil || len(doc) != 6 {
			t.Errorf("%s: %s", c.query, got.body)
		}
	}
	empty := s.host.addRun()
	if got := s.do("GET", "/v1/runs/"+empty.id+"/events/poll?timeout=0", ""); !strings.Contains(got.body, `"lastEventSeq":-1`) {
		t.Errorf("no events: %s", got.body)
	}
}

// TestAPollAgreesWithItself: a run that ends while its events are written is terminal together with its last event.
func TestAPollAgreesWithItself(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	s.host.set(func() { s.host.onSnapshot = func() { run.add(openwop.NodeCompleted, openwop.RunCompleted) } })
	got := s.do("GET", "/v1/runs/"+run.id+"/events/poll", "")
	if sequences(t, got) != "0:run.started 1:node.completed 2:run.completed" || got.json(t)["isComplete"] != true ||
		got.json(t)["runStatus"] != "completed" {
		t.Errorf("%s", got.body)
	}
}

// TestAPollWaitsForAnEvent: for one, and for the end of the run.
func TestAPollWaitsForAnEvent(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	for i, next := range []openwop.EventType{openwop.NodeStarted, openwop.RunCompleted} {
		got := make(chan answered, 1)
		go func() { got <- s.do("GET", fmt.Sprintf("/v1/runs/%s/events/poll?lastSequence=%d", run.id, i), "") }()
		s.eventually("the poll waits", func() bool { return s.host.feeds.Load() == 1 })
		run.add(next)
		if a := <-got; sequences(t, a) != fmt.Sprintf("%d:%s", i+1, next) || a.json(t)["isComplete"] != (next == openwop.RunCompleted) {
			t.Errorf("%s", a.body)
		}
		s.eventually("the feed is closed", func() bool { return s.host.feeds.Load() == 0 })
	}
	if got := s.do("GET", "/v1/runs/"+s.host.addRun().id+"/events/poll?timeout=1", ""); got.status != 200 || sequences(t, got) != "" {
		t.Errorf("its time is over: %d %s", got.status, got.body)
	}
	short := serve(t, func(n *tuning) { n.poll = 50 * time.Millisecond })
	for _, query := range []string{"", "?timeout=60", "?timeout=9007199254740992"} {
		if got := short.do("GET", "/v1/runs/"+short.host.addRun().id+"/events/poll"+query, ""); got.status != 200 {
			t.Errorf("%s: %d", query, got.status)
		}
	}
}

// TestADocumentThatFailsIsNotWhole: a client cannot take the part that was sent for the whole.
func TestADocumentThatFailsIsNotWhole(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted, openwop.RunCompleted)
	big := canon.OfMembers(canon.Member{Name: "x", Value: canon.OfString(strings.Repeat("x", 100_000))})
	run.addWith(openwop.NodeStarted, big)
	s.host.failWith("Snapshot", fault.New(fault.StoreCorrupt, "damaged")) // is read behind the events
	req, _ := http.NewRequest("GET", s.url+"/v1/runs/"+run.id+"/events/poll", nil)
	req.Header.Set("Authorization", "Bearer "+allKey)
	res, err := s.web.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("the document ends as if it were whole")
	}
	if e := s.entries(1)[0]; e.Status != 200 || e.Err == nil {
		t.Errorf("the log has %+v", e)
	}
}
