package lint

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// boardsFolder has a package for each board.
const boardsFolder = "../../hw/boards"

// tinygoOnly are the messages about imports of packages that only TinyGo has.
var tinygoOnly = regexp.MustCompile(`(could not import|package) (machine|device/\w+|runtime/(volatile|interrupt))\b`)

// checkBoards type-checks the packages of boards that match pattern as TinyGo would, with other
// text in some files, and returns how many were read. What TinyGo's own
// packages declare is not known here: whatever is done with it passes.
func checkBoards(pattern string, overlay map[string][]byte) (n int, err error) {
	pkgs, err := packages.Load(&packages.Config{
		Mode:       packages.LoadSyntax,
		BuildFlags: []string{"-tags=tinygo,baremetal"},
		Env:        append(os.Environ(), "CGO_ENABLED=0"),
		Overlay:    overlay,
		Dir:        boardsFolder,
	}, pattern)
	if err != nil {
		return 0, err
	}
	var faults []error
	for _, p := range pkgs {
		if len(p.GoFiles) > 0 {
			n++
		}
		for _, e := range p.Errors {
			if !tinygoOnly.MatchString(e.Msg) {
				faults = append(faults, e)
			}
		}
	}
	return n, errors.Join(faults...)
}

// The packages of microcontrollers are compiled by TinyGo only, which is not
// needed to change the firmware.
func TestBoardsTypeCheck(t *testing.T) {
	n, err := checkBoards("./...", nil)
	if err != nil {
		t.Error(err)
	}
	boards, err := filepath.Glob(boardsFolder + "/*/board.go")
	if err != nil || n < len(boards) || len(boards) < 6 {
		t.Errorf("%d packages were read, of %d boards: %v", n, len(boards), err)
	}
}

// A board that does not fit the firmware is noticed.
func TestBoardsTypeCheckFails(t *testing.T) {
	path, err := filepath.Abs(boardsFolder + "/pico/board.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wrong := strings.Replace(string(text), "firmware.Board{", "firmware.Board{ Pins: 3,", 1)
	if wrong == string(text) {
		t.Fatal("the board makes no firmware.Board: change this test")
	}
	if _, err := checkBoards("./pico", map[string][]byte{path: []byte(wrong)}); err == nil || !strings.Contains(err.Error(), "unknown field Pins") {
		t.Errorf("want an error that says unknown field Pins, got %v", err)
	}
}
