package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dynolab/dyno/internal/bisect"
	"github.com/dynolab/dyno/internal/record"
	"github.com/dynolab/dyno/internal/session"
	"github.com/dynolab/dyno/internal/testbin"
)

// A bisectRun is the lab of its own search: what package bisect asks for is built and
// measured here, or found in the log.

// mostTrees is how many versions, ends apart, are checked out at a time.
const mostTrees = 4

// Build implements [bisect.Lab].
func (b *bisectRun) Build(ctx context.Context, position int) (bisect.Build, error) {
	commit := b.at[position].Hash
	e, ok := b.log.answer(commit)
	if !ok {
		began := time.Now()
		m, err := b.version(ctx, commit, position)
		if err != nil {
			return bisect.Build{}, err
		}
		e = bisectEntry{Do: doBuilt, Key: commit, Identity: m.Identity, Problem: m.Problem, Seconds: time.Since(began).Seconds()}
		if err := b.log.add(e); err != nil {
			return bisect.Build{}, err
		}
	}
	b.built[commit] = true
	b.times.Build += (e.Seconds - b.times.Build) / float64(len(b.built)+1)
	return bisect.Build{Identity: e.Identity, Problem: e.Problem}, nil
}

// version returns a version ready to be linked, or why it is not.
func (b *bisectRun) version(ctx context.Context, commit string, position int) (*madeVersion, error) {
	m := b.made[commit]
	switch {
	case m != nil && (m.Problem != "" || m.tree != nil):
		b.use(ctx, commit)
		return m, nil
	case position == 0, position == len(b.at)-1:
		return b.end(ctx, commit, position)
	}
	m, err := b.make(ctx, commit)
	if err != nil {
		return nil, err
	}
	b.made[commit] = m
	b.use(ctx, commit)
	return m, nil
}

// end is the version of an end, which was built with the ends.
func (b *bisectRun) end(ctx context.Context, commit string, position int) (*madeVersion, error) {
	side := min(position, 1)
	i := slices.IndexFunc(b.v.binaries[side], func(o testbin.Binary) bool { return o.Pkg == b.row.Pkg })
	m := &madeVersion{tree: b.v.trees[side], folder: b.v.folders[side], binary: b.v.binaries[side][i]}
	var err error
	m.Identity, err = b.identity(ctx, m.tree.Commit, m.binary)
	b.made[commit] = m
	return m, err
}

// use notes that a version is used, and removes what was not for longest, but for ends.
func (b *bisectRun) use(ctx context.Context, commit string) {
	if m := b.made[commit]; m.tree == nil || slices.Contains(b.v.trees[:], m.tree) {
		return
	}
	b.used = append(slices.DeleteFunc(b.used, func(c string) bool { return c == commit }), commit)
	for len(b.used) > mostTrees {
		old := b.made[b.used[0]]
		_ = b.v.workspace.Remove(ctx, old.tree) // what stays is removed in the end
		_ = os.RemoveAll(old.folder)
		delete(b.made, b.used[0])
		b.used = b.used[1:]
	}
}

// make checks a commit out, builds it and looks whether it has the benchmark. Whatever is
// wrong with it is its Problem, unless ctx has ended.
func (b *bisectRun) make(ctx context.Context, commit string) (m *madeVersion, err error) {
	m = new(madeVersion)
	defer func() {
		if ctx.Err() != nil {
			m, err = nil, context.Cause(ctx)
		} else if m.Problem != "" && m.tree != nil {
			_ = b.v.workspace.Remove(ctx, m.tree) // it is not needed any more
			m.tree = nil
		}
	}()
	label := "commit-" + strconv.Itoa(len(b.made)) + "-" + short(commit)
	t, err := b.v.workspace.Lay(ctx, commit, label)
	if err != nil {
		m.Problem = err.Error()
		return m, nil
	}
	m.tree = t
	if b.v.trimpath {
		if err := b.v.workspace.AddGoFlag(ctx, t, trimpath); err != nil {
			m.Problem = err.Error()
			return m, nil
		}
	}
	m.folder = filepath.Join(b.v.workspace.Temp(), "build-"+label)
	if err := os.Mkdir(m.folder, 0o755); err != nil {
		return m, err
	}
	o := testbin.BuildOptions{Driven: true, Env: t.Env, Cache: b.v.cache, Source: t.Source}
	binaries, problems, err := testbin.Build(ctx, t.Dir, m.folder, []string{"./" + filepath.ToSlash(b.row.dir)}, o)
	switch {
	case err != nil:
		m.Problem = err.Error()
	case len(problems) > 0:
		m.Problem = strings.TrimRight(problems[0].Reason+"\n"+problems[0].Output, "\n")
	default:
		m.binary = binaries[0]
		m.binary.Pkg = b.row.Pkg // which its module may call otherwise
		if err := b.c.canTakeTurns(b.plan, binaries); err != nil {
			m.Problem = err.Error()
		} else {
			m.Problem = b.lacks(ctx, m.binary)
		}
	}
	if m.Problem == "" {
		m.Identity, err = b.identity(ctx, commit, m.binary)
	}
	return m, err
}

