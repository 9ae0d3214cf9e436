package program

import (
	"errors"
	"fmt"
	"os"
)

// CheckExecutable returns an error that says why the file of that name is not one that
// can be executed; nil if it seems to be.
func CheckExecutable(name string) error {
	info, err := os.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("there is no file %s", name)
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder, and not a program", name)
	case !mayExecute(info):
		return fmt.Errorf("%s is not executable: chmod +x makes it so, if it is a program", name)
	}
	return nil
}
