package promptref

import (
	"cmp"
	"strings"
)

// CompareVersions orders versions as Semantic Versioning does: by their numbers, a
// prerelease below its release. What follows a + counts only between versions that are
// otherwise equal, so that the order never depends on who comes first.
func CompareVersions(a, b string) int {
	coreA, preA := parts(a)
	coreB, preB := parts(b)
	if c := compareDotted(coreA, coreB); c != 0 {
		return c
	}
	switch {
	case preA == "" && preB != "":
		return 1
	case preA != "" && preB == "":
		return -1
	}
	return cmp.Or(compareDotted(preA, preB), cmp.Compare(a, b))
}

// parts are the numbers of a version and its prerelease.
func parts(version string) (core, prerelease string) {
	version, _, _ = strings.Cut(version, "+")
	core, prerelease, _ = strings.Cut(version, "-")
	return core, prerelease
}

// compareDotted goes over identifiers between dots; of two that begin alike the
// longer one is newer.
func compareDotted(a, b string) int {
	listA, listB := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(listA), len(listB)) {
		if c := compareIdentifiers(listA[i], listB[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(listA), len(listB))
}

// compareIdentifiers: numbers by their value, below words. A number may have more
// digits than any integer type holds.
func compareIdentifiers(a, b string) int {
	numA, numB := digits(a), digits(b)
	switch {
	case numA && numB:
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	case numA:
		return -1
	case numB:
		return 1
	}
	return cmp.Compare(a, b)
}

// digits reports a number.
func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
