module github.com/dynolab/dyno/actor/protocodec

go 1.26.0

require (
	github.com/dynolab/dyno v0.0.0-00010101000000-000000000000
	google.golang.org/protobuf v1.36.12
)

require golang.org/x/sync v0.24.0 // indirect

replace github.com/dynolab/dyno => ../..
