package redact

import (
	"strconv"
	"strings"

	"github.com/waybill/waybill/durable/pattern"
	"github.com/waybill/waybill/durable/redact/blob"
	"github.com/waybill/waybill/durable/redact/forms"
	"github.com/waybill/waybill/durable/redact/words"
)

// structures maps a name, in lower case, to what is read behind it where its value is more than one
// secret, or a secret only there. Each function returns the offset from which to continue, 0 where
// it found nothing.
var structures = map[string]func(*scanner, int, nameContext) int{
	"cookie": (*scanner).cookies, "set-cookie": (*scanner).cookies, "document.cookie": (*scanner).cookies,
	"authorization": (*scanner).authorization, "proxy-authorization": (*scanner).authorization,
	"auth": registryAuth, "_auth": registryAuth,
	"private-lines": puttyLines, "private-mac": puttyMAC, "private-hash": puttyMAC,
	"sig": parameter, "key": parameter, "signature": signature,
	"x-amz-signature": signature, "x-goog-signature": signature,
	"client-key-data": keyData, "pass": passLine, "code": parameter, "x-honeycomb-team": headerKey, "x-jfrog-art-api": headerKey, "appid": parameter, "thin": thinPassword, "default": variableDefault,
	"d": keyMember, "p": keyMember, "q": keyMember, "dp": keyMember, "dq": keyMember, "qi": keyMember, "k": keyMember,
}

// structureMax is the longest of these names.
const structureMax = 20

// structure reads the structure whose name n ends before the sign at i.
func (sc *scanner) structure(i int, n nameContext) int {
	if strings.HasPrefix(n.name, "BUNDLE_") && strings.Contains(n.name, "__") {
		return sc.bundleCredential(i)
	}
	var lower [structureMax]byte
	if len(n.name) == 0 || len(n.name) > structureMax {
		return sc.pgpass(i, n)
	}
	for k := range len(n.name) {
		lower[k] = n.name[k]
		if upper[lower[k]] {
			lower[k] += 'a' - 'A'
		}
	}
	if read := structures[string(lower[:len(n.name)])]; read != nil {
		return read(sc, i, n)
	}
	if to := sc.driverPassword(i); to > 0 {
		return to
	}
	return sc.pgpass(i, n)
}

// bundleCredential reads the credential of a host in the settings of Bundler: BUNDLE_GEMS__EXAMPLE__COM.
func (sc *scanner) bundleCredential(i int) int {
	s := sc.text
	from := span(s, i+1, blank)
	open := openQuote(s, from)
	to := sc.bareEnd(from + open)
	if from += open; to-from < shortest || to-from > classifiedMax || s[from] == '-' || strings.Contains(s[from:to], "/") || !words.Stated(s[from:to]) {
		return 0
	}
	return sc.take(from, to)
}

// driverPassword reads the password of user:password@tcp(host:port)/name, whose user ends before i.
func (sc *scanner) driverPassword(i int) int {
	s := sc.text
	if s[i] != ':' || i+1 >= len(s) || blank[s[i+1]] || s[i+1] == '"' || s[i+1] == '/' {
		return 0
	}
	to := span(s[:min(len(s), i+nameMax)], i+1, driverByte)
	if rest := s[to:]; !strings.HasPrefix(rest, "@tcp(") && !strings.HasPrefix(rest, "@unix(") {
		return 0
	}
	return sc.take(i+1, to)
}

// driverByte is the class of the bytes of such a password.
var driverByte = visibleBut("\"'`<>\\:@()")

// take replaces s[from:to] unless it is empty, a placeholder or a word about values, and returns the
// offset from which to continue.
func (sc *scanner) take(from, to int) int {
	v := sc.text[from:min(to, from+classifiedMax)]
	if v == "" || words.NonValue(v) || strings.Contains(v, markerStart) {
		return 0
	}
	if b := table().find(sc.text, from); b != nil {
		if end, r := sc.tokenAt(from, b); end >= to {
			return sc.replace(from, end, r)
		}
	}
	return sc.replace(from, to, NamedSecret)
}

var (
	cookieName  = visibleBut("\"'`<>\\=;,:()[]{}")
	cookieValue = visibleBut("\"'`<>\\;")
)

// settings reports a list of cookies that keep settings only: a short word each, such as a language.
func settings(s string, at int) bool {
	for {
		name := span(s, at, cookieName)
		if name == at || name == len(s) || s[name] != '=' || SecretName(s[at:name]) {
			return false
		}
		to := span(s[:min(len(s), name+settingMax)], name+1, settingByte)
		switch {
		case to == name+1 || to == name+settingMax:
			return false
		case to == len(s) || s[to] != ';':
			return to == len(s) || strings.IndexByte("\"'\r\n\\", s[to]) >= 0
		}
		if at = span(s, to+1, blank); words.CookieAttributes.Has(strings.ToLower(s[at:span(s, at, dashed)])) {
			return true // the attributes of the first cookie
		}
	}
}

