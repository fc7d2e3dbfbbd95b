package redact_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/id"
	"github.com/waybill/waybill/durable/redact"
)

const (
	hex64 = "0d6e4079e36703ebd37c00722f5891d28b0e2811dc114b129215123adcce3605"
	jwt   = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4fwpM"
	pem   = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA7bq1\nx0\n-----END RSA PRIVATE KEY-----"
)

// rows are texts before and after redaction, where "§rule" is the marker of a rule. A row with
// one text is not changed.
var rows = [][2]string{
	// Tokens by their form.
	{"sk-abcdef", "§secret_key"},
	{"use sk-proj-aB3_x9-Zz please", "use §secret_key please"},
	{"sk-ant-api03-AbCdEf_123-xyz.", "§secret_key."},
	{"key sk-CAN-12345, then", "key §secret_key, then"},
	{"AKIAIOSFODNN7EXAMPLE", "§aws_key"},
	{"(ASIAIOSFODNN7EXAMPLE)", "(§aws_key)"},
	{"xoxb-1234-abcd", "§slack_token"},
	{"xoxp-99887766-x", "§slack_token"},
	{"ghp_abcdef0123456789abcdef0123456789abcd", "§github_token"},
	{"gho_aB3456 ghu_aB3456 ghs_aB3456 ghr_aB3456", "§github_token §github_token §github_token §github_token"},
	{"github_pat_11ABCDEFG_xyz", "§github_token"},
	{"AIzaSyA-1234567890abc", "§google_key"},
	{"cred_abcdef", "§credential"},
	{"cred_live-9f8e7d6c", "§credential"},
	{"jwt " + jwt + ".", "jwt §jwt."},
	{"eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.", "§jwt"},
	{"a\n" + pem + "\nb", "a\n§private_key\nb"},
	{"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nAQEFAA", "§private_key"},
	{`-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIBkg4LVWM9nu\nxx`, "§private_key"},
	{"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQdG\n-----END PGP PRIVATE KEY BLOCK-----", "§private_key"},
	{"curl -H 'X: Bearer abc123def'", "curl -H 'X: Bearer §bearer'"},
	{"bearer  aGVsbG8gd29ybGQ=", "bearer  §bearer"},
	{"st.v1.eyJhIjoxfQ.c2ln and ack.v1.abcdefg.h", "§waybill_token and §waybill_token"},
	{"--token chk.v1.AbCdEf.GhIjKl.", "--token §waybill_token."},
	{"Bearer abcdEfgh", "Bearer §bearer"},
	{"Bearer aaaaaaaaaaaaaaaaaaaaaa.xoxb-abcd/x", "Bearer aaaaaaaaaaaaaaaaaaaaaa.§slack_token/x"},
	// Values of secret names.
	{"password=hunter2", "password=§named_secret"},
	{"Password: swordfish", "Password: §named_secret"},
	{"the password: hunter2, then", "the password: §named_secret, then"},
	{"DB_PASSWORD='two words' x", "DB_PASSWORD='§named_secret' x"},
	{"password = correcthorse", "password = §named_secret"},
	{"export GITHUB_TOKEN=abcdef", "export GITHUB_TOKEN=§named_secret"},
	{"?a=1&access_token=abc&b=2", "?a=1&access_token=§named_secret&b=2"},
	{`{"apiKey":"x","n":1}`, `{"apiKey":"§named_secret","n":1}`},
	{`{"api_token": 12345}`, `{"api_token": §named_secret}`},
	{`{\"password\":\"a b\"}`, `{\"password\":\"§named_secret\"}`},
	{`{"password":"a\"b"}`, `{"password":"§named_secret"}`},
	{"x-api-key: k3y-value", "x-api-key: §named_secret"},
	{"Authorization: Bearer abc", "Authorization: Bearer §named_secret"},
	{"authorization: Basic dXNlcjpwYXNz", "authorization: Basic §named_secret"},
	{"**Token:** a1b2c3", "**Token:** §named_secret"},
	{"the API key: 8f14e45f", "the API key: §named_secret"},
	{"client_secret => 'x'", "client_secret => '§named_secret'"},
	{"secret := \"v\"", "secret := \"§named_secret\""},
	{"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "aws_secret_access_key = §named_secret"},
	{"- passphrase: opensesame", "- passphrase: §named_secret"},
	{"password=p@ss,w0rd&more", "password=§named_secret"},
	{"token: sk-abcdef rest", "token: §secret_key rest"},
	{"refreshToken=\"open to the end", "refreshToken=\"§named_secret"},
	{"accesstoken=abc", "accesstoken=§named_secret"},
	// Texts without secrets.
	{"sk-learn and sk-learn-contrib", ""},
	{`"sk-ssh-ed25519@openssh.com AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29t"`, ""},
	{"sk-ecdsa-sha2-nistp256@openssh.com AAAAInNrLWVjZHNhLXNoYTItbmlzdHAyNTZAb3BlbnNzaC5jb20=", ""},
	{"sk-ssh-ed25519-aB3xyZ at openssh.com", "§secret_key at openssh.com"},
	{"task-force-seven, risk-averse-people, disk-storage", ""},
	{"/srv/sk-models/train.py", ""},
	{"see cred_helper(x)", ""},
	{"AKIAlowercase00000000 AKIATOOSHORT ASIAIOSFODNN7EXAMPLEX", ""},
	{"sha256:" + hex64, ""},
	{"token: sha256:" + hex64, ""},
	{"commit 0d6e4079e36703ebd37c00722f5891d28b0e2811", ""},
	{"7c9e6679-7425-40de-944b-e07fc1f90ae7", ""},
	{"node_zfbdrurdu2zxl45wcw3lxe4kgq sess_aihge25qelb43nyo2uzheououe", ""},
	{"the token: is sent with every call", ""},
	{"token: is sent", ""},
	{"never say the password: swordfish", ""},
	{"password policy, token count, secret sauce", ""},
	{"maxTokens: 4096, tokenCount=7, max_tokens=12", ""},
	{"Password: required", ""},
	{"token=${GITHUB_TOKEN} and password=$PASSWORD", ""},
	{"token: ${{ secrets.X1 }}", ""},
	{"password: <your password>", ""},
	{"token = getToken(1)", ""},
	{"if password == other1 {", ""},
	{"auth::secret::value1", ""},
	{"Bearer of bad news, bearer tokens, bearer authentication", ""},
	{"look for -----BEGIN PRIVATE KEY----- in files", ""},
	{"-----BEGIN CERTIFICATE-----\nMIIEpAIBAAKCAQEA7bq1\n-----END CERTIFICATE-----", ""},
	{"eyJust a word. eyJ.x.y", ""},
	{"tokens are of the form st.v1.<payload>.<signature>", ""},
	{"ghp_ and xoxb- and AIza are prefixes", ""},
	{"passwordPolicy: strict1", ""},
	{"token_type: Bearer1", ""},
	{"secretary: miss1", ""},
	{"monkey: 12345 keyboard=77", ""},
	{"[REDACTED:jwt] password=[REDACTED:named_secret] token: \"[REDACTED:other_rule]\"", ""},
	{"", ""},
	{"über 密码: ok", ""},
	// Quotes that are opened with more backslashes than they are closed with, at the end of the text.
	{`"value":\"a"`, ""},
	{`{"name":\"token"`, ""},
	{`name: \"token"`, ""},
	{`{"name":"token","value":\\\"abc"`, `{"name":"token","value":\\\"§named_secret"`},
}

func TestText(t *testing.T) {
	for _, row := range rows {
		want := row[1]
		if want == "" {
			want = row[0]
		}
		hits := strings.Count(want, "§")
		for _, r := range redact.Rules() {
			want = strings.ReplaceAll(want, "§"+string(r), redact.Marker(r))
		}
		c := redact.Counts{}
		got := redact.Text(row[0], c)
		if got != want || c.Total() != int64(hits) {
			t.Errorf("%q\n got %q (%v)\nwant %q", row[0], got, c, want)
		}
		again := redact.Counts{}
		if twice := redact.Text(got, again); twice != got || again.Total() != 0 {
			t.Errorf("%q redacted twice is %q (%v)", got, twice, again)
		}
	}
	if len(rows) < 60 {
		t.Errorf("%d rows", len(rows))
	}
}

// A secret is found in the middle of other text as well.
func TestTextFindsSecretsInContext(t *testing.T) {
	for _, row := range rows {
		if row[1] == "" || strings.ContainsAny(row[0], "\n") {
			continue
		}
		for _, around := range []string{"\n%s\n", "\n- %s", "\n\t%s\nnext line"} {
			c := redact.Counts{}
			if redact.Text("words before"+fmt.Sprintf(around, row[0]), c); c.Total() == 0 {
				t.Errorf("%q is not found in %q", row[0], around)
			}
		}
	}
}

func TestSecretName(t *testing.T) {
	for _, yes := range []string{"password", "apiToken", "API_KEY", "apiKey", "x-api-key", "DB_PASSWORD", "HTTPToken",
		"aws.secret", "githubAPIKey", "clientsecret", "Authorization", "pwd",
		"clientSecret", "AWS_SECRET_ACCESS_KEY", "api-key", "SECRET_KEY_BASE", "DB_PASS", "token2", "API_KEY_2",
		"password_1", "aws.secretAccessKey", "continueToken", "X-Amz-Security-Token", "APP_SECRET_SANDBOX", "MQ_ERLANG_COOKIE",
		"fernet_key"} {
		if !redact.SecretName(yes) {
			t.Errorf("%s is not reported as a secret name", yes)
		}
	}
	for _, no := range []string{"", "key", "tokenCount", "tokens", "max_tokens", "passwordPolicy", "secretary",
		"tokenizer", "publicKey", "keyboard", "primary_key", "kind", "secret_id",
		"nextPageToken", "pad_token", "pass", "bypass", "database", "key_base", "2", "password_hash", "tokenized",
		"secretKeyRef", "sandbox", "cookie"} {
		if redact.SecretName(no) {
			t.Errorf("%s is reported as a secret name", no)
		}
	}
}

func TestValue(t *testing.T) {
	for _, row := range [][2]string{
		{`{"password":"x","n":1}`, `{"n":1,"password":"[REDACTED:named_secret]"}`},
		{`{"apiToken":12,"hasToken":true,"token":null,"secret":""}`,
			`{"apiToken":"[REDACTED:named_secret]","hasToken":true,"secret":"","token":null}`},
		{`{"credentials":{"list":["a",2,{"b":"c"}]}}`,
			`{"credentials":{"list":["[REDACTED:named_secret]","[REDACTED:named_secret]",{"b":"[REDACTED:named_secret]"}]}}`},
		{`{"name":"token","value":"abc"}`, `{"name":"token","value":"[REDACTED:named_secret]"}`},
		{`[{"key":"API_KEY","on":true,"type":"text","value":["a",{"b":7}]}]`,
			`[{"key":"API_KEY","on":true,"type":"text","value":["[REDACTED:named_secret]",{"b":"[REDACTED:named_secret]"}]}]`},
		{`{"Header":"x-api-key","Val":12}`, `{"Header":"x-api-key","Val":"[REDACTED:named_secret]"}`},
		{`{"name":"token sk-abcdef","value":"abc"}`, `{"name":"token [REDACTED:secret_key]","value":"abc"}`},
		{`{"name":"tokenCount","value":"abc"}`, `{"name":"tokenCount","value":"abc"}`},
		{`{"name":["token"],"value":"abc","key":"theme"}`, `{"key":"theme","name":["token"],"value":"abc"}`},
		{`["use sk-abcdef",7,{"note":"fine"}]`, `["use [REDACTED:secret_key]",7,{"note":"fine"}]`},
		{`{"sk-abcdef":1,"sk-abcdeg":2,"[REDACTED:secret_key]":3}`,
			`{"[REDACTED:secret_key]":3,"[REDACTED:secret_key]#2":1,"[REDACTED:secret_key]#3":2}`},
	} {
		v, err := canon.Parse([]byte(row[0]))
		if err != nil {
			t.Fatal(err)
		}
		c := redact.Counts{}
		got := redact.Value(v, c)
		if string(got.JCS()) != row[1] {
			t.Errorf("%s\n got %s\nwant %s", row[0], got.JCS(), row[1])
		}
		if err := got.CheckStrict(64); err != nil {
			t.Error(err)
		}
		again := redact.Counts{}
		if twice := redact.Value(got, again); !twice.Equal(got) || again.Total() != 0 {
			t.Errorf("twice: %s (%v)", twice.JCS(), again)
		}
	}
}

func TestBytes(t *testing.T) {
	for _, row := range [][3]string{
		{"application/json", `{"b": 1, "a":"sk-abcdef"}`, `{"a":"[REDACTED:secret_key]","b":1}`},
		{"application/json; charset=utf-8", `{"password": "x y"}`, `{"password":"[REDACTED:named_secret]"}`},
		{"application/vnd.x+json", `{"token":5}`, `{"token":"[REDACTED:named_secret]"}`},
		{"application/json", `{"b": 1, "a":"nothing"}`, `{"b": 1, "a":"nothing"}`},
		{"application/json", `{"broken": sk-abcdef`, `{"broken": [REDACTED:secret_key]`},
		{"text/plain", "x sk-abcdef", "x [REDACTED:secret_key]"},
		{"text/plain; charset=latin1", "caf\xe9 password=abc \xff", "caf\xe9 password=[REDACTED:named_secret] \xff"},
		{"text/x-log", "\xffsk-abcdef\xc3", "\xff[REDACTED:secret_key]\xc3"},
		{"application/json", "{\"token\":\"a\xff\"}", "{\"token\":\"[REDACTED:named_secret]\"}"},
		{"application/x-yaml", "token: abc\xff1\n", "token: [REDACTED:named_secret]\n"},
		{"image/png", "\x89PNG\r\n\xff password=abc", "\x89PNG\r\n\xff password=abc"},
		{"", "\xff sk-abcdef", "\xff sk-abcdef"},
		{"application/octet-stream", "\xff sk-abcdef", "\xff sk-abcdef"},
	} {
		if got := redact.Bytes([]byte(row[1]), row[0], redact.Counts{}); string(got) != row[2] {
			t.Errorf("%s %q: %q", row[0], row[1], got)
		}
	}
	if got := redact.Bytes([]byte("sk-abcdef"), "text/plain", nil); string(got) != "[REDACTED:secret_key]" {
		t.Errorf("without counts: %s", got)
	}
}

// Ids and digests of Waybill are not secrets.
func TestTextKeepsIdentifiers(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var seed id.Seed
		copy(seed[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "seed"))
		run := id.NewRun(seed)
		node := id.RootNode(run)
		attempt := id.NextAttempt(node, id.OpAck, 0)
		digest := canon.Sum(seed[:])
		names := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,12}([-_.][a-z0-9]{1,8})?`), 1, 5).Draw(rt, "path")
		for _, s := range []string{run.String(), node.String(), attempt.String(), id.NewSession(seed).
			String(), id.EventOf(run.String(), "k").String(),
			digest.String(), digest.FileName(), digest.String()[7:47],
			fmt.Sprintf("%x-%x-%x-%x-%x", seed[:4], seed[4:6], seed[6:8], seed[8:10], seed[10:]),
			"advance_recorded:" + run.String() + ":" + node.String() + ":" + attempt.String(),
			"/" + strings.Join(names, "/"), strings.Join(names, "/") + ".go"} {
			c := redact.Counts{}
			if got := redact.Text("see "+s+" and "+s+".", c); c.Total() != 0 && !strings.Contains(s, "sk-") &&
				!strings.Contains(s, "cred_") {
				rt.Errorf("%s became %s", s, got)
			}
		}
	})
}

// pieces are parts from which random texts are made.
var pieces = func() []string {
	out := []string{" ", "\n", ":", "=", ": ", " = ", "\"", "'", "\\\"", ",", ".", "-", "/", "[", "]", "(", "a", "A",
		"1", "_", "&", "&b=", "Bearer ", "token", "password", "key",
		"api ", "token=", "token: ", "password: \"", "sk-", "sk-a-", "eyJ", "aaaaaaaa", "aaaaaaaaaaaaaaaaaaaaaaaa",
		"${", "$A", "<", ">", "none", "[REDACTED:", "[REDACTED:jwt]", "-----BEGIN PRIVATE KEY-----",
		"-----END PRIVATE KEY-----", "MIIEpAIBAAKCAQEA7bq1", "cred_abcdef", "xoxb-abcd", "AKIAIOSFODNN7EXAMPLE",
		"ghp_abcdef", "st.v1.abcdef", "AIzaabcdefghij", "Basic ", "::", "=>",
		"://", "@", "u:p@", "https://", "{", "}", "\"name\":", "\"value\":", "\"key\":\"token\",", "name: token\n",
		"value: ", "--password ", "--token", " -p", "mysql", "curl -u a:", "docker login", "|", ";", ";b=",
		"\\n", "\\u0026", "%20", "dXNlcjpwYXNz", "\xff", "é", "str", "const ", "*", "$", "!", "swordfish", "with",
		"auth", "/", "\x1b[1m", "\x1b[", "\u200b", "\ufeff", "\\u002d", "\\u0061", "\\u001b[0m", "%2D", "%3D", "%20", "%41",
		"c2stYWJjZGVmMTIz", "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2w", "\\\n", "\n> ", "\r\n", "Cookie: ", "; ", "a=b",
		"Authorization: ", "Digest ", "response=", "machine h login u ", "\na:5432:b:c:", "Private-Lines: 1\n", "sig=", "?key=",
		"password is ", "the token was ", "for root ", "is", "<token>", "</token>", "name=\"password\" value=", "'token', 'a1b2c3d4'",
		"IDENTIFIED BY ", "0a1B2c3D4e5F6g7H8i9J0", "hunter2", ".atlasv1.", "-us12", "8Q~", ":AA", "1234567890"}
	for _, r := range rows {
		out = append(out, r[0])
	}
	for _, row := range redact.Tokens() {
		out = append(out, row.Yes, row.Yes[:len(row.Yes)/2], row.Yes[len(row.Yes)/2:])
	}
	for _, row := range structureRows {
		out = append(out, secretMark.ReplaceAllString(row, "$2"))
	}
	return out
}()

// checkIdempotent checks that redacting s twice gives the result of redacting it once, and that
// UTF-8 stays UTF-8.
func checkIdempotent(t interface{ Errorf(string, ...any) }, s string) {
	once := redact.Text(s, nil)
	c := redact.Counts{}
	if again := redact.Text(once, c); again != once || c.Total() != 0 {
		t.Errorf("%q\nonce  %q\ntwice %q %v", s, once, again, c)
	}
	if utf8.ValidString(s) && !utf8.ValidString(once) {
		t.Errorf("%q is UTF-8, %q is not", s, once)
	}
}

func TestRedactionIsIdempotent(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 14).Draw(rt, "text"), "")
		checkIdempotent(rt, s)
		v := canon.OfMembers(canon.Member{Name: s, Value: canon.OfString(s)},
			canon.Member{Name: "k", Value: canon.OfList(canon.OfString(s))})
		once := redact.Value(v, nil)
		c := redact.Counts{}
		if again := redact.Value(once, c); !again.Equal(once) || c.Total() != 0 || once.Len() != v.Len() {
			rt.Errorf("%s\nonce %s\ntwice %s", v.JCS(), once.JCS(), again.JCS())
		}
	})
}

func BenchmarkProse(b *testing.B) {
	s := strings.Repeat("The importer reads one file at a time, and says: what was asked, by whom (see section 12), "+
		"and why some-thing else = better than a guess.\n", 8000)[:1<<20]
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		redact.Text(s, nil)
	}
}
