package db

import (
	"slices"
	"strings"
	"testing"

	"github.com/waybill/waybill/durable/fault"
)

// TestNamesInStatements: the schema of the store takes the place of "@.", and names of roles stay as they are.
func TestNamesInStatements(t *testing.T) {
	c := &Conn{schema: "some"}
	if got := c.text(Query("select 1 from @.logs join @.groups")); got != `select 1 from "some".logs join "some".groups` {
		t.Errorf("the statement is %s", got)
	}
	grants := Roles{Writers: []string{`a@.b"c`}, Readers: []string{"d"}}.grants("some")
	if len(grants) != 5 {
		t.Fatalf("there are %d grants", len(grants))
	}
	writers := 0
	for _, one := range grants {
		text := c.text(one)
		if !strings.Contains(text, `"some"`) {
			t.Errorf("a grant is not of the schema: %s", text)
		}
		if strings.HasSuffix(text, ` "a@.b""c"`) {
			writers++
		}
	}
	if writers != 3 {
		t.Errorf("%d grants are those of the writer; want 3", writers)
	}
}

// TestNumbersOfLocks: the number of a lock is what other versions of the program have for it, and another one in another schema.
func TestNumbersOfLocks(t *testing.T) {
	if got := LockName("sessions/x").key("waybill"); got != -6596588253251711212 {
		t.Errorf("the number is %d", got)
	}
	if LockName(UseLock).key("a") == LockName(UseLock).key("b") {
		t.Error("stores in two schemas have one lock")
	}
	values, oids, _, err := (&Conn{schema: "waybill"}).encode([]any{LockName("sessions/x")})
	if err != nil || !slices.Equal(oids, []uint32{oidInt}) || len(values[0]) != 8 {
		t.Errorf("as a parameter it is %x of type %d, %v", values, oids, err)
	}
}

// TestParse: an address has no password, and each server of another machine is verified.
func TestParse(t *testing.T) {
	for _, name := range []string{"PGHOST", "PGUSER", "PGPASSWORD", "PGSSLMODE", "PGSERVICE", "PGPASSFILE", "PGSERVICEFILE"} {
		t.Setenv(name, "")
	}
	for text, schema := range map[string]string{
		"postgres://me@db.example/things":              "waybill",
		"postgresql://me@db.example/things?schema=a_1": "a_1",
		"postgres:///things?host=/run&user=me":         "waybill",
		"postgres://me@a.example,b.example/things":     "waybill",
	} {
		a, err := Parse(text)
		if err != nil || a.Schema() != schema || a.Name() != text || len(a.Key()) != 32 || !a.isLocal() && !a.isVerified() {
			t.Errorf("%s: %+v, %v", text, a, err)
		}
	}
	for _, text := range []string{"/a/directory", "postgres://me:secret@db.example/things", "postgres://me@db.example/things?password=secret",
		"postgres://me@db.example/things?schema=pg_a", "postgres://me@db.example/things?schema=A", "postgres://me@db.example/things?sslmode=require",
		"postgres://me@localhost,db.example/things?sslmode=disable", "postgres://me:secret@db example/things",
		"postgres:///things?host=/run&user=me&target_session_attrs=any"} {
		if _, err := Parse(text); !fault.Is(err, fault.ValidationError) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v; want VALIDATION_ERROR without a secret", text, err)
		}
	}
}
