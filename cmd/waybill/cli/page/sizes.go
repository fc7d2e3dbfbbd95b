package page

import (
	"fmt"
)

// Size is a number of bytes in steps of a thousand, with two digits at least:
// "1.2 kB", "12 kB".
func Size(bytes int64) string {
	units := []string{"kB", "MB", "GB", "TB"}
	if bytes < 1000 {
		return fmt.Sprintf("%d B", bytes)
	}
	n := float64(bytes)
	for i, unit := range units {
		n /= 1000
		// What rounds to a thousand is one of the next.
		if n < 999.5 || i == len(units)-1 {
			if n < 9.95 {
				return fmt.Sprintf("%.1f %s", n, unit)
			}
			return fmt.Sprintf("%.0f %s", n, unit)
		}
	}
	return ""
}
