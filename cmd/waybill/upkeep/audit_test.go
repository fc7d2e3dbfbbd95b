package upkeep

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/log/audit"
)

// TestHelpListsEveryAction checks that no action is missing in the help of 'audit list'.
func TestHelpListsEveryAction(t *testing.T) {
	for _, action := range audit.Actions() {
		if !strings.Contains(auditListLong(), string(action)) {
			t.Errorf("the help of 'audit list' does not list %s", action)
		}
	}
}