// settingMax is longer than a setting.
const settingMax = 16

var settingByte = classOf(letters + "_-")

// cookies reads the cookies behind the sign at i: the values of all in a request, and of the first
// one in a response.
func (sc *scanner) cookies(i int, n nameContext) int {
	s := sc.text
	at := span(s, i+1, blank)
	if open := openQuote(s, at); open > 0 {
		at += open
	} else if s[i] == '=' {
		return 0 // an expression
	}
	return sc.cookieList(at, strings.EqualFold(n.name, "cookie"))
}

// cookieList reads the cookies at an offset; all states that there may be several.
func (sc *scanner) cookieList(at int, all bool) (next int) {
	s := sc.text
	if settings(s, at) {
		return 0
	}
	for {
		name := span(s, at, cookieName)
		if name == at || name == len(s) {
			return next
		}
		if s[name] == '=' {
			from := name + 1
			if strings.HasPrefix(s[from:], `"`) { // a quoted value
				from++
			}
			end := span(s, from, cookieValue)
			if !words.CookieAttributes.Has(strings.ToLower(s[at:name])) {
				if to := sc.take(from, trimDots(s, from, end)); to > 0 {
					next, end = to, max(to, end)
				}
				if !all {
					return next
				}
			}
			name = end
		}
		// Attributes may contain spaces: the comma and the time of Expires.
		if name < len(s) && s[name] == '"' {
			name++
		}
		if name == len(s) || s[name] != ';' {
			return next
		}
		at = span(s, name+1, blank)
	}
}

var (
	// credentialParameters matches the parameters of an Authorization header that are secret.
	credentialParameters = words.Set("response signature sig mac oauth_signature oauth_token token password auth api_key " +
		"apikey passcode secret client_secret credential_token")
	// parameterBegins matches the beginning of a parameter list behind a scheme.
	parameterBegins = pattern.New(`^(?:[\w-]{2,40} +)?[\w-]{1,40}=(?:[^=]|$)`)
	// anyScheme matches an authentication scheme.
	anyScheme = pattern.New(`^[A-Za-z][\w-]{1,40} +`)
)

// authorization reads the parameters of a scheme, such as the response of Digest and the signature
// of AWS4-HMAC-SHA256, and the credential of a scheme that is not well known. Others are read as
// values of a name.
func (sc *scanner) authorization(i int, n nameContext) (next int) {
	s := sc.text
	at := span(s, i+1, blank)
	if n.quoted || s[i] != ':' {
		return 0
	}
	near := s[at:min(len(s), at+2*nameMax)]
	if parameterBegins.MatchString(near) && scheme(s, at) == at || strings.HasPrefix(near, "Digest ") {
		// Nothing else in the list is the value of the name.
		return max(i+1, sc.parameters(at+len(anyScheme.FindString(near))))
	}
	from := at + len(anyScheme.FindString(near))
	if from == at || scheme(s, at) > at {
		return 0
	}
	to := sc.bareEnd(from)
	if to-from < 8 || !secretLike(s[from:to]) || to < len(s) && strings.IndexByte("\"'`\r\n\\", s[to]) < 0 {
		return 0
	}
	return sc.take(from, to)
}

// parameters replaces the values of secret parameters in a list that begins at i.
func (sc *scanner) parameters(i int) (next int) {
	s := sc.text
	for {
		start, name := i, span(s, i, dashed)
		if name == i || name == len(s) || s[name] != '=' {
			return next
		}
		from, to, whole := name+1, 0, true
		if open := openQuote(s, from); open > 0 {
			from += open
			to, whole = closeQuote(s, from, open)
			i = min(len(s), to+open)
		} else {
			to = span(s, from, parameterValue)
			i = to
		}
		if whole && from < len(s) && credentialParameters.Has(strings.ToLower(s[start:name])) {
			next = max(next, sc.take(from, to))
		} else if b := table().find(s, min(from, len(s)-1)); b != nil && from < len(s) {
			if end, r := sc.tokenAt(from, b); end > 0 {
				next = sc.replace(from, end, r)
			}
		}
		if i = max(i, next); i == len(s) || s[i] != ',' && s[i] != ' ' {
			return next
		}
		i = span(s, i+1, space)
	}
}

