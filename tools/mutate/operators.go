package mutate

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// walker walks over the source of a package and notes what can be changed.
type walker struct {
	p        *Package
	file     int
	function string // the declaration it is in
	body     bool   // which is a function
	results  *ast.FieldList
	checkers map[types.Object]bool // set by checks
	seen     map[string]int
	found    []Mutant
}

// opposite says for each operator of Go what takes its place.
var opposite = map[token.Token]struct{ operator, by string }{
	token.LSS: {"boundary", "<="}, token.LEQ: {"boundary", "<"},
	token.GTR: {"boundary", ">="}, token.GEQ: {"boundary", ">"},
	token.EQL: {"negate", "!="}, token.NEQ: {"negate", "=="},
	token.ADD: {"arithmetic", "-"}, token.SUB: {"arithmetic", "+"},
	token.MUL: {"arithmetic", "/"}, token.QUO: {"arithmetic", "*"}, token.REM: {"arithmetic", "/"},
	token.AND: {"arithmetic", "|"}, token.OR: {"arithmetic", "&"}, token.AND_NOT: {"arithmetic", "&"},
	token.SHL: {"arithmetic", ">>"}, token.SHR: {"arithmetic", "<<"},
	token.ADD_ASSIGN: {"arithmetic", "-="}, token.SUB_ASSIGN: {"arithmetic", "+="},
	token.OR_ASSIGN: {"arithmetic", "&="}, token.AND_ASSIGN: {"arithmetic", "|="},
	token.INC: {"arithmetic", "--"}, token.DEC: {"arithmetic", "++"},
}

// wakes matches the names of functions that wake up someone or hand something over.
var wakes = regexp.MustCompile(`(?i)^(try)?(wake|signal|unpark|notify|close|rouse|ready|schedule|resume|release|broadcast|spawn|start|done|kick|poke|ring|post)`)

func (w *walker) decl(d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Body == nil {
			return
		}
		w.function, w.results, w.body = d.Name.Name, d.Type.Results, true
		if d.Recv != nil {
			w.function = fmt.Sprintf("(%s).%s", receiver(d.Recv.List[0].Type), d.Name.Name)
		}
		w.walk(d.Body)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				w.function, w.results, w.body = d.Tok.String()+" "+v.Names[0].Name, nil, false
				w.walk(v)
			}
		}
	}
}

// receiver returns the type of a receiver without its type parameters.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return "*" + receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// walk notes the changes to a node and what is below it.
func (w *walker) walk(root ast.Node) {
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ArrayType:
			return false // a length is memory or padding
		case *ast.FuncLit:
			outer := w.results
			w.results = n.Type.Results
			w.walk(n.Body)
			w.results = outer
			return false
		case *ast.IfStmt:
			if w.ofInvariants(n.Cond) {
				return false // it only checks, and only where checks are compiled in
			}
			w.condition(n.Cond)
		case *ast.ForStmt:
			if n.Cond != nil {
				w.condition(n.Cond)
			}
		case *ast.SwitchStmt:
			if n.Tag == nil {
				w.cases(n.Body)
			}
		case *ast.BinaryExpr:
			w.binary(n)
		case *ast.BasicLit:
			w.number(n)
		case *ast.Ident:
			w.boolean(n)
		case *ast.CallExpr:
			w.atomic(n)
		case *ast.ReturnStmt:
			w.zeros(n)
		case *ast.IncDecStmt:
			o := opposite[n.Tok]
			w.replaceToken(o.operator, n, n.TokPos, n.Tok, o.by)
		case *ast.AssignStmt:
			if o, ok := opposite[n.Tok]; ok && w.isNumber(n.Lhs[0]) {
				w.replaceToken(o.operator, n, n.TokPos, n.Tok, o.by)
			}
		case *ast.BlockStmt:
			return w.statements(n.List)
		case *ast.CaseClause:
			w.statements(n.Body)
		case *ast.CommClause:
			w.statements(n.Body)
		}
		return true
	})
}

// ofInvariants reports whether a condition asks whether invariants are to be checked.
func (w *walker) ofInvariants(cond ast.Expr) (found bool) {
	ast.Inspect(cond, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Enabled" {
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "invariants" {
				found = true
			}
		}
		return !found
	})
	return found
}

