package redact_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/redact"
	"github.com/waybill/waybill/ports/porttest/sample"
)

// hostile lists parts of texts that could be read many times: beginnings without ends, names
// without values, and ends that end nothing.
var hostile = []string{
	"a", "=", ":", "\"", "'", "\\", "\\\"", "\\\\\\\"", "{", "[", "@", "-", " -", "--", "\n",
	"password=", "token:", "token:a,", "token=${", "token='", "token=a&", "token=a;b=", "token=\"x [REDACTED:a] ",
	"token=$A", "token= ", "token:\t*", "password\\\\\"=", "key key key:",
	"eyJ", "eyJ-", "eyJaaaaaa.b", "eyJaaaaa.aaaaa", "-----BEGIN", "-----BEGIN PRIVATE KEY-----",
	"-----BEGIN PRIVATE KEY-----\nA\n", "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAA\n",
	"Bearer ", "Bearer a/", "bearer\t", "Basic ", "Basic aaaa", "Basic YTpi", "://", "://a:", "://a:b", "://a:b/",
	"://a:b/c", "://[REDACTED:a]", "a:b@", "sk-a-", "sk-", "AKIA", "ghp_", "cred_a-",
	"{\"name\":", "{\"name\":\"token\",", "\"name\":\"token\",\"a\":1,", "\"value\":\"", "\"value\":1,\"a\":2,",
	"\"value\":\"a\",", "name: token\n", "name: token\nvalue: ", "{\"a\":[", "\\\"value\\\":\\\"a\\\",",
	"--password ", "--token a ", "--token with ", " --a", "mysql -p", "curl -u ", "curl -ua:", " -u a",
	"docker login -p", "--password \"", "\\n", "%20", "\\u0026", "[REDACTED:", "[REDACTED:a]",
	"password: a b", "token: [", "secret: str = ", "password=(", "token=a.", "token=a[", "token: 1 a", "token: -----",
	"token=xxx",
	// Prefixes of the table, at the beginning of a word, of a line, and with a part of what follows.
	"glpat-", "glpat-aaaa\n", "sk-a1\n", "ghp_\n", "xapp-", "xapp-a", "kpat_a-", "npm_a", "live_", "EAA", "sk_live_", "AAAA",
	"hooks.slack.com/services/", "MTa.", "MTaaaaaaaaaaaaaaaaaaaaa.aaaaaa.", "SG.a", "pat", "1/1", "0.", "re_", "s.", "Q~",
	"atlasv1.", "a.atlasv1.", "-us1", ":AA", "1:AA", "_mmk", "NRAL", "AZDO", "+ASt", "AzSe", "webhook.office.com/webhookb2/",
	"ops_eyJ\n", "secret-token:", "perm:a.", "access_token$production$", "sntrys_a_", "dnkey-a-",
	// Colors, invisible characters, escapes and encodings.
	"\x1b[", "\x1b[0m", "\x1b[0", "\x1b", "\u200b", "a\u200b", "\u00ad", "\ufeff", "\u2028", "\\u0041", "\\u00", "\\u", "\\\\u002d",
	"\\u001b[", "\\x1b[0m", "\\e[", "%41", "%", "%4", "%2541", "%3D", "%3Da", "token%3Da", "%3A%2F%2Fa%3A",
	// Base64, and lines of it.
	"QUJDRA", "QUJDRA==", "c2stYWJj", "c2stYWJjZGVmMTIz", "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t", "A+/", "a\n",
	"QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2w\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
	"eyJhbGciOiJIUzI1NiJ9\n", "eyJhbGciOiJIUzI1NiJ9.a1B2c3D4\n", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6\n", "\n> ", "\"\n\"", "\\\n",
	// Structures and sentences.
	"Cookie: ", "Cookie: a=", "cookie:a;", "Cookie: a=b; ", "Set-Cookie: a; ", "Authorization: Digest ", "Authorization: a b=",
	"Authorization: Digest a=\"b\", ", "Authorization: a ", "machine ", "machine a login b ", "machine a login b password ",
	"default login ", "a:5432:", "a:5432:b:c:", "\na:5432:b:c:d", "*:*:*:", "Private-Lines: 99\n", "Private-Lines: 9\nAAAA\n", "Private-MAC: ",
	"\"auth\":\"", "_auth=", "client-key-data: ", "pass = ", "?sig=", "&key=a1", "X-Amz-Signature=", "Signature=a1",
	"password is ", "the password for ", "password for a ", "token was \"", "api key is now ", "password to ", "PASSWORD '",
	"IDENTIFIED BY '", "token a1B2c3D4e5", "\"token\",", "'token', '", "<password>", "<password>a", "<add key=\"token\" value=", "name=\"token\" ",
	":a@tcp(", "---- BEGIN SSH2 PRIVATE KEY ----", "-----BEGIN+PRIVATE+KEY-----", "${TOKEN:?",
	// Calls, tables, assignments and declared defaults.
	"login(\"", "login('a', ", "login('a','", "token(\"a1", "auth=('a','", "set TOKEN ", "set -a -b ", "set TOKEN to a1b2c3d4e5", "config set a.b c:",
	"TOKEN || '", "API_TOKEN | ", "#define TOKEN \"", "variable default=", "variable \"token\" {\ndefault = ", "Type: default: ",
	"token:\n Type: String\n default: ", "token for a: ", "senha: ", "\uff1a", "\u5bc6\u7801\uff1a", "&quot;token&quot;: &quot;", "password=a1b2 ",
	"<key>token</key><data>\n", "token: >-\n ", "token=\\\n ", "\"token\": {\"value\": ", "name: token\na: b\n", "sha512-AQE", "AQEa+/", "AQEa1B+/",
	"\"pass\":\"", "SecureString '",
	// Lines with a secret at a fixed place, names of keys, and words inside keys.
	"echo a", "echo a | ", "echo a:b | ", "AUTH a", "AUTH a b", "requirepass ", "net use \\\\a ", "htpasswd -b a b ", "smbclient -U a%",
	"WIFI:P:", "WIFI:a", "\nKey: a1B2c3D4e5F6g7H8i9J0k", "put-parameter --value a", "put-parameter SecureString --value ", "secret 0 a1b2c",
	"xfreerdp /p:", "git config a.token ", "Unseal Key: ", "a_sk_", "a_sk_a1B", ":default.", "a:default.", "msh", "aaaaaaaaaamsh", ":fx",
	"a_key=", "A_KEY=a1B2c3D4e5F6g7H8i9J0k", "a_session: ", "パスワードは", "密码是", "contraseña es ", "senha", "sw", "name = \"A_KEY\"\nvalue = \"",
}

