package fault_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/fault"
)

func ExampleNew() {
	err := error(fault.New(fault.RunNotFound, "the store holds no run %q", "k3j2a7").
		Suggest("See %s.", fault.Command{"runs", "list"}))
	fmt.Println(err)
	fmt.Println(fault.Is(err, fault.RunNotFound), fault.ExitOf(err))
	// Output:
	// RUN_NOT_FOUND: the store holds no run "k3j2a7"
	// true 6
}