// parameterValue is the class of the bytes of a parameter without quotes.
var parameterValue = visibleBut("\"'`<>\\,;")

// passLine reads the password of a line pass = value, as in the settings of file transfer programs, of
// a flag such as -passin pass:value, and behind a user.
func passLine(sc *scanner, i int, n nameContext) int {
	s := sc.text
	from := span(s, i+1, blank)
	if before := strings.ToLower(n.before); s[i] == ':' && !n.quoted && (strings.Contains(before, "user") ||
		strings.Contains(before, "login") || passFlag.MatchString(before)) {
		if to := sc.bareEnd(from); to > from && to-from <= classifiedMax && words.Stated(s[from:to]) {
			return sc.take(from, to)
		}
		return 0
	}
	to := span(s, from, dashed)
	if open := openQuote(s, from); n.quoted && open > 0 {
		if from, to := quoted(s, from, open); to-from >= 8 && to-from < classifiedMax && words.Stated(s[from:to]) {
			return sc.take(from, to)
		}
	}
	if s[i] != '=' || n.quoted || to-from < 8 || !startsLine(n.before) || !words.StrongRun(s[from:to]) {
		return 0
	}
	return sc.take(from, to)
}

// passFlag matches the flags with which openssl takes a password.
var passFlag = pattern.New(`-pass(?:in|out)? ["']?$`)

// thinPassword reads the password of user/password@host in the address of a database.
func thinPassword(sc *scanner, i int, n nameContext) int {
	s := sc.text
	from := span(s[:min(len(s), i+nameMax)], i+1, word)
	if !strings.HasSuffix(strings.ToLower(n.before), "oracle:") || from == i+1 || from == len(s) || s[from] != '/' {
		return 0
	}
	to := span(s[:min(len(s), from+nameMax)], from+1, driverByte)
	if to == len(s) || s[to] != '@' || words.Placeholder(s[from+1:to]) {
		return 0
	}
	return sc.take(from+1, to)
}

// headerKey reads the key in a header whose name does not say so.
func headerKey(sc *scanner, i int, _ nameContext) int {
	s := sc.text
	from := span(s, i+1, blank)
	from += openQuote(s, from)
	to := span(s, from, dashed)
	if to-from < 20 || !words.StrongRun(s[from:min(to, from+keyMax)]) {
		return 0
	}
	return sc.take(from, to)
}

// keyTypeMax bounds how far from a member of a JSON web key its member kty may be.
const keyTypeMax = 4096

// keyMember reads a private member of a JSON web key: an object that has a member kty.
func keyMember(sc *scanner, i int, n nameContext) int {
	s := sc.text
	from := span(s, i+1, space)
	open := openQuote(s, from)
	from += open
	near := span(s[:min(len(s), from+classifiedMax)], from, dashed)
	if !n.quoted || open == 0 || near-from < 16 || !forms.Random.Match(s[from:near]) || !sc.inWebKey(i) {
		return 0
	}
	to := span(s, near, dashed)
	if openQuote(s, to) != open {
		return 0
	}
	return sc.take(from, to)
}

// inWebKey reports a member kty near i. The text is searched once: the last search is kept.
func (sc *scanner) inWebKey(i int) bool {
	k := &sc.keyType
	for k.to < i { // to is the next one behind i, from the last one before it
		next := strings.Index(sc.text[min(k.to+1, len(sc.text)):], `kty`)
		if next < 0 {
			next = len(sc.text)
		}
		countReads(next + 1)
		k.from, k.to = k.to, min(k.to+1+next, len(sc.text))
		if k.to == len(sc.text) {
			break
		}
	}
	isKey := func(at int) bool {
		return at > 0 && at+3 < len(sc.text) && strings.HasPrefix(sc.text[at:], "kty") && max(at-i, i-at) < keyTypeMax &&
			strings.IndexByte("\"'", sc.text[at-1]) >= 0
	}
	return isKey(k.from) || isKey(k.to)
}

// keyData reads the private key of a cluster's user, which is base64.
func keyData(sc *scanner, i int, _ nameContext) int {
	s := sc.text
	from := span(s, i+1, blank)
	from += openQuote(s, from)
	if to := span(s, from, anyBase64); to-from >= base64Min {
		return sc.take(from, to)
	}
	return 0
}

// registryAuth reads base64 of user:password, as in the settings of container and package tools.
func registryAuth(sc *scanner, i int, n nameContext) int {
	s := sc.text
	from := span(s, i+1, blank)
	open := openQuote(s, from)
	from += open
	near := span(s[:min(len(s), from+classifiedMax)], from, anyBase64)
	if n.quoted != (open > 0) && s[i] != '=' || !blob.UserPassword(s[from:near]) {
		return 0
	}
	return sc.replace(from, span(s, near, anyBase64), Basic)
}

