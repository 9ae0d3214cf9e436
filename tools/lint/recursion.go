package lint

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"maps"
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

// A board gives a goroutine a stack of a kilobyte or so and writes beyond it without
// a word: what runs there has to need an amount of stack that the source bounds, and
// so must not call itself, directly or by way of others, before it has returned.
//
//  1. The packages are turned into SSA form. Its variable type analysis says what each
//     call may call: which methods behind an interface, which functions behind a
//     variable. Where it knows of nothing that could be called, everything that fits the
//     type is taken.
//  2. Functions that are handed to a package outside, such as the function of a
//     sync.Once, count as called where they are handed over, unless the policy says that
//     they run on a stack of their own.
//  3. What a go statement starts has a stack of its own as well. It is looked at for
//     itself.
//  4. Whatever can be reached from the policy's roots and lies on a cycle is reported,
//     the shortest cycle of those that have functions in common.
//
// It errs to the side of reporting, but it does not see everything: what packages outside
// call by reflection or by other methods than those of the parameter's type (errors.Is
// calls Unwrap), and functions that such a package is given in a variable.

// RecursionPolicy says where recursion is looked for and which there may be.
//
// Functions are named as go/ssa names them, without the module's path:
// "actor.Ask", "(*impls/serial.Dispatcher).RunUntilIdle", and
// "impls/channel.start$1" for the first function literal in another function.
type RecursionPolicy struct {
	// Roots are functions from which paths begin. One that is not there is a
	// violation.
	Roots []string

	// RootsOf are interfaces, such as "actor.Port": of every type that
	// implements one, the interface's methods are roots too.
	RootsOf []string

	// Apart are functions of packages outside that run the functions they are
	// given on another stack or later: "time.AfterFunc".
	Apart []string

	// Beyond are functions that lie on no path, and are not looked into: of the packages that
	// were read, what no board runs. One that is not reached is a violation.
	Beyond []string

	// Allowed are calls that may close a cycle. One that closes none is a
	// violation: the list would otherwise hide what comes later.
	Allowed []Call
}

// Call is a call that may lead back to its caller.
type Call struct {
	From, To string // functions; an "…" stands for any text
	Why      string // what bounds its depth, in a sentence
}

// Program is the call graph of some packages of one module. The instances of a generic
// function are one function in it: a cycle through several of them is one as well.
type Program struct {
	dir    string
	module string // with a slash at its end
	prog   *ssa.Program
	pkgs   []*types.Package
	calls  map[string][]call // by the caller's name; every function has an entry
}

// call is an edge of the call graph.
type call struct {
	to  string
	via string // the function outside that calls it, if that is so
	own bool   // on a stack of its own
	at  token.Pos
}

// Load reads packages of the module in the folder dir, for this machine. Patterns are
// those of the go command.
func Load(dir string, patterns ...string) (*Program, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("lint: %w", err)
	}
	pkgs, err := packages.Load(&packages.Config{Dir: dir, Mode: packages.LoadSyntax | packages.NeedModule}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("lint: %w", err)
	}
	p := &Program{dir: dir, calls: map[string][]call{}}
	var errs []error
	for _, k := range pkgs {
		p.pkgs = append(p.pkgs, k.Types)
		if k.Module != nil {
			p.module = k.Module.Path + "/"
		}
		for _, e := range k.Errors {
			errs = append(errs, fmt.Errorf("lint: %w", e))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	p.prog, _ = ssautil.Packages(pkgs, ssa.InstantiateGenerics)
	p.prog.Build()
	p.graph()
	return p, nil
}

// name returns the name of a function, or of the generic one that it is an instance of,
// as a [RecursionPolicy] has it.
func (p *Program) name(f *ssa.Function) string {
	if o := f.Origin(); o != nil {
		f = o
	}
	return strings.ReplaceAll(f.String(), p.module, "")
}

// graph finds out what calls what.
func (p *Program) graph() {
	all := ssautil.AllFunctions(p.prog)
	wide := cha.CallGraph(p.prog)
	narrow := vta.CallGraph(all, wide)
	for _, f := range slices.SortedFunc(maps.Keys(all), func(a, b *ssa.Function) int {
		return cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(a.Pos(), b.Pos()))
	}) {
		p.add(f)
		likely, possible := callees(narrow.Nodes[f]), callees(wide.Nodes[f])
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				if site, ok := i.(ssa.CallInstruction); ok {
					to := likely[site]
					if len(to) == 0 {
						to = possible[site]
					}
					p.site(f, site, to)
				}
			}
		}
	}
	for _, calls := range p.calls {
		slices.SortStableFunc(calls, func(a, b call) int { return cmp.Compare(a.to, b.to) })
	}
}

