package token_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/run/token"
)

func ExampleMintAck() {
	run := id.NewRun(id.Seed{1})
	node := id.RootNode(run)
	next := token.Attempt{
		SessionID: id.NewSession(id.Seed{1}), RunID: run, NodeID: node, AttemptID: id.NextAttempt(node, id.OpAck, 0),
	}
	text := token.MintAck(token.Key{1}, next)
	read, err := token.ParseAck(token.Keys{Current: token.Key{1}}, text)
	fmt.Println(read.NodeID == node, read.AttemptID == next.AttemptID, err)
	_, err = token.ParseAck(token.Keys{Current: token.Key{2}}, text)
	fmt.Println(err != nil)
	// Output:
	// true true <nil>
	// true
}
