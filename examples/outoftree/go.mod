module example.com/onemutex

go 1.26.0

require github.com/dynolab/dyno v0.0.0-00010101000000-000000000000

replace github.com/dynolab/dyno => ../..
