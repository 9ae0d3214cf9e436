// Package boards has the boards that firmware is built for, as data for the host:
// the board.json of each folder. The folders themselves are what is compiled into
// an image, and not imported here.
package boards

import "embed"

// FS holds a folder for each board, with its board.json.
//
//go:embed */board.json
var FS embed.FS
