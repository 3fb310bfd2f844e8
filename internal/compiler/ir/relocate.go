package ir

// Relocate changes the position of those nodes of a body that are in selected files.
func Relocate(body []Stmt, pos Pos, in func(file string) bool) {
	(&relocator{to: pos, in: in}).body(&body)
}

// Rename replaces variables by those in names, where they are read and where they are
// assigned.
func Rename(body []Stmt, names map[*Local]*Local) { (&renamer{names: names}).body(&body) }

type renamer struct {
	ignore
	names map[*Local]*Local
}

func (r *renamer) variable(v **Local) {
	if w := r.names[*v]; w != nil {
		*v = w
	}
}

func (r *renamer) result(v **Local) { r.variable(v) }
func (r *renamer) value(e *Expr)    { (*e).parts(r) }
func (r *renamer) place(p *Place)   { (*p).parts(r) }
func (r *renamer) target(p *Place)  { (*p).parts(r) }

func (r *renamer) body(list *[]Stmt) {
	for _, s := range *list {
		s.parts(r)
	}
}

type relocator struct {
	ignore
	to Pos
	in func(file string) bool
}

func (r *relocator) pos(p *Pos) {
	if r.in(p.File) {
		*p = r.to
	}
}

func (r *relocator) value(e *Expr)   { (*e).parts(r) }
func (r *relocator) place(p *Place)  { (*p).parts(r) }
func (r *relocator) target(p *Place) { (*p).parts(r) }

func (r *relocator) body(list *[]Stmt) {
	for _, s := range *list {
		s.parts(r)
	}
}