// Redaction reads each byte a bounded number of times: eight times the text needs about eight
// times the reads, not sixty-four times. Reads that are not counted show in the duration: a quarter
// of a megabyte with a quadratic scan does not end within the test's time.
func TestHostileTextIsLinear(t *testing.T) {
	const small, times = 8 << 10, 8
	of := func(part string, n int) string { return strings.Repeat(part, n/len(part)) }
	endings := []string{"", "[REDACTED:x]", "\"", "@a"}
	cases, long := sample.OneIn(t, len(endings)), sample.OneIn(t, 4)
	for _, part := range hostile {
		for _, ending := range endings {
			if !cases.Try() {
				continue
			}
			a := redact.Looks(of(part, small) + ending)
			b := redact.Looks(of(part, small*times) + ending)
			if b > 2*times*a+small {
				t.Errorf("%q and %q: %d reads, and %d for %d times the text", part, ending, a, b, times)
			}
			checkIdempotent(t, of(part, 300)+ending)
		}
		if long.Try() {
			redact.Text(of(part, 1<<18), nil)
		}
	}
}

func FuzzText(f *testing.F) {
	for _, r := range rows {
		f.Add(r[0])
	}
	for _, name := range []string{"positive.json", "negative.json"} {
		for _, s := range corpus(f, name) {
			f.Add(secretMark.ReplaceAllString(s.Text, "$2"))
		}
	}
	for _, part := range hostile {
		f.Add(strings.Repeat(part, 3))
	}
	f.Fuzz(func(t *testing.T, s string) { checkIdempotent(t, s) })
}

// Bytes is idempotent, and redacted JSON is JSON with the same number of members.
func FuzzBytes(f *testing.F) {
	f.Add([]byte(`{"name":"token","value":"abc","list":[{"key":"API_KEY","val":1}]}`), "application/json")
	f.Add([]byte("\xff\xfe password=abc \x80"), "text/plain; charset=latin1")
	f.Add([]byte("\x89PNG\r\n\x1a\n\xff password=abc"), "image/png")
	f.Fuzz(func(t *testing.T, b []byte, contentType string) {
		was, parseErr := canon.Parse(b)
		once := redact.Bytes(b, contentType, nil)
		counts := redact.Counts{}
		if again := redact.Bytes(once, contentType, counts); string(again) != string(once) || counts.Total() != 0 {
			t.Errorf("%q once %q twice %q %v", b, once, again, counts)
		}
		if contentType != "application/json" || parseErr != nil {
			return
		}
		now, err := canon.Parse(once)
		if err != nil || now.Kind() != was.Kind() && was.Kind() != canon.Number || now.Len() != was.Len() &&
			was.Kind() == canon.Object {
			t.Errorf("%q became %q: %v", b, once, err)
		}
	})
}