// site adds what a place in a function calls: functions that are known, and those that it
// hands to one that is not, or is outside.
func (p *Program) site(f *ssa.Function, site ssa.CallInstruction, to []*ssa.Function) {
	if _, builtin := site.Common().Value.(*ssa.Builtin); builtin {
		return
	}
	_, starts := site.(*ssa.Go)
	via := ""
	if len(to) == 0 {
		via = "a function that is not known"
	}
	for _, g := range to {
		p.add(f, call{to: p.name(g), own: starts, at: site.Pos()})
		if len(g.Blocks) == 0 && via == "" {
			via = p.name(g)
		}
	}
	if via != "" {
		for _, g := range p.handed(site.Common().Args) {
			p.add(f, call{to: p.name(g), via: via, own: starts, at: site.Pos()})
		}
	}
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

// add adds a function and calls of it.
func (p *Program) add(f *ssa.Function, calls ...call) {
	from := p.name(f)
	all := p.calls[from]
	for _, c := range calls {
		wrapper := f.Synthetic != "" && from == c.to // an instance that is a call of the generic function
		if !wrapper && !slices.ContainsFunc(all, func(x call) bool { return x.to == c.to && x.via == c.via && x.own == c.own }) {
			all = append(all, c)
		}
	}
	p.calls[from] = all
}

// handed returns the functions among arguments, and the methods that the
// callee can call by a parameter's type.
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

// Check returns the cycles that can be reached from the policy's roots, by the
// functions' names, and what the policy names that is not there.
func (p *Program) Check(policy RecursionPolicy) []Violation {
	var found []Violation
	bad := func(format string, args ...any) {
		found = append(found, Violation{What: fmt.Sprintf(format, args...) + ": correct the policy"})
	}
	roots, unknown := p.roots(policy)
	for _, r := range unknown {
		bad("the root %s is not in the packages that were read", r)
	}
	graph, through := p.reach(roots, policy)
	for _, name := range policy.Beyond {
		if !through[name] {
			bad("%s was not reached", name)
		}
	}
	for _, name := range policy.Apart {
		if !through[name] {
			bad("nothing that was reached hands a function to %s", name)
		}
	}

	// What is left when calls are taken away that are allowed to close a cycle.
	closes := make([]bool, len(policy.Allowed))
	rest := map[string][]call{}
	for f, calls := range graph {
		rest[f] = slices.DeleteFunc(slices.Clone(calls), func(c call) bool {
			i := slices.IndexFunc(policy.Allowed, func(a Call) bool { return matches(a.From, f) && matches(a.To, c.to) })
			if i < 0 || c.to != f && route(graph, c.to, f) == nil {
				return false
			}
			closes[i] = true
			return true
		})
	}
	for i, a := range policy.Allowed {
		switch {
		case a.Why == "":
			bad("no reason is given why %s may call %s", a.From, a.To)
		case !closes[i]:
			bad("the call of %s by %s is on no cycle", a.To, a.From)
		}
	}

	reported := map[string]bool{}
	functions := slices.Sorted(maps.Keys(rest))
	for _, f := range functions {
		cycle := route(rest, f, f)
		if cycle == nil || reported[f] {
			continue
		}
		for _, g := range functions {
			if route(rest, f, g) != nil && route(rest, g, f) != nil {
				reported[g] = true
				if c := route(rest, g, g); len(c) < len(cycle) {
					cycle = c
				}
			}
		}
		found = append(found, p.describe(cycle, rest))
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
func (p *Program) roots(policy RecursionPolicy) (found, unknown []string) {
	for _, name := range policy.Roots {
		if _, ok := p.calls[name]; ok {
			found = append(found, name)
		} else {
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
					for _, m := range p.methods(pt, face) {
						found = append(found, p.name(m))
					}
				}
			}
		}
	}
	return found, unknown
}

// face returns the interface of this name, or nil.
func (p *Program) face(name string) *types.Interface {
	for _, k := range p.pkgs {
		n, ok := strings.CutPrefix(name, strings.TrimPrefix(k.Path(), p.module)+".")
		if o := k.Scope().Lookup(n); ok && o != nil {
			face, _ := o.Type().Underlying().(*types.Interface)
			return face
		}
	}
	return nil
}

// reach returns the calls of functions that can be reached from the roots, without those
// on a stack of their own, such as calls by the functions in apart; and the functions
// outside that calls go through.
func (p *Program) reach(roots []string, policy RecursionPolicy) (graph map[string][]call, through map[string]bool) {
	graph, through = map[string][]call{}, map[string]bool{}
	for len(roots) > 0 {
		f := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		if _, ok := graph[f]; ok {
			continue
		}
		graph[f] = nil
		for _, c := range p.calls[f] {
			through[c.via] = true
			if slices.Contains(policy.Beyond, c.to) {
				through[c.to] = true
				continue
			}
			roots = append(roots, c.to)
			if !c.own && !slices.Contains(policy.Apart, c.via) {
				graph[f] = append(graph[f], c)
			}
		}
	}
	return graph, through
}

// route returns the functions of a shortest path of one call or more, from one function up
// to, and without, another; or nil.
func route(graph map[string][]call, from, to string) []string {
	before := map[string]string{}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, c := range graph[queue[0]] {
			if _, ok := before[c.to]; ok {
				continue
			}
			before[c.to] = queue[0]
			if c.to != to {
				queue = append(queue, c.to)
				continue
			}
			functions := []string{before[to]}
			for f := before[to]; f != from; {
				f = before[f]
				functions = append(functions, f)
			}
			slices.Reverse(functions)
			return functions
		}
	}
	return nil
}

// describe returns the violation that a cycle is: each of its functions calls the next,
// and the last one the first.
func (p *Program) describe(cycle []string, graph map[string][]call) Violation {
	var v Violation
	cycle = append(cycle, cycle[0])
	for i, f := range cycle[1:] {
		for _, c := range graph[cycle[i]] {
			if c.to == f && v.Where == "" && c.at.IsValid() {
				at := p.prog.Fset.Position(c.at)
				name := at.Filename
				if rel, err := filepath.Rel(p.dir, name); err == nil {
					name = filepath.ToSlash(rel)
				}
				v.Where = name + ":" + strconv.Itoa(at.Line)
			}
		}
	}
	v.What = "recursion: " + strings.Join(cycle, " calls ") + ": make it a loop, or allow one of these calls and say what bounds its depth"
	return v
}
