package conformtest

// mutants says of every change to the core which clauses must notice it. A line
// more is all that another one takes; old and new are text of the file, with
// its tabs, and enough of it to be there once.
var mutants = []mutant{
	// Hooks.
	{
		name: "PostStop left out", file: "cell.go",
		old:     "if h, ok := c.self().(PostStopper); ok {",
		new:     "if h, ok := c.self().(PostStopper); ok && h == nil {",
		clauses: "hooks-in-order",
	},
	{
		name: "PostStop before the children", file: "cell.go",
		old:     "\tif c.children != nil {\n\t\tif c.parent == nil {",
		new:     "\tif c.children != nil && c.parent == nil {\n\t\tif c.parent == nil {",
		clauses: "poststop-after-children stop-family",
	},
}
