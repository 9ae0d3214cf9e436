package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
)

// table writes what the lines of a file show, as Markdown: a row for each kind of plant.
func table(w io.Writer, data []byte) error {
	var all []plant
	for line := range bytes.Lines(data) {
		var p plant
		if err := json.Unmarshal(line, &p); err != nil {
			return err
		}
		all = append(all, p)
	}
	fmt.Fprintln(w, "| planted | changes | by counts | function named first | seconds a row | `ab` by time | benchstat |")
	fmt.Fprintln(w, "|---|---:|---:|---:|---:|---:|---:|")
	row := func(name string, plants []plant) {
		if len(plants) == 0 {
			return
		}
		of := func(of func(plant) found) string {
			n, hits := 0, 0
			for _, p := range plants {
				if f := of(p); f.Verdict != "" {
					n++
					if f.Verdict == "slower" || f.Verdict == "more" {
						hits++
					}
				}
			}
			if n == 0 {
				return ""
			}
			return fmt.Sprintf("%d of %d", hits, n)
		}
		named := 0
		var seconds []float64
		for _, p := range plants {
			seconds = append(seconds, p.Count.Seconds)
			if p.IsNamed {
				named++
			}
		}
		slices.Sort(seconds)
		fmt.Fprintf(w, "| %s | %d | %s | %d of %d | %.1f (%.1f to %.1f) | %s | %s |\n", name, len(plants),
			of(func(p plant) found { return p.Count }), named, len(plants), seconds[len(seconds)/2], seconds[0], seconds[len(seconds)-1],
			of(func(p plant) found { return p.Time }), of(func(p plant) found { return p.Stat }))
	}
	for _, kind := range append(slices.Clone(kinds), struct{ name, code string }{name: "unrelated"}) {
		row(kind.name, slices.DeleteFunc(slices.Clone(all), func(p plant) bool { return p.Kind != kind.name }))
	}
	row("all", all)
	off := 0.0
	for _, p := range all {
		if p.Count.Verdict == "more" || p.Kind == "unrelated" {
			off = max(off, math.Abs(p.Count.Change-p.Truth))
		}
	}
	fmt.Fprintf(w, "\nThe change that was counted is at most %.2f percent of the count off.\n", off)
	return nil
}
