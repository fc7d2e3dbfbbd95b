package consent

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"

	"github.com/waybill/waybill/durable/canon"
	"github.com/waybill/waybill/durable/limits"
	"github.com/waybill/waybill/durable/period"
	"github.com/waybill/waybill/durable/redact"
)

// Presence is whether a signature has to show that a person touched the key.
type Presence string

// The presences.
const (
	Touch Presence = "touch"
	None  Presence = "none"
)

// Signer is one key whose signature shows the consent of a person.
type Signer struct {
	// Principal is the name of the person.
	Principal string
	// PublicKey is the type and the base64 of the key, as in authorized_keys, without a comment.
	PublicKey string
	// Presence is Touch for keys that live in a security key (sk-…), unless it is given.
	Presence Presence
	// ValidAfter and ValidBefore bound the time of signatures, in RFC 3339 with Z; "" is no bound.
	ValidAfter, ValidBefore string

	key ssh.PublicKey
}

// Fingerprint returns the SHA-256 fingerprint of the key, as ssh-keygen -l prints it.
func (s Signer) Fingerprint() string { return ssh.FingerprintSHA256(s.key) }

// InSecurityKey reports a key that lives in a security key, whose signatures show a touch.
func (s Signer) InSecurityKey() bool { return strings.HasPrefix(s.key.Type(), "sk-") }

// valid reports whether signatures of a moment count.
func (s Signer) valid(atMs int64) bool {
	after, afterErr := period.ParseInstant(s.ValidAfter)
	before, beforeErr := period.ParseInstant(s.ValidBefore)
	return (s.ValidAfter == "" || afterErr == nil && atMs >= after) &&
		(s.ValidBefore == "" || beforeErr == nil && atMs < before)
}

// The members of a signer in the setting "signers".
const (
	memberPrincipal   = "principal"
	memberPublicKey   = "publicKey"
	memberPresence    = "presence"
	memberValidAfter  = "validAfter"
	memberValidBefore = "validBefore"
)

// Value returns the signer as the setting has it.
func (s Signer) Value() canon.Value {
	members := []canon.Member{Text(memberPrincipal, s.Principal), Text(memberPublicKey, s.PublicKey),
		Text(memberPresence, string(s.Presence)), Text(memberValidAfter, s.ValidAfter), Text(memberValidBefore, s.ValidBefore)}
	return canon.OfMembers(slices.DeleteFunc(members, func(m canon.Member) bool { return m.Value.IsNull() })...)
}

// Mismatch is what is wrong with the setting "signers": a place in it, what it must be, and what it is.
type Mismatch struct {
	At        string // a pointer without its first slash, "" for the whole value
	Want, Got string
}

// Error returns the mismatch as one clause.
func (m *Mismatch) Error() string { return fmt.Sprintf("%s: want %s, got %s", m.At, m.Want, m.Got) }

// ParseSigners reads the value of the setting "signers": a list of objects. The error is a *Mismatch.
func ParseSigners(v canon.Value) ([]Signer, error) {
	if v.Kind() != canon.Array {
		return nil, &Mismatch{"", `a list of signers, such as [{"principal":"ada","publicKey":"ssh-ed25519 AAAA…"}]`,
			"a value of type " + v.Kind().String()}
	}
	if v.Len() > limits.SignersMax {
		return nil, &Mismatch{"", fmt.Sprintf("at most %d signers", limits.SignersMax), fmt.Sprint(v.Len())}
	}
	out := make([]Signer, 0, v.Len())
	for i := range v.Len() {
		s, err := signerOf(v.Item(i))
		if err != nil {
			err.At = strings.TrimSuffix(fmt.Sprintf("%d/%s", i, err.At), "/")
			return nil, err
		}
		if j := slices.IndexFunc(out, func(o Signer) bool { return o.PublicKey == s.PublicKey }); j >= 0 {
			return nil, &Mismatch{fmt.Sprintf("%d/%s", i, memberPublicKey), "each key once", fmt.Sprintf("that of signer %d again", j)}
		}
		out = append(out, s)
	}
	return out, nil
}

