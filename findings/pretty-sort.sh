#!/usr/bin/env bash
# Guess:   sorted by AscNumeric, numbers stand in order, and what is no number first or last.
# Version: github.com/jedib0t/go-pretty/v6 v6.8.3.
# Seen:    one cell that is no number, such as 1.5ms, parts the rows: numbers before it and after it
#          are not compared, so -3 stays behind 10.
. "$(dirname "$0")/lib.sh"
modules github.com/jedib0t/go-pretty/v6@v6.8.3
cat >main.go <<'E'
package main

import (
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"
)

func main() {
	for _, cells := range [][]any{{"10", "9", "1.5ms", "-3"}, {"10", "9", "-3"}} {
		t := table.NewWriter()
		t.AppendHeader(table.Row{"n"})
		for _, c := range cells {
			t.AppendRow(table.Row{c})
		}
		t.SortBy([]table.SortBy{{Name: "n", Mode: table.AscNumeric}})
		fmt.Println(t.RenderCSV())
	}
}
E
go run . >got
same <<'E'
n
9
10
1.5ms
-3
n
-3
9
10
E
