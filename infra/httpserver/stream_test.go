package httpserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/openwop"
)

// every is a run with events of each class of the modes.
func every(h *fakeHost) *fakeRun {
	return h.addRun().add(openwop.RunStarted, openwop.NodeStarted, openwop.VariableChanged, openwop.ClarificationRequested,
		openwop.NodeSuspended, openwop.NodeResumed, openwop.ArtifactCreated, openwop.MessageChunk, "waybill.gap_recorded",
		openwop.NodeCompleted, openwop.RunCompleted)
}

func TestModesSelectEvents(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := every(s.host)
	const updates = "0:run.started 3:clarification.requested 4:node.suspended 6:artifact.created 9:node.completed 10:run.completed"
	all := "0:run.started 1:node.started 2:variable.changed 3:clarification.requested 4:node.suspended 5:node.resumed " +
		"6:artifact.created 7:ai.message.chunk 8:waybill.gap_recorded 9:node.completed 10:run.completed"
	for query, want := range map[string]string{
		"":                                    updates,
		"?streamMode=updates":                 updates,
		"?streamMode=debug":                   all,
		"?streamMode=messages":                "7:ai.message.chunk",
		"?streamMode=values":                  "10:state.snapshot",
		"?streamMode=updates,messages":        strings.Replace(updates, " 9:", " 7:ai.message.chunk 9:", 1),
		"?streamMode=messages,updates":        strings.Replace(updates, " 9:", " 7:ai.message.chunk 9:", 1),
		"?streamMode=debug,updates":           all,
		"?streamMode=updates,updates":         updates,
		"?streamMode=debug&lastEventId=8":     "9:node.completed 10:run.completed",
		"?streamMode=debug&lastEventId=10":    "",
		"?streamMode=debug&lastEventId=99":    "",
		"?streamMode=values&lastEventId=99":   "99:state.snapshot",
		"?streamMode=messages&lastEventId=7":  "",
		"?bufferMs=0":                         updates,
		"?streamMode=debug&bufferMs=0&x=y":    all,
		"?streamMode=updates&lastEventId=6&y": "9:node.completed 10:run.completed",
	} {
		o := s.open(run.id, query)
		if got := names(o.rest()); got != want {
			t.Errorf("%s: %s\nwant %s", query, got, want)
		}
		if o.header.Get("Content-Type") != "text/event-stream; charset=utf-8" || o.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", query, o.header)
		}
	}
	for _, query := range []string{"does-not-exist", "values,updates", "updates,bogus", "", "debug,", "Updates"} {
		got := s.do("GET", "/v1/runs/"+run.id+"/events?streamMode="+query, "")
		if got.status != 400 || got.code(t) != "unsupported_stream_mode" ||
			fmt.Sprint(got.details(t)["supported"]) != "[updates values messages debug]" {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

// TestAMessageIsTheEvent: data is the whole event as the poll shows it, in one line.
func TestAMessageIsTheEvent(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun()
	run.addWith(openwop.RunStarted, canon.OfMembers(canon.Member{Name: "text", Value: canon.OfString("a\nid: 99\n\n\u2028\u202e\x1b")}))
	run.addWith("waybill.x\nid: 7\n", canon.OfMembers())
	run.add(openwop.RunCompleted)
	got := s.open(run.id, "?streamMode=debug").rest()
	if names(got) != "0:run.started 1:waybill.x_id:_7_ 2:run.completed" {
		t.Fatalf("%s", names(got))
	}
	var polled struct{ Events []json.RawMessage }
	if err := json.Unmarshal([]byte(s.do("GET", "/v1/runs/"+run.id+"/events/poll", "").body), &polled); err != nil {
		t.Fatal(err)
	}
	for i, m := range got {
		if m.data != string(polled.Events[i]) {
			t.Errorf("%s\nis polled as %s", m.data, polled.Events[i])
		}
		if strings.ContainsAny(m.data, "\u2028\u202e\x1b") {
			t.Errorf("%q", m.data)
		}
	}
}

// TestAStreamFollowsARun: events arrive as they are recorded, and the stream ends with the run.
func TestAStreamFollowsARun(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	o := s.open(run.id, "?streamMode=debug")
	want := []openwop.EventType{openwop.NodeStarted, openwop.NodeCompleted, openwop.RunFailed}
	if m, _ := o.next(); m.event != "run.started" {
		t.Fatalf("%+v", m)
	}
	for _, next := range want {
		run.add(next)
		if m, ok := o.next(); !ok || m.event != string(next) {
			t.Fatalf("%+v", m)
		}
	}
	if m, ok := o.next(); ok {
		t.Errorf("after the end: %+v", m)
	}
	s.eventually("the feed is closed", func() bool { return s.host.feeds.Load() == 0 })
}

// TestNotificationsHaveNoId: Last-Event-ID stays that of the log.
func TestNotificationsHaveNoId(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	streams := map[string]*opened{}
	for _, mode := range []string{"updates", "debug", "values", "messages"} {
		streams[mode] = s.open(run.id, "?streamMode="+mode)
		if mode != "messages" {
			streams[mode].next()
		}
	}
	s.eventually("all streams wait", func() bool { return s.host.feeds.Load() == 4 })
	if got := s.do("POST", "/v1/runs/"+run.id+"/annotations", `{"signal":{"kind":"flag"}}`); got.status != 201 {
		t.Fatalf("%d", got.status)
	}
	run.notify(openwop.ProposalCreated, canon.OfMembers())
	for _, mode := range []string{"updates", "debug"} {
		m, _ := streams[mode].next()
		var doc map[string]any
		if err := json.Unmarshal([]byte(m.data), &doc); err != nil {
			t.Fatal(err)
		}
		if m.id != "" || m.event != "run.annotated" || doc["type"] != "run.annotated" || doc["runId"] != run.id ||
			doc["timestamp"] != "1970-01-01T00:00:00.001Z" || doc["payload"].(map[string]any)["annotationId"] == nil || len(doc) != 4 {
			t.Errorf("%s: %+v", mode, m)
		}
		if m, _ := streams[mode].next(); m.event != "proposal.created" || m.id != "" {
			t.Errorf("%s: %+v", mode, m)
		}
	}
	run.add(openwop.RunCompleted)
	if got := names(streams["messages"].rest()); got != "" {
		t.Errorf("messages: %s", got)
	}
	if got := names(streams["debug"].rest()); got != "1:run.completed" {
		t.Errorf("debug: %s", got)
	}
	for _, m := range streams["values"].rest() {
		if m.event != "state.snapshot" || !strings.Contains(m.data, `"runId"`) {
			t.Errorf("values: %+v", m)
		}
	}
}

// TestAReconnectHasNoGapAndNoDuplicate: at every place of a run that is written meanwhile, in each mode that has ids.
func TestAReconnectHasNoGapAndNoDuplicate(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.host.set(func() { s.host.pageSize = 3 })
	for _, query := range []string{"?streamMode=debug", "?streamMode=debug&bufferMs=1"} {
		run := s.host.addRun()
		go func() {
			for i := range 60 {
				run.add(openwop.NodeStarted)
				if i%7 == 0 {
					runtime.Gosched()
				}
			}
			run.add(openwop.RunCompleted)
		}()
		last, seen := "", []string{}
		for cut := 1; ; cut++ {
			headers := []string{}
			if last != "" {
				headers = append(headers, "Last-Event-ID: "+last)
			}
			o := s.open(run.id, query, headers...)
			ended := false
			for range cut%5 + 1 {
				m, ok := o.next()
				if !ok {
					break
				}
				last = m.id
				for _, e := range eventsOf(t, m) {
					seen = append(seen, fmt.Sprint(e["sequence"]))
					ended = ended || e["type"] == "run.completed"
				}
			}
			_ = o.body.Close()
			if ended {
				break
			}
		}
		var want []string
		for i := range 61 {
			want = append(want, fmt.Sprint(i))
		}
		if strings.Join(seen, " ") != strings.Join(want, " ") {
			t.Errorf("%s: %v", query, seen)
		}
	}
	s.eventually("all feeds are closed", func() bool { return s.host.feeds.Load() == 0 })
}

// eventsOf are the events of a message, also of a batch.
func eventsOf(t *testing.T, m sse) (out []map[string]any) {
	t.Helper()
	text := m.data
	if m.event != "batch" {
		text = "[" + text + "]"
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v: %q", err, m.data)
	}
	return out
}

// TestTheHeaderTakesPrecedence: a client that reconnects sends the parameter of its first request again.
func TestTheHeaderTakesPrecedence(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := every(s.host)
	if got := names(s.open(run.id, "?streamMode=debug&lastEventId=2", "Last-Event-ID: 9").rest()); got != "10:run.completed" {
		t.Errorf("%s", got)
	}
}

// TestBatchesAreArrays: with the id of their last event; the end and a suspension are sent without waiting.
func TestBatchesAreArrays(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n *tuning) { n.keepalive = 100 * time.Millisecond }) // a batch that is not flushed is behind 50 of them
	run := s.host.addRun()
	o := s.open(run.id, "?streamMode=debug&bufferMs=5000")
	run.add(openwop.RunStarted, openwop.NodeStarted, openwop.NodeSuspended)
	seen := []string{}
	for len(seen) < 3 { // the writer may see them in several pages; each ends with what flushes it, or is a part
		m, _ := o.message()
		if m.event != "batch" {
			t.Fatalf("%+v", m)
		}
		all := eventsOf(t, m)
		if fmt.Sprint(all[len(all)-1]["sequence"]) != m.id {
			t.Errorf("the id of %+v", m)
		}
		for _, e := range all {
			seen = append(seen, fmt.Sprint(e["type"]))
		}
	}
	if strings.Join(seen, " ") != "run.started node.started node.suspended" {
		t.Errorf("%v", seen)
	}
	run.notify(openwop.RunAnnotated, canon.OfMembers()) // is sent at once, by itself
	if m, _ := o.message(); m.event != "run.annotated" {
		t.Errorf("%+v", m)
	}
	run.add(openwop.NodeResumed, openwop.RunCancelled)
	var rest []string
	for _, m := range o.rest() {
		for _, e := range eventsOf(t, m) {
			rest = append(rest, fmt.Sprint(e["type"]))
		}
	}
	if strings.Join(rest, " ") != "node.resumed run.cancelled" || len(o.quiet) > 30 {
		t.Errorf("%v behind %d keepalives", rest, len(o.quiet))
	}
	// One that is not flushed is sent when its time is over, and one that is full before.
	run = s.host.addRun().add(openwop.RunStarted, openwop.NodeStarted)
	if m, _ := s.open(run.id, "?streamMode=debug&bufferMs=20").message(); len(eventsOf(t, m)) != 2 {
		t.Errorf("%+v", m)
	}
	run = s.host.addRun()
	for range 40 {
		run.addWith(openwop.NodeStarted, canon.OfMembers(canon.Member{Name: "x", Value: canon.OfString(strings.Repeat("x", 4000))}))
	}
	if m, _ := s.open(run.id, "?streamMode=debug&bufferMs=5000").message(); m.event != "batch" || len(m.data) > 70_000 {
		t.Errorf("%d bytes", len(m.data))
	}
	// Values are collected too: the last one is sent.
	run = every(s.host)
	if got := s.open(run.id, "?streamMode=values&bufferMs=5000").rest(); names(got) != "10:batch" || len(eventsOf(t, got[0])) != 1 {
		t.Errorf("%s", names(got))
	}
}