// lacks says why a binary has no figure of the row, "" if it has one.
func (b *bisectRun) lacks(ctx context.Context, binary testbin.Binary) string {
	l, err := binary.Cases(ctx, b.row.Pattern(), b.row.cpu, b.plan.Timeout)
	if l != nil {
		for _, c := range l.Cases {
			if c.Name == b.row.Name {
				return ""
			}
		}
		for _, h := range l.Absent {
			if h.Case == b.row.Name || strings.HasPrefix(b.row.Name, h.Case+"/") {
				return h.Reason
			}
		}
	}
	if err != nil {
		return record.ListingFailed + err.Error()
	}
	return "has no benchmark " + b.row.Name
}

// identity tells programs apart, and the data that their tests may read.
func (b *bisectRun) identity(ctx context.Context, commit string, binary testbin.Binary) (string, error) {
	files, err := b.v.workspace.Files(ctx, commit, b.sources.data)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(binary.Hash + "\n" + strings.Join(files, "\n")))
	return hex.EncodeToString(sum[:12]), nil
}

// bisectTimes are how many seconds things take, about.
type bisectTimes struct {
	First float64 `json:"first"` // what a process takes in the first block of a measurement beyond the others
	Block float64 `json:"block"` // a process in a block
	Link  float64 `json:"link"`  // a layout
	Build float64 `json:"build"` // a version
}

// learn takes in how long a measurement of so many processes a block took: the first block
// also finds how long slices have to be.
func (t *bisectTimes) learn(p *progress, took time.Duration, processes int) {
	first, blocks := p.firstBlock()
	if blocks == 0 {
		return
	}
	each := took.Seconds() / float64(processes)
	if blocks > 1 {
		t.Block = max(0, took-first).Seconds() / float64((blocks-1)*processes)
		each = first.Seconds() / float64(processes)
	}
	t.First = max(0, each-t.Block)
}

// measured takes over what was known after a measurement, so that one that goes on decides
// as it did.
func (t *bisectTimes) measured(e bisectEntry) {
	if e.Times != nil {
		*t = *e.Times
	}
}

// Cost implements [bisect.Lab].
func (b *bisectRun) Cost(positions []int, blocks int) float64 {
	cost := float64(len(positions)+1) * (b.times.First + float64(blocks)*b.times.Block)
	for _, p := range positions {
		if p == 0 || p == len(b.at)-1 {
			continue
		}
		cost += b.times.Link * float64(b.layouts(blocks))
		if !b.built[b.at[p].Hash] {
			cost += b.times.Build
		}
	}
	return cost
}

// Left implements [bisect.Lab].
func (b *bisectRun) Left() float64 {
	return b.log.time()
}

// The roles of versions in a measurement: the sides of its file.
const (
	sideGood    = "good"
	sideBad     = "bad"
	sideVisited = "candidate"
	sideParent  = "parent"
	sideCulprit = "culprit"
	sideFrom    = "from" // ends of a range within the whole
	sideTo      = "to"
)

// roles names the positions of a measurement.
func (b *bisectRun) roles(m bisect.Measurement) []string {
	names := make([]string, len(m.Positions))
	for i, p := range m.Positions {
		switch {
		case m.Proof && i == 0:
			names[i] = sideParent
		case m.Proof && i == 1:
			names[i] = sideCulprit
		case p == 0:
			names[i] = sideGood
		case p == len(b.at)-1:
			names[i] = sideBad
		case m.Proof && i == 2 || !m.Proof && i == 0:
			names[i] = sideFrom
		case m.Proof || i == 1:
			names[i] = sideTo
		default:
			names[i] = sideVisited
		}
	}
	return names
}

// Measure implements [bisect.Lab].
func (b *bisectRun) Measure(ctx context.Context, m bisect.Measurement) (*bisect.Measured, error) {
	roles, commits := b.roles(m), make([]string, len(m.Positions))
	what := make([]string, len(m.Positions))
	for i, p := range m.Positions {
		commits[i] = b.at[p].Hash
		if m.Proof && i == 0 && m.Positions[1] == p+1 {
			commits[i] = b.at[p+1].Parent
		}
		what[i] = roles[i] + "=" + commits[i]
	}
	b.visited++
	key := b.log.measurement(strings.Join(what, " ") + " blocks=" + strconv.Itoa(m.Blocks))
	done, ok := b.log.answer(key)
	if !ok {
		var err error
		if done, err = b.carryOutVisit(ctx, m, roles, commits, key); err != nil {
			return nil, err
		}
	}
	b.times.measured(done)
	b.files[m.Positions[0]*len(b.at)+m.Positions[1]] = done.File
	positions := make(map[string]int)
	for i, role := range roles {
		positions[role] = m.Positions[i]
	}
	return b.read(done.File, positions, m.Positions[0])
}

