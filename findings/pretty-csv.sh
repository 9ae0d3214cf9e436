#!/usr/bin/env bash
# Guess:   go-pretty's RenderCSV writes the header and the rows, each cell as it is, quoted where needed;
#          a table's title and caption are for people, and left out.
# Version: github.com/jedib0t/go-pretty/v6 v6.8.3.
# Seen:    title and caption are lines of the CSV, not quoted, so a comma in the title makes two
#          fields; and a tab in a cell becomes four spaces. RenderTSV does the same.
. "$(dirname "$0")/lib.sh"
modules github.com/jedib0t/go-pretty/v6@v6.8.3
cat >main.go <<'E'
package main

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
)

func main() {
	t := table.NewWriter()
	t.SetTitle("a, b")
	t.SetCaption("end")
	t.AppendHeader(table.Row{"x", "y"})
	t.AppendRow(table.Row{"p,q", "r\ts"})
	fmt.Println(t.RenderCSV())
}
E
go run . >got
same <<'E'
a, b
x,y
"p,q",r    s
end
E