// TestASilentStreamIsKeptAlive: also where events are recorded that its mode does not send.
func TestASilentStreamIsKeptAlive(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n *tuning) { n.keepalive = 20 * time.Millisecond })
	run := s.host.addRun().add(openwop.RunStarted)
	o := s.open(run.id, "?streamMode=messages")
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				run.add(openwop.NodeStarted)
			}
		}
	}()
	for range 3 {
		if m, _ := o.next(); m.event != "comment" {
			t.Errorf("%+v", m)
		}
	}
	close(stop)
	<-stopped
	for range 2 {
		if m, _ := o.next(); m.event != "comment" || o.quiet[0] != ": keepalive" {
			t.Errorf("%+v %v", m, o.quiet)
		}
	}
}

// TestAStreamOutlivesTheTimesOfARequest: those in which its request arrives, and those of one write.
func TestAStreamOutlivesTheTimesOfARequest(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n *tuning) {
		n.bodyRead, n.idle, n.keepalive = 300*time.Millisecond, 300*time.Millisecond, 50*time.Millisecond
	})
	run := s.host.addRun().add(openwop.RunStarted)
	o := s.open(run.id, "")
	if m, _ := o.next(); m.event != "run.started" {
		t.Fatalf("%+v", m)
	}
	for range 12 {
		if m, _ := o.next(); m.event != "comment" {
			t.Fatalf("%+v", m)
		}
	}
	run.add(openwop.RunCompleted)
	if got := names(o.rest()); got != "1:run.completed" {
		t.Errorf("%s", got)
	}
}

