// Package report renders what package lab found, for people and for programs.
//
//  1. [lab.Compare] and [lab.Conform] make plain data: a [lab.Comparison], a
//     [lab.Matrix].
//  2. [Text], [Markdown], [CSV] and [JSON] write a comparison to an io.Writer;
//     [ConformText], [ConformMarkdown] and [ConformJSON] a matrix.
//  3. Package targets judges results; [ScorecardText] and [ScorecardJSON] write what
//     it found, and the
//     functions above put it into a comparison's report.
//  4. [Chart] and [Overview] draw it, as SVG; [Flame] draws the profiles that package
//     why compares.
//  5. [HTML] writes all of it as one page that needs nothing else: its charts are
//     its own, because they follow the reader's width, and light or dark.
//  6. [Write] puts the page, the markdown with its charts, and the JSON beside the
//     results they come from.
//
// Nothing here computes: a figure that is in a
// report is in the data. The same
// data gives the same bytes; there is no clock and no random identifier in any
// output, so that a report can be committed and compared.
//
// How to read a report is told in docs/reading-a-report.md.
package report
