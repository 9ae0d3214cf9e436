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
		"less than its parent's": {fstest.MapFS{
			"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/cpu.max": file("50000 100000\n"), "sys/fs/cgroup/a/cpu.max": file("150000 100000\n"),
		}, 0.5},
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

// In a container the processes of a row share a quarter of its memory, not of the machine's.
func TestMemoryForTurns(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	all := memoryForTurns(t.Context(), fstest.MapFS{})
	if all <= 16<<20 {
		t.Skipf("the machine has %d bytes for a row", all)
	}
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  uint64
	}{
		"its own": {fstest.MapFS{"proc/self/cgroup": file("0::/a\n"), "sys/fs/cgroup/a/memory.max": file("67108864\n")}, 16 << 20},
		"its parent's": {fstest.MapFS{
			"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.max": file("max\n"), "sys/fs/cgroup/a/memory.max": file("67108864\n"),
		}, 16 << 20},
		"version 1": {fstest.MapFS{
			"proc/self/cgroup": file("4:memory:/docker/x\n1:cpu:/\n"), "sys/fs/cgroup/memory/memory.limit_in_bytes": file("67108864\n"),
		}, 16 << 20},
		"version 1 without": {fstest.MapFS{
			"proc/self/cgroup": file("4:memory:/\n"), "sys/fs/cgroup/memory/memory.limit_in_bytes": file("9223372036854771712\n"),
		}, all},
	} {
		if got := memoryForTurns(t.Context(), c.files); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
