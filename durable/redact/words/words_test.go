package words_test

import (
	"testing"

	"github.com/waybill/waybill/durable/redact/words"
)

// check calls a function with texts for which it is true, and with texts for which it is false.
func check(t *testing.T, name string, f func(string) bool, yes, no []string) {
	t.Helper()
	for _, s := range yes {
		if !f(s) {
			t.Errorf("%s(%q) is false", name, s)
		}
	}
	for _, s := range no {
		if f(s) {
			t.Errorf("%s(%q) is true", name, s)
		}
	}
}

func TestSecretNames(t *testing.T) {
	check(t, "SecretName", words.SecretName,
		[]string{"password", "apiToken", "DB_PASSWORD", "x-api-key", "token2", "token_2", "HTTPToken", "db_pass", "SECRET_KEY_BASE",
			"dbpassword"},
		[]string{"", "tokenCount", "passwordPolicy", "max_tokens", "page_token", "invalid_token", "pass", "key", "2", "monkey"})
}

func TestTextsInPlaceOfSecrets(t *testing.T) {
	check(t, "NonValue", words.NonValue,
		[]string{"", "none", "required!", "changeme", "YOUR_KEY_HERE", "${TOKEN}", "<token>", "$TOKEN", "{{ token }}", "./token.txt",
			"/run/secrets/token", "---", "xxxx", "[a-z]+", "op://vault/item", ":password"},
		[]string{"hunter2", "$eCret1", "a/b+c1", "correct-horse"})
	check(t, "Label", words.Label,
		[]string{"Contraseña", "Password:", "Enter your password", "Please enter the words again."},
		[]string{"hunter2", "Pa$$w0rd", "password", "ab"})
}

func TestStatedValuesAreNoWords(t *testing.T) {
	check(t, "Stated", words.Stated,
		[]string{"hunter2", "a1B2c3!", "p@ssword", "123456"},
		[]string{"abc", "wrong", "base64", "sha-256", "2026-01-02", "config.yaml", "8-64", "3rd", "$NAME", "\xff12345a"})
	check(t, "StrongRun", words.StrongRun,
		[]string{"12-34-5", "abcde1", "a1b2c3"},
		[]string{"", "abcdef", "ab1-cd2", "1234"})
	check(t, "Ordinary", words.Ordinary,
		[]string{"wrong", "expired", "Read-Only", "optional"},
		[]string{"hunter2", "swordfish"})
}

// A quotation ends at the sign that closes it, on the same line.
func TestQuotedWord(t *testing.T) {
	for s, want := range map[string][2]int{`"ab" c`: {3, 1}, "«ab»": {4, 2}, "`a`": {2, 1}, `"ab`: {}, "\"a\nb\"": {}, `""`: {}, "ab": {}} {
		to, open := words.QuotedWord(s, 0)
		if to != want[0] || open != want[1] {
			t.Errorf("%q: got %d, %d, not %v", s, to, open, want)
		}
	}
}

// A key alternates between digits, capitals and small letters more often than an identifier.
func TestAlternations(t *testing.T) {
	for s, want := range map[string]int{"": 0, "aaa": 0, "a1B2": 3, "readUint16": 3} {
		if got := words.Alternations(s); got != want {
			t.Errorf("%q: got %d, not %d", s, got, want)
		}
	}
}

func TestDigits(t *testing.T) {
	for s, want := range map[string]int{"": 0, "storageAccountKey1": 1, "86c31fea": 4} {
		if got := words.Digits(s); got != want {
			t.Errorf("%q: got %d, not %d", s, got, want)
		}
	}
}

func TestNamesOfKeys(t *testing.T) {
	for name, want := range map[string][2]bool{"TINIFY_KEY": {true, true}, "mapsKey": {true, false}, "CI_PAT": {true, true}, "APP_SESSION": {true, false}, "API_TOKEN_SALT": {true, true}, "password_salt": {},
		"CC_REPORTER_ID": {true, true}, "user_id": {}, "WRITEKEY": {}, "a_writekey": {true, false},
		"key": {}, "PUBLIC_KEY": {}, "cache-key": {}, "monkey": {}, "restored from key": {}} {
		if key, digits := words.KeyName(name); key != want[0] || digits != want[1] {
			t.Errorf("%q: got %v, %v, not %v", name, key, digits, want)
		}
	}
}

func TestVerbs(t *testing.T) {
	check(t, "HasVerb", words.HasVerb, []string{"password is x", "token\twas x", "key set to"}, []string{"", "password", "this", "a password b"})
	if w, before := words.Last("var x_Tok  "); w != "Tok" || before != "var x_" {
		t.Errorf("got %q, %q", w, before)
	}
}

func TestCountsHaveUnits(t *testing.T) {
	if s := "8-64 characters"; !words.IsCount(s, 4, s[:4]) {
		t.Errorf("%q is a count", s)
	}
	if s := "8464 abcd"; words.IsCount(s, 4, s[:4]) {
		t.Errorf("%q is no count", s)
	}
}