// puttyLines reads the private part of a PuTTY key: a number of lines of base64.
func puttyLines(sc *scanner, i int, _ nameContext) int {
	s := sc.text
	at := span(s, i+1, blank)
	end := span(s[:min(len(s), at+3)], at, digit)
	lines, _ := strconv.Atoi(s[at:end])
	from := 0
	for range lines {
		line := puttyLine.FindStringSubmatch(s[end:min(len(s), end+2*pemLine)])
		if line == nil {
			break
		}
		end += len(line[0])
		if from == 0 {
			from = end - len(line[1])
		}
	}
	countReads(end - i)
	if from == 0 {
		return 0
	}
	return sc.replace(from, end, PrivateKey)
}

// puttyLine matches a line end and a line of base64.
var puttyLine = pattern.New(`^(?:\r*\n|(?:\\r)?\\n)[ \t]{0,16}([A-Za-z0-9+/]{1,64}={0,2})`)

// puttyMAC reads the checksum of a PuTTY key, from which a password can be guessed.
func puttyMAC(sc *scanner, i int, _ nameContext) int {
	from := span(sc.text, i+1, blank)
	if to := span(sc.text, from, hexDigit); to-from >= 32 {
		return sc.replace(from, to, PrivateKey)
	}
	return 0
}

// parameter reads the secret of a parameter that is one only in the query of a URL: sig and key.
func parameter(sc *scanner, i int, n nameContext) int {
	b := n.before
	if sc.text[i] == ':' && strings.EqualFold(n.name, "key") && !n.quoted {
		return requestKey(sc, i, n)
	}
	if s := sc.text; s[i] != '=' || !strings.HasSuffix(b, "?") && !strings.HasSuffix(b, "&") && !strings.HasSuffix(b, "&amp;") {
		return 0
	}
	return signature(sc, i, n)
}

// signature reads the signature of a signed URL or request.
func signature(sc *scanner, i int, n nameContext) int {
	s := sc.text
	from := i + 1
	near := span(s[:min(len(s), from+classifiedMax)], from, signatureByte)
	if s[i] != '=' || n.quoted || near-from < 16 || !words.StrongRun(s[from:near]) || strings.Contains(strings.TrimRight(s[from:near], "="), "=") {
		return 0
	}
	return sc.take(from, span(s, near, signatureByte))
}

var signatureByte = classOf(letters + digits + "_-%+/=.~")

// argumentOrElement schedules a secret whose name is not before a colon or an equals sign: the argument
// behind the comma at i, as in setenv("API_TOKEN", "…"), and the text of an element of XML.
func (sc *scanner) argumentOrElement(i int) {
	s := sc.text
	quotes := i > 0 && (s[i-1] == '"' || s[i-1] == '\'')
	if i == 0 || s[i] == ',' && !quotes || s[i] == '>' && !quotes && !dotted[s[i-1]] {
		return
	}
	n := nameBefore(s, i)
	if s[i] == '>' && n.name == "key" && strings.HasSuffix(n.before, "<") {
		sc.propertyList(i + 1)
	}
	secret := SecretName(n.name)
	if key, _ := words.KeyName(n.name); !secret && (!key || s[i] == '>' && quotes) {
		return
	}
	if s[i] == '>' && quotes { // <property name="password">
		to := span(s, i+1, elementText)
		if v := s[i+1 : to]; nameAttribute.MatchString(n.before) && strings.HasPrefix(s[to:], "</") && words.Stated(v) {
			sc.schedule(i+1, to, NamedSecret)
		}
		return
	}
	if s[i] == '>' {
		if strings.HasSuffix(n.before, "<") {
			i += len(elementOpens.FindString(s[i+1 : min(len(s), i+escapeMax)]))
			to := span(s, i+1, elementText)
			if v := strings.TrimSuffix(s[i+1:to], "]]"); (secret || keyValue(n.name, v[:min(len(v), classifiedMax)])) &&
				elementEnds.MatchString(s[to:min(len(s), to+escapeMax)]) && v != "" && !words.NonValue(v) && !strings.Contains(v, markerStart) {
				sc.schedule(i+1, i+1+len(v), NamedSecret)
			}
		}
		return
	}
	from := span(s, i+1, blank)
	if open := openQuote(s, from); open > 0 && n.quoted {
		from, to := quoted(s, from, open)
		if v := s[from:to]; to > from && len(v) >= 8 && words.Stated(v) && !SecretName(v) && (secret || len(v) <= classifiedMax && keyValue(n.name, v)) {
			sc.schedule(from, to, NamedSecret)
		}
	}
}

