package redact_test

import (
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/redact"
)

// structureRows are texts with secrets in ⟦rule|…⟧, or without.
var structureRows = []string{
	// Headers.
	`Authorization: Digest username="Mufasa", realm="h", nonce="dcd98b", uri="/x", response="⟦named_secret|6629fae49393a05397450978507c4ef1⟧"`,
	`Authorization: AWS4-HMAC-SHA256 Credential=⟦aws_key|AKIAIOSFODNN7EXAMPLE⟧/20130524/us-east-1/s3/aws4_request, ` +
		`SignedHeaders=host;range, Signature=⟦named_secret|fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc963176630326f1024⟧`,
	`Authorization: OAuth oauth_consumer_key="xvz1", oauth_signature="⟦named_secret|tnnArxj06cWHq44gCs1OSKk%2FjLY%3D⟧", oauth_version="1.0"`,
	`curl -H 'Authorization: SSWS ⟦named_secret|00QCjAl4MlV-WPXM_vJyzQ9⟧' https://h.test`,
	"Proxy-Authorization: Negotiate ⟦named_secret|YIIFUAYGKwYBBQUCoIIFRDCC⟧\r\nHost: x",
	"Authorization: Bot ⟦discord_token|MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs⟧",
	"Cookie: theme=⟦named_secret|dark⟧; sid=⟦named_secret|a8f3c2⟧\nAccept: */*",
	"Set-Cookie: sid=⟦named_secret|a8f3c2⟧; Path=/; Expires=Wed, 21 Oct 2026 07:28:00 GMT; HttpOnly; SameSite=Lax",
	`curl -H "Cookie: session=⟦named_secret|eyAbc123⟧; lang=⟦named_secret|en⟧" https://h.test`,
	`document.cookie = "id=⟦named_secret|a3fWa⟧; path=/; max-age=3600"`,
	"Cookie: chocolate is best",
	"Set-Cookie: sid=; Path=/; Max-Age=0",
	// Files.
	"machine api.h.test login ada password ⟦named_secret|swordfish⟧",
	"machine api.h.test\n  login ada\n  password ⟦named_secret|sword9fish⟧\n" +
		"machine b.test login bob account ⟦named_secret|acc1⟧ password ⟦named_secret|pw2⟧",
	"default login anonymous password ⟦named_secret|me@h.test⟧",
	"the default password is required, and each machine has password protection",
	"db.h.test:5432:app:ada:⟦named_secret|swordfish⟧\n*:*:*:bob:⟦named_secret|p4ss⟧",
	"main.go:42:7:error:undefined and 00:10:20:30:40:50",
	`{"auths":{"https://h.test/v1/":{"auth":"⟦basic|YWRhOnN3b3JkZmlzaA==⟧","identitytoken":"⟦named_secret|abc⟧"}}}`,
	`{"registrytoken":"⟦named_secret|abc⟧","auth":"none"}`,
	"//h.test/:_auth=⟦basic|YWRhOnN3b3JkZmlzaA==⟧\n//h.test/:_authToken=⟦named_secret|0123abcd⟧\n//h.test/:_password=⟦named_secret|c3dvcmQ=⟧",
	"    client-certificate-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t\n    client-key-data: ⟦named_secret|MHcCAQEEIBkg4LVWM9nuTUNBUUVFSUJrZzRMVldNOW51⟧",
	"[remote]\ntype = sftp\npass = ⟦named_secret|Zk9qd1V3NnRhU2x0ZmdoYWk⟧",
	"pass = 5\nfail = 2",
	"PuTTY-User-Key-File-3: ssh-ed25519\nPublic-Lines: 2\nAAAAC3NzaC1lZDI1NTE5AAAAIB\nAAAA\n" +
		"Private-Lines: 1\n⟦private_key|AAAAIGgW0FJk3m2wSlT1Yb1Cn0r5w⟧\nPrivate-MAC: ⟦private_key|e1aed15a209f48fdaa5228640f1109a7740340764a96f97ec6023da7f92d07ea⟧",
	"⟦private_key|---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nP2/56wAAANwAAAA3aWYtbW9kbntzaWdue\n---- END SSH2 ENCRYPTED PRIVATE KEY ----⟧",
	// Connection strings.
	"Server=db;Database=app;User Id=sa;Pwd=⟦named_secret|Str0ng⟧;Encrypt=true",
	"Driver={X};Server=db;Password=⟦named_secret|Str0ng⟧;User Id=sa",
	"jdbc:sqlserver://h:1433;user=sa;password=⟦named_secret|Str0ng⟧;encrypt=true",
	"Endpoint=sb://h.test/;SharedAccessKeyName=Root;SharedAccessKey=⟦named_secret|bm90IGEga2V5IGJ1dCBsb25n=⟧;EntityPath=q",
	// Signed URLs.
	"https://h.test/o?X-Amz-Date=20260102T030405Z&X-Amz-Signature=⟦named_secret|fe5f80f77d5fa3beca038a248ff027d0445342fe2855ddc9⟧&x=1",
	"https://h.test/o?X-Goog-Expires=900&X-Goog-Signature=⟦named_secret|247a2aa45f169edf4d187d54e7cc46e4731b1e6273242c4f⟧",
	"https://h.test/c/b?sv=2022-11-02&se=2026-01-02&sr=b&sig=⟦named_secret|Z%2FRHIX5Xcg0Mq2rqI3OlWTjEg2tYkboXr1P9ZUXDtkk%3D⟧",
	"https://h.test/v1?key=⟦named_secret|0f3a9c7b1d5e2f4a6b8c⟧&v=3",
	"https://h.test/list?key=theme&sort=asc, sig=1 and key=0f3a9c7b1d5e2f4a6b8c",
	// Sentences.
	"the password is ⟦named_secret|hunter2⟧, please change it",
	"The password for root is ⟦named_secret|swordfish⟧.",
	"The passphrase was “⟦named_secret|correct horse battery⟧” until May",
	"the API key is ⟦named_secret|8f14e45fceea⟧ and works",
	"password for the staging database of acme is \"⟦named_secret|opensesame⟧\"",
	"your access token is `⟦named_secret|a1B2c3D4e5⟧`",
	"the password is wrong. The password is required. The password is too short. The password is not set.",
	"The password is stored in vault. The token is expired. The secret is out! The API key is the same.",
	"the token is 32 bytes long, the password is 8 characters, the password is base64",
	"the password is case-sensitive. The token is a string. the password is \"required\"",
	// Property names in a schema inside a text.
	"{\"properties\": {\"password\": {\"type\": \"string\", \"minLength\": 8}, \"api_key\": {\"type\": \"string\"}}}",
	// Hashes and other keys are left alone.
	"root:$6$rounds=5000$saltsalt$QWERTYuiop1234567890asdfghjkl:19000:0:99999:7:::",
	"ada:$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW",
	"0x4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318",
	"legal winner thank year wave sausage worth useful legal winner thank yellow",
	"4111 1111 1111 1111 and 5500000000000004",
}