// signerOf reads one signer.
func signerOf(v canon.Value) (s Signer, m *Mismatch) {
	if v.Kind() != canon.Object {
		return s, &Mismatch{"", "an object of principal, publicKey and presence", "a value of type " + v.Kind().String()}
	}
	for i := range v.Len() {
		text := v.Item(i).Text()
		switch name := v.Key(i); name {
		case memberPrincipal:
			s.Principal = text
		case memberPublicKey:
			s.PublicKey = text
		case memberPresence:
			if s.Presence = Presence(text); s.Presence != Touch && s.Presence != None {
				return s, &Mismatch{name, "touch or none", "another value"}
			}
		case memberValidAfter:
			s.ValidAfter = text
		case memberValidBefore:
			s.ValidBefore = text
		default:
			return s, &Mismatch{"", "only principal, publicKey, presence, validAfter and validBefore", "another member"}
		}
		if v.Item(i).Kind() != canon.String {
			return s, &Mismatch{v.Key(i), "a text", "a value of type " + v.Item(i).Kind().String()}
		}
	}
	return s.complete()
}

// complete checks a signer, and fills in its key and its presence.
func (s Signer) complete() (Signer, *Mismatch) {
	if !isPrincipal(s.Principal) {
		return s, &Mismatch{memberPrincipal, "a name of 1 to 128 bytes without spaces, commas and wildcards", "another text"}
	}
	for name, text := range map[string]string{memberValidAfter: s.ValidAfter, memberValidBefore: s.ValidBefore} {
		if _, err := period.ParseInstant(text); text != "" && err != nil {
			return s, &Mismatch{name, "a time such as 2026-12-31T00:00:00Z", "another text"}
		}
	}
	key, canonical := publicKey(s.PublicKey)
	if key == nil {
		return s, &Mismatch{memberPublicKey, "an SSH public key, such as the content of ~/.ssh/id_ed25519.pub", "another text"}
	}
	s.key, s.PublicKey = key, canonical
	switch {
	case s.Presence == "" && s.InSecurityKey():
		s.Presence = Touch
	case s.Presence == Touch && !s.InSecurityKey():
		return s, &Mismatch{memberPresence, "touch only for a key in a security key (sk-ssh-ed25519@openssh.com, …)",
			"touch for " + key.Type()}
	}
	return s, nil
}

// isPrincipal reports a name that allowed_signers can hold, and that names one person.
func isPrincipal(s string) bool {
	return s != "" && len(s) <= limits.ActorRefMax && utf8.ValidString(s) && !strings.ContainsAny(s, " \t\r\n,\"'*?!#\\") &&
		redact.Text(s, nil) == s
}

// publicKey reads a public key with or without a comment, and returns it without one. DSA keys and
// certificates are none: ssh-keygen does not sign with the former, and the latter are not checked here.
func publicKey(text string) (ssh.PublicKey, string) {
	if len(text) > limits.PublicKeyBytesMax || strings.ContainsAny(text, "\r\n") {
		return nil, ""
	}
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(text))
	if err != nil || len(options) > 0 {
		return nil, ""
	}
	if _, ok := key.(*ssh.Certificate); ok || key.Type() == "ssh-dss" {
		return nil, ""
	}
	return key, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(key)))
}

