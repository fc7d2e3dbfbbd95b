package redact_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/redact"
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
}

// Redaction reads each byte a bounded number of times: eight times the text needs about eight
// times the reads, not sixty-four times. Reads that are not counted show in the duration: half a
// megabyte with a quadratic scan does not end within the test's time.
func TestHostileTextIsLinear(t *testing.T) {
	const small, times = 8 << 10, 8
	of := func(part string, n int) string { return strings.Repeat(part, n/len(part)) }
	for _, part := range hostile {
		for _, ending := range []string{"", "[REDACTED:x]", "\"", "@a"} {
			a := redact.Looks(of(part, small) + ending)
			b := redact.Looks(of(part, small*times) + ending)
			if b > 2*times*a+small {
				t.Errorf("%q and %q: %d reads, and %d for %d times the text", part, ending, a, b, times)
			}
			checkIdempotent(t, of(part, 300)+ending)
		}
		redact.Text(of(part, 1<<19), nil)
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
