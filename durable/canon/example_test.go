package canon_test

import (
	"fmt"

	"github.com/waybill/waybill/durable/canon"
)

func ExampleCanonicalize() {
	out, err := canon.Canonicalize([]byte(`{ "b": 1.50, "a": "\u0041" }`))
	fmt.Printf("%s %v\n%s\n", out, err, canon.Sum(out))
	// Output:
	// {"a":"A","b":1.5} <nil>
	// sha256:be5f1ce885c41d70c068a81970b44f7ec2ac60de83e9b1e154e7d1afab7a3571
}

func ExampleParse() {
	_, err := canon.Parse([]byte(`{"steps": 1, "Steps": 2}`))
	fmt.Println(err != nil)
	// Output:
	// true
}