// nameAttribute matches an attribute that names an element.
var nameAttribute = pattern.New(`[ \t\n](?i:name|key|id|field|property)=\\*["']$`)

// propertyList schedules the text behind the name at i in a property list: <key>password</key>
// <string>…</string>.
func (sc *scanner) propertyList(i int) {
	s := sc.text
	name := span(s[:min(len(s), i+nameMax)], i, dotted)
	if !SecretName(s[i:name]) {
		return
	}
	from := name + len(listValue.FindString(s[name:min(len(s), name+2*escapeMax)]))
	to := span(s, from, elementText)
	if v := s[from:to]; from > name && elementEnds.MatchString(s[to:min(len(s), to+escapeMax)]) && words.Stated(v[:min(len(v), classifiedMax)]) {
		sc.schedule(from, to, NamedSecret)
	}
}

// listValue matches the end of a name in a property list, and the beginning of its text.
var listValue = pattern.New(`^</key>[ \t\r\n]{0,40}<(?:string|data)>[ \t\r\n]{0,40}`)

// What may be between a tag and the text of an element.
var (
	elementOpens = pattern.New(`^(?:[ \t]*\r*\n[ \t]*|<!\[CDATA\[)`)
	elementEnds  = pattern.New(`^(?:[ \t\r\n]*</|>)`)
)

// elementText is the class of the bytes of a secret in an element of XML.
var elementText = visibleBut("<>")

// pgpass reads a line host:port:database:user:password, whose first colon is at i.
func (sc *scanner) pgpass(i int, n nameContext) int {
	s := sc.text
	if s[i] != ':' || i+2 >= len(s) || !digit[s[i+1]] && s[i+1] != '*' || n.quoted ||
		!startsLine(n.before) && !strings.HasSuffix(n.before, "'") && !strings.HasSuffix(n.before, `"`) {
		return 0
	}
	port := span(s[:min(len(s), i+8)], i+1, digit)
	if s[i+1] == '*' {
		port = i + 2
	} else if port-i < 5 || port-i > 6 {
		return 0
	}
	at := port
	for range 2 { // the database and the user
		if at >= len(s) || s[at] != ':' {
			return 0
		}
		end := span(s[:min(len(s), at+1+nameMax)], at+1, pgpassName)
		if end == at+1 || digit[s[at+1]] {
			return 0
		}
		at = end
	}
	if at >= len(s) || s[at] != ':' {
		return 0
	}
	to := span(s, at+1, pgpassPassword)
	if to == at+1 || to < len(s) && strings.IndexByte("\r\n\"'", s[to]) < 0 && !strings.HasPrefix(s[to:], `\n`) {
		return 0
	}
	return sc.take(at+1, to)
}

var (
	pgpassName     = classOf(letters + digits + "_-.*$")
	pgpassPassword = visibleBut("\"'`<>:")
)

// netrcField matches a field of an entry: what separates it from the last one, and its name.
var netrcField = pattern.New(`^(?:\s|\\[nrt]){1,16}(login|user|password|passwd|account|macdef)(?:[ \t]|\r*\n){1,16}`)

// netrc reads the entry of a netrc file that begins at i: a machine and its fields in any order, on
// one line or several.
func (sc *scanner) netrc(i int) (next int) {
	s := sc.text
	var at int
	switch {
	case strings.HasPrefix(s[i:], "machine ") || strings.HasPrefix(s[i:], "machine\t"):
		at = span(s, i+len("machine"), blank)
		at = span(s[:min(len(s), at+4*nameMax)], at, netrcByte)
	case strings.HasPrefix(s[i:], "default"):
		at = i + len("default")
	default:
		return 0
	}
	var secrets [4][2]int
	found, user := 0, false
	for range len(secrets) {
		m := netrcField.FindStringSubmatch(s[at:min(len(s), at+nameMax)])
		if m == nil || m[1] == "macdef" {
			break
		}
		from := at + len(m[0])
		open := openQuote(s, from)
		to := span(s[:min(len(s), from+4*nameMax)], from, netrcByte)
		if open > 0 {
			to, _ = closeQuote(s, from+open, open)
			from += open
		}
		if m[1] == "login" || m[1] == "user" {
			user = true
		} else {
			secrets[found] = [2]int{from, to}
			found++
		}
		at = min(len(s), to+open)
	}
	if !user {
		return 0
	}
	for _, secret := range secrets[:found] {
		next = max(next, sc.take(secret[0], secret[1]))
	}
	return next
}

var netrcByte = visibleBut("\"'`<>\\")