// TestAStreamEndsWithTheServer: with the reason, behind what it had collected; the run is not disturbed.
func TestAStreamEndsWithTheServer(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted, openwop.NodeStarted)
	plain := s.open(run.id, "?streamMode=debug")
	plain.next()
	plain.next()
	batches := s.open(run.id, "?streamMode=debug&bufferMs=5000")
	polled := make(chan answered, 1)
	go func() { polled <- s.do("GET", "/v1/runs/"+run.id+"/events/poll?lastSequence=1", "") }()
	s.eventually("three feeds", func() bool { return s.host.feeds.Load() == 3 })
	s.stop()
	for name, o := range map[string]*opened{"1:batch :waybill.stream_closed": batches, ":waybill.stream_closed": plain} {
		all := o.rest()
		if names(all) != name || !strings.Contains(all[len(all)-1].data, `"reason":"server_stopping"`) {
			t.Errorf("%s: %+v", names(all), all)
		}
	}
	if got := <-polled; got.status != 200 || got.json(t)["isComplete"] != false {
		t.Errorf("the poll: %d %s", got.status, got.body)
	}
	if s.host.feeds.Load() != 0 {
		t.Errorf("%d feeds are open", s.host.feeds.Load())
	}
	if _, err := net.Dial("tcp", s.addr); err == nil {
		t.Error("the server still listens")
	}
}

