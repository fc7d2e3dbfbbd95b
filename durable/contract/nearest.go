package contract

import "strings"

// nearestBytesMax is where a name is too long to be a slip of the keyboard.
const nearestBytesMax = 48

// nearest is the name that someone who typed word most likely meant, "" when none
// is close: at most a third of the letters are wrong, or one is the start of the
// other. Of equally close names the first counts.
func nearest(word string, names []string) string {
	if word == "" || len(word) > nearestBytesMax {
		return ""
	}
	low := strings.ToLower(word)
	best, budget := "", max(1, len(word)/3)
	for _, name := range names {
		if len(name) > nearestBytesMax {
			continue
		}
		other := strings.ToLower(name)
		if d := letters(low, other); d <= budget {
			best, budget = name, d-1
		}
	}
	for _, name := range names {
		other := strings.ToLower(name)
		if best == "" && min(len(low), len(other)) > 3 && (strings.HasPrefix(low, other) || strings.HasPrefix(other, low)) {
			best = name
		}
	}
	return best
}

// letters counts the bytes to insert, delete or replace to turn a into b.
func letters(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, corner+1)
		}
	}
	return row[len(b)]
}
