package markdown_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/waybill/waybill/ports/porttest/pagetest"
	"github.com/waybill/waybill/projections/markdown"
	"github.com/waybill/waybill/projections/markup"
)

func rendered(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := markup.Render(&b, markdown.Render(text)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMarkdown(t *testing.T) {
	const away = ` rel="noopener noreferrer nofollow">`
	for text, want := range map[string]string{
		"one\ntwo\n\nthree":                   "<p>one\ntwo</p><p>three</p>",
		"# A\n## B ##\n#no":                   "<h5>A</h5><h6>B</h6><p>#no</p>",
		"## Only\n### Sub":                    "<h5>Only</h5><h6>Sub</h6>",
		"a *b* **c** ***d*** ~~e~~ _f_ __g__": "<p>a <em>b</em> <strong>c</strong> <strong><em>d</em></strong> <del>e</del> <em>f</em> <strong>g</strong></p>",
		"snake_case_name * 2 * 3 ** x":        "<p>snake_case_name * 2 * 3 ** x</p>",
		"**a *b* c**":                         "<p><strong>a <em>b</em> c</strong></p>",
		"`a<b>` ``x`y`` `open":                "<p><code>a&lt;b&gt;</code> <code>x&#96;y</code> &#96;open</p>",
		"*a `*` b*":                           "<p><em>a <code>*</code> b</em></p>",
		"\\*a\\* \\<b":                        "<p>*a* &lt;b</p>",
		"a  \nb\\\nc":                         "<p>a  <br>b<br>c</p>",
		"- a\n- b\n  c\n\n  d\n* e":           "<ul><li>a</li><li><p>b\nc</p><p>d</p></li></ul><ul><li>e</li></ul>",
		"1. a\n2. b":                          "<ol><li>a</li><li>b</li></ol>",
		"3) a":                                `<ol start="3"><li>a</li></ol>`,
		"- a\n  - b\n    - c":                 "<ul><li><p>a</p><ul><li><p>b</p><ul><li>c</li></ul></li></ul></li></ul>",
		"- [ ] a\n- [x] b":                    "<ul><li>☐ a</li><li>☑ b</li></ul>",
		"text\n- a":                           "<p>text</p><ul><li>a</li></ul>",
		"in 2026. b\n7. c":                    "<p>in 2026. b\n7. c</p>",
		"> a\n> > b\n\nc":                     "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote><p>c</p>",
		"```go\na <b>\n  c\n```\nd":           `<pre tabindex="0"><code>a &lt;b&gt;` + "\n  c</code></pre><p>d</p>",
		"~~~\n```\n~~~":                       `<pre tabindex="0"><code>&#96;&#96;&#96;</code></pre>`,
		"```\nopen":                           `<pre tabindex="0"><code>open</code></pre>`,
		"a\n\n    code\n\n    more\n\nb":      `<p>a</p><pre tabindex="0"><code>code` + "\n\nmore</code></pre><p>b</p>",
		"a\n\n---\n***\nb":                    "<p>a</p><hr><hr><p>b</p>",
		"| a | b |\n|---|:-:|\n| 1 \\| 2 | `x|y` |\n| 3": `<div class="scroll" tabindex="0"><table><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead>` +
			`<tbody><tr><td>1 | 2</td><td><code>x|y</code></td></tr><tr><td>3</td></tr></tbody></table></div>`,
		"a | b\nno table":                                          "<p>a | b\nno table</p>",
		"[a *b*](https://x.org/p_(q) \"t\")":                       `<p><a href="https://x.org/p_(q)"` + away + `a <em>b</em></a></p>`,
		"[a](javascript:alert(1)) [b](data:x) [c](/d)":             "<p>[a](javascript:alert(1)) [b](data:x) [c](/d)</p>",
		"[a][r] [r]\n\n[r]: javascript:x":                          "<p>[a][r] [r]</p><p>[r]: javascript:x</p>",
		"![alt](https://x.org/i.png) ![](https://x.org/j) ![a](x)": `<p><a href="https://x.org/i.png"` + away + `image: alt</a> <a href="https://x.org/j"` + away + `image: https://x.org/j</a> ![a](x)</p>`,
		"<https://x.org> <javascript:x> <b>":                       `<p><a href="https://x.org"` + away + `https://x.org</a> &lt;javascript:x&gt; &lt;b&gt;</p>`,
		"see https://x.org/a_b_c. (https://y.org)":                 `<p>see <a href="https://x.org/a_b_c"` + away + `https://x.org/a_b_c</a>. (<a href="https://y.org"` + away + `https://y.org</a>)</p>`,
		"[https://x.org](https://y.org)":                           `<p><a href="https://y.org"` + away + `https://x.org</a></p>`,
		"[[a](https://x.org)](https://y.org)":                      `<p><a href="https://y.org"` + away + `[a](https://x.org)</a></p>`,
		"&lt;b&gt; &amp;":                                          "<p>&amp;lt;b&amp;gt; &amp;amp;</p>",
		"<div>\n<script>x</script>\n</div>":                        "<p>&lt;div&gt;\n&lt;script&gt;x&lt;/script&gt;\n&lt;/div&gt;</p>",
		"":                                                         "",
	} {
		got := rendered(t, text)
		for _, tag := range []string{"p", "h5", "h6", "ul", "ol", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td", "div"} {
			got = strings.ReplaceAll(got, "</"+tag+">\n", "</"+tag+">")
		}
		if got != want {
			t.Errorf("%q\ngot  %s\nwant %s", text, got, want)
		}
	}
}

// hostile are texts that take a long time where a search is repeated, or that nest deeply.
func hostile(n int) map[string]string {
	return map[string]string{"quotes": strings.Repeat(">", n), "brackets": strings.Repeat("[", n), "emphasis": strings.Repeat("*a_ ", n/4),
		"strong": strings.Repeat("**a ", n/4), "nested": strings.Repeat("*a **b ", n/7), "lists": strings.Repeat("- ", n/2),
		"links": strings.Repeat("[](", n/3), "code": strings.Repeat("`a``b```c", n/9), "angles": strings.Repeat("<https:", n/7),
		"cells": "|" + strings.Repeat("a|", n/2) + "\n|" + strings.Repeat("-|", n/2), "lines": strings.Repeat("- a\n", n/4),
		"deeper": func() string {
			var b strings.Builder
			for i := 0; b.Len() < n; i++ {
				b.WriteString(strings.Repeat(" ", 2*(i%200)) + "- a\n")
			}
			return b.String()
		}(), "quoted": strings.Repeat("> - > - a\n", n/10), "numbers": strings.Repeat("1. 1. a\n", n/8), "escapes": strings.Repeat("\\", n)}
}

// TestHostileTextsStaySmall: no text becomes a much larger page, or a deep one.
func TestHostileTextsStaySmall(t *testing.T) {
	for name, text := range hostile(20_000) {
		page := rendered(t, text)
		if len(page) > 20*len(text) {
			t.Errorf("%s: %d bytes from %d", name, len(page), len(text))
		}
		depth, deepest := 0, 0
		for i := range len(page) - 1 {
			switch {
			case page[i] == '<' && page[i+1] == '/':
				depth--
			case page[i] == '<' && !strings.HasPrefix(page[i:], "<br") && !strings.HasPrefix(page[i:], "<hr"):
				depth++
			}
			deepest = max(deepest, depth)
		}
		if deepest > 40 {
			t.Errorf("%s: %d elements in each other", name, deepest)
		}
	}
}

// BenchmarkHostile shows that the time is proportional to the length: compare the two sizes.
func BenchmarkHostile(b *testing.B) {
	for _, n := range []int{16 << 10, 64 << 10} {
		for name, text := range hostile(n) {
			b.Run(name, func(b *testing.B) {
				for range b.N {
					rendered(b, text)
				}
			})
		}
	}
}

// FuzzMarkdown: no text makes an element or an address that is not in the lists of package pagetest.
func FuzzMarkdown(f *testing.F) {
	for _, text := range hostile(200) {
		f.Add(text)
	}
	f.Add("[a](javascript:x) <img src=x onerror=y> ![b](data:c) [d]: vbscript:e\n\x00\u202e")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 64<<10 {
			t.Skip()
		}
		page := rendered(t, text)
		pagetest.Read(t, []byte(page))
	})
}
