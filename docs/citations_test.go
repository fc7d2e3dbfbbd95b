package docs

import (
	"fmt"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A citation names a page below docs/, perhaps with an anchor: "docs/design.md#ids". In
// Markdown it is also a relative link.
var (
	citedPage = regexp.MustCompile(`\bdocs/[A-Za-z0-9_./-]*[A-Za-z0-9_-]\.md(?:#[A-Za-z0-9_-]+)?`)
	citedDir  = regexp.MustCompile(`\bdocs/decisions/[0-9]{4}[a-z0-9-]*\b`)
	pageLink  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pageID    = regexp.MustCompile(`<a (?:id|name)="([^"]+)">`)
	heading   = regexp.MustCompile(`^(#{1,6})\s+(.*?)\s*#*$`)
	slugDrop  = regexp.MustCompile(`[^\p{L}\p{N}\p{M}\p{Pc} -]`)
	linkText  = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
)

// outdated are citations of documents that are not in the repository, by expression and
// what to write instead. What a regular expression of these finds in a comment or a page
// is an error.
var outdated = []struct{ words, instead string }{
	{`\bR[0-9]{1,2}\b`, "cite an anchor of docs/design.md"},
	{`\b[Ll]ocks section\b|\b[Ll]ocks,? (?:appendix|[0-9])|\([Ll]ocks\b`, "cite an anchor of docs/design.md"},
	{`\b[Tt]he locks(?:'|\b)`, "write what the rule is, and cite an anchor of docs/design.md"},
	{`\b[Dd]esign section\b`, "cite an anchor of docs/design.md"},
}

// samplePaths are files whose texts name pages of other projects, as examples.
var samplePaths = map[string]bool{"durable/workflow/contract/packs_handoff.go": true}

// lockOwners are the packages that speak of file locks.
var lockOwners = []string{"infra/filestore/", "infra/lock/", "infra/osfs/"}

// textFiles reads the files of the tree that can cite a page, by their path from the
// repository's root. Test data of other kinds is left out: its paths are samples.
func textFiles(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel("..", name)
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if d.Name() == "node_modules" || slices.Contains([]string{".git", "bin", "dist", "testdata/workflows", "testdata/stores",
				"testdata/foreign", "testdata/broken"}, rel) {
				return filepath.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".md", ".yaml", ".yml", ".sh", ".py"}, path.Ext(rel)) && rel != "Makefile" {
			return nil
		}
		if strings.Contains(rel, "/testdata/") || !d.Type().IsRegular() {
			return nil
		}
		text, err := os.ReadFile(name)
		out[rel] = string(text)
		return err
	})
	if err != nil || len(out) < 200 {
		t.Fatalf("%d files, %v", len(out), err)
	}
	return out
}

// slugs lists the anchors of a Markdown page: GitHub's slug of each heading, numbered
// where one repeats, and explicit ids.
func slugs(page string) map[string]bool {
	out, seen := map[string]bool{}, map[string]int{}
	fenced := false
	for line := range strings.SplitSeq(page, "\n") {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for _, m := range pageID.FindAllStringSubmatch(line, -1) {
			out[m[1]] = true
		}
		if m := heading.FindStringSubmatch(line); m != nil {
			s := slug(m[2])
			if n := seen[s]; n > 0 {
				out[fmt.Sprintf("%s-%d", s, n)] = true
			} else {
				out[s] = true
			}
			seen[s]++
		}
	}
	return out
}

// slug is the anchor that GitHub gives to a heading.
func slug(text string) string {
	text = linkText.ReplaceAllString(text, "$1")
	return strings.ReplaceAll(slugDrop.ReplaceAllString(strings.ToLower(text), ""), " ", "-")
}

// badCitations reports the citations of one file that lead nowhere. pages holds the
// Markdown pages of the tree; exists reports any other path.
func badCitations(file, text string, pages map[string]string, exists func(string) bool) (out []string) {
	check := func(line int, cited, target string) {
		name, anchor, _ := strings.Cut(target, "#")
		name = path.Clean(name)
		page, ok := pages[name]
		switch {
		case !ok && !exists(name):
			out = append(out, fmt.Sprintf("%s:%d: %s: %s does not exist", file, line, cited, name))
		case anchor != "" && !slugs(page)[anchor]:
			out = append(out, fmt.Sprintf("%s:%d: %s: %s has no heading with the anchor #%s", file, line, cited, name,
				anchor))
		}
	}
	fenced := false
	for n, line := range strings.Split(text, "\n") {
		for _, cited := range append(citedPage.FindAllString(line, -1), citedDir.FindAllString(line, -1)...) {
			if strings.HasPrefix(cited, "docs/decisions/") && !strings.Contains(cited, ".md") {
				if strings.Contains(line, cited+".md") {
					continue // found as a page as well
				}
				cited += ".md"
			}
			check(n+1, cited, cited)
		}
		if path.Ext(file) != ".md" {
			continue
		}
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		for _, m := range pageLink.FindAllStringSubmatch(line, -1) {
			if fenced || strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			target := m[1]
			if strings.HasPrefix(target, "#") {
				target = path.Base(file) + target
			}
			check(n+1, m[1], path.Join(path.Dir(file), target))
		}
	}
	return out
}

