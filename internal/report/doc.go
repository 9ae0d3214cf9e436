// Package report shows what packages compare, conform and targets found, to people and to
// programs.
//
//  1. [compare.Compare], [conform.Run] and [targets.Evaluate] make plain data: a
//     [compare.Comparison], a [conform.Matrix], a [targets.Scorecard].
//  2. [Comparison], [Summary], [SideBySide], [Conformance], [Scorecard], [Calibration],
//     [Truth] and [Comment] make a [Doc] of it: a title and blocks, such as headings, lists,
//     tables and figures. A column of a table is an entry of a list (columns.go). What
//     came of a comparison is said in words by answer.go, wherever it is said.
//  3. [Doc.Text], [Doc.Markdown] and [Doc.HTML] write blocks, a page by the templates of
//     html/page.tmpl. They know nothing of what these are about; a new document needs no
//     renderer, and a new renderer no document.
//  4. One chart engine (svg.go) draws figures as SVG: in a page, where they follow the
//     reader's width, and light or dark; and as files beside Markdown.
//  5. [JSON] and the functions like it, [WriteJSON] and [CSV], are for programs: their schemas are of
//     the data and not of blocks.
//  6. [Write] puts the page, the Markdown with its charts, and the JSON beside the
//     results they come from.
//
// Nothing here computes: a figure that is in a report is in the data. The same data gives
// the same bytes; there is no clock and no random identifier in any output, so that a
// report can be committed and compared.
//
// How to read a report is told in docs/reading-a-report.md.
package report