// condition notes the negation of a condition, unless another operator makes it.
func (w *walker) condition(cond ast.Expr) {
	if b, ok := ast.Unparen(cond).(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
		return
	}
	w.replace("negate", cond, "!("+w.textOf(cond)+")")
}

// cases notes the negation of the conditions of a switch without a tag.
func (w *walker) cases(body *ast.BlockStmt) {
	for _, s := range body.List {
		for _, cond := range s.(*ast.CaseClause).List {
			w.condition(cond)
		}
	}
}

// binary notes other operators, and of && and || either operand alone.
func (w *walker) binary(b *ast.BinaryExpr) {
	if b.Op == token.LAND || b.Op == token.LOR {
		w.replace("operand", b, w.textOf(b.X))
		w.replace("operand", b, w.textOf(b.Y))
		return
	}
	o, ok := opposite[b.Op]
	if ok && (o.operator != "arithmetic" || w.isNumber(b.X)) {
		w.replaceToken(o.operator, b, b.OpPos, b.Op, o.by)
	}
}

// isNumber reports whether an expression is a number.
func (w *walker) isNumber(e ast.Expr) bool {
	b, ok := w.typeOf(e).Underlying().(*types.Basic)
	return ok && b.Info()&types.IsNumeric != 0
}

// number notes one more for an integer.
func (w *walker) number(lit *ast.BasicLit) {
	if lit.Kind != token.INT {
		return
	}
	if n, exact := constant.Int64Val(constant.MakeFromLiteral(lit.Value, token.INT, 0)); exact {
		w.replace("constant", lit, strconv.FormatInt(n+1, 10))
	}
}

// boolean notes true for false and false for true.
func (w *walker) boolean(id *ast.Ident) {
	switch w.p.info.Uses[id] {
	case types.Universe.Lookup("true"):
		w.replace("constant", id, "false")
	case types.Universe.Lookup("false"):
		w.replace("constant", id, "true")
	}
}

// atomic notes for a method of an atomic type what it would be if it were less than
// atomic: a CompareAndSwap that does not compare, an Add or Swap that another one can come
// between; and a Load that sees nothing.
func (w *walker) atomic(call *ast.CallExpr) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || w.packageOf(call) != "sync/atomic" || w.p.info.Selections[sel] == nil {
		return
	}
	x, result := w.textOf(sel.X), types.TypeString(w.typeOf(call), w.qualifier)
	switch sel.Sel.Name {
	case "CompareAndSwap":
		w.replace("cas", call, fmt.Sprintf("func() bool { _ = %s; %s.Store(%s); return true }()", w.textOf(call.Args[0]), x, w.textOf(call.Args[1])))
	case "Add":
		w.replace("atomic", call, fmt.Sprintf("func() %s { v := %s.Load() + (%s); %[2]s.Store(v); return v }()", result, x, w.textOf(call.Args[0])))
	case "Swap":
		w.replace("atomic", call, fmt.Sprintf("func() %s { v := %s.Load(); %[2]s.Store(%s); return v }()", result, x, w.textOf(call.Args[0])))
	case "Load":
		w.replace("atomic", call, "*new("+result+")")
	}
}

// zeros notes a return of nothing but zero values; of a single bool, the other one.
func (w *walker) zeros(ret *ast.ReturnStmt) {
	if w.results == nil || len(ret.Results) == 0 || len(ret.Results) != w.results.NumFields() {
		return
	}
	start, _ := w.p.at(ret.Results[0])
	_, end := w.p.at(ret.Results[len(ret.Results)-1])
	if len(ret.Results) == 1 && types.Identical(w.typeOf(w.results.List[0].Type), types.Typ[types.Bool]) {
		if _, ok := ret.Results[0].(*ast.Ident); !ok { // true and false are changed as constants
			w.add("return", start, end, "!("+w.textOf(ret.Results[0])+")", "")
		}
		return
	}
	var zero []string
	for _, f := range w.results.List {
		for range max(1, len(f.Names)) {
			zero = append(zero, w.zero(f.Type))
		}
	}
	if len(ret.Results) == 1 && w.isZero(ret.Results[0]) {
		return // otherwise written
	}
	w.add("return", start, end, strings.Join(zero, ", "), "")
}

