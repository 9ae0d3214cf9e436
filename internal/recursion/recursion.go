// Package recursion finds functions that may call themselves, directly or by
// way of others, before they have returned. A board gives a goroutine a stack of
// a kilobyte or so and writes beyond it without a word: what runs there has to
// need an amount of stack that the source bounds.
//
// How it works:
//
//  1. The packages are type-checked and turned into SSA form by
//     golang.org/x/tools/go/ssa.
//  2. Its variable type analysis says what each call may call: which methods
//     behind an interface, which functions behind a variable. Where it knows of
//     nothing that could be called, everything that fits the type is taken.
//  3. Functions that are handed to a package outside, such as the function of a
//     sync.Once, count as called where they are handed over, unless the policy
//     says that they run on a stack of their own.
//  4. What a go statement starts has a stack of its own as well. It is looked at
//     for itself.
//  5. Whatever can be reached from the policy's roots and lies on a circle is
//     reported, one circle at a time.
//
// It errs to the side of reporting, but it does not see everything: what
// packages outside call by reflection or by other methods than those of the
// parameter's type (errors.Is calls Unwrap), and functions that such a package
// is given in a variable.
package recursion

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/cha"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// Policy says where recursion is looked for and which there may be.
//
// Functions are named as go/ssa names them, without the module's path:
// "actor.Ask", "(*impls/serial.Dispatcher).RunUntilIdle", "group.New[T]", and
// "impls/channel.start$1" for the first function literal in another function.
type Policy struct {
	// Roots are functions from which paths begin. One that is not there is a
	// violation.
	Roots []string

	// RootsOf are interfaces, such as "actor.Port": of every type that
	// implements one, the interface's methods are roots too.
	RootsOf []string

	// Apart are functions of packages outside that run the functions they are
	// given on another stack or later: "time.AfterFunc".
	Apart []string

	// Allowed are calls that may close a circle. One that closes none is a
	// violation: the list would otherwise hide what comes later.
	Allowed []Call
}

// Call is a call that may lead back to its caller.
type Call struct {
	From, To string // functions; an "…" stands for any text
	Why      string // what bounds its depth, in a sentence
}

// Violation is one circle, or one thing in the policy that is not in the code.
type Violation struct {
	Where string // file:line of a call of the circle
	What  string
}

// String returns the violation on one line.
func (v Violation) String() string {
	if v.Where == "" {
		return v.What
	}
	return v.Where + ": " + v.What
}

// Program is the call graph of some packages of one module.
type Program struct {
	dir    string
	module string // with a slash at its end
	prog   *ssa.Program
	pkgs   []*types.Package
	funcs  []*ssa.Function // by name
	calls  map[*ssa.Function][]edge
}

// edge is a call of the call graph.
type edge struct {
	to  *ssa.Function
	via string // the function outside that calls it, if that is so
	own bool   // on a stack of its own
	at  token.Pos
}

