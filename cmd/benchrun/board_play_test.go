package main

import (
	"bufio"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/dynolab/dyno/hw/firmware/line"
)

// playBoard plays the firmware of linux-arm64-qemu, for scripts in which it stands in
// the place of the emulator, and returns its exit status. Who it is it reads from the
// image that it is to run. It has two benchmarks and two clauses. how says what goes
// wrong in the clause actor/second:
//
//	corrupt   a byte of a line is altered
//	lost      a line does not arrive
//	hang      there is no more line
//	wrong     it fails
//	memory    there is no memory left
//	panic     it panics
//	interrupt the file interrupted is made in $WORK, and the case goes on until there is a file released
//	dead      not even a hello comes
//	garbage   what comes is of another program
func playBoard(image string, in io.Reader, out io.Writer, how string) int {
	commit, toolchain, impl, err := readImage(image)
	if err != nil {
		fmt.Fprintln(out, "firmware:", err)
		return 1
	}
	seq := uint32(0)
	frame := func(text string) string {
		seq++
		return string(line.Append(nil, seq, []byte(text)))
	}
	say := func(request uint32, text string) {
		if request > 0 {
			text = fmt.Sprintf("%d %s", request, text)
		}
		io.WriteString(out, frame(text))
	}
	hello := line.Hello{
		Board: "linux-arm64-qemu", Chip: "arm64", Clock: 1e9, Unit: "ns", Emulated: true,
		Impl: impl, Toolchain: toolchain, Commit: commit,
	}
	if how == "garbage" {
		io.WriteString(out, "U-Boot 2026.01\n=> no such command\n")
		return 0
	}
	if how == "dead" {
		io.Copy(io.Discard, in)
		return 0
	}
	say(0, string(hello.Append(nil)))
	commands := bufio.NewScanner(in)
	for commands.Scan() {
		n, command := line.SplitRequest(commands.Text())
		verdict := "ok"
		say(n, "begin "+command)
		switch what, name, _ := strings.Cut(command, " "); what {
		case "hello":
			say(n, string(hello.Append(nil)))
		case "list":
			for _, c := range []line.Listed{
				{Name: "bench/Actor/workload=pingpong/impl=" + impl, Ops: 1000},
				{Name: "bench/Actor/workload=big/impl=" + impl, Ops: 100, Skip: "needs 96 KiB"},
				{Name: "conform/actor/first"},
				{Name: "conform/actor/second"},
			} {
				say(n, string(c.Append(nil)))
			}
		case "run":
			switch {
			case name == "bench/Actor/workload=pingpong/impl="+impl:
				say(n, "result BenchmarkActor/workload=pingpong/impl="+impl+" 1000 250 ns/op 0 B/op 0 allocs/op 0 allocs/msg")
			case name == "bench/Actor/workload=big/impl="+impl:
				verdict = "skipped needs 96 KiB"
			case name == "conform/actor/second":
				switch how {
				case "corrupt":
					io.WriteString(out, strings.Replace(frame(fmt.Sprintf("%d note all is well", n)), "well", "wall", 1))
				case "lost":
					frame("note without a reader")
				case "hang":
					io.Copy(io.Discard, in)
				case "wrong":
					say(n, "fail clause second: got 1, want 2")
					verdict = "failed"
				case "memory":
					io.WriteString(out, "panic: runtime error: out of memory\n")
					return 1
				case "panic":
					io.WriteString(out, "panic: runtime error: index out of range\n")
					return 2
				case "interrupt":
					os.WriteFile(os.Getenv("WORK")+"/interrupted", nil, 0o644)
					if until(func() bool { _, err := os.Stat(os.Getenv("WORK") + "/released"); return err == nil }) != nil {
						return 3
					}
				}
			}
		case "quit":
			say(n, "end quit ok")
			return 0
		}
		say(n, "end "+command+" "+verdict)
	}
	return 0
}

// readImage reads what an image was built with.
func readImage(path string) (commit, toolchain, impl string, err error) {
	f, err := elf.Open(path)
	if err != nil {
		return "", "", "", err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return "", "", "", err
	}
	text := func(s elf.Symbol) string {
		section := f.Sections[s.Section]
		data, _ := section.Data()
		at := s.Value - section.Addr
		return strings.TrimRight(string(data[at:at+s.Size]), "\x00")
	}
	for _, s := range symbols {
		switch {
		case s.Name == "main.commit.str":
			commit = text(s)
		case s.Name == "main.toolchain.str":
			toolchain = text(s)
		default:
			name, ok := strings.CutPrefix(s.Name, "github.com/dynolab/dyno/impls/")
			if name, is := strings.CutSuffix(name, ".Impl"); ok && is {
				impl = name
			}
		}
	}
	return commit, toolchain, impl, nil
}
