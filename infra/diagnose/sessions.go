package diagnose

import (
	"os"
	"path/filepath"
)

// HasStoreFile reports whether a folder holds a store: the file that names it exists. An empty
// folder is no store yet.
func HasStoreFile(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "store.json"))
	return err == nil
}

// HasSessions reports whether the folder of the sessions has an entry of any kind.
func HasSessions(dir string) bool {
	entries, err := os.ReadDir(filepath.Join(dir, "sessions"))
	return err == nil && len(entries) > 0
}
