package compare

import (
	"fmt"
	"regexp"
)

// Check returns an error for options that make no sense, which names the flag.
func (o Options) Check() error {
	if !(o.Alpha > 0 && o.Alpha < 1) {
		return fmt.Errorf("--alpha is %v; it must lie between 0 and 1, such as %v", o.Alpha, DefaultAlpha)
	}
	if !(o.Margin > 0 && o.Margin < 1) {
		return fmt.Errorf("--margin is %v; it must lie between 0 and 1, such as %v", o.Margin, DefaultMargin)
	}
	if _, err := regexp.Compile(o.Accept); err != nil {
		return fmt.Errorf("--accept %q: %w", o.Accept, err)
	}
	return nil
}
