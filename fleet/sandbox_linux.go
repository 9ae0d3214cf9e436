package fleet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// CanConfine reports whether this process can give jobs a sandbox.
func CanConfine() bool { return os.Geteuid() == 0 }

// InsideCommand is the hidden command of benchfleet that [Inside] is.
const InsideCommand = "inside"

// spaces are the namespaces of a job: it sees no process, file system mount, network or
// semaphore of the machine. All of its processes end with the first.
const spaces = syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS

// confined returns the command that carries out the job in folder in a sandbox: this program
// again, as root in namespaces of its own, which lays the sandbox out, gives up what it may do,
// and becomes the command.
func (s *Sandbox) confined(name string, args []string, folder string, lock *os.File) (*exec.Cmd, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	for _, own := range []string{"out", "work"} {
		dir := filepath.Join(folder, own)
		if err := errors.Join(os.MkdirAll(dir, 0o755), chownAll(dir, s.UID)); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command("/proc/self/exe", append([]string{InsideCommand, strconv.Itoa(s.UID), strconv.FormatInt(s.Memory, 10), strconv.Itoa(s.Procs), folder, path}, args...)...)
	cmd.Env = withLock([]string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/tmp", "TMPDIR=/tmp", "LANG=C.UTF-8"}, lock)
	if lock != nil {
		cmd.ExtraFiles = []*os.File{lock}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: spaces}
	return cmd, nil
}

// chownAll gives a folder with all that is in it to a user. What is there may be of a job
// that was killed: links are not followed.
func chownAll(dir string, uid int) error {
	return filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, uid, uid)
	})
}

// Inside lays the sandbox out and becomes the command. args are those that confined gives. It
// returns only if something went wrong: then nothing of the job has run.
func Inside(args []string) error {
	if len(args) < 5 {
		return errors.New("it is for benchfleet itself")
	}
	uid, err1 := strconv.Atoi(args[0])
	memory, err2 := strconv.ParseUint(args[1], 10, 64)
	procs, err3 := strconv.ParseUint(args[2], 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil || uid <= 0 || os.Getpid() != 1 {
		return errors.Join(errors.New("it is for benchfleet itself"), err)
	}
	runtime.LockOSThread() // what holds for a thread holds for the program that it becomes
	if err := layOut(args[3], args[4]); err != nil {
		return fmt.Errorf("laying the sandbox out: %w", err)
	}
	if err := limit(memory, procs); err != nil {
		return fmt.Errorf("limits: %w", err)
	}
	if err := giveUp(uid); err != nil {
		return fmt.Errorf("giving root up: %w", err)
	}
	if err := unix.Chdir("/tmp"); err != nil {
		return err
	}
	command := append(append([]string{insideProgram}, args[5:]...), "--work", insideJob+"/work", "--out", insideJob+"/out/results.bench", insideJob)
	return unix.Exec(insideProgram, command, os.Environ())
}

// Where a job has what it is given.
const (
	insideJob     = "/tmp/job"
	insideProgram = "/tmp/benchrun"
)

// layOut makes what a job sees of the machine: its files to be read only, with /tmp empty but
// for the job and the program that carries it out, and its own processes.
func layOut(folder, program string) error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	readOnly := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY | unix.MOUNT_ATTR_NOSUID} // all that is mounted, not / alone
	if err := unix.MountSetattr(unix.AT_FDCWD, "/", unix.AT_RECURSIVE, &readOnly); err != nil {
		return fmt.Errorf("a root file system that can only be read needs Linux 5.12: %w", err)
	}
	job, err := os.Open(folder) // below /tmp it is hidden by the next mount
	if err != nil {
		return err
	}
	defer job.Close()
	benchrun, err := os.Open(program)
	if err != nil {
		return err
	}
	defer benchrun.Close()
	for _, dir := range []string{"/tmp", "/var/tmp", "/dev/shm"} {
		if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=1g,mode=1777"); err != nil && dir == "/tmp" {
			return err
		}
	}
	if err := errors.Join(os.Mkdir(insideJob, 0o755), os.WriteFile(insideProgram, nil, 0o755)); err != nil {
		return err
	}
	if err := bind(job, insideJob); err != nil {
		return err
	}
	writable := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	if err := unix.MountSetattr(unix.AT_FDCWD, insideJob, 0, &writable); err != nil {
		return err
	}
	if err := bind(benchrun, insideProgram); err != nil {
		return err
	}
	return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

// bind makes an open file or folder visible at a path.
func bind(f *os.File, path string) error {
	return unix.Mount("/proc/self/fd/"+strconv.Itoa(int(f.Fd())), path, "", unix.MS_BIND, "")
}

// limit bounds what a process of the job may take, and how many there are. Of memory it is what
// a process may write to; address space is no measure of a Go program.
func limit(memory, procs uint64) error {
	for resource, most := range map[int]uint64{
		unix.RLIMIT_DATA: memory, unix.RLIMIT_NPROC: procs, unix.RLIMIT_FSIZE: 1 << 30, unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: 4096,
	} {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return err
		}
	}
	return nil
}

// giveUp becomes a user who owns nothing, for good.
func giveUp(uid int) error {
	if err := errors.Join(unix.Setgroups(nil), syscall.Setresgid(uid, uid, uid), syscall.Setresuid(uid, uid, uid)); err != nil {
		return err
	}
	// The change of user has taken this away: if the agent is killed, so is the job.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
}
