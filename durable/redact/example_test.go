package redact_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/redact"
)

func ExampleText() {
	counts := redact.Counts{}
	fmt.Println(redact.Text("curl -H 'Authorization: Bearer abcdefghijklmnop' /v1", counts))
	fmt.Println(len(counts) > 0)
	// Output:
	// curl -H 'Authorization: Bearer [REDACTED:named_secret]' /v1
	// true
}
