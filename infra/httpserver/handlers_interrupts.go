package httpserver

import (
	"net/http"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/openwop"
	"github.com/waybill/waybill/durable/store/httpkeys"
)

func resolveInterrupt(c *call) (reply, error) {
	id, err := c.run()
	if err != nil {
		return reply{}, err
	}
	node, ok := pathValue(c.r, "nodeId")
	if !ok {
		return reply{}, fault.New(fault.InterruptNotFound, "the run has no such node")
	}
	in, err := openwop.DecodeResolution(c.body)
	if err != nil {
		return reply{}, err
	}
	out, err := c.host.Resolve(c.r.Context(), c.by(), id, node, in)
	return reply{status: http.StatusOK, doc: out}, placed(err)
}

// ofToken calls a use case of the store that signed the token of the path.
func ofToken[T any](c *call, do func(host Host, token string) (T, error)) (out T, err error) {
	err = fault.New(fault.InterruptNotFound, "the token is of no interrupt")
	for _, h := range c.Hosts {
		if fault.Is(err, fault.InterruptNotFound) {
			out, err = do(h, c.r.PathValue("token"))
		}
	}
	return out, err
}

func inspectInterrupt(c *call) (reply, error) {
	out, err := ofToken(c, func(h Host, token string) (openwop.OpenInterrupt, error) { return h.Inspect(c.r.Context(), token) })
	return reply{status: http.StatusOK, doc: out}, err
}

func resolveByToken(c *call) (reply, error) {
	out, err := ofToken(c, func(h Host, token string) (openwop.Resolved, error) {
		return h.ResolveToken(c.r.Context(), token, func() (openwop.Resolution, error) { return openwop.DecodeResolution(c.body) })
	})
	return reply{status: http.StatusOK, doc: out}, placed(err)
}

// withCallback adds to the state of a run how another system answers it, for a key that may answer itself: the token is a
// credential.
func (c *call) withCallback(s openwop.Snapshot) (openwop.Snapshot, error) {
	if s.Status != openwop.WaitingExternal || !c.key.Has(httpkeys.ApprovalsRespond) {
		return s, nil
	}
	at, err := c.host.Callback(c.r.Context(), s.RunID)
	if err == nil && at != nil {
		at.CallbackURL = "http://" + c.r.Host + at.CallbackURL
		s.Interrupt = at
	}
	return s, err
}
