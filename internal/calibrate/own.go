package calibrate

import "strings"

// OwnBench is what is calibrated in a checkout of dyno: work of several kinds,
// because they differ in what disturbs them, driven in each of the three ways, because
// those differ in what they see.
var OwnBench = strings.Join([]string{
	"^BenchmarkActor$/^workload=pingpong$/^impl=workstealing$", // two that wait for one another
	"^BenchmarkActor$/^workload=count$/^impl=workstealing$",    // a stream of messages
	"^BenchmarkTask$/^workload=matmul$/^impl=serial$",          // processor time and little else
	"^BenchmarkActor$/^workload=fanin$/^impl=lockbased$",       // a lock that many want
	"^BenchmarkActor$/^workload=forkjoin$/^impl=workstealing$", // garbage
	// And benchmarks as others write them, each with b.N and with b.Loop.
	"^BenchmarkControlHash", // processor time
	"^BenchmarkControlJSON", // garbage
	"^BenchmarkControlLock", // a contended lock
}, "|")

// OwnPackages have the benchmarks of OwnBench.
var OwnPackages = []string{"github.com/dynolab/dyno/impls", "github.com/dynolab/dyno/internal/truth/plants"}
