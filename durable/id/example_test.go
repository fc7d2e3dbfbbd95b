package id_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/id"
)

// A retry derives the same ids as its first try.
func ExampleNextAttempt() {
	run := id.NewRun(id.Seed{1})
	root := id.RootNode(run)
	first := id.NextAttempt(root, id.OpAck, 0)
	fmt.Println(root)
	fmt.Println(first == id.NextAttempt(root, id.OpAck, 0), first == id.NextAttempt(root, id.OpAck, 1))
	// Output:
	// node_zfbdrurdu2zxl45wcw3lxe4kgq
	// true false
}
