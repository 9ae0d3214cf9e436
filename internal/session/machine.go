package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"
	"github.com/shirou/gopsutil/v4/load"
	"github.com/shirou/gopsutil/v4/mem"

	"github.com/dynolab/dyno/internal/child"
	"github.com/dynolab/dyno/internal/record"
)

// Describe notes the circumstances of measuring the module in dir on this
// machine. What cannot be found out is left out. machine overrides the name of
// the machine if it is not empty. results, if not empty, is the path of the
// results file; it does not make the work tree dirty.
func Describe(ctx context.Context, dir, machine, results string) *record.Circumstances {
	var code notes
	if commit, dirty := Commit(ctx, dir, results); commit != "" {
		code.add("commit", commit)
		code.add("dirty", dirty)
	}
	c := DescribeMachine(ctx, machine)
	c.Fixed = slices.Concat(code, DescribeBuild(ctx, dir), c.Fixed)
	return c
}

// DescribeBuild notes what the module in dir is built with, and what its programs run in: the
// toolchain, and the variables of [record.Environment]. env, as "KEY=value", is what the go
// command and the programs get in addition to the environment.
func DescribeBuild(ctx context.Context, dir string, env ...string) []record.Setting {
	var build notes
	env = append(os.Environ(), env...)
	if all, err := child.GoEnv(ctx, dir, env, "go"); err == nil { // as go version has it
		build.add("toolchain", "go version "+all["GOVERSION"]+" "+all["GOHOSTOS"]+"/"+all["GOHOSTARCH"])
	}
	set := changedGoEnv(ctx, dir, env)
	for _, name := range record.Environment {
		v := set[name]
		if v == "" {
			for _, variable := range env { // the last one counts
				if value, ok := strings.CutPrefix(variable, name+"="); ok {
					v = value
				}
			}
		}
		build.add(strings.ToLower(name), v)
	}
	return build
}

// notes are settings in the order in which they were found.
type notes []record.Setting

// add adds a setting, unless its value is empty.
func (n *notes) add(key, value string) {
	if value = strings.Join(strings.Fields(value), " "); value != "" {
		*n = append(*n, record.Setting{Key: key, Values: []string{value}})
	}
}

// DescribeMachine is Describe of the machine alone, whatever is measured on it.
func DescribeMachine(ctx context.Context, machine string) *record.Circumstances {
	c := new(record.Circumstances)
	note := (*notes)(&c.Fixed).add
	model := ""
	if infos, err := cpu.InfoWithContext(ctx); err == nil && len(infos) > 0 {
		model = infos[0].ModelName
		if mhz := infos[0].Mhz; mhz > 0 {
			note("cpu-mhz", strconv.FormatFloat(mhz, 'f', 0, 64))
		}
	}
	cores := runtime.NumCPU()
	c.Machine = machine
	if c.Machine == "" {
		c.Machine = slug(model + " " + strconv.Itoa(cores) + "c " + runtime.GOOS + " " + runtime.GOARCH)
	}
	note("machine", c.Machine)
	note("cpu-model", model)
	note("cores", strconv.Itoa(cores))
	if q := Quota(); q > 0 {
		note("cpu-quota", strconv.FormatFloat(q, 'g', 4, 64))
	}
	if v, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		note("memory", strconv.FormatUint((v.Total+1<<29)>>30, 10)+" GiB")
	}
	if v, err := host.KernelVersionWithContext(ctx); err == nil {
		note("kernel", runtime.GOOS+" "+v)
	}
	if system, role, err := host.VirtualizationWithContext(ctx); err == nil && role == "guest" {
		note("virtual", system)
	}
	note("governor", governors())
	note("emulated", "false")
	return c
}

// machineKeys are the keys that DescribeMachine may give.
var machineKeys = []string{"machine", "cpu-mhz", "cpu-model", "cores", "cpu-quota", "memory", "kernel", "virtual", "governor", "emulated"}

// WithoutMachine returns what circumstances say of what is measured, and not of where.
func WithoutMachine(c *record.Circumstances) []record.Setting {
	return slices.DeleteFunc(slices.Clone(c.Fixed), func(s record.Setting) bool { return slices.Contains(machineKeys, s.Key) })
}

// changedGoEnv returns the go command's own variables that are not what they are
// by default, in the environment env.
func changedGoEnv(ctx context.Context, dir string, env []string) map[string]string {
	set := make(map[string]string)
	// A variable that go env does not know gives nothing; no output gives none.
	said, _ := child.Says(ctx, dir, env, "go", append([]string{"env", "-changed", "-json"}, record.Environment...)...)
	_ = json.Unmarshal([]byte(said), &set)
	return set
}

// Commit returns the commit of the repository that dir is in, "" if it is in none,
// and how the work tree differs from it: "false", or "true" and a digest. results
// is as for Describe.
func Commit(ctx context.Context, dir, results string) (commit, differs string) {
	if commit = output(ctx, dir, "git", "rev-parse", "HEAD"); commit == "" {
		return "", ""
	}
	return commit, dirty(ctx, dir, results)
}

// dirty is "false" for a clean work tree, and else "true" with a digest of what
// is different, so that two dirty trees can be told apart. results is the path
// of a file that does not count.
func dirty(ctx context.Context, dir, results string) string {
	// Results are what a run writes; they do not change what is measured.
	but := []string{"--", ":(top)", ":(exclude,top,glob)**/results/**", ":(exclude,top,glob)**/*.bench"}
	if results != "" {
		folder, file := filepath.Split(results)
		top := func(dir string) string { return output(ctx, dir, "git", "rev-parse", "--show-toplevel") }
		if top(folder) == top(dir) {
			but = append(but, ":(exclude,top,literal)"+output(ctx, folder, "git", "rev-parse", "--show-prefix")+file)
		}
	}
	status := output(ctx, dir, "git", append([]string{"status", "--porcelain", "--untracked-files=all"}, but...)...)
	if status == "" {
		return "false"
	}
	sum := sha256.Sum256([]byte(status + output(ctx, dir, "git", append([]string{"diff", "HEAD"}, but...)...)))
	return "true " + hex.EncodeToString(sum[:6])
}

// governors returns the frequency governors of the processors, where the system
// tells.
func governors() string {
	files, _ := filepath.Glob("/sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor")
	var all []string
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil {
			if g := strings.TrimSpace(string(b)); !slices.Contains(all, g) {
				all = append(all, g)
			}
		}
	}
	return strings.Join(all, " ")
}

// slug makes a folder's name of s.
func slug(s string) string {
	s = trademarks.ReplaceAllString(strings.ToLower(s), " ")
	return strings.Trim(notSlug.ReplaceAllString(s, "-"), "-")
}

var (
	trademarks = regexp.MustCompile(`\((r|tm|c)\)|@.*ghz|\b(cpu|processor)\b`)
	notSlug    = regexp.MustCompile(`[^a-z0-9.]+`)
)

// Load returns the load averages over 1, 5 and 15 minutes as text, "" if the
// system has none.
func Load(ctx context.Context) string {
	l, err := load.AvgWithContext(ctx)
	if err != nil {
		return ""
	}
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }
	return f(l.Load1) + " " + f(l.Load5) + " " + f(l.Load15)
}

// output is what a command of the system prints, without the space around it; "" if it fails.
func output(ctx context.Context, dir, name string, args ...string) string {
	said, _ := child.Says(ctx, dir, nil, name, args...)
	return said
}
