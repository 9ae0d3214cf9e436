package program

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A File is a program that is built already.
type File struct {
	Path string // absolute
	Dir  string // where it runs
	Hash string // see [HashFile]
}

// OpenFile returns the program in the file name, which runs in the folder dir, or if that is
// "", in the one that it lies in. The error says why it seems to be none.
func OpenFile(name, dir string) (f File, err error) {
	if err := checkExecutable(name); err != nil {
		return File{}, err
	}
	if f.Path, err = filepath.Abs(name); err != nil {
		return File{}, err
	}
	if f.Dir = dir; dir == "" {
		f.Dir = filepath.Dir(f.Path)
	}
	f.Hash, err = HashFile(f.Path)
	return f, err
}

// checkExecutable returns an error that says why the file of that name is not one that
// can be executed; nil if it seems to be.
func checkExecutable(name string) error {
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

// HashFile returns the SHA-256 of the file at path, in hexadecimal: by it a run that is
// resumed knows a program again.
func HashFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