// carryOutVisit measures, or what is left of it.
func (b *bisectRun) carryOutVisit(ctx context.Context, m bisect.Measurement, roles, commits []string, key string) (done bisectEntry, err error) {
	began := time.Now()
	file := fmt.Sprintf("%03d-%s.bench", b.visited, b.fileName(roles, commits))
	var from *record.Interrupted
	if e, ok := b.log.began[key]; ok {
		file = e.File
		from, err = record.ReadInterrupted(filepath.Join(b.log.folder, file))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			from, err = nil, os.Remove(filepath.Join(b.log.folder, file)) // nothing was measured in it
		} else {
			err = nil
		}
		if err != nil {
			return done, err
		}
	} else if err := b.log.add(bisectEntry{Do: doMeasure, Key: key, File: file}); err != nil {
		return done, err
	}
	plan, binaries, fixed, err := b.link(ctx, m, roles, commits)
	if err != nil {
		return done, err
	}
	if from != nil {
		plan.Seed = from.Plan.Seed
	}
	path := filepath.Join(b.log.folder, file)
	here := session.Describe(ctx, b.v.trees[1].Dir, b.c.Machine, path)
	here.Fixed = append(fixed, slices.DeleteFunc(here.Fixed, func(s record.Setting) bool { return s.Key == "commit" || s.Key == "dirty" })...)
	measuring := time.Now()
	j := &job{plan: plan, from: from, path: path, quiet: true, resume: b.goOn(), here: here, tool: b.c.tool}
	j.noteCounter()
	j.take(b.processes, parts{binaries: binaries})
	if err := b.take(ctx, j); err != nil {
		return done, err
	}
	if from == nil {
		b.times.learn(b.progress, time.Since(measuring), len(roles)+1)
	}
	times := b.times
	done = bisectEntry{Do: doDone, Key: key, File: file, Seconds: time.Since(began).Seconds(), Times: &times}
	return done, b.log.add(done)
}

// fileName says what a measurement is of.
func (b *bisectRun) fileName(roles, commits []string) string {
	for i, role := range roles {
		switch role {
		case sideVisited:
			return "visit-" + short(commits[i])
		case sideCulprit:
			return "proof-" + short(commits[i])
		}
	}
	return "range-" + short(commits[0]) + "-" + short(commits[1])
}

// layouts returns in how many layouts a version is measured in so many blocks. Where its
// functions lie changes times, and no counts: those have one.
func (b *bisectRun) layouts(blocks int) int {
	if isCount(b.c.Unit) {
		return 1
	}
	return blocks
}

// link links what is measured, for times in layouts that take turns with those of other visits,
// or for a proof in new ones, and makes the plan.
func (b *bisectRun) link(ctx context.Context, m bisect.Measurement, roles, commits []string) (*record.Plan, []testbin.Binary, []record.Setting, error) {
	plan := *b.plan
	plan.Cases, plan.Subjects, plan.Looks, plan.Alpha, plan.Margin = nil, nil, nil, 0, 0
	plan.Blocks, plan.Layouts = m.Blocks, b.layouts(m.Blocks)
	plan.CPU, plan.Packages, plan.Bench = []int{b.row.cpu}, []string{b.row.Pkg}, b.row.Pattern()
	plan.Seed, plan.SliceOps, plan.WholeCalls = b.plan.Seed+uint64(b.visited), b.slices.Ops, b.slices.Whole
	first := 0
	if !isCount(b.c.Unit) {
		layouts := max(b.plan.Layouts, m.Blocks)
		first = b.visited * 5 % (layouts - m.Blocks + 1)
		if m.Proof {
			first = layouts + b.visited*record.MaxLayouts
		}
	}
	var fixed record.Settings
	var binaries []testbin.Binary
	began, fresh := time.Now(), 0
	for i, role := range roles {
		v, err := b.version(ctx, commits[i], m.Positions[i])
		if err != nil {
			return nil, nil, nil, err
		}
		if v.Problem != "" { // the parent of a suspect, of which the version before is the stand-in
			b.note("%s, the parent of %s, cannot be measured: %s", short(commits[i]), short(commits[1]), firstLineOf(v.Problem))
			if v, err = b.version(ctx, b.at[m.Positions[i]].Hash, m.Positions[i]); err != nil {
				return nil, nil, nil, err
			}
		}
		one := []testbin.Binary{v.binary}
		one[0].Side, one[0].Layouts = role, nil
		if err := testbin.Link(ctx, one, first, plan.Layouts, linked(b.con, role)); err != nil {
			return nil, nil, nil, err
		}
		if fresh++; slices.Contains(b.v.trees[:], v.tree) {
			fresh--
		}
		binaries = append(binaries, one[0])
		c := b.row.Case
		c.Side = role
		plan.Cases = append(plan.Cases, c)
		fixed.Add(role+"-commit", commits[i])
	}
	if fresh > 0 {
		b.times.Link = (b.times.Link + time.Since(began).Seconds()/float64(fresh*plan.Layouts)) / 2
	}
	if b.v.trimpath {
		fixed.Add("build", trimpath)
	}
	addHashes(&plan, binaries)
	return &plan, binaries, fixed.List, nil
}

func firstLineOf(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
