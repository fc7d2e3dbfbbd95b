package bundle_test

import (
	"context"
	"fmt"
	"os"

	"github.com/waybill/waybill/durable/travel/bundle"
)

// Open checks the shape, the digests and the order of a bundle before any part of it is
// used.
func ExampleOpen() {
	file, err := os.Open("../../../testdata/stores/v1/bundle.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		fmt.Println(err)
		return
	}
	b, err := bundle.Open(context.Background(), file, info.Size(), bundle.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(b.Envelope().SessionID, b.Logs())
	// Output:
	// sess_pan2z4mrhkhzc5s35fwa7n6v3y []
}
