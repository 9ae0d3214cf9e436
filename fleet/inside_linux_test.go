package fleet

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// facts are what a process says of itself, a line each: a shell that begins as jobs do.
const facts = `
for f in /x /usr/x /tmp/job/x; do touch $f 2>/dev/null && echo "writes $f"; done
touch /tmp/job/out/x /tmp/job/work/x /tmp/x && echo can write
sed -n 's/^\(Uid\|Gid\|Groups\|NoNewPrivs\|CapEff\):[[:space:]]*/\1 /p' /proc/self/status | tr '\t' ' '
sed -n 's/^Max \(data size\|processes\|file size\|core file size\|open files\) *\([^ ]*\) *\([^ ]*\) .*/limit \1 \2 \3/p' /proc/self/limits
echo in $(pwd) with $(ls -d /tmp/* /var/tmp/* /dev/shm/* 2>/dev/null)
echo processes $(ls -d /proc/[0-9]* | wc -l) of $$
echo networks $(tail -n +3 /proc/net/dev | cut -d: -f1)
stat -c 'mode %n %a' /tmp /var/tmp /dev/shm
for n in pid mnt net ipc uts; do echo space $n $(readlink /proc/self/ns/$n); done
sed -n 's/^[^ ]* [^ ]* [^ ]* [^ ]* \([^ ]*\) \([^ ]*\) .* - \(.*\)/mount \1 \2 \3/p' /proc/self/mountinfo
echo args "$@"
env | sed 's/^/env /'
`

// A job in a sandbox is a user who owns nothing, sees nothing of the machine but its files, can
// write its own folders only, and has limits.
func TestInside(t *testing.T) {
	if !CanConfine() {
		t.Skip("needs root")
	}
	folder, lock := t.TempDir(), filepath.Join(t.TempDir(), "lock")
	t.Setenv("SECRET", "x")
	groups, err := syscall.Getgroups()
	if err == nil {
		err = syscall.Setgroups([]int{0}) // that of root, for a job to lose
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setgroups(groups) }) // as root that is allowed
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	outside, err := os.CreateTemp(t.TempDir(), "")
	if err == nil {
		err = os.Mkdir(filepath.Join(folder, "work"), 0o755)
	}
	if err == nil {
		err = os.Symlink(outside.Name(), filepath.Join(folder, "work", "link")) // of a job that was killed
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		f, err := os.CreateTemp(dir, "fleet-test-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.Remove(f.Name())
		defer f.Close()
	}
	held, err := os.Create(lock)
	if err != nil {
		t.Fatal(err)
	}
	s := &Sandbox{UID: 64752, Memory: 1 << 30, Procs: 64}
	cmd, err := s.command("sh", []string{"-c", facts, "sh", "an argument"}, folder, held)
	if err != nil {
		t.Fatal(err)
	}
	if len(cmd.ExtraFiles) != 1 || cmd.ExtraFiles[0] != held {
		t.Errorf("it has the files %v", cmd.ExtraFiles)
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, want := range []string{
		"can write", "Uid 64752 64752 64752 64752", "Gid 64752 64752 64752 64752", "Groups ", "NoNewPrivs 1", "CapEff 0000000000000000",
		"limit data size 1073741824 1073741824", "limit processes 64 64", "limit file size 1073741824 1073741824", "limit core file size 0 0", "limit open files 4096 4096",
		"mode /tmp 1777", "mode /var/tmp 1777", "mode /dev/shm 1777",
		"in /tmp with /tmp/benchrun /tmp/job /tmp/x", "networks lo", "args an argument --work /tmp/job/work --out /tmp/job/out/results.bench /tmp/job",
		"env PATH=/usr/local/bin:/usr/bin:/bin", "env HOME=/tmp", "env TMPDIR=/tmp", "env LANG=C.UTF-8", "env BENCHRUN_LOCK=fd:3",
	} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.TrimSpace(l) == strings.TrimSpace(want) }) {
			t.Errorf("it does not say %q", want)
		}
	}
	for _, l := range lines {
		words := strings.Fields(l)
		switch {
		case len(words) == 0:
		case words[0] == "writes" || strings.HasPrefix(l, "env SECRET"):
			t.Error("it can do more:", l)
		case words[0] == "space":
			if own, err := os.Readlink("/proc/self/ns/" + words[1]); err != nil || own == words[2] {
				t.Errorf("it shares %s, %v", l, err)
			}
		case words[0] == "processes" && words[3] != "1":
			t.Error("it is not the first process:", l)
		case words[0] == "mount":
			options := strings.Split(words[2], ",")
			own := words[1] == "/tmp" || words[1] == "/var/tmp" || words[1] == "/dev/shm" || words[1] == insideJob || words[1] == "/proc"
			if !own && !slices.Contains(options, "ro") || !slices.Contains(options, "nosuid") || strings.Contains(l, "tmpfs tmpfs") && own && words[1] != insideJob && (!slices.Contains(options, "nodev") || !strings.Contains(l, "size=1048576k")) {
				t.Error("it has", l)
			}
			if words[1] == "/proc" && (!slices.Contains(options, "nodev") || !slices.Contains(options, "noexec")) {
				t.Error("it has", l)
			}
		}
	}
	info, err := os.Stat(outside.Name())
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != 0 {
		t.Errorf("a link has its file given to the job's user, %v", err)
	}
	if t.Failed() {
		t.Logf("%s", out)
	}
	if _, err := s.command("no such program", nil, folder, nil); err == nil {
		t.Error("a program that is not there is carried out")
	}
	// Inside is for the first process of a sandbox only.
	for _, args := range [][]string{nil, {"1", "1", "1", "/"}, {"1", "1", "1", "/", "/bin/sh"}} {
		if err := Inside(args); err == nil || !strings.Contains(err.Error(), "for benchfleet itself") {
			t.Errorf("%q: %v", args, err)
		}
	}
	for name, change := range map[string]func(s *Sandbox){
		"root as the user": func(s *Sandbox) { s.UID = 0 }, "no user": func(s *Sandbox) { s.UID = -1 }, "no memory": func(s *Sandbox) { s.Memory = -1 }, "no processes": func(s *Sandbox) { s.Procs = -1 },
	} {
		bad := *s
		change(&bad)
		cmd, err := bad.confined("sh", []string{"-c", "echo ran"}, folder, nil)
		if err != nil {
			continue
		}
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "for benchfleet itself") {
			t.Errorf("%s: %s, %v", name, out, err)
		}
	}
}
