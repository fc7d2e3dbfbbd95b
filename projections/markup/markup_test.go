package markup_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/waybill/waybill/ports/porttest/pagetest"
	. "github.com/waybill/waybill/projections/markup"
)

func rendered(t testing.TB, nodes ...*Node) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, nodes...); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextsAreEscaped(t *testing.T) {
	for _, c := range []struct{ node, want string }{
		{rendered(t, Text(`<script>alert("1")</script>&'`+"`")),
			"&lt;script&gt;alert(&#34;1&#34;)&lt;/script&gt;&amp;&#39;&#96;"},
		{rendered(t, Text("a\x00b\u202ec\r\nd\re\tf")),
			`a<span class="u">U+0000</span>b<span class="u">U+202E</span>c` + "\nd" + `<span class="u">U+000D</span>e` + "\tf"},
		// Characters that only shape their neighbors are left out, unless there are more than writing needs.
		{rendered(t, Text("❤\ufe0f!")), "❤!"},
		{rendered(t, Text(strings.Repeat("\u200d", 4))), `<span class="u">U+200D</span>`},
		{rendered(t, Text("a\xffb")), "a\uFFFDb"},
		{rendered(t, E(P, Cls(`"><img onerror=x>`+"\n\u202e"))),
			`<p class="&#34;&gt;&lt;img onerror=x&gt;U+000AU+202E"></p>` + "\n"},
		// No element can be in one that has only text.
		{rendered(t, E(Title, Text("</title><script>\u202e"), E(Span, Text("x")))), "<title>&lt;/title&gt;&lt;script&gt;U+202E</title>\n"},
		{rendered(t, E(Br, Text("x"))), "<br>"},
		// An attribute is no content.
		{rendered(t, Cls("x"), Group{Text("a"), Nothing(), Text("b")}.Node()), "ab"},
		{rendered(t, Lazy(func(emit func(*Node)) { emit(Text("<")); emit(Text(">")) })), "&lt;&gt;"},
	} {
		if c.node != c.want {
			t.Errorf("got  %s\nwant %s", c.node, c.want)
		}
	}
}

func TestOnlySomeSchemesAreAddresses(t *testing.T) {
	for text, want := range map[string]bool{"https://example.org/a?b=c#d": true, "HTTP://example.org": true, "mailto:a@example.org": true,
		"javascript:alert(1)": false, "JaVaScRiPt:alert(1)": false, "java\tscript:alert(1)": false, " https://example.org": false,
		"data:text/html,x": false, "vbscript:x": false, "//example.org": false, "/a": false, "#a": false, "https://": false, "": false,
		"https://a\\b": false, "https://a\u202eb": false, "https://a\x00": false, "https://a\xff": false, "file:///etc/passwd": false} {
		to, ok := External(text)
		if ok != want {
			t.Errorf("%q: %v", text, ok)
		}
		if ok {
			pagetest.Read(t, []byte(rendered(t, Link(to, Text("x")))))
		}
	}
	for _, c := range []struct {
		to   URL
		want string
	}{{Anchor(`a"b c`), `#a%22b%20c`}, {File("../../x.html"), `./..%2F..%2Fx.html`}, {Place("runs", "a/b"), `/runs/a%2Fb`}, {Place(), `/`}} {
		if got := rendered(t, Link(c.to)); got != `<a href="`+c.want+`"></a>` {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

func TestADocumentAllowsItsStyleAlone(t *testing.T) {
	page := rendered(t, Document{Title: "</title><b>", Style: "p{color:red}", Body: []*Node{E(P, Text("x"))}}.Node())
	for _, want := range []string{"<!DOCTYPE html>\n<html lang=\"en\">", "<title>&lt;/title&gt;&lt;b&gt;</title>",
		"default-src &#39;none&#39;; style-src &#39;sha256-"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in %s", want, page)
		}
	}
	pagetest.Read(t, []byte(page))
	served := rendered(t, Document{ScriptFrom: Place("a.js"), Served: true}.Node())
	if strings.Contains(served, "Content-Security-Policy") || !strings.Contains(served, `<script src="/a.js" defer></script>`) {
		t.Error(served)
	}
	defer func() {
		if recover() == nil {
			t.Error("a style sheet that ends its element is written")
		}
	}()
	rendered(t, Document{Style: "</style>"}.Node())
}

func TestSizeIsAboutThatOfAPage(t *testing.T) {
	for _, text := range []string{"plain text", strings.Repeat(`<a href="x">&`, 50), strings.Repeat("\x00", 20), "größe"} {
		if got, is := Size(text), len(rendered(t, Text(text))); got < is*9/10 || got > is*12/10 {
			t.Errorf("%q: %d for %d bytes", text, got, is)
		}
	}
}

func TestNamesOfDataAttributesAreChecked(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a name with a quote is written")
		}
	}()
	Data(`x" onload="`, "")
}

// FuzzText: a text and a value of any bytes are read as themselves, or as code points.
func FuzzText(f *testing.F) {
	f.Add(`<script>alert(1)</script>`, `" onload="x`)
	f.Add("\u202e\x00]]>", "</style>")
	f.Fuzz(func(t *testing.T, text, value string) {
		page := rendered(t, E(P, Set(ID, value), Data("x", value), Text(text)), E(Title, Text(text)))
		read := pagetest.Read(t, []byte(page))
		for _, name := range read.Names() {
			if name != "html" && name != "head" && name != "body" && name != "p" && name != "span" && name != "title" {
				t.Fatalf("element %s in %s", name, page)
			}
		}
	})
}
