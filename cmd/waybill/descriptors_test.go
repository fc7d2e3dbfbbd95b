//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/waybill/waybill/ports/porttest/sample"
)

// TestFewFileDescriptors: with any number of file descriptors a command answers as with many, or
// with STORE_IO. The lack of one is never taken for damage or for something that does not exist.
func TestFewFileDescriptors(t *testing.T) {
	t.Parallel()
	p := program{t, t.TempDir(), ""}
	p.store = filepath.Join(p.dir, "good")
	p.writeFile("w.yaml", shipFlow)
	p.writeFile("a.json", `{"a":"one"}`)
	for range 2 {
		p.runPiped(0, "start", "w.yaml")
		p.runPiped(3, "continue", "--run", "@last", "--artifact", "a.json", "--notes", "n")
	}
	p.runPiped(0, "export", "@last", "-o", "b.json")
	p.runPiped(0, "start", "w.yaml")
	limited := func(t *testing.T, limit int, line string) (data any, code string, status int) {
		c := program{t, p.dir, filepath.Join(t.TempDir(), "store")}
		if err := os.CopyFS(c.store, os.DirFS(p.store)); err != nil {
			t.Fatal(err)
		}
		restrictModes(t, c.store)
		line = strings.ReplaceAll(line, "OUT", filepath.Join(t.TempDir(), "out"))
		cmd := exec.Command("sh", "-c", fmt.Sprintf(`ulimit -n %d; exec waybill --json --store "%s" %s`, limit, c.store,
			line))
		cmd.Dir = p.dir
		out, err := cmd.Output()
		var document struct {
			Data  any
			Error struct{ Code string }
		}
		if json.Unmarshal(out, &document) != nil {
			t.Errorf("%d: no document: %v: %s", limit, err, out)
		}
		return document.Data, document.Error.Code, cmd.ProcessState.ExitCode()
	}
	const lowest, highest = 8, 24
	// What differs between two calls is compared by its exit status alone.
	for line, same := range map[string]bool{"verify": true, "verify --digests": true, "verify @last": true,
		"runs list": true, "runs show @last": true, "sessions list": true, "du": false, "gc": true, "gc --apply": true,
		"doctor": false, "doctor --full": false, "resume": false, "export @last -o OUT": false, "import b.json": false,
		"start w.yaml": false, "continue --run @last --notes n": false} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			want, code, status := limited(t, 256, line)
			if code != "" {
				t.Fatal(code)
			}
			refused, tried := 0, 0
			cases := sample.OneIn(t, 3)
			for limit := lowest; limit <= highest; limit++ {
				if !cases.Try() && limit != highest { // the lowest is the first of the sample
					continue
				}
				tried++
				got, code, is := limited(t, limit, line)
				switch {
				case code == "STORE_IO" && is == 1:
					refused++
				case code != "" || is != status || same && !reflect.DeepEqual(got, want):
					t.Errorf("%d: exit status %d, %s: %.400v", limit, is, code, got)
				}
			}
			if refused == 0 || refused == tried {
				t.Errorf("%d of %d limits are too low", refused, tried)
			}
		})
	}
}
