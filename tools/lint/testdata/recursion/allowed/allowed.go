// Package allowed has cycles which a policy allows, but for one.
package allowed

func StartBounded() { up(3) }
func down(n int)    { up(n - 1) }
func up(n int) {
	if n > 0 {
		down(n)
	}
}

func StartMany() { many1(3); many2(3) }
func more(n int) { many1(n - 1); many2(n - 1) }
func many1(n int) {
	if n > 0 {
		many1(n - 1)
		more(n)
	}
}

func many2(n int) {
	if n > 0 {
		many2(n - 1)
		more(n)
	}
}

func StartPartly() { a() }
func b()           { a() }
func c()           { a() }
func a() {
	b()
	c() // want `allowed.a calls allowed.c calls allowed.a`
}

func StartReasonless() { StartReasonless() }

func StartLoop() { leaf() }
func leaf()      {}

// StartBeyond calls what is not looked into.
func StartBeyond() { beyond() }

func beyond() { beyond() }
