package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// buildTags are the tags in the Makefile, with which the released program is built.
var buildTags = regexp.MustCompile(`(?m)^TAGS +:= (\S+)$`)

// TestEachBuildHasTheTagsOfTheMakefile checks the other files that build the released program.
func TestEachBuildHasTheTagsOfTheMakefile(t *testing.T) {
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(file)))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	makefile := read("Makefile")
	tags := buildTags.FindStringSubmatch(makefile)
	if tags == nil {
		t.Fatal("the Makefile has no line TAGS")
	}
	builds := strings.Count(makefile, "$(GO) build ")
	if with := strings.Count(makefile, "$(GO) build -trimpath -tags '$(TAGS)' "); with != builds {
		t.Errorf("%d of %d builds of the Makefile have the tags", with, builds)
	}
	for file, form := range map[string]string{".goreleaser.yaml": "tags: [" + tags[1] + "]",
		".github/packaging/waybill.rb": `tags: "` + tags[1] + `"`, "testdata/bench/process.go": `"-tags", "` + tags[1] + `"`} {
		if !strings.Contains(read(file), form) {
			t.Errorf("%s lacks %s", file, form)
		}
	}
}
