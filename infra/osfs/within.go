package osfs

import (
	"path/filepath"
	"strings"
)

// Within reports that a path is dir or below it. Both are absolute and have no links.
func Within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
