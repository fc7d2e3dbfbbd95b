package main

import (
	"os"
	"os/exec"
	"testing"
)

// TestUserNamespaceGivesNoAccount: a process without privileges can map its id to any other one in a
// user namespace of its own.
func TestUserNamespaceGivesNoAccount(t *testing.T) {
	t.Parallel()
	if os.Getenv("WAYBILL_TEST_UID") != "" {
		if got := uid(); got != -1 {
			t.Errorf("the account is %d", got)
		}
		return
	}
	if uid() != os.Getuid() {
		t.Skip("this process runs in a user namespace")
	}
	cmd := exec.Command("unshare", "--user", "--map-user=4711", os.Args[0], "-test.run=^TestUserNamespaceGivesNoAccount$",
		"-test.v")
	cmd.Env = append(os.Environ(), "WAYBILL_TEST_UID=4711")
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Skipf("no unshare: %v", err)
	}
	if err != nil {
		if exec.Command("unshare", "--user", "true").Run() != nil {
			t.Skip("user namespaces are not permitted")
		}
		t.Errorf("%v\n%s", err, out)
	}
}
