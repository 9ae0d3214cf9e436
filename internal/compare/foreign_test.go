package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What other tools have measured is compared, and proves nothing: no two of its runs were of one
// moment.
func TestForeignIsUnproven(t *testing.T) {
	dir := t.TempDir()
	var files []string
	for name, ms := range map[string]float64{"old.json": 10, "new.json": 20} {
		var times []string
		for i := range 10 {
			times = append(times, fmt.Sprint((ms+0.01*float64(i))/1000))
		}
		path := filepath.Join(dir, name)
		text := `{"results": [{"command": "x y", "user": 0.001, "system": 0, "times": [` + strings.Join(times, ",") + `]}]}`
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	d, err := Read(files, nil)
	if err != nil {
		t.Fatal(err)
	}
	c, err := d.Compare(Options{})
	if err != nil {
		t.Fatal(err)
	}
	row := c.Tables[0].Rows[0]
	if row.Name != "x_y" || c.Tables[0].Unit != "ns/op" || len(row.Cells) != 2 || row.Cells[0].N != 10 || row.Cells[1].Verdict != Unproven {
		t.Errorf("%s: %+v", c.Tables[0].Unit, row)
	}
}