// outdatedCitations reports citations of documents that are not in the repository: in the
// comments of a Go file, and anywhere in a page.
func outdatedCitations(file, text string) (out []string) {
	locks := slices.ContainsFunc(lockOwners, func(dir string) bool { return strings.HasPrefix(file, dir) })
	each := func(first int, part string) {
		for n, line := range strings.Split(part, "\n") {
			for _, o := range outdated {
				if locks && strings.Contains(o.words, "[Tt]he locks") {
					continue
				}
				if found := regexp.MustCompile(o.words).FindString(line); found != "" {
					out = append(out, fmt.Sprintf("%s:%d: %q cites what a reader cannot open; %s", file, first+n, found,
						o.instead))
				}
			}
		}
	}
	if path.Ext(file) != ".go" {
		each(1, text)
		return out
	}
	fset := token.NewFileSet()
	f := fset.AddFile(file, -1, len(text))
	var s scanner.Scanner
	s.Init(f, []byte(text), nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return out
		}
		if tok == token.COMMENT {
			each(f.Line(pos), lit)
		}
	}
}

// TestCitationsResolve: every page and anchor that a comment, a page or a script names
// exists.
func TestCitationsResolve(t *testing.T) {
	files := textFiles(t)
	pages, cited := map[string]string{}, 0
	for name, text := range files {
		if path.Ext(name) == ".md" {
			pages[name] = text
		}
	}
	exists := func(name string) bool {
		_, err := os.Stat(filepath.Join("..", filepath.FromSlash(name)))
		return err == nil
	}
	for name, text := range files {
		if name == "docs/citations_test.go" || samplePaths[name] {
			continue
		}
		cited += len(citedPage.FindAllString(text, -1))
		for _, bad := range badCitations(name, text, pages, exists) {
			t.Error(bad)
		}
	}
	if cited < 50 {
		t.Errorf("only %d citations were found", cited)
	}
}

// TestCitationsAreInTheRepository: no comment and no page cites a document that is not
// here.
func TestCitationsAreInTheRepository(t *testing.T) {
	for name, text := range textFiles(t) {
		if ext := path.Ext(name); name == "docs/citations_test.go" || ext != ".go" && ext != ".md" {
			continue
		}
		for _, bad := range outdatedCitations(name, text) {
			t.Error(bad)
		}
	}
}

// TestCitationChecksCanFail tries both checks on texts with and without mistakes.
func TestCitationChecksCanFail(t *testing.T) {
	pages := map[string]string{"docs/design.md": "# Design\n\n## Commit protocol\n\n### `a`: b, (c)\n```\n" +
		"## Not this\n```\n" +
		"## Twice\n## Twice\n<a id=\"old-name\"></a>\n", "docs/a/b.md": "# B\n[x](../design.md#twice-1)"}
	exists := func(name string) bool { return name == "LICENSE" }
	for text, bad := range map[string]int{
		"// see docs/design.md#commit-protocol":            0,
		"// see docs/design.md.":                           0,
		"(docs/design.md#a-b-c)":                           0,
		"// docs/design.md#twice-1, docs/design.md#twice":  0,
		"// docs/design.md#old-name":                       0,
		"// see docs/design.md#commit":                     1,
		"// see docs/design.md#not-this":                   1,
		"// see docs/nowhere.md":                           1,
		"// docs/design.md#twice-2 and docs/b.md, LICENSE": 2,
		"// docs/decisions/0099-nothing":                   1,
	} {
		if got := badCitations("x/y.go", text, pages, exists); len(got) != bad {
			t.Errorf("%q: %d are reported: want %d: %v", text, len(got), bad, got)
		}
	}
	for text, bad := range map[string]int{
		"[x](../design.md#twice) [y](b.md#b) [z](#b) [l](../../LICENSE) [w](https://x.org/y.md#z)": 0,
		"[x](../design.md#thrice) [y](c.md) [z](#c)":                                               3,
		"```\n[x](nothing.md)\n```":                                                                0,
	} {
		pages["docs/a/b.md"] = "# B\n" + text
		if got := badCitations("docs/a/b.md", text, pages, exists); len(got) != bad {
			t.Errorf("%q: %d are reported: want %d: %v", text, len(got), bad, got)
		}
	}
	for text, bad := range map[string]int{
		"package x\n\n// It follows from R6.\nvar a = \"R7\"\n":                    1,
		"package x\n\n// (locks section 1; R23)\n// as the locks want\n":           3,
		"package x\n\n// a (locks 2.1) and the locks' strings, design section 6\n": 3,
		"package x\n\n// RFC 8785, RGB, R2D2, locks are held; unlocks section\n":   0,
	} {
		if got := outdatedCitations("x/y.go", text); len(got) != bad {
			t.Errorf("%q: %d are reported: want %d: %v", text, len(got), bad, got)
		}
	}
	if got := outdatedCitations("infra/lock/x.go", "package x\n\n// Release returns the locks. See R6.\n"); len(
		got) != 1 {
		t.Errorf("in a package of file locks: %v", got)
	}
}
