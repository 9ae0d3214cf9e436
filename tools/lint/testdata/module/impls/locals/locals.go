package locals

func one() { type request int }

func literal() {
	_ = func() { type request string } // want `impls/locals has two types request within functions, the other in impls/locals/locals.go:3: rename one (TinyGo`
}

func blocks() {
	{
		type inner int
	}
	{
		type inner string // want `two types inner`
	}
}

var value = func() { type held int }

type t int

func (t) method() { type held string } // want `two types held`

func generic[T any](v any) bool {
	type box struct{ x T } // want `impls/locals has a type box within a generic function, one for each instance: declare it outside`
	_, ok := v.(box)
	return ok
}

type list[K, V any] struct{}

func (*list[K, V]) method() {
	type pair struct{ x K } // want `has a type pair within a generic function`
}
