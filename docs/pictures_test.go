package docs

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"
)

// pictureBytesMax bounds each picture, and picturesBytesMax all of them: every clone of the repository has them.
const (
	pictureBytesMax  = 120_000
	picturesBytesMax = 400_000
)

// shownPicture matches a picture in Markdown: its text for people who do not see it, and its file.
var shownPicture = regexp.MustCompile(`!\[([^]]*)\]\(([^)\s]*)\)`)

// TestPictures: the README shows a terminal, the report and the console, the tour all pictures, each with a text for
// people who do not see it. Every picture is small, and shown somewhere. "make pictures" makes them.
func TestPictures(t *testing.T) {
	files, err := filepath.Glob("pictures/*")
	if err != nil {
		t.Fatal(err)
	}
	sum, shown := 0, map[string][]string{}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		sum += len(content)
		if len(content) > pictureBytesMax {
			t.Errorf("%s has %d bytes, more than %d", name, len(content), pictureBytesMax)
		}
		if size, err := png.DecodeConfig(bytes.NewReader(content)); err != nil || size.Width < 800 || size.Height < 400 {
			t.Errorf("%s is no picture that can be read: %d x %d, %v", name, size.Width, size.Height, err)
		}
	}
	if sum > picturesBytesMax {
		t.Errorf("the pictures have %d bytes, more than %d", sum, picturesBytesMax)
	}
	for _, page := range []string{"../README.md", "tour.md"} {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range shownPicture.FindAllStringSubmatch(string(text), -1) {
			name := filepath.ToSlash(filepath.Join(filepath.Dir(page), p[2]))
			shown[page] = append(shown[page], filepath.Base(name))
			if filepath.Dir(name) != "pictures" && filepath.Dir(name) != "../docs/pictures" || !slices.Contains(files, "pictures/"+filepath.Base(name)) {
				t.Errorf("%s shows %s, which is not in docs/pictures", page, p[2])
			}
			if n := utf8.RuneCountInString(p[1]); n < 20 || n > 150 {
				t.Errorf("%s: the text of %s has %d characters, want 20 to 150", page, p[2], n)
			}
		}
	}
	for _, name := range []string{"terminal.png", "report.png", "console.png"} {
		if !slices.Contains(shown["../README.md"], name) {
			t.Errorf("README.md does not show %s", name)
		}
	}
	for _, name := range files {
		if !slices.Contains(shown["tour.md"], filepath.Base(name)) {
			t.Errorf("docs/tour.md does not show %s", name)
		}
	}
}