// TestRequestsEndBeforeTheServer: one that is executed is answered; one that does not end is not waited for.
func TestRequestsEndBeforeTheServer(t *testing.T) {
	t.Parallel()
	s := serve(t)
	block, entered := make(chan struct{}), make(chan string, 10)
	s.host.set(func() { s.host.block, s.host.entered = block, entered })
	first := make(chan answered, 1)
	go func() { first <- s.do("POST", "/v1/runs", `{"workflowId":"wr.demo"}`) }()
	<-entered
	stopped := make(chan struct{})
	go func() { s.stop(); close(stopped) }()
	s.eventually("the server accepts no more", func() bool {
		c, err := net.Dial("tcp", s.addr)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	close(block)
	if got := <-first; got.status != 201 {
		t.Errorf("%d", got.status)
	}
	<-stopped
}

// TestAFailingFeedEndsTheStream: the client learns the reason and reconnects, the log has the cause.
func TestAFailingFeedEndsTheStream(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	o := s.open(run.id, "")
	o.next()
	s.host.failWith("Next", fault.New(fault.StoreCorrupt, "the file /home/you is damaged"))
	run.add(openwop.NodeCompleted)
	all := o.rest()
	if names(all) != ":waybill.stream_closed" || !strings.Contains(all[0].data, `"reason":"internal_error"`) ||
		strings.Contains(all[0].data, "/home") {
		t.Errorf("%+v", all)
	}
	e := s.entries(1)[0]
	if !fault.Is(e.Err, fault.StoreCorrupt) || e.Status != 200 || e.Route != runPath+"/events" ||
		!strings.Contains(all[0].data, e.CorrelationID) {
		t.Errorf("the log has %+v", e)
	}
	if got := s.do("GET", "/v1/runs/"+run.id+"/events", ""); got.status != 500 {
		t.Errorf("before the first message: %d %s", got.status, got.body)
	}
	if got := s.do("GET", "/v1/runs/"+run.id+"/events/poll", ""); got.status != 500 {
		t.Errorf("a poll: %d %s", got.status, got.body)
	}
}

// TestAVanishedClientIsNoticed: its feed is closed without any event being recorded.
func TestAVanishedClientIsNoticed(t *testing.T) {
	t.Parallel()
	s := serve(t)
	run := s.host.addRun().add(openwop.RunStarted)
	for range 20 {
		s.open(run.id, "").next()
	}
	poller := s.dial()
	_, _ = io.WriteString(poller, s.head("GET /v1/runs/"+run.id+"/events/poll?lastSequence=0 HTTP/1.1"))
	s.eventually("21 feeds", func() bool { return s.host.feeds.Load() == 21 })
	_ = poller.Close()
	s.eventually("20 feeds", func() bool { return s.host.feeds.Load() == 20 })
	s2 := s.open(run.id, "")
	s2.next()
	_ = s2.body.Close()
	s.eventually("20 feeds again", func() bool { return s.host.feeds.Load() == 20 })
}

// TestASlowReaderIsDisconnected: one that reads nothing, while the writer of the run and the other readers go their way.
func TestASlowReaderIsDisconnected(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n *tuning) { n.write = time.Second })
	run := s.host.addRun().add(openwop.RunStarted)
	slow := s.dial().(*net.TCPConn)
	_ = slow.SetReadBuffer(4 << 10)
	_, _ = io.WriteString(slow, s.head("GET /v1/runs/"+run.id+"/events?streamMode=debug HTTP/1.1"))
	s.eventually("the slow feed", func() bool { return s.host.feeds.Load() == 1 })
	quick := s.open(run.id, "?streamMode=debug")
	big := canon.OfMembers(canon.Member{Name: "x", Value: canon.OfString(strings.Repeat("x", 100_000))})
	for range 40 {
		run.addWith(openwop.NodeStarted, big) // never waits
	}
	run.add(openwop.RunCompleted)
	if got := quick.rest(); len(got) != 42 {
		t.Errorf("the other reader has %d events", len(got))
	}
	s.eventually("both feeds are closed", func() bool { return s.host.feeds.Load() == 0 })
}

func TestStreamsAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, func(n *tuning) { n.streamsMax = 2 })
	run := s.host.addRun().add(openwop.RunStarted)
	first := s.open(run.id, "")
	first.next()
	s.open(run.id, "").next()
	for _, path := range []string{"/events", "/events/poll?lastSequence=0"} {
		got := s.do("GET", "/v1/runs/"+run.id+path, "")
		if got.status != 429 || got.code(t) != "too_many_requests" || got.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
	if got := s.do("GET", "/v1/runs/"+run.id, ""); got.status != 200 {
		t.Errorf("another request: %d", got.status)
	}
	_ = first.body.Close()
	s.eventually("a place is free", func() bool {
		return s.do("GET", "/v1/runs/"+run.id+"/events/poll?timeout=0", "").status == http.StatusOK
	})
}