// Load reads those packages of the module in the folder dir whose path, relative
// to the module's root, keep accepts; the root's is ".". It runs the go command,
// and files are chosen as for this machine.
func Load(dir string, keep func(pkg string) bool) (*Program, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("recursion: %w", err)
	}
	names, err := packages.Load(&packages.Config{Dir: dir, Mode: packages.NeedName | packages.NeedModule}, "./...")
	if err != nil {
		return nil, fmt.Errorf("recursion: %w", err)
	}
	p := &Program{dir: dir, calls: map[*ssa.Function][]edge{}}
	var paths []string
	for _, n := range names {
		if n.Module == nil {
			continue // it has an error, which the second reading tells
		}
		p.module = n.Module.Path + "/"
		if keep(p.local(n.PkgPath)) {
			paths = append(paths, n.PkgPath)
		}
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("recursion: no package below %s was chosen", dir)
	}
	pkgs, err := packages.Load(&packages.Config{Dir: dir, Mode: packages.LoadSyntax}, paths...)
	if err != nil {
		return nil, fmt.Errorf("recursion: %w", err)
	}
	var faults []error
	for _, k := range pkgs {
		p.pkgs = append(p.pkgs, k.Types)
		for _, e := range k.Errors {
			faults = append(faults, fmt.Errorf("recursion: %w", e))
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	p.prog, _ = ssautil.Packages(pkgs, ssa.InstantiateGenerics)
	p.prog.Build()
	p.graph()
	return p, nil
}

// local returns the path of a package relative to the module's root.
func (p *Program) local(path string) string {
	if path+"/" == p.module {
		return "."
	}
	return strings.TrimPrefix(path, p.module)
}

// name returns the name of a function as a Policy has it.
func (p *Program) name(f *ssa.Function) string {
	return strings.ReplaceAll(f.String(), p.module, "")
}

// graph finds out what calls what.
func (p *Program) graph() {
	all := ssautil.AllFunctions(p.prog)
	wide := cha.CallGraph(p.prog)
	narrow := vta.CallGraph(all, wide)
	for f := range all {
		if g := generic(f); p.calls[g] == nil {
			p.calls[g] = []edge{}
		}
		likely, possible := callees(narrow.Nodes[f]), callees(wide.Nodes[f])
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				site, ok := i.(ssa.CallInstruction)
				if !ok {
					continue
				}
				if _, builtin := site.Common().Value.(*ssa.Builtin); builtin {
					continue
				}
				_, starts := i.(*ssa.Go)
				to := likely[site]
				if len(to) == 0 {
					to = possible[site]
				}
				for _, g := range to {
					p.add(f, edge{to: g, own: starts, at: site.Pos()})
				}
				if outside := slices.IndexFunc(to, func(g *ssa.Function) bool { return len(g.Blocks) == 0 }); outside >= 0 || len(to) == 0 {
					via := "a function that is not known"
					if outside >= 0 {
						via = p.name(generic(to[outside]))
					}
					for _, g := range p.handed(site.Common().Args) {
						p.add(f, edge{to: g, via: via, own: starts, at: site.Pos()})
					}
				}
			}
		}
	}
	for f := range p.calls {
		p.funcs = append(p.funcs, f)
	}
	slices.SortFunc(p.funcs, p.byName)
	for _, f := range p.funcs {
		slices.SortFunc(p.calls[f], func(a, b edge) int { return cmp.Or(p.byName(a.to, b.to), cmp.Compare(a.at, b.at)) })
	}
}

func (p *Program) byName(a, b *ssa.Function) int {
	return cmp.Or(cmp.Compare(p.name(a), p.name(b)), cmp.Compare(a.Pos(), b.Pos()), cmp.Compare(a.Synthetic, b.Synthetic))
}

// callees returns what a node's function calls, by the place of the call.
func callees(n *callgraph.Node) map[ssa.CallInstruction][]*ssa.Function {
	to := map[ssa.CallInstruction][]*ssa.Function{}
	if n != nil {
		for _, e := range n.Out {
			if e.Site != nil {
				to[e.Site] = append(to[e.Site], e.Callee.Func)
			}
		}
	}
	return to
}

// add adds a call. The instances of a generic function are one function: a
// circle through several of them is one as well.
func (p *Program) add(from *ssa.Function, e edge) {
	wrapper := from.Synthetic != ""
	from, e.to = generic(from), generic(e.to)
	if wrapper && from == e.to {
		return // an instance that is a call of the generic function
	}
	if !slices.ContainsFunc(p.calls[from], func(x edge) bool { return x.to == e.to && x.via == e.via && x.own == e.own }) {
		p.calls[from] = append(p.calls[from], e)
	}
	if p.calls[e.to] == nil {
		p.calls[e.to] = []edge{}
	}
}

// generic returns the generic function that f is an instance of, or f.
func generic(f *ssa.Function) *ssa.Function {
	if o := f.Origin(); o != nil {
		return o
	}
	return f
}

