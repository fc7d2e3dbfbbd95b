package pages

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestColorsCanBeRead: in light, in dark and in print, text has the contrast with its ground that WCAG AA asks for, 4.5.
func TestColorsCanBeRead(t *testing.T) {
	blocks := regexp.MustCompile(`:root\{([^}]*)\}`).FindAllStringSubmatch(style, -1)
	if len(blocks) != 3 {
		t.Fatalf("%d sets of colors", len(blocks))
	}
	for i, b := range blocks {
		colors := map[string]string{}
		for _, m := range regexp.MustCompile(`--([a-z]+):#([0-9a-f]{3,6})`).FindAllStringSubmatch(b[1], -1) {
			colors[m[1]] = m[2]
		}
		pairs := []string{"ink bg", "ink card", "ink code", "dim bg", "dim card", "dim code", "link bg", "link card", "bad card", "good bg"}
		for _, tone := range []string{"good", "warn", "bad", "info", "idle"} {
			pairs = append(pairs, tone+" "+tone+"bg", tone+" card", tone+" code")
		}
		for _, pair := range pairs {
			text, ground, _ := strings.Cut(pair, " ")
			if ratio := contrast(t, colors[text], colors[ground]); ratio < 4.5 {
				t.Errorf("set %d: %s has a contrast of %.2f", i, pair, ratio)
			}
		}
	}
}

// contrast is the ratio of the luminances of two colors, as WCAG defines it.
func contrast(t *testing.T, a, b string) float64 {
	t.Helper()
	one, other := luminance(t, a), luminance(t, b)
	return (max(one, other) + 0.05) / (min(one, other) + 0.05)
}

func luminance(t *testing.T, color string) (sum float64) {
	t.Helper()
	if len(color) == 3 {
		color = fmt.Sprintf("%[1]c%[1]c%[2]c%[2]c%[3]c%[3]c", color[0], color[1], color[2])
	}
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(color[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatalf("color %q", color)
		}
		c := float64(n) / 255
		if c <= 0.03928 {
			c /= 12.92
		} else {
			c = math.Pow((c+0.055)/1.055, 2.4)
		}
		sum += weight * c
	}
	return sum
}
