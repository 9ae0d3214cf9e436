package contract_test

import (
	_ "os"
	_ "testing"

	_ "example.com/m/contract"
	_ "example.com/m/host" // want `contract may not import example.com/m/host`
	_ "example.com/m/suite"
	_ "other.org/check"
)
