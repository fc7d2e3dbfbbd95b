package mcpserver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waybill/waybill/durable/limits"
)

// lines is the connection: one JSON-RPC message a line. The SDK's own ends at the
// first line that is no message, and drops the answers that are being worked on when
// the input ends. This one answers whatever can be answered, reads no further than
// it works, and lets the input's end wait for the answers.
type lines struct {
	frames  <-chan frame
	stop    <-chan struct{} // no more calls are wanted
	slots   chan struct{}   // one for each call that is worked on
	holding bool            // Read has a slot for the next call
	done    chan struct{}   // closed, or the output is gone
	once    sync.Once

	mu  sync.Mutex // guards what follows, and keeps messages whole
	out io.Writer
	at  map[jsonrpc.ID]bool // calls that are worked on
}

// frame is one line of the input, or why there is none.
type frame struct {
	line    []byte
	tooLong bool
	err     error
}

// newLines begins to read. The goroutine that does ends with the input, or after
// Close once the input gives something: a read of standard input cannot be broken off.
func newLines(in io.Reader, out io.Writer, stop <-chan struct{}) *lines {
	frames, done := make(chan frame), make(chan struct{})
	go func() {
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			f := nextFrame(r)
			select {
			case frames <- f:
			case <-done:
				return
			}
			if f.err != nil {
				return
			}
		}
	}()
	return &lines{frames: frames, stop: stop, slots: make(chan struct{}, limits.MCPCallsMax), done: done, out: out,
		at: map[jsonrpc.ID]bool{}}
}

// nextFrame reads a line. Of one that is too long nothing is kept. A last line
// without its end is a line: what it lacks, if anything, its reader will find.
func nextFrame(r *bufio.Reader) (f frame) {
	for {
		part, err := r.ReadSlice('\n')
		if len(f.line)+len(part) > limits.MCPMessageBytesMax {
			f.line, f.tooLong = nil, true
		}
		if !f.tooLong {
			f.line = append(f.line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(f.line) == 0 && !f.tooLong {
			f.err = err
		}
		return f
	}
}

// Connect implements mcp.Transport.
func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID implements mcp.Connection; a pair of streams has none.
func (l *lines) SessionID() string { return "" }

// Close implements mcp.Connection.
func (l *lines) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Read implements mcp.Connection: the next message, as soon as a call may be worked
// on. io.EOF comes when all calls are answered.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if !l.holding {
			select {
			case l.slots <- struct{}{}:
				l.holding = true
			case <-l.done:
				return nil, io.EOF
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
		select {
		case f := <-l.frames:
			if f.err != nil {
				return nil, l.drain()
			}
			if msg := l.message(f); msg != nil {
				return msg, nil
			}
		case <-l.stop:
			return nil, l.drain()
		case <-l.done:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// drain waits until every call that was taken is answered: then all slots are free.
func (l *lines) drain() error {
	for range cap(l.slots) - 1 {
		select {
		case l.slots <- struct{}{}:
		case <-l.done:
			return io.EOF
		}
	}
	return io.EOF
}

// message is what a line says to the server; nil where it is refused here.
func (l *lines) message(f frame) jsonrpc.Message {
	if f.tooLong {
		return l.refuse(nil, jsonrpc.CodeInvalidRequest, tooLong)
	}
	if blank(f.line) {
		return nil
	}
	msg, bad := decode(f.line)
	if bad != nil {
		return l.refuse(bad.id, bad.code, bad.reason)
	}
	req, ok := msg.(*jsonrpc.Request)
	if !ok || !req.IsCall() {
		return msg
	}
	l.mu.Lock()
	taken := l.at[req.ID]
	l.at[req.ID] = true
	l.mu.Unlock()
	if taken {
		return l.refuse(nil, jsonrpc.CodeInvalidRequest, "a call with this id is being worked on")
	}
	l.holding = false // the slot is the call's now
	return msg
}

// refuse answers a line that the server is not shown. It returns no message.
func (l *lines) refuse(id any, code int64, reason string) jsonrpc.Message {
	type rpcError struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}
	line, err := json.Marshal(struct {
		Version string   `json:"jsonrpc"`
		ID      any      `json:"id"`
		Error   rpcError `json:"error"`
	}{"2.0", id, rpcError{code, reason}})
	if err == nil {
		_ = l.write(line)
	}
	return nil
}

// Write implements mcp.Connection.
func (l *lines) Write(_ context.Context, msg jsonrpc.Message) error {
	r, isAnswer := msg.(*jsonrpc.Response)
	if isAnswer {
		r.Error = coded(r.Error)
	}
	line, err := jsonrpc.EncodeMessage(msg)
	if err == nil {
		err = l.write(line)
	}
	if isAnswer {
		l.mu.Lock()
		worked := l.at[r.ID]
		delete(l.at, r.ID)
		l.mu.Unlock()
		if worked {
			<-l.slots
		}
	}
	return err
}

// codeCancelled is of a call that its caller took back; the protocol has no code for
// it, and this one is common.
const codeCancelled = -32800

// coded gives an error of the SDK a code where it has none: 0 is no error's.
func coded(err error) error {
	var given *jsonrpc.Error
	switch {
	case err == nil || errors.As(err, &given) && given.Code != 0:
		return err
	case errors.Is(err, context.Canceled):
		return &jsonrpc.Error{Code: codeCancelled,
			Message: "the call was cancelled; what was acknowledged before is recorded"}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
}

// write puts one line out. Once the client reads no more there is nobody to work for.
func (l *lines) write(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.out.Write(append(line, '\n'))
	if err != nil {
		_ = l.Close()
	}
	return err
}

func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}
