package page

import (
	"fmt"
)

// Size formats a number of bytes in decimal units with at least two digits: "1.2 kB", "12 kB".
// Below 1000 it is exact: "999 B".
func Size(bytes int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	n, unit, decimals := float64(bytes), 0, 0
	// A value that rounds to 1000 uses the next unit.
	for n >= 999.5 && unit < len(units)-1 {
		n /= 1000
		unit++
	}
	if unit > 0 && n < 9.95 {
		decimals = 1
	}
	return fmt.Sprintf("%.*f %s", decimals, n, units[unit])
}
