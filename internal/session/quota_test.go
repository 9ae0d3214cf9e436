package session

import (
	"testing"
	"testing/fstest"
)

// A quota is the least of the process's groups, of both versions of control groups.
func TestQuota(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  float64
	}{
		"none": {fstest.MapFS{}, 0},
		"of another thing": {fstest.MapFS{
			"proc/self/cgroup": file("4:memory:/a\n"), "sys/fs/cgroup/a/cpu.max": file("50000 100000\n"),
		}, 0},
		"no limit": {fstest.MapFS{
			"proc/self/cgroup": file("0::/a\n"), "sys/fs/cgroup/a/cpu.max": file("max 100000\n"),
		}, 0},
		"its own": {fstest.MapFS{
			"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/cpu.max": file("150000 100000\n"), "sys/fs/cgroup/a/cpu.max": file("max 100000\n"),
		}, 1.5},
		"its parent's": {fstest.MapFS{
			"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/cpu.max": file("150000 100000\n"), "sys/fs/cgroup/a/cpu.max": file("25000 50000\n"),
		}, 0.5},
		"a container's root": {fstest.MapFS{ // its path is one of the host
			"proc/self/cgroup":                   file("5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n0::/\n"),
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": file("50000\n"), "sys/fs/cgroup/cpu/cpu.cfs_period_us": file("100000\n"),
		}, 0.5},
		"version 1 without": {fstest.MapFS{
			"proc/self/cgroup":                   file("1:cpu:/\n"),
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": file("-1\n"), "sys/fs/cgroup/cpu/cpu.cfs_period_us": file("100000\n"),
		}, 0},
		"of the processors of a set": {fstest.MapFS{
			"proc/self/cgroup":                   file("1:cpuset:/\n"),
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": file("50000\n"), "sys/fs/cgroup/cpu/cpu.cfs_period_us": file("100000\n"),
		}, 0},
	} {
		if got := quota(c.files); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
