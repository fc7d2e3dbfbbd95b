package page

import (
	"strings"
)

// ShortID is as much of an id as people are shown.
func ShortID[T interface{ String() string }](name T) string {
	_, rest, _ := strings.Cut(name.String(), "_")
	return rest[:min(len(rest), ShortRunLen)]
}
