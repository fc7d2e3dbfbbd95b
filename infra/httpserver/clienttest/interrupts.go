package clienttest

import "context"

// Answer answers the interrupt at a node of a run.
func (c *Client) Answer(ctx context.Context, key, run, node string, value Object) (Reply, error) {
	return c.call(ctx, request{method: "POST", path: "/v1/runs/" + run + "/interrupts/" + node, key: key,
		body: Object{"resumeValue": value}})
}