// ParseAllowedSigners reads a file in the form of OpenSSH's allowed_signers: on each line a principal,
// options, and a public key. Lines for other namespaces are left out. The error names the line.
func ParseAllowedSigners(text string) ([]Signer, error) {
	if len(text) > limits.AllowedSignersBytesMax {
		return nil, fmt.Errorf("%d bytes, of which at most %d are read", len(text), limits.AllowedSignersBytesMax)
	}
	var out []Signer
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		s, ours, err := allowedSigner(line)
		if err == nil && ours && slices.ContainsFunc(out, func(o Signer) bool { return o.PublicKey == s.PublicKey }) {
			err = fmt.Errorf("the key of an earlier line again")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		if ours {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no line with a key for the namespace %s", Namespace)
	}
	if len(out) > limits.SignersMax {
		return nil, fmt.Errorf("%d keys, of which at most %d are allowed", len(out), limits.SignersMax)
	}
	return out, nil
}

// allowedSigner reads one line; ours is false for a line of another namespace.
func allowedSigner(line string) (s Signer, ours bool, err error) {
	s.Principal, line, ours = strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	line = strings.TrimSpace(line)
	if !isPrincipal(s.Principal) {
		return s, false, fmt.Errorf("the principal is not one name; write one line for each person, without wildcards")
	}
	if key, _ := publicKey(line); key == nil && ours {
		options, rest := splitOptions(line)
		if ours, err = s.apply(options); err != nil || !ours {
			return s, false, err
		}
		line = rest
	}
	s.PublicKey = line
	s, m := s.complete()
	if m != nil {
		return s, false, fmt.Errorf("%s: want %s", m.At, m.Want)
	}
	return s, true, nil
}

// splitOptions splits the options before a key: words with a value in quotes, separated by commas.
func splitOptions(line string) (options []string, rest string) {
	from, quoted := 0, false
	for i := range len(line) {
		switch b := line[i]; {
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == ',', b == ' ':
			options, from = append(options, line[from:i]), i+1
			if b == ' ' {
				return options, strings.TrimSpace(line[i:])
			}
		}
	}
	return append(options, line[from:]), ""
}

// apply applies the options of a line; ours is false if they exclude the namespace.
func (s *Signer) apply(options []string) (ours bool, err error) {
	ours = true
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		value = strings.Trim(value, `"`)
		switch strings.ToLower(name) {
		case "namespaces":
			ours = ours && slices.ContainsFunc(strings.Split(value, ","), func(pattern string) bool {
				return pattern == Namespace || pattern == "*"
			})
		case "valid-after":
			s.ValidAfter, err = timeOfOption(value)
		case "valid-before":
			s.ValidBefore, err = timeOfOption(value)
		case "cert-authority":
			err = fmt.Errorf("certificates are not supported; name the key itself")
		default:
			err = fmt.Errorf("an option that is not known; the known ones are namespaces, valid-after and valid-before")
		}
		if err != nil {
			return false, err
		}
	}
	return ours, nil
}

// timeOfOption returns a time of OpenSSH in UTC, YYYYMMDD[HHMM[SS]]Z, in RFC 3339.
func timeOfOption(text string) (string, error) {
	digits, utc := strings.CutSuffix(text, "Z")
	if !utc || len(digits) != 8 && len(digits) != 12 && len(digits) != 14 {
		return "", fmt.Errorf("a time that is not in UTC; write it as YYYYMMDDHHMMSSZ")
	}
	digits += "000000"[:14-len(digits)]
	out := fmt.Sprintf("%s-%s-%sT%s:%s:%sZ", digits[:4], digits[4:6], digits[6:8], digits[8:10], digits[10:12], digits[12:])
	if _, err := period.ParseInstant(out); err != nil {
		return "", fmt.Errorf("a time that does not exist")
	}
	return out, nil
}

// SignersValue returns signers as the setting has them.
func SignersValue(all []Signer) canon.Value {
	items := make([]canon.Value, len(all))
	for i, s := range all {
		items[i] = s.Value()
	}
	return canon.OfList(items...)
}

// AllowedSigners returns signers in the form of OpenSSH's allowed_signers, for 'ssh-keygen -Y verify'.
func AllowedSigners(all []Signer) string {
	var out strings.Builder
	for _, s := range all {
		fmt.Fprintf(&out, "%s namespaces=\"%s\"", s.Principal, Namespace)
		for _, bound := range [][2]string{{"valid-after", s.ValidAfter}, {"valid-before", s.ValidBefore}} {
			if bound[1] != "" {
				// 2026-12-31T00:00:00.5Z is 20261231000000Z.
				digits := strings.NewReplacer("-", "", "T", "", ":", "").Replace(bound[1])
				fmt.Fprintf(&out, ",%s=\"%sZ\"", bound[0], digits[:min(14, len(digits)-1)])
			}
		}
		fmt.Fprintf(&out, " %s\n", s.PublicKey)
	}
	return out.String()
}
