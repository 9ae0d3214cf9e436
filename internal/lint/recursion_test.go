package lint

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every case is a package of one module, which is read once. Each begins at
// its function Start.
var recursions = []struct {
	name, src string
	policy    RecursionPolicy
	want      []string // what a violation says; one each
}{
	{
		name: "direct", src: `func Start(n int) { if n > 0 { Start(n - 1) } }`,
		want: []string{"direct/direct.go:3: recursion: direct.Start calls direct.Start:"},
	},
	{
		name: "mutual", src: `func Start() { even(3) }
			func even(n int) bool { return n == 0 || odd(n-1) }
			func odd(n int) bool { return n != 0 && even(n-1) }`,
		want: []string{"mutual.even calls mutual.odd calls mutual.even"},
	},
	{
		name: "deferred", src: `func Start() { defer Start() }`,
		want: []string{"deferred.Start calls deferred.Start"},
	},
	{
		name: "methods", src: `type node struct{ next *node }
			func (n *node) last() *node { if n.next == nil { return n }; return n.next.last() }
			func Start() { (&node{}).last() }`,
		want: []string{"(*methods.node).last calls (*methods.node).last"},
	},
	{
		name: "face", src: `type actor interface{ receive() }
			type a struct{ to actor }
			func (x *a) receive() { tell(x.to) }
			func tell(to actor) { to.receive() }
			func Start() { tell(&a{&a{}}) }`,
		want: []string{"(*face.a).receive calls face.tell calls (*face.a).receive"},
	},
	{
		name: "values", src: `type handler func(n int)
			type table struct{ h handler }
			var t table
			func run(n int) { t.h(n - 1) }
			func Start() { t.h = run; t.h(1) }`,
		want: []string{"values.run calls values.run"},
	},
	{
		name: "literals", src: `func Start() {
			var visit func(n int)
			visit = func(n int) { visit(n - 1) }
			visit(1) }`,
		want: []string{"literals.Start$1 calls literals.Start$1"},
	},
	{
		name: "generics", src: `func walk[T any](v T) { walk(v) }
			func Start() { walk(1); walk(""); pass(1) }
			func pass[T any](v T) { leaf(v) } // instances of leaf are no cycle
			func leaf[T any](v T) {}`,
		want: []string{"generics.walk calls generics.walk"},
	},
	{
		name: "handed", src: `import "sync"
			var once sync.Once
			func Start() { once.Do(Start) }`,
		want: []string{"handed.Start calls handed.Start"},
	},
	{
		name: "heaps", src: `import "container/heap"
			type h []int
			func (x *h) Len() int { return 0 }
			func (x *h) Less(i, j int) bool { return false }
			func (x *h) Swap(i, j int) { x.fix() }
			func (x *h) Push(any) {}
			func (x *h) Pop() any { return nil }
			func (x *h) fix() { heap.Fix(x, 0) }
			func Start() { new(h).fix() }`,
		want: []string{"(*heaps.h).Swap calls (*heaps.h).fix calls (*heaps.h).Swap"},
	},
	{
		name: "ranges", src: `func all(yield func(int) bool) { yield(1) }
			func Start() { for range all { Start() } }`,
		want: []string{"ranges.Start calls ranges.all calls ranges.Start$1 calls ranges.Start"},
	},
	{
		name: "unreached", src: `func Start() {}
			func other() { other() }
			var _ = other`,
	},
	{
		name: "started", src: `func Start() { go Start() }`,
	},
	{
		name: "startedother", src: `func Start() { go work() }
			func work() { work() }`,
		want: []string{"startedother.work calls startedother.work"},
	},
	{
		name: "twice", src: `func Start() { leaf(); middle() }
			func middle() { leaf() }
			func leaf() {}`,
	},
	{
		name: "later", src: `import "time"
			func Start() { time.AfterFunc(1, Start) }`,
		policy: RecursionPolicy{Apart: []string{"time.AfterFunc"}},
	},
	{
		name: "apartless", src: `func Start() { leaf() }
			func leaf() {}`,
		policy: RecursionPolicy{Apart: []string{"time.AfterFunc"}},
		want:   []string{"hands a function to time.AfterFunc: correct"},
	},
	{
		name: "bounded", src: `func Start() { up(3) }
			func up(n int) { if n > 0 { down(n) } }
			func down(n int) { up(n - 1) }`,
		policy: RecursionPolicy{Allowed: []Call{{From: "bounded.down", To: "bounded.up", Why: "three times"}}},
	},
	{
		name: "many", src: `func Start() { up1(3); up2(3) }
			func up1(n int) { if n > 0 { up1(n-1); down(n) } }
			func up2(n int) { if n > 0 { up2(n-1); down(n) } }
			func down(n int) { up1(n - 1); up2(n - 1) }`,
		policy: RecursionPolicy{Allowed: []Call{{From: "many…", To: "many.up…", Why: "three times"}}},
	},
	{
		name: "reasonless", src: `func Start() { Start() }`,
		policy: RecursionPolicy{Allowed: []Call{{From: "reasonless.Start", To: "reasonless.Start"}}},
		want:   []string{"no reason is given why reasonless.Start may call reasonless.Start"},
	},
	{
		name: "loop", src: `func Start() { leaf() }
			func leaf() {}`,
		policy: RecursionPolicy{Allowed: []Call{{From: "loop.Start", To: "loop.leaf", Why: "once"}}},
		want:   []string{"the call of loop.leaf by loop.Start is on no cycle: correct"},
	},
	{
		name: "partly", src: `func Start() { a() }
			func a() { b(); c() }
			func b() { a() }
			func c() { a() }`,
		policy: RecursionPolicy{Allowed: []Call{{From: "partly.b", To: "partly.a", Why: "once"}}},
		want:   []string{"partly.a calls partly.c calls partly.a"},
	},
	{
		name: "rootless", src: `func Start() { leaf() }
			func leaf() {}`,
		policy: RecursionPolicy{Roots: []string{"rootless.Gone"}, RootsOf: []string{"rootless.Face", "nowhere.Face"}},
		want: []string{
			"the root rootless.Gone is not in the packages",
			"the root rootless.Face is not in the packages",
			"the root nowhere.Face is not in the packages",
		},
	},
	{
		name: "ports", src: `type Port interface{ Send() }
			type box struct{}
			func (b *box) Send() { b.Send() }
			func (b *box) other() { b.other() }
			type wrapped struct{ *box }
			func Start() { use(&box{}); use(wrapped{}) }
			func use(Port) {}`,
		policy: RecursionPolicy{RootsOf: []string{"ports.Port"}},
		want:   []string{"(*ports.box).Send calls (*ports.box).Send"},
	},
}

