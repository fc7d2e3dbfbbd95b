package yaml

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/waybill/waybill/durable/canon"
)

func TestCoreSchema(t *testing.T) {
	for plain, want := range map[string]string{
		"null": "null", "Null": "null", "NULL": "null", "~": "null", "nULL": `"nULL"`,
		"true": "true", "True": "true", "TRUE": "true", "tRUE": `"tRUE"`,
		"false": "false", "False": "false", "FALSE": "false",
		"yes": `"yes"`, "Yes": `"Yes"`, "on": `"on"`, "off": `"off"`, "n": `"n"`, "y": `"y"`,
		"0": "0", "12": "12", "+12": "12", "-12": "-12", "012": "12", "-007": "-7", "000": "0", "-0": "0",
		"0o17": "15", "0o18": `"0o18"`, "0x1F": "31", "0xff": "255", "-0x1F": `"-0x1F"`, "0X1F": `"0X1F"`,
		"0b11": `"0b11"`, "1_000": `"1_000"`, "1,000": `"1,000"`, "190:20:30": `"190:20:30"`,
		"1.5": "1.5", ".5": "0.5", "-.5": "-0.5", "+.5": "0.5", "1.": "1", "01.50": "1.5", "1e3": "1000",
		"1E+3": "1000", "1.e2": "100", ".5e1": "5", "-0.0": "0", "12e03": "12000", "6.8523015e+5": "685230.15",
		".": `"."`, "-": `"-"`, "+": `"+"`, "e3": `"e3"`, "1e": `"1e"`, "1.2.3": `"1.2.3"`, "0.1.0": `"0.1.0"`,
		"2024-01-01": `"2024-01-01"`, "2001-12-14t21:59:43.10-05:00": `"2001-12-14t21:59:43.10-05:00"`,
		".infinity": `".infinity"`, "inf": `"inf"`, "nan": `"nan"`, "=": `"="`, "<<": `"<<"`,
		"9007199254740992": "9007199254740992",
	} {
		// In a list, so that no character of it is parsed as structure.
		if plain == "-" || plain == "1,000" {
			plain = "x" + plain // alone they are structure
			want = `"` + plain + `"`
		}
		v, err := Parse([]byte("k: " + plain + "\n"))
		if err != nil {
			t.Errorf("%q: %v", plain, err)
			continue
		}
		if got := string(v.JCS()); got != `{"k":`+want+`}` {
			t.Errorf("%q: got %s, want %s", plain, got, want)
		}
	}
}

// TestNumbersAsJSON: a number in JSON syntax has the same value in YAML.
func TestNumbersAsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lit := rapid.StringMatching(`-?(0|[1-9][0-9]{0,17})(\.[0-9]{1,4})?([eE][-+]?[0-9]{1,2})?`).Draw(t, "number")
		inJSON, jsonErr := canon.Parse([]byte(lit))
		inYAML, yamlErr := Parse([]byte(lit))
		if (jsonErr == nil) != (yamlErr == nil) {
			t.Fatalf("JSON error %v, YAML error %v", jsonErr, yamlErr)
		}
		if jsonErr == nil && !inJSON.Equal(inYAML) {
			t.Fatalf("JSON value %s, YAML value %s", inJSON.JCS(), inYAML.JCS())
		}
	})
}
