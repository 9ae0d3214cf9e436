package contract

import (
	_ "context"

	_ "example.com/m"             // want `contract may not import example.com/m (contracts import nothing)`
	_ "example.com/m/impls/sound" // want `contract may not import example.com/m/impls/sound`
	_ "example.com/m/suite"       // want `contract may not import example.com/m/suite`
	_ "other.org/allowed"         // want `contract may not import other.org/allowed`
)

type Base struct{}

func (*Base) late() {}

func (*Base) Open() {}
