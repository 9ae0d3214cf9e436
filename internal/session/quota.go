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

// quota is Quota in the files of root: the least of what the groups from the process's own up to
// the root of what is mounted say. In a container without a namespace of its own some of them
// are not to be seen.
func quota(root fs.FS) float64 {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	read := func(parts ...string) []string {
		text, _ := fs.ReadFile(root, path.Join(parts...))
		return strings.Fields(string(text))
	}
	least := math.Inf(1)
	for line := range strings.Lines(string(groups)) {
		group := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(group) < 3 {
			continue
		}
		mount, v1 := "sys/fs/cgroup", strings.Contains(","+group[1]+",", ",cpu,")
		switch {
		case v1:
			mount += "/cpu"
		case group[1] != "": // of something else
			continue
		}
		for folder := path.Clean("/" + group[2]); ; folder = path.Dir(folder) {
			limit := read(mount, folder, "cpu.max") // "50000 100000", "max 100000"
			if v1 {
				limit = append(read(mount, folder, "cpu.cfs_quota_us"), read(mount, folder, "cpu.cfs_period_us")...)
			}
			if len(limit) == 2 {
				time, err := strconv.ParseFloat(limit[0], 64)
				period, err2 := strconv.ParseFloat(limit[1], 64)
				if err == nil && err2 == nil && time > 0 && period > 0 {
					least = min(least, time/period)
				}
			}
			if folder == "/" {
				break
			}
		}
	}
	if math.IsInf(least, 1) {
		return 0
	}
	return least
}
