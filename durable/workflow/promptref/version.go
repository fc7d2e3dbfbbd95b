package promptref

import (
	"cmp"
	"strings"
)

// CompareVersions orders versions as Semantic Versioning does: by their numbers, with a
// prerelease below its release. Build metadata (after +) is compared, as text, only between
// versions that are otherwise equal, which makes the order total: different versions are
// never equal.
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

// parts splits a version into its numbers and its prerelease, without build metadata.
func parts(version string) (core, prerelease string) {
	version, _, _ = strings.Cut(version, "+")
	core, prerelease, _ = strings.Cut(version, "-")
	return core, prerelease
}

// compareDotted compares dot-separated identifiers. If one list is a prefix of the other,
// the longer one is greater.
func compareDotted(a, b string) int {
	listA, listB := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(listA), len(listB)) {
		if c := compareIdentifiers(listA[i], listB[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(listA), len(listB))
}

// compareIdentifiers compares numbers by value and orders them below words. Numbers are
// compared as text without leading zeros, because they may exceed every integer type.
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

// digits reports whether s consists of ASCII digits only.
func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
