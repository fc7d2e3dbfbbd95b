package contract_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/workflow/contract"
)

func ExamplePack_Check() {
	pack, _ := contract.Builtin(contract.LoopControlRef)
	artifact, err := canon.Parse([]byte(`{"kind": "wr.loop_control", "decision": "maybe"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range pack.Check(artifact) {
		fmt.Println(m.Pointer, m.Got)
	}
	// Output:
	// /decision "maybe"
}
