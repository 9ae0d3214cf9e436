package scenario

import _ "embed"

// A Scenario is a rule about actors, told as a script.
type Scenario struct {
	Name, Rule, Why string // as those of a clause
	Script          string
}

// A file has a scenario below each line "-- RULE NAME": in a line why it is a rule, an empty
// line, and the script. What is above the first says what the file is about.
var (
	//go:embed life.txt
	life string
	//go:embed supervision.txt
	supervision string
	//go:embed restarts.txt
	restarts string
	//go:embed watching.txt
	watching string
	//go:embed time.txt
	times string
	//go:embed asking.txt
	asking string
	//go:embed letters.txt
	letters string
	//go:embed events.txt
	events string
	//go:embed around.txt
	around string
	//go:embed mailboxes.txt
	mailboxes string
	//go:embed turns.txt
	turns string
)

// Core yields the scenarios that only the actor core can break: about an actor's life, what
// is survived, and what a system offers besides.
func Core(yield func(*Scenario) bool) {
	each(yield, life, supervision, restarts, watching, times, asking, letters, events, around)
}

// Turns yields those that a dispatcher can break, too, and each implementation has to keep.
func Turns(yield func(*Scenario) bool) { each(yield, mailboxes, turns) }

// each yields the scenarios of files.
func each(yield func(*Scenario) bool, files ...string) {
	for _, file := range files {
		_, rest := cut(file, "\n-- ")
		for rest != "" {
			s := &Scenario{}
			s.Rule, rest = cut(rest, " ")
			s.Name, rest = cut(rest, "\n")
			s.Name = "actor/" + s.Name
			s.Why, rest = cut(rest, "\n\n")
			s.Script, rest = cut(rest, "\n-- ")
			if !yield(s) {
				return
			}
		}
	}
}

// cut is strings.Cut: package strings is not for boards.
func cut(s, sep string) (before, after string) {
	for i := 0; i+len(sep) <= len(s); i++ {
		if s[i:i+len(sep)] == sep {
			return s[:i], s[i+len(sep):]
		}
	}
	return s, ""
}