// handed returns the functions among arguments, and the methods that who is
// given an argument can call by the parameter's type.
func (p *Program) handed(args []ssa.Value) (found []*ssa.Function) {
	for _, arg := range args {
		for c, ok := arg.(*ssa.ChangeType); ok; c, ok = arg.(*ssa.ChangeType) {
			arg = c.X
		}
		switch arg := arg.(type) {
		case *ssa.Function:
			found = append(found, arg)
		case *ssa.MakeClosure:
			found = append(found, arg.Fn.(*ssa.Function))
		case *ssa.MakeInterface:
			if face, ok := arg.Type().Underlying().(*types.Interface); ok {
				found = append(found, p.methods(arg.X.Type(), face)...)
			}
		}
	}
	return found
}

// methods returns the methods of face as t has them, where they were declared.
func (p *Program) methods(t types.Type, face *types.Interface) (found []*ssa.Function) {
	set := types.NewMethodSet(t)
	for m := range face.Methods() {
		if sel := set.Lookup(m.Pkg(), m.Name()); sel != nil {
			if f := p.prog.FuncValue(sel.Obj().(*types.Func).Origin()); f != nil {
				found = append(found, f)
			}
		}
	}
	return found
}

// Check returns the circles that can be reached from the policy's roots, by the
// functions' names, and what the policy names that is not there.
func (p *Program) Check(policy Policy) []Violation {
	var found []Violation
	bad := func(format string, args ...any) {
		found = append(found, Violation{What: fmt.Sprintf(format, args...) + ": correct the policy"})
	}

	roots, unknown := p.roots(policy)
	for _, r := range unknown {
		bad("the root %s is not in the packages that were read", r)
	}
	apart := map[string]bool{}
	for _, name := range policy.Apart {
		apart[name] = false
	}
	graph := map[*ssa.Function][]edge{} // what can be reached
	for len(roots) > 0 {
		f := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		if _, ok := graph[f]; ok {
			continue
		}
		graph[f] = []edge{}
		for _, e := range p.calls[f] {
			roots = append(roots, e.to)
			if _, ok := apart[e.via]; ok {
				apart[e.via] = true
			} else if !e.own {
				graph[f] = append(graph[f], e)
			}
		}
	}
	for _, name := range policy.Apart {
		if !apart[name] {
			bad("nothing that was reached hands a function to %s", name)
		}
	}

	closes := make([]bool, len(policy.Allowed))
	allowed := func(from, to *ssa.Function) int {
		return slices.IndexFunc(policy.Allowed, func(c Call) bool { return matches(c.From, p.name(from)) && matches(c.To, p.name(to)) })
	}
	for _, circle := range components(p.funcs, graph) {
		in := map[*ssa.Function]bool{}
		for _, f := range circle {
			in[f] = true
		}
		for _, f := range circle {
			graph[f] = slices.DeleteFunc(graph[f], func(e edge) bool {
				if !in[e.to] {
					return false
				}
				i := allowed(f, e.to)
				if i >= 0 {
					closes[i] = true
				}
				return i >= 0
			})
		}
	}
	for i, a := range policy.Allowed {
		switch {
		case a.Why == "":
			bad("no reason is given why %s may call %s", a.From, a.To)
		case !closes[i]:
			bad("the call of %s by %s is on no circle", a.To, a.From)
		}
	}
	for _, circle := range components(p.funcs, graph) {
		found = append(found, p.tell(shortest(circle, graph), graph))
	}
	return found
}

// matches reports whether name is what pattern says.
func matches(pattern, name string) bool {
	before, after, any := strings.Cut(pattern, "…")
	if !any {
		return pattern == name
	}
	return len(name) >= len(before)+len(after) && strings.HasPrefix(name, before) && strings.HasSuffix(name, after)
}

