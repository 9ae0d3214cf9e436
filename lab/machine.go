package lab

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
)

// Circumstances are what a reader needs to judge a figure, as configuration
// lines of the Go benchmark format. docs/results-format.md explains the keys.
type Circumstances struct {
	// Machine is a name for machines of this kind, fit for a folder: CPU model,
	// cores and platform.
	Machine string
	// Fixed settings stay the same for a run, and must be the same when it is
	// resumed.
	Fixed []Setting
}

// Value returns the value of the fixed setting key, "" if there is none.
func (c *Circumstances) Value(key string) string {
	for _, s := range c.Fixed {
		if s.Key == key && len(s.Values) > 0 {
			return s.Values[0]
		}
	}
	return ""
}

// environment lists the variables that change how a Go program is built or
// runs. They are noted if they are set.
var environment = []string{"GOFLAGS", "GOEXPERIMENT", "GOAMD64", "GOARM64", "GOGC", "GOMEMLIMIT", "GODEBUG", "GOMAXPROCS", "CGO_ENABLED"}

// Describe notes the circumstances of measuring the module in dir on this
// machine. What cannot be found out is left out. machine overrides the name of
// the machine if it is not empty.
func Describe(ctx context.Context, dir, machine string) *Circumstances {
	c := new(Circumstances)
	note := func(key, value string) {
		if value = strings.Join(strings.Fields(value), " "); value != "" {
			c.Fixed = append(c.Fixed, Setting{Key: key, Values: []string{value}})
		}
	}
	note("commit", output(ctx, dir, "git", "rev-parse", "HEAD"))
	if c.Value("commit") != "" {
		note("dirty", dirty(ctx, dir))
	}
	note("toolchain", output(ctx, dir, "go", "version"))
	for _, name := range environment {
		// go env knows what is set by go env -w, and only its own variables.
		v := os.Getenv(name)
		if v == "" && strings.HasPrefix(name, "GOFLAGS") {
			v = output(ctx, dir, "go", "env", name)
		}
		note(strings.ToLower(name), v)
	}
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

// dirty is "false" for a clean work tree, and else "true" with a digest of what
// is different, so that two dirty trees can be told apart.
func dirty(ctx context.Context, dir string) string {
	// Results are what a run writes; they do not change what is measured.
	but := []string{"--", ":(top)", ":(exclude,top)results", ":(exclude,top,glob)**/*.bench"}
	status := output(ctx, dir, "git", append([]string{"status", "--porcelain"}, but...)...)
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

// FixedKeys returns the keys of all settings that Describe may note.
func FixedKeys() []string {
	keys := []string{
		"commit", "dirty", "toolchain", "cpu-mhz", "machine", "cpu-model", "cores", "memory",
		"kernel", "virtual", "governor", "emulated",
	}
	for _, name := range environment {
		keys = append(keys, strings.ToLower(name))
	}
	return keys
}
