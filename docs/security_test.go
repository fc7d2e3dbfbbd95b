package docs

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestMutantsAreValid checks that every mutant applies to the source, and names a promise of
// SECURITY.md and a test that exists. 'make mutants' runs the tests against them.
func TestMutantsAreValid(t *testing.T) {
	cmd := exec.Command("go", "run", "./testdata/mutants", "-check")
	cmd.Dir = ".."
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n := strings.Count(string(out), "is valid"); n < 25 {
		t.Errorf("%d mutants are valid, expected at least 25", n)
	}
}

// TestPromisesHaveTests checks that every promise of SECURITY.md names tests that exist.
func TestPromisesHaveTests(t *testing.T) {
	page, err := os.ReadFile("../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	promised, _, _ := strings.Cut(string(page), "## What is not promised")
	_, promised, found := strings.Cut(promised, "## What is promised")
	if !found {
		t.Fatal("SECURITY.md has no section \"What is promised\"")
	}
	rows := regexp.MustCompile("(?m)^\\| (.+) \\| (`.+`) \\|$").FindAllStringSubmatch(promised, -1)
	for _, r := range rows {
		pkg, tests := "", 0
		for _, word := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(r[2], -1) {
			if !strings.HasPrefix(word[1], "Test") {
				pkg = word[1]
				continue
			}
			tests++
			if !hasTest(t, pkg, word[1]) {
				t.Errorf("%s: %s has no %s", r[1], pkg, word[1])
			}
		}
		if tests == 0 {
			t.Errorf("%s: no test is named", r[1])
		}
	}
	if len(rows) < 25 {
		t.Errorf("%d promises name a test, expected at least 25", len(rows))
	}
}

// hasTest reports whether a package of the repository has a test.
func hasTest(t *testing.T, pkg, name string) bool {
	t.Helper()
	entries, err := os.ReadDir("../" + pkg)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		text, err := os.ReadFile("../" + pkg + "/" + e.Name())
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "func "+name+"(") {
			return true
		}
	}
	return false
}

// networkPackages are the packages that may import package net: the servers on loopback addresses, a client and a proxy that only
// tests use, and the connections to the database of a store that a URL names.
var networkPackages = []string{"infra/loopback", "infra/consoleserver", "infra/httpserver", "infra/httpserver/clienttest",
	"infra/pgstore/db", "ports/porttest/pgtest"}

// TestNoPackageOpensNetworkConnections checks that no other package of the program imports a package
// that opens network connections, and that the program does not link the client. Libraries that can do so are linked and
// not called.
func TestNoPackageOpensNetworkConnections(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.ImportPath}}: {{join .Imports \" \"}}", "../...").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	packages := 0
	for line := range strings.Lines(string(out)) {
		pkg, imports, _ := strings.Cut(strings.TrimSpace(line), ": ")
		packages++
		if slices.Contains(networkPackages, strings.TrimPrefix(pkg, module)) {
			continue
		}
		for _, i := range strings.Fields(imports) {
			if i == module+"infra/httpserver/clienttest" {
				t.Errorf("%s imports the client for tests", pkg)
			}
			if i == module+"ports/porttest/pgtest" && pkg != module+"testdata/torture" {
				t.Errorf("%s imports the servers of tests", pkg)
			}
			if i == "net" || strings.HasPrefix(i, "net/") && i != "net/url" && i != "net/netip" {
				t.Errorf("%s imports %s", pkg, i)
			}
		}
	}
	if packages < 60 {
		t.Errorf("%d packages were listed", packages)
	}
}
