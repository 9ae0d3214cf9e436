package session

import (
	"io/fs"
	"math"
	"os"
	"path"
	"strconv"
	"strings"
)

// Quota is how many processors' time the control groups of this process allow it, as containers
// have it; 0 without a limit. Go 1.25 and later choose GOMAXPROCS by it, and package testing
// keeps that.
func Quota() float64 { return quota(os.DirFS("/")) }

// quota is Quota in the files of root.
func quota(root fs.FS) float64 {
	least := math.Inf(1)
	eachGroup(root, "cpu", func(v1 bool, read func(file string) []string) {
		limit := read("cpu.max") // "50000 100000", "max 100000"
		if v1 {
			limit = append(read("cpu.cfs_quota_us"), read("cpu.cfs_period_us")...)
		}
		if len(limit) == 2 {
			time, err := strconv.ParseFloat(limit[0], 64)
			period, err2 := strconv.ParseFloat(limit[1], 64)
			if err == nil && err2 == nil && time > 0 && period > 0 {
				least = min(least, time/period)
			}
		}
	})
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}

// memoryLimit is how many bytes the control groups of this process allow it; the largest number
// without a limit. root is the file system.
func memoryLimit(root fs.FS) uint64 {
	least := uint64(math.MaxUint64)
	eachGroup(root, "memory", func(v1 bool, read func(file string) []string) {
		limit := read("memory.max")
		if v1 {
			limit = read("memory.limit_in_bytes")
		}
		if len(limit) == 1 {
			if n, err := strconv.ParseUint(limit[0], 10, 64); err == nil { // it may be "max"
				least = min(least, n)
			}
		}
	})
	return least
}

// eachGroup calls visit for the process's control groups with a controller, from its own up to the
// root of what is mounted, in the files of root, and says whether they are of version 1. The least of
// their limits is in force. In a container without a namespace of its own some of them are not to be
// seen.
func eachGroup(root fs.FS, controller string, visit func(v1 bool, read func(file string) []string)) {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(groups)) {
		group := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(group) < 3 {
			continue
		}
		mount, v1 := "sys/fs/cgroup", strings.Contains(","+group[1]+",", ","+controller+",")
		switch {
		case v1:
			mount += "/" + controller
		case group[1] != "": // of something else
			continue
		}
		for folder := path.Clean("/" + group[2]); ; folder = path.Dir(folder) {
			visit(v1, func(file string) []string {
				text, _ := fs.ReadFile(root, path.Join(mount, folder, file))
				return strings.Fields(string(text))
			})
			if folder == "/" {
				break
			}
		}
	}
}
