package session

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/host"

	"github.com/dynolab/dyno/internal/record"
)

// IdentityKey is the configuration key of what tells machines apart: see [Identity].
const IdentityKey = "identity"

// Identity returns what makes this machine the one that it is, beyond what [DescribeMachine]
// says: a digest of all of it under [IdentityKey], and the parts that explain figures. Two runs
// with one identity are of one machine in one state: the same processor with its microcode,
// topology and caches, the same kernel with its command line and mitigations, the same
// settings. Whether it is as fast as it was is another question, which [Anchor] answers.
// What the system does not tell is left out.
func Identity(ctx context.Context) []record.Setting {
	var known, hidden notes
	if infos, err := cpu.InfoWithContext(ctx); err == nil && len(infos) > 0 {
		i := infos[0]
		hidden.add("vendor", i.VendorID+" "+i.Family+" "+i.Model+" "+i.ModelName)
		known.add("stepping", strings.TrimSpace(strings.Join([]string{i.Family, i.Model, strconv.Itoa(int(i.Stepping))}, " ")))
		known.add("microcode", i.Microcode)
	}
	const cpus = "/sys/devices/system/cpu/"
	known.add("caches", caches(cpus+"cpu0/cache/"))
	known.add("smt", contents(cpus+"smt/control"))
	known.add("numa-nodes", contents("/sys/devices/system/node/online"))
	known.add("frequency-driver", contents(cpus+"cpu0/cpufreq/scaling_driver"))
	known.add("boost", contents(cpus+"cpufreq/boost")+contents(cpus+"intel_pstate/no_turbo"))
	known.add("huge-pages", chosen(contents("/sys/kernel/mm/transparent_hugepage/enabled")))
	hidden.add("governor", governors())
	hidden.add("online", contents(cpus+"online"))
	hidden.add("mitigations", mitigations(cpus+"vulnerabilities/"))
	hidden.add("command line", contents("/proc/cmdline"))
	if v, err := host.KernelVersionWithContext(ctx); err == nil {
		hidden.add("kernel", v)
	}
	if id, err := host.HostIDWithContext(ctx); err == nil {
		hidden.add("host", id) // of which nothing but the digest leaves the machine
	}
	sum := sha256.New()
	for _, s := range slices.Concat(known, hidden) {
		sum.Write([]byte(s.Key + "\x00" + s.Values[0] + "\x00"))
	}
	return append(notes{{Key: IdentityKey, Values: []string{hex.EncodeToString(sum.Sum(nil)[:6])}}}, known...)
}

// contents is what a small file of the system holds, "" if there is none.
func contents(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// caches are the sizes of a processor's caches, the nearest first.
func caches(dir string) string {
	var all []string
	folders, _ := filepath.Glob(dir + "index[0-9]*") // sorted
	for _, f := range folders {
		if size := contents(f + "/size"); size != "" {
			all = append(all, "L"+contents(f+"/level")+"-"+strings.ToLower(contents(f+"/type"))+"="+size)
		}
	}
	return strings.Join(all, " ")
}

// chosen is the word in brackets of a list of words; the whole list if there is none.
func chosen(list string) string {
	if _, rest, ok := strings.Cut(list, "["); ok {
		word, _, _ := strings.Cut(rest, "]")
		return word
	}
	return list
}

// mitigations is what the kernel does about each known weakness of the processor.
func mitigations(dir string) string {
	var all []string
	files, _ := filepath.Glob(dir + "*") // sorted
	for _, f := range files {
		all = append(all, filepath.Base(f)+": "+contents(f))
	}
	return strings.Join(all, "; ")
}
