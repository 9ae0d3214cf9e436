#!/usr/bin/env bash
# Guess:   Go 1.25 and later follow a CPU quota: with one of half a processor GOMAXPROCS is 1.
# Version: Go 1.26.8 and 1.27.4 (fetched by the go command), Linux with control groups of version 1.
# Seen:    it is 2, the least that a quota is rounded up to. A container with half a processor runs
#          two threads, and the kernel stops both for the rest of each 100 ms when 50 ms are used up.
. "$(dirname "$0")/lib.sh"
command -v go >/dev/null || skip "go is not installed"
[ "$(nproc)" -ge 2 ] || skip "there is one processor"
group=/sys/fs/cgroup/cpu/finding-$$
mkdir "$group" 2>/dev/null || skip "no control group can be made here"
trap 'rmdir "$group"; rm -rf "$dir"' EXIT
printf 'module finding\n\ngo 1.25\n' >go.mod
printf 'package main\n\nimport "runtime"\n\nfunc main() { println(runtime.GOMAXPROCS(0)) }\n' >main.go
echo 50000 >"$group/cpu.cfs_quota_us"
for release in go1.26.8 go1.27.4; do
	GOTOOLCHAIN=$release go build -o x . 2>/dev/null || skip "$release cannot be fetched"
	echo "$release: $(sh -c "echo \$\$ >$group/tasks && exec ./x" 2>&1)"
done >got
same <<'E'
go1.26.8: 2
go1.27.4: 2
E