// roots returns the roots that there are and the names of those that are not.
func (p *Program) roots(policy Policy) (found []*ssa.Function, unknown []string) {
	for _, name := range policy.Roots {
		n := len(found)
		for _, f := range p.funcs {
			if p.name(f) == name {
				found = append(found, f)
			}
		}
		if len(found) == n {
			unknown = append(unknown, name)
		}
	}
	for _, name := range policy.RootsOf {
		face := p.face(name)
		if face == nil {
			unknown = append(unknown, name)
			continue
		}
		for _, k := range p.pkgs {
			for _, n := range k.Scope().Names() {
				t, ok := k.Scope().Lookup(n).(*types.TypeName)
				if !ok || t.IsAlias() || types.IsInterface(t.Type()) {
					continue
				}
				if pt := types.NewPointer(t.Type()); types.Implements(pt, face) {
					found = append(found, p.methods(pt, face)...)
				}
			}
		}
	}
	return found, unknown
}

// face returns the interface of this name, or nil.
func (p *Program) face(name string) *types.Interface {
	i := strings.LastIndex(name, ".")
	for _, k := range p.pkgs {
		if i < 0 || p.local(k.Path()) != name[:i] {
			continue
		}
		if o := k.Scope().Lookup(name[i+1:]); o != nil {
			face, _ := o.Type().Underlying().(*types.Interface)
			return face
		}
	}
	return nil
}

// components returns the sets of functions of which each can call each other
// one, or itself, in the order of funcs. It is Tarjan's algorithm.
func components(funcs []*ssa.Function, graph map[*ssa.Function][]edge) (found [][]*ssa.Function) {
	index, low := map[*ssa.Function]int{}, map[*ssa.Function]int{}
	var stack []*ssa.Function
	var visit func(f *ssa.Function)
	visit = func(f *ssa.Function) {
		index[f] = len(index) + 1
		low[f] = index[f]
		stack = append(stack, f)
		self := false
		for _, e := range graph[f] {
			self = self || e.to == f
			if index[e.to] == 0 {
				visit(e.to)
			}
			if low[e.to] > 0 {
				low[f] = min(low[f], low[e.to])
			}
		}
		if low[f] < index[f] {
			return
		}
		i := slices.Index(stack, f)
		one := slices.Clone(stack[i:])
		stack = stack[:i]
		for _, g := range one {
			low[g] = -1 // in a component
		}
		if len(one) > 1 || self {
			found = append(found, one)
		}
	}
	for _, f := range funcs {
		if _, ok := graph[f]; ok && index[f] == 0 {
			visit(f)
		}
	}
	return found
}

// shortest returns the functions of a shortest circle in a component, each of
// which calls the next and the last one the first.
func shortest(component []*ssa.Function, graph map[*ssa.Function][]edge) (best []*ssa.Function) {
	for _, start := range component {
		from := map[*ssa.Function]*ssa.Function{}
		for queue := []*ssa.Function{start}; len(queue) > 0 && from[start] == nil; queue = queue[1:] {
			for _, e := range graph[queue[0]] {
				if slices.Contains(component, e.to) && from[e.to] == nil {
					from[e.to] = queue[0]
					queue = append(queue, e.to)
				}
			}
		}
		circle := []*ssa.Function{start}
		for f := from[start]; f != start; f = from[f] {
			circle = append(circle, f)
		}
		slices.Reverse(circle[1:])
		if best == nil || len(circle) < len(best) {
			best = circle
		}
	}
	return best
}

// tell describes a circle.
func (p *Program) tell(circle []*ssa.Function, graph map[*ssa.Function][]edge) Violation {
	var v Violation
	names := []string{}
	for i, f := range circle {
		to := circle[(i+1)%len(circle)]
		names = append(names, p.name(f))
		for _, e := range graph[f] {
			if e.to == to && v.Where == "" && e.at.IsValid() {
				at := p.prog.Fset.Position(e.at)
				name := at.Filename
				if rel, err := filepath.Rel(p.dir, name); err == nil {
					name = filepath.ToSlash(rel)
				}
				v.Where = name + ":" + strconv.Itoa(at.Line)
			}
		}
	}
	v.What = "recursion: " + strings.Join(append(names, names[0]), " calls ") + ": make it a loop, or allow one of these calls and say what bounds its depth"
	return v
}
