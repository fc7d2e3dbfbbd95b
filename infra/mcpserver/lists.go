package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/redact/faults"
	"github.com/waybill/waybill/durable/sorting"
)

// dynamic answers the methods whose result follows the files and the store, which the SDK does
// not follow: prompts and resources are looked up in each call, as tools do. It puts the tools into the
// order of their use, and says how long results may be kept.
func (s Server) dynamic(log *slog.Logger) mcp.Middleware {
	return func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, req mcp.Request) (out mcp.Result, err error) {
			defer func() {
				if r := recover(); r != nil {
					log.Error("panic in a method", "method", method, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
					out, err = nil, rpcError(jsonrpc.CodeInternalError, "internal error in waybill: %v", r)
				}
			}()
			switch params := req.GetParams().(type) {
			case *mcp.ListPromptsParams:
				return orFault(s, log)(s.listPrompts(ctx, cursorOf(params)))
			case *mcp.GetPromptParams:
				return orFault(s, log)(s.getPrompt(ctx, params))
			case *mcp.ListResourcesParams:
				return orFault(s, log)(s.listResources(ctx, cursorOf(params)))
			case *mcp.ListResourceTemplatesParams:
				return listTemplates(), nil
			case *mcp.ReadResourceParams:
				return orFault(s, log)(s.readResource(ctx, params.URI))
			}
			out, err = next(ctx, method, req)
			if list, ok := out.(*mcp.ListToolsResult); ok {
				sorting.By(list.Tools, func(a, b *mcp.Tool) int { return place(a.Name) - place(b.Name) })
			}
			return out, err
		}
	}
}

// place is that of a tool in the order of use.
func place(name string) int {
	return slices.IndexFunc(tools, func(t tool) bool { return t.name == name })
}

// fresh says how long a client may keep a result. What depends on the files and the store of a user is
// for that user alone.
func fresh(_ context.Context, req mcp.Request, c *mcp.Cacheable) {
	if _, ok := req.GetParams().(*mcp.ListToolsParams); ok {
		c.TTLMs = limits.MCPToolsFreshMs
	}
}

// listed is the cache control of a list that follows the files of a folder.
func listed() mcp.Cacheable {
	return mcp.Cacheable{TTLMs: limits.MCPListFreshMs, CacheScope: "private"}
}

// orFault turns the fault of a method into an error of the protocol, without its secrets.
func orFault(s Server, log *slog.Logger) func(mcp.Result, error) (mcp.Result, error) {
	return func(out mcp.Result, err error) (mcp.Result, error) {
		if err == nil {
			return out, nil
		}
		if _, ok := err.(*jsonrpc.Error); ok {
			return nil, err
		}
		f := fault.Of(err)
		if f.Err != nil {
			log.Debug("cause of a fault", "code", string(f.Code), "error", f.Err)
		}
		if s.Fault != nil {
			f = s.Fault(f)
		}
		f = faults.Redact(f)
		code := int64(jsonrpc.CodeInternalError)
		if notFound(f.Code) || f.Code == fault.ValidationError {
			code = jsonrpc.CodeInvalidParams
		}
		data, _ := json.Marshal(map[string]string{"code": string(f.Code), "suggestion": f.Suggestion.String()})
		return nil, &jsonrpc.Error{Code: code, Message: f.Message, Data: data}
	}
}

// notFound reports the codes of names that nothing has.
func notFound(c fault.Code) bool {
	return c == fault.WorkflowNotFound || c == fault.RunNotFound || c == fault.SessionNotFound
}

// rpcError is an error of the protocol.
func rpcError(code int64, format string, args ...any) error {
	return &jsonrpc.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// cursorOf is the cursor of a request for a list, "" for the first page.
func cursorOf(params any) string {
	switch p := params.(type) {
	case *mcp.ListPromptsParams:
		if p != nil {
			return p.Cursor
		}
	case *mcp.ListResourcesParams:
		if p != nil {
			return p.Cursor
		}
	}
	return ""
}

// page returns one page of a list and the cursor of the next, "" for the last one. A cursor is the
// number of entries before the page.
func page[T any](all []T, cursor string) ([]T, string, error) {
	from := 0
	if cursor != "" {
		n, err := strconv.ParseUint(cursor, 10, 31)
		if err != nil || int(n) > len(all) {
			return nil, "", rpcError(jsonrpc.CodeInvalidParams, "the cursor is not one of this list; ask for the list again without it")
		}
		from = int(n)
	}
	to := min(from+limits.MCPListMax, len(all))
	if to == len(all) {
		return all[from:], "", nil
	}
	return all[from:to], strconv.Itoa(to), nil
}
