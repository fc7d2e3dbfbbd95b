package forms_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/redact/forms"
)

// TestServiceNames: the names of many services of the table begin the names of their variables, and other names do not.
func TestServiceNames(t *testing.T) {
	found := 0
	for _, row := range forms.Rows() {
		plain := strings.ToLower(row.Provider)
		if forms.Service(plain+"_key") && forms.Service("X-"+row.Provider+"-Key") {
			found++
		}
	}
	if found < 80 {
		t.Errorf("%d rows have the name of a service", found)
	}
	for _, name := range []string{"", "x", "key", "cacheKey", "my_key", "x-api-key", "APP_KEY"} {
		if forms.Service(name) {
			t.Errorf("%q begins with the name of a service", name)
		}
	}
}
