package mcpserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waybill/waybill/durable/invisible"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/redact"
)

// transport is the connection: one JSON-RPC message per line. The transport of the SDK ends at the
// first invalid line, and drops the answers of calls in progress when the input ends. This one
// answers invalid lines, reads at most limits.MCPCallsMax calls ahead of their answers, and delays
// the end of the input until all calls are answered.
type transport struct {
	frames    <-chan frame
	stop      <-chan struct{} // closed when no more calls are accepted
	slots     chan struct{}   // one element per call in progress
	slotTaken bool            // Read has reserved a slot for the next call
	ended     chan struct{}   // closed when no more lines are read, so that no answer of the client can arrive
	done      chan struct{}   // closed by Close, or when writing failed
	once      sync.Once

	mu     sync.Mutex // guards the fields below, and keeps lines complete
	out    io.Writer
	active map[jsonrpc.ID]bool // calls in progress
}

// frame is one line of the input, or the error that ended it.
type frame struct {
	line    []byte
	tooLong bool
	err     error
}

// newTransport starts to read. The reading goroutine ends with the input, or after Close at the
// next line: a read of standard input cannot be canceled.
//
// Closing stop makes Read return io.EOF after the calls in progress are answered.
func newTransport(in io.Reader, out io.Writer, stop <-chan struct{}) *transport {
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
	return &transport{frames: frames, stop: stop, slots: make(chan struct{}, limits.MCPCallsMax), done: done, out: out,
		ended:  make(chan struct{}),
		active: map[jsonrpc.ID]bool{}}
}

// nextFrame reads a line. The content of a line that is too long is dropped. A last line without a
// line end is a line; decode reports whether it is complete.
//
// At the end of the input without a line the frame has only the error.
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
func (l *transport) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID implements mcp.Connection; a pair of streams has none.
func (l *transport) SessionID() string { return "" }

// Close implements mcp.Connection.
func (l *transport) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Read implements mcp.Connection. It returns the next message once a slot for a call is free, and
// io.EOF after all accepted calls are answered.
//
// A slot is reserved before a line is read, so that no more input is read than can be worked on: a
// client that sends faster is blocked by its pipe. Notifications and responses do not use the slot.
func (l *transport) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		if !l.slotTaken {
			select {
			case l.slots <- struct{}{}:
				l.slotTaken = true
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
			if msg := l.accept(f); msg != nil {
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

// drain waits until every accepted call is answered, that is until it has all slots.
func (l *transport) drain() error {
	close(l.ended) // Read is not called again
	for range cap(l.slots) - 1 {
		select {
		case l.slots <- struct{}{}:
		case <-l.done:
			return io.EOF
		}
	}
	return io.EOF
}

// accept returns the message in a line, or nil when the line is answered with an error here.
//
// These lines are refused: too long, invalid, and a call whose id is that of a call in progress.
// Blank lines are skipped without an answer.
func (l *transport) accept(f frame) jsonrpc.Message {
	if f.tooLong {
		return l.refuse(nil, jsonrpc.CodeInvalidRequest, tooLongReason)
	}
	if isBlank(f.line) {
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
	taken := l.active[req.ID]
	l.active[req.ID] = true
	l.mu.Unlock()
	if taken {
		return l.refuse(nil, jsonrpc.CodeInvalidRequest, "a call with this id is in progress")
	}
	l.slotTaken = false // the call owns the slot; Write releases it
	return msg
}

// refuse answers a line that is not passed to the server. It always returns nil.
//
// The error has the id of the message where it is known, else null, as JSON-RPC requires.
func (l *transport) refuse(id any, code int64, reason string) jsonrpc.Message {
	type rpcError struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}
	line, err := json.Marshal(struct {
		Version string   `json:"jsonrpc"`
		ID      any      `json:"id"`
		Error   rpcError `json:"error"`
	}{"2.0", id, rpcError{code, redact.Text(reason, nil)}})
	if err == nil {
		_ = l.write(line)
	}
	return nil
}

// Write implements mcp.Connection. The answer of a call releases its slot.
//
// It is safe for concurrent use, as the SDK requires.
func (l *transport) Write(_ context.Context, msg jsonrpc.Message) error {
	r, isAnswer := msg.(*jsonrpc.Response)
	if isAnswer {
		r.Error = redacted(withCode(r.Error))
	}
	line, err := jsonrpc.EncodeMessage(msg)
	if err == nil {
		err = l.write(line)
	}
	if isAnswer {
		l.mu.Lock()
		worked := l.active[r.ID]
		delete(l.active, r.ID)
		l.mu.Unlock()
		if worked {
			<-l.slots
		}
	}
	return err
}

// codeCancelled is the error code of a canceled call. The protocol defines none; this one is in
// common use.
const codeCancelled = -32800

// withCode adds a code to an error of the SDK that has none: 0 is not a valid code.
func withCode(err error) error {
	var given *jsonrpc.Error
	switch {
	case err == nil || errors.As(err, &given) && given.Code != 0:
		return err
	case errors.Is(err, context.Canceled):
		return &jsonrpc.Error{Code: codeCancelled,
			Message: "the call was canceled; acknowledged results are recorded"}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
}

// redacted returns an error of the protocol without the secrets of its message, such as the unknown name of a tool.
func redacted(err error) error {
	var given *jsonrpc.Error
	if !errors.As(err, &given) {
		return err
	}
	out := *given
	out.Message = redact.Text(given.Message, nil)
	return &out
}

// write writes one line, as all JSON documents are written (docs/design.md#printed-bytes). After an error the connection is closed: the client reads no more answers.
func (l *transport) write(line []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err := l.out.Write(append(invisible.EscapeJSON(line), '\n'))
	if err != nil {
		_ = l.Close()
	}
	return err
}

// isBlank reports a line of white space, which is ignored.
func isBlank(line []byte) bool { return len(bytes.Trim(line, " \t\r\n")) == 0 }
