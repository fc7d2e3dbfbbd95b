package bundle_test

import (
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/fault"
)

// FuzzOpen: any bytes give a BUNDLE_* fault or are strict JSON of which every value can be
// read.
func FuzzOpen(f *testing.F) {
	f.Add(small(f).write(f, envelope()))
	f.Add(content{}.write(f, envelope()))
	f.Add(small(f).parts().join(f))
	f.Add([]byte(`{"bundleSchemaVersion":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := open(data)
		if err != nil {
			if code := fault.CodeOf(err); len(code) < 7 || code[:7] != "BUNDLE_" {
				t.Fatal(err)
			}
			return
		}
		if _, err := canon.Parse(data); err != nil {
			t.Fatalf("accepted, and not strict JSON: %v", err)
		}
		read(t, b)
	})
}
