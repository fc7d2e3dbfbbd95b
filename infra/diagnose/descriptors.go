package diagnose

import "os"

// Descriptors returns the error of the operating system unless n more files can be open at a time.
func Descriptors(n int) error {
	for range n {
		f, err := os.Open(os.DevNull)
		if err != nil {
			return err
		}
		defer f.Close()
	}
	return nil
}
