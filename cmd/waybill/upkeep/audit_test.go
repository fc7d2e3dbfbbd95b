package upkeep

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/log/audit"
)

// TestHelpNamesEveryAction: the help of the audit log is written by hand.
func TestHelpNamesEveryAction(t *testing.T) {
	for _, action := range audit.Actions() {
		if !strings.Contains(auditListLong, string(action)) {
			t.Errorf("the help of 'audit list' does not name %s", action)
		}
	}
}
