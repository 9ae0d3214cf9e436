// Package boardrun is what the commands about boards do, from what their flags say to
// what they print: [List] says which boards there are, [Command.Build] makes images,
// [Command.Flash] brings one to a board, [Command.Run] measures, and [Command.Monitor] is a
// conversation with what runs there. How each of that is done with a board is package hw's.
//
// An error that is about a board is an [hw.Error]; [Tell] says it, with its hint, and
// returns the outcome that the command ends with.
package boardrun
