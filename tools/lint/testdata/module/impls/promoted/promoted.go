package promoted

import "example.com/m/contract"

type own struct{ *contract.Base } // want `impls/promoted has a type own with two methods late, of example.com/m/contract and example.com/m/impls/promoted: rename one (TinyGo`

func (own) late() {}

type user interface{ late() }

type taken struct { // want `a type taken with two methods late`
	contract.Base
	user
}

type hidden struct{ *contract.Base }

func (hidden) Open() {} // Base's is hidden