// TestStructures: the secrets of headers, files, connection strings, URLs and sentences are replaced,
// and what is around them stays.
func TestStructures(t *testing.T) {
	for _, row := range structureRows {
		in := secretMark.ReplaceAllString(row, "$2")
		want := secretMark.ReplaceAllString(row, "[REDACTED:$1]")
		if got := redact.Text(in, nil); got != want {
			t.Errorf("of %q\n got %q\nwant %q", in, got, want)
		}
		for _, around := range [][2]string{{"a\n", "\nb"}, {"", "\r\n"}, {"> \n", ""}} {
			checkIdempotent(t, around[0]+in+around[1])
		}
	}
}

// TestSchemas: in a JSON Schema, the names of properties are not names of secrets. What describes them
// stays, and values of a secret are replaced.
func TestSchemas(t *testing.T) {
	for _, row := range [][2]string{
		{`{"properties":{"password":{"type":"string","description":"the password","minLength":8,"pattern":"^.+$"}}}`, ""},
		{`{"properties":{"password":{"title":"Password"},"token":true,"secret":{}}}`, ""},
		{`{"$defs":{"apiKey":{"type":"string","enum":["a1","b2"],"x-note":"n1"}}}`, ""},
		{`{"definitions":{"token":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`, ""},
		{`{"patternProperties":{"password":{"type":"string"}},"dependentRequired":{"password":["user1","host2"]}}`, ""},
		{`{"dependentSchemas":{"token":{"required":["secret"],"properties":{"secret":{"type":"string"}}}}}`, ""},
		{`{"properties":{"credentials":{"type":"object","properties":{"user":{"type":"string","default":"ada1"}}}}}`, ""},
		{`{"properties":{"password":{"type":"string","default":"hunter2"}}}`,
			`{"properties":{"password":{"default":"[REDACTED:named_secret]","type":"string"}}}`},
		{`{"properties":{"pin_token":{"const":1234,"examples":["a1","<token>",""],"example":"x1"}}}`,
			`{"properties":{"pin_token":{"const":"[REDACTED:named_secret]","example":"[REDACTED:named_secret]",` +
				`"examples":["[REDACTED:named_secret]","<token>",""]}}}`},
		{`{"properties":{"password":{"default":"${PASSWORD}"},"name":{"default":"ada1"}}}`, ""},
		{`{"properties":{"note":{"description":"use sk-abcdef"}}}`,
			`{"properties":{"note":{"description":"use [REDACTED:secret_key]"}}}`},
		{`{"properties":{"password":"hunter2"}}`, `{"properties":{"password":"[REDACTED:named_secret]"}}`},
		{`{"properties":{"password":{"value":"hunter2"}}}`, `{"properties":{"password":{"value":"[REDACTED:named_secret]"}}}`},
		{`{"password":{"type":"string"}}`, `{"password":{"type":"[REDACTED:named_secret]"}}`},
		{`{"secrets":{"properties":{"a":{"type":"string"}}}}`,
			`{"secrets":{"properties":{"a":{"type":"[REDACTED:named_secret]"}}}}`},
		{`{"Cookie":"sid=abc1","set-cookie":"sid=abc1; Path=/"}`,
			`{"Cookie":"sid=[REDACTED:named_secret]","set-cookie":"sid=[REDACTED:named_secret]; Path=/"}`},
	} {
		v, err := canon.Parse([]byte(row[0]))
		if err != nil {
			t.Fatal(err)
		}
		want := row[1]
		if want == "" {
			want = string(v.JCS())
		}
		once := redact.Value(v, nil)
		if got := string(once.JCS()); got != want {
			t.Errorf("%s\n got %s\nwant %s", row[0], got, want)
		}
		counts := redact.Counts{}
		if again := redact.Value(once, counts); !again.Equal(once) || counts.Total() != 0 {
			t.Errorf("twice: %s", again.JCS())
		}
		var found redact.Findings
		found.Value("", v)
		if want := strings.Count(want, "[REDACTED"); len(found.List()) != want {
			t.Errorf("%s: findings %v, not %d", row[0], found.List(), want)
		}
	}
}
