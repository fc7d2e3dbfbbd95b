package redact

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/redact/forms"
)

var update = flag.Bool("update", false, "write docs/redaction.md")

const pagePath = "../../docs/redaction.md"

// TestPageIsCurrent compares docs/redaction.md with the table of tokens; with -update it is written.
func TestPageIsCurrent(t *testing.T) {
	want := page()
	if *update {
		if err := os.WriteFile(pagePath, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(pagePath)
	if err != nil || string(got) != want {
		t.Errorf("docs/redaction.md is not current (%v); run: go test ./durable/redact -run Page -update", err)
	}
}

// TestTableNotation: the parts of each row are written in the notation, and only the last one has no
// bound, so that a failed match has read a bounded number of bytes.
func TestTableNotation(t *testing.T) {
	for _, row := range forms.Rows() {
		for _, prefix := range strings.Fields(row.Prefix) {
			if len(prefix) < 2 {
				t.Errorf("%s: the prefix %q has one byte", row.ID, prefix)
			}
		}
		parts := forms.Parts(row.Parts)
		for i, p := range append(forms.Parts(row.Before), parts...) {
			bounded := p.In == nil || p.Most > 0
			last := i == len(forms.Parts(row.Before))+len(parts)-1 && len(parts) > 0
			if !bounded && (!last || row.Strict) || p.In == nil && p.Text == "" || p.Most > 0 && p.Most < p.Least {
				t.Errorf("%s: part %d is %+v", row.ID, i, p)
			}
		}
	}
}

// page returns docs/redaction.md.
func page() string {
	var b strings.Builder
	b.WriteString(pageHead)
	b.WriteString("| rule | provider | form | source |\n| --- | --- | --- | --- |\n")
	for _, row := range forms.Rows() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | [documentation](%s) |\n", ruleOf(row), row.Provider, formWords(row), row.Source)
	}
	b.WriteString("\nThe words of the forms:\n\n| word | bytes |\n| --- | --- |\n")
	for _, a := range forms.Alphabets {
		fmt.Fprintf(&b, "| %s | %s |\n", a.Word, a.Meaning)
	}
	b.WriteString(pageEnd)
	return b.String()
}

// formWords describes the form of a row.
func formWords(t forms.Row) string {
	var parts []string
	for _, p := range forms.Parts(t.Before) {
		parts = append(parts, partWords(p))
	}
	var prefixes []string
	for _, prefix := range strings.Fields(t.Prefix) {
		prefixes = append(prefixes, "`"+prefix+"`")
	}
	parts = append(parts, strings.Join(prefixes, " or "))
	for _, p := range forms.Parts(t.Parts) {
		parts = append(parts, partWords(p))
	}
	words := strings.Join(parts, ", ")
	switch t.Look {
	case forms.Key:
		words += "; a key, not words"
	case forms.Digits:
		words += "; with digits"
	case forms.Cased:
		words += "; with capitals and small letters"
	case forms.Mixed:
		words += "; with digits, capitals and small letters"
	case forms.Random:
		words += "; with digits, or capitals among small letters"
	}
	if t.Full > 0 {
		words += fmt.Sprintf("; documented length %d", t.Full)
	}
	if t.Strict {
		words += "; no path or name around it"
	}
	return words
}

// words describes a part.
func partWords(p forms.Part) string {
	switch {
	case p.In == nil:
		return "`" + p.Text + "`"
	case p.Most == p.Least:
		return fmt.Sprintf("%d %s", p.Least, p.Word)
	case p.Most == 0:
		return fmt.Sprintf("%d or more %s", p.Least, p.Word)
	}
	return fmt.Sprintf("%d to %d %s", p.Least, p.Most, p.Word)
}

const pageHead = `# Redaction

Generated from the table in ` + "`durable/redact`" + `: ` + "`go test ./durable/redact -run Page -update`" + `.

Annotations, reasons, rationales, audit details, diagnostics, answers and ` + "`export --redact`" + ` pass through one function before
bytes are written. It replaces secrets by ` + "`[REDACTED:<rule>]`" + `, where the rule is a word of the tables below. Equal texts give
equal results, and redacting twice equals redacting once. It may miss secrets; see [what is left alone](#what-is-left-alone).

## How texts are read

* Secrets are recognized in a copy of the text without what a reader does not see: control sequences of terminals such as colors,
  zero-width and other invisible characters, and the same written as escapes (` + "`\\u001b[0m`" + `, ` + "`\\u200b`" + `).
* Unicode escapes of letters, digits and common signs are read (` + "`\\u002d`" + ` is a hyphen).
* A token may continue behind one line break, with indentation, marks of a quotation, a backslash, or a quote that closes and one
  that opens; long tokens over several lines. The next line belongs to it where the form says so, or where it looks like a part of
  a key. A word of a sentence, a name with an equals sign, and another token do not belong to it.
* Texts are percent-decoded once. Base64 in both alphabets, with or without padding and also over lines, is decoded once: where it
  hides a token, a private key, or a file of settings with a secret, all of it is replaced.
* What is replaced is the part of the original text, with the colors and invisible characters inside the secret.
* Each byte is read a bounded number of times, in any text.

## Structures

| rule | what is replaced |
| --- | --- |
| ` + "`jwt`" + ` | three parts of base64url, of which the first starts with ` + "`{\"`" + ` |
| ` + "`private_key`" + ` | a PEM, OpenSSH, SSH2 or PGP block of a private key; the private lines and the MAC of a PuTTY key |
| ` + "`bearer`" + `, ` + "`basic`" + ` | the credential behind the words; base64 of user:password in the settings of container and package tools |
| ` + "`url_password`" + ` | the password of scheme://user:password@host |
| ` + "`named_secret`" + ` | the value of a name such as ` + "`password`" + `, ` + "`apiToken`" + `, ` + "`DB_PASSWORD`" + ` or ` + "`_authToken`" + `, in JSON, YAML, settings, code, XML, SQL, URLs, headers, connection strings and command lines |
| ` + "`named_secret`" + ` | Authorization headers of any scheme, with the response of Digest and the signatures of signed requests |
| ` + "`named_secret`" + ` | the values of cookies; their attributes stay |
| ` + "`named_secret`" + ` | passwords in netrc and pgpass files, keys of cluster settings, passwords in settings of file transfer programs |
| ` + "`named_secret`" + ` | signatures and tokens in signed URLs; ` + "`key=`" + ` and ` + "`sig=`" + ` only as parameters of a URL, with a value like a key |
| ` + "`named_secret`" + ` | sentences such as "the password is …", where the value is quoted, looks like no word, or ends the sentence |

In documents, all texts and numbers below a secret name are replaced, at any depth. In a JSON Schema, the names of properties
are not names of secrets: only ` + "`default`" + `, ` + "`const`" + ` and ` + "`example`" + ` of a property with such a name are replaced.

## Tokens

A row that existed before the table has a rule of several rows, such as ` + "`secret_key`" + `; the rule of any other row is its own.

`

const pageEnd = `
## What is left alone

* Wallet seed phrases, private keys written as ` + "`0x`" + ` and digits, and card numbers.
* Password hashes, such as those of bcrypt, crypt and a line of ` + "`/etc/shadow`" + `.
* Tokens without a form, such as 32 hexadecimal digits, unless a name or a sentence states that they are secret.
* Keys that are public by design: publishable keys, project keys of browsers, client ids.
* Digests, commit hashes, ids, paths, placeholders, templates, and references to variables and secret managers.
`