// isZero reports whether e is a constant number that is zero, or a composite literal without
// elements of a type that is neither a slice nor a map.
func (w *walker) isZero(e ast.Expr) bool {
	if lit, ok := e.(*ast.CompositeLit); ok {
		_, structure := w.typeOf(lit).Underlying().(*types.Struct)
		return structure && len(lit.Elts) == 0
	}
	v := w.p.info.Types[e].Value
	return v != nil && v.Kind() == constant.Int && constant.Sign(v) == 0
}

// zero returns the zero value of a type as an expression.
func (w *walker) zero(t ast.Expr) string {
	switch u := w.typeOf(t).Underlying().(type) {
	case *types.Basic:
		switch {
		case u.Info()&types.IsBoolean != 0:
			return "false"
		case u.Info()&types.IsString != 0:
			return `""`
		case u.Info()&types.IsNumeric != 0:
			return "0"
		}
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature:
		return "nil"
	case *types.Interface:
		if _, param := w.typeOf(t).(*types.TypeParam); !param {
			return "nil"
		}
	}
	return "*new(" + w.textOf(t) + ")"
}

// statements notes what can be done to the statements of a block, and reports whether what
// is below them is to be looked at.
func (w *walker) statements(list []ast.Stmt) bool {
	for i, s := range list {
		if cond, ok := s.(*ast.IfStmt); ok && w.ofInvariants(cond.Cond) && ends(cond.Body) {
			// What follows checks invariants.
			for _, before := range list[:i] {
				w.walk(before)
			}
			return false
		}
		if w.onlyChecks(s) {
			continue // without it, or elsewhere, tests find less and programs do the same
		}
		w.remove(s)
		if i > 0 && !w.onlyChecks(list[i-1]) {
			w.swap(list[i-1], s)
		}
	}
	return true
}

// onlyChecks reports whether a statement is a call of package invariants, or of a function of
// this package that returns at once unless invariants are checked.
func (w *walker) onlyChecks(s ast.Stmt) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	call, ok := e.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	if path.Base(w.packageOf(call)) == "invariants" {
		return true
	}
	var name *ast.Ident
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f
	case *ast.SelectorExpr:
		name = f.Sel
	default:
		return false
	}
	return w.checks()[origin(w.p.info.Uses[name])]
}

// origin returns of a method of an instantiated type the one in the source.
func origin(o types.Object) types.Object {
	if f, ok := o.(*types.Func); ok {
		return f.Origin()
	}
	return o
}

// checks returns the functions of the package that return at once unless invariants are checked.
func (w *walker) checks() map[types.Object]bool {
	if w.checkers == nil {
		w.checkers = map[types.Object]bool{}
		for _, file := range w.p.files {
			for _, d := range file.ast.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Body == nil || len(f.Body.List) == 0 {
					continue
				}
				if first, ok := f.Body.List[0].(*ast.IfStmt); ok && w.ofInvariants(first.Cond) && ends(first.Body) {
					w.checkers[w.p.info.Defs[f.Name]] = true
				}
			}
		}
	}
	return w.checkers
}

// ends reports whether a block ends with a return.
func ends(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return false
	}
	_, ok := b.List[len(b.List)-1].(*ast.ReturnStmt)
	return ok
}

// remove notes a program without a statement.
func (w *walker) remove(s ast.Stmt) {
	operator := "remove"
	switch s := s.(type) {
	case *ast.ExprStmt:
		if call, ok := s.X.(*ast.CallExpr); ok && wakes.MatchString(nameOf(call)) {
			operator = "wake-up"
		}
	case *ast.SendStmt:
		operator = "wake-up"
	case *ast.SelectStmt:
		if !slices.ContainsFunc(s.Body.List, func(c ast.Stmt) bool { _, ok := c.(*ast.CommClause).Comm.(*ast.SendStmt); return ok }) {
			return
		}
		operator = "wake-up"
	case *ast.DeferStmt:
		operator = "defer"
	case *ast.AssignStmt:
		if s.Tok == token.DEFINE || allBlank(s.Lhs) {
			return
		}
	case *ast.IncDecStmt, *ast.GoStmt, *ast.ReturnStmt, *ast.BranchStmt:
	default:
		return
	}
	start, end := w.p.at(s)
	w.add(operator, start, end, w.use(s), "(nothing)")
}

