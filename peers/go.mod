module github.com/dynolab/dyno/peers

go 1.26.0

require (
	github.com/alitto/pond/v2 v2.7.1
	github.com/dynolab/dyno v0.0.0-00010101000000-000000000000
	github.com/panjf2000/ants/v2 v2.12.1
	github.com/sourcegraph/conc v0.3.0
	golang.org/x/sync v0.24.0
)

require (
	github.com/HdrHistogram/hdrhistogram-go v1.4.0 // indirect
	go.uber.org/atomic v1.7.0 // indirect
	go.uber.org/multierr v1.9.0 // indirect
)

replace github.com/dynolab/dyno => ..
