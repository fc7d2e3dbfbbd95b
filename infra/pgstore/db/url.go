package db

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/waybill/waybill/durable/fault"
	"github.com/waybill/waybill/durable/pattern"
)

// defaultSchema is the schema of a store whose address names none.
const defaultSchema = "waybill"

// connectMost is how long connecting to one host may take if neither the address nor PGCONNECT_TIMEOUT says so.
const connectMost = 5 * time.Second

// Address is where a store is: servers, a database, and the schema of the store in it. The zero Address is none.
type Address struct {
	name   string // as in --store
	schema string
	config *pgconn.Config
}

// IsAddress reports that the name of a store is the URL of a database, and not a path.
func IsAddress(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// schemaName is the form of the name of a schema that needs no quotes.
var schemaName = pattern.New(`^[a-z_][a-z0-9_]{0,62}$`)

// Parse returns the address that a URL names: postgres://[USER@]HOST[:PORT][,HOST…]/DATABASE[?schema=NAME&…], or
// postgres:///DATABASE?host=DIR&user=USER for a socket. What it does not say comes from the environment of libpq: PGUSER, PGPASSFILE,
// PGSERVICE and others. VALIDATION_ERROR: it is not valid, or has a password, or a connection would not be
// private and certain of its server.
func Parse(text string) (Address, error) {
	u, err := url.Parse(text)
	if err != nil || !IsAddress(text) {
		// The text is not repeated: it may have a password.
		return Address{}, invalid("the address of the store is no URL").
			Suggest("It has the form postgres://USER@HOST/DATABASE?schema=NAME.")
	}
	query := u.Query()
	_, has := u.User.Password()
	for _, secret := range []string{"password", "sslpassword"} {
		has = has || query.Has(secret)
	}
	if has {
		return Address{}, invalid("the address of the store has a password: other users of this machine can see command lines").
			Suggest("Put it in the file that PGPASSFILE names, in a service file, or in PGPASSWORD.")
	}
	a := Address{name: text, schema: cmp.Or(query.Get("schema"), defaultSchema)}
	if !schemaName.MatchString(a.schema) || strings.HasPrefix(a.schema, "pg_") {
		return Address{}, invalid("the schema of a store has a name of small letters, digits and _, at most 63, not %q", a.schema)
	}
	query.Del("schema")
	if attrs := query.Get("target_session_attrs"); attrs != "" && attrs != "primary" && attrs != "read-write" {
		return Address{}, invalid("target_session_attrs=%s may select a replica, which does not know the latest commits", attrs).
			Suggest("Leave target_session_attrs away: the primary server is selected.")
	} else if attrs == "" {
		query.Set("target_session_attrs", "primary")
	}
	asked := query.Get("sslmode")
	if a.config, err = parseConfig(u, query); err != nil {
		return Address{}, err
	}
	if a.isLocal() || a.isVerified() && asked == "verify-full" {
		return a, nil
	}
	if asked != "" && asked != "verify-full" {
		return Address{}, invalid("sslmode=%s does not make sure that the server is the right one", asked).
			Suggest("Leave sslmode away: verify-full is used for each server that is not on this machine.")
	}
	query.Set("sslmode", "verify-full")
	if a.config, err = parseConfig(u, query); err != nil {
		return Address{}, err
	}
	return a, nil
}

// invalid returns a VALIDATION_ERROR.
func invalid(format string, args ...any) *fault.Fault {
	return fault.New(fault.ValidationError, format, args...)
}

// parseConfig returns the settings of connections to a URL with other parameters.
func parseConfig(u *url.URL, query url.Values) (*pgconn.Config, error) {
	to := *u
	to.RawQuery = query.Encode()
	config, err := pgconn.ParseConfig(to.String())
	if err != nil {
		// The error names the settings without their values, behind the URL, which has no password.
		text := shortly(err)
		if _, reason, ok := strings.Cut(text, "`: "); ok {
			text = reason
		}
		return nil, fault.Wrap(err, fault.ValidationError, "the address of the store is not valid: %s", text).
			Suggest("It has the form postgres://USER@HOST/DATABASE?schema=NAME.")
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectMost
	}
	return config, nil
}

// isLocal reports that every server is on this machine.
func (a Address) isLocal() bool {
	local := isLocalHost(a.config.Host)
	for _, f := range a.config.Fallbacks {
		local = local && isLocalHost(f.Host)
	}
	return local
}

// isLocalHost reports a directory of sockets, a loopback address or localhost.
func isLocalHost(host string) bool {
	ip := net.ParseIP(host)
	return strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" || ip != nil && ip.IsLoopback()
}

// isVerified reports that each connection is encrypted and the name of the server verified.
func (a Address) isVerified() bool {
	verified := a.config.TLSConfig != nil && !a.config.TLSConfig.InsecureSkipVerify
	for _, f := range a.config.Fallbacks {
		verified = verified && f.TLSConfig != nil && !f.TLSConfig.InsecureSkipVerify
	}
	return verified
}

// Name is what selects the store on a command line.
func (a Address) Name() string { return a.name }

// Key identifies the schema on its servers, for each role and each way to them: 32 hexadecimal digits. It is the same for each
// spelling that names the same hosts and ports in the same order.
func (a Address) Key() string {
	text := a.config.Host + ":" + strconv.Itoa(int(a.config.Port))
	for _, f := range a.config.Fallbacks {
		if next := f.Host + ":" + strconv.Itoa(int(f.Port)); !strings.HasSuffix(text, next) {
			text += "," + next
		}
	}
	sum := sha256.Sum256([]byte("waybill store\x00" + text + "\x00" + a.config.Database + "\x00" + a.schema))
	return hex.EncodeToString(sum[:16])
}

// Schema is the schema of the store.
func (a Address) Schema() string { return a.schema }