func allBlank(list []ast.Expr) bool {
	return !slices.ContainsFunc(list, func(e ast.Expr) bool { id, ok := e.(*ast.Ident); return !ok || id.Name != "_" })
}

// nameOf returns the name of the function or method that is called.
func nameOf(call *ast.CallExpr) string {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// use returns a statement that uses the variables of s as far as they are declared outside
// of it, since a variable that nothing uses does not compile; or nothing.
func (w *walker) use(s ast.Stmt) string {
	var names []string
	ast.Inspect(s, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		v, ok := w.p.info.Uses[id].(*types.Var)
		outside := ok && !v.IsField() && v.Parent() != nil && v.Parent() != w.p.types.Scope() && (v.Pos() < s.Pos() || v.Pos() >= s.End())
		if outside && !slices.Contains(names, id.Name) {
			names = append(names, id.Name)
		}
		return true
	})
	if len(names) == 0 {
		return ""
	}
	return strings.Repeat("_, ", len(names)-1) + "_ = " + strings.Join(names, ", ")
}

// swap notes the other order of two neighbours, of which one is an operation that other
// goroutines see. A deferred call runs at the return, wherever it is written, but for its place
// among others.
func (w *walker) swap(a, b ast.Stmt) {
	if !simple(a) || !simple(b) || deferred(a) != deferred(b) || !w.shared(a) && !w.shared(b) {
		return
	}
	startA, endA := w.p.at(a)
	startB, endB := w.p.at(b)
	src := w.p.files[w.file].src
	text := func(start, end int) string { return string(src[start:end]) }
	between := text(endA, startB)
	w.add("swap", startA, endB, text(startB, endB)+between+text(startA, endA), short(text(startB, endB))+" ⇄")
}

// simple reports whether a statement can change its place without more ado.
func simple(s ast.Stmt) bool {
	switch s.(type) {
	case *ast.ExprStmt, *ast.SendStmt, *ast.IncDecStmt, *ast.GoStmt, *ast.AssignStmt, *ast.DeferStmt:
		return true
	}
	return false
}

func deferred(s ast.Stmt) bool {
	_, ok := s.(*ast.DeferStmt)
	return ok
}

// shared reports whether a statement has an atomic, a lock or a channel in it.
func (w *walker) shared(s ast.Stmt) (found bool) {
	ast.Inspect(s, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SendStmt:
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		case *ast.CallExpr:
			pkg := w.packageOf(n)
			id, builtin := n.Fun.(*ast.Ident)
			found = found || pkg == "sync" || pkg == "sync/atomic" || builtin && id.Name == "close" || wakes.MatchString(nameOf(n))
		}
		return !found
	})
	return found
}

// packageOf returns the path of the package of the function or method that is called.
func (w *walker) packageOf(call *ast.CallExpr) string {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	if f := w.p.info.Uses[sel.Sel]; f != nil && f.Pkg() != nil {
		return f.Pkg().Path()
	}
	return ""
}

func (w *walker) typeOf(e ast.Expr) types.Type {
	if t := w.p.info.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

// qualifier writes the names of types as the package does that imports theirs by their names.
func (w *walker) qualifier(other *types.Package) string {
	if other == w.p.types {
		return ""
	}
	return other.Name()
}

func (w *walker) textOf(n ast.Node) string {
	start, end := w.p.at(n)
	return string(w.p.files[w.file].src[start:end])
}

// replace notes another text for a node.
func (w *walker) replace(operator string, n ast.Node, text string) {
	start, end := w.p.at(n)
	w.add(operator, start, end, text, "")
}

// replaceToken notes another token in a node.
func (w *walker) replaceToken(operator string, n ast.Node, pos token.Pos, tok token.Token, by string) {
	start, end := w.p.at(n)
	at := w.p.fset.Position(pos).Offset
	src := string(w.p.files[w.file].src)
	w.add(operator, start, end, src[start:at]+by+src[at+len(tok.String()):end], "")
}