func TestRecursionFindsEachViolation(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{
		"go.mod":      "module example.com/m\n\ngo 1.23\n",
		"left/out.go": "package left\n\nthis is not read\n",
	}
	var patterns []string
	for _, c := range recursions {
		files[c.name+"/"+c.name+".go"] = "package " + c.name + "\n\n" + c.src + "\n"
		patterns = append(patterns, "./"+c.name)
	}
	write(t, dir, files)
	p, err := Load(dir, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range recursions {
		t.Run(c.name, func(t *testing.T) {
			c.policy.Roots = append(c.policy.Roots, c.name+".Start")
			got := p.Check(c.policy)
			if len(got) != len(c.want) {
				t.Fatalf("want %d violations, got %d: %v", len(c.want), len(got), got)
			}
			for i, v := range got {
				if !strings.Contains(v.String(), c.want[i]) {
					t.Errorf("violation %q does not say %q", v, c.want[i])
				}
			}
		})
	}
}

func TestLoadFails(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.23\n",
		"a/a.go": "package a\n\nvar x int = \"\"\n",
		"b/b.go": "package b\n",
	})
	if _, err := Load(dir, "./a"); err == nil || !strings.Contains(err.Error(), "a.go:3") {
		t.Errorf("a package that does not compile: want an error that names a.go:3, got %v", err)
	}
	if _, err := Load(dir, "./c"); err == nil {
		t.Error("no error for a package that is not there")
	}
	if _, err := Load(filepath.Join(dir, "gone"), "./..."); err == nil {
		t.Error("no error for a folder that is not there")
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
