package page

import (
	"fmt"
)

// Size formats a number of bytes in decimal units with at least two digits: "1.2 kB", "12 kB".
// Below 1000 it is exact: "999 B".
func Size(bytes int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	n := float64(bytes)
	for i, unit := range units {
		n /= 1000
		// A value that rounds to 1000 uses the next unit.
		if n < 999.5 || i == len(units)-1 {
			if n < 9.95 {
				return fmt.Sprintf("%.1f %s", n, unit)
			}
			return fmt.Sprintf("%.0f %s", n, unit)
		}
	}
	return ""
}
