package fleet

import (
	"fmt"
	"strings"

	"github.com/dynolab/dyno/internal/jobs"
)

// The streams and buckets of a fleet. All begin with dyno, so that a server may have others.
const (
	jobsStream    = "DYNO_JOBS"
	resultsStream = "DYNO_RESULTS"

	partsBucket    = "dyno-parts"    // objects: parts, documents and results, by SHA-256
	machinesBucket = "dyno-machines" // what machines are, by name
	liveBucket     = "dyno-live"     // leases: what machines do now, by name; gone after leaseTime
	ordersBucket   = "dyno-orders"   // MACHINE.drain, MACHINE.cancel.JOB
	storedBucket   = "dyno-stored"   // what became of jobs: MACHINE.JOB

	partsStream   = "OBJ_" + partsBucket        // where the server has the objects
	piecesSubject = "$O." + partsBucket + ".C." // before an object's NUID: that of its pieces
)

const (
	letters  = "abcdefghijklmnopqrstuvwxyz0123456789"
	mostName = 48
)

// CheckMachine returns an error if name is not one of a machine: it becomes part of subjects
// and paths.
func CheckMachine(name string) error {
	if name == "" || len(name) > mostName || strings.Trim(name, letters+"-_") != "" || strings.Trim(name[:1], letters) != "" {
		return fmt.Errorf("%.60q is not a name of a machine: at most %d lower-case letters, digits, - and _, a letter or digit first", name, mostName)
	}
	return nil
}

// MachineName makes a machine's name of a host's.
func MachineName(host string) string {
	name, _, _ := strings.Cut(strings.ToLower(host), ".")
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(letters+"-_", r) {
			return r
		}
		return '-'
	}, name)
	name = strings.Trim(name, "-_")
	if name == "" {
		return "machine"
	}
	return name[:min(len(name), mostName)]
}

// jobSubject is where an order for a job on a machine is published, and resultSubject its
// result. Both are checked names.
func jobSubject(machine, job string) string    { return "dyno.job." + machine + "." + job }
func resultSubject(machine, job string) string { return "dyno.result." + machine + "." + job }

// noteSubject is where a machine says what a sender who waits wants to know at once.
func noteSubject(machine, job string) string { return "dyno.note." + machine + "." + job }

// cancelKey is the key of the order to cancel a job.
func cancelKey(machine, job string) string { return machine + ".cancel." + job }

// storedKey is the key of what became of a job.
func storedKey(machine, job string) string { return machine + "." + job }

// splitSubject returns the machine and the job of a subject of ours.
func splitSubject(subject, kind string) (machine, job string, err error) {
	rest, ok := strings.CutPrefix(subject, "dyno."+kind+".")
	machine, job, found := strings.Cut(rest, ".")
	if !ok || !found || CheckMachine(machine) != nil || !jobs.IsID(job) {
		return "", "", fmt.Errorf("%.200q is not the subject of a %s", subject, kind)
	}
	return machine, job, nil
}

// CheckJob returns an error if id is not the name of a job.
func CheckJob(id string) error {
	if !jobs.IsID(id) {
		return fmt.Errorf("%.80q is not a job: it has 64 hexadecimal digits, as benchrun fleet submit and status --format json have them", id)
	}
	return nil
}
