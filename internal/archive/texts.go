package archive

import (
	"fmt"
	"sort"
	"weak"
)

// texts reads the texts of modules. It keeps the blocks that it has decoded.
type texts struct {
	archive *Archive
	modules []Module // without their texts
	spans   []span   // of their texts
	blocks  []*block // by group; nil: not decoded yet
}

// span is a part of the text of all modules.
type span struct {
	from, to int
	exact    bool // see absolute
}

// opened returns the reader of texts. The archive does not keep it alive: a program usually
// loads modules when it starts.
func (a *Archive) opened() (*texts, error) {
	if t := a.texts.Value(); t != nil {
		return t, nil
	}
	data, err := a.read(modulesEntry)
	if err != nil {
		return nil, err
	}
	t := &texts{archive: a, blocks: make([]*block, len(a.groups))}
	most := 0
	if len(a.groups) > 0 {
		most = a.groups[len(a.groups)-1].end
	}
	for r, end := (reader{data}), 0; r.rest != ""; {
		m := Module{Kernel: r.string(), Variant: r.string()}
		size := r.number()
		if r.failed() || end+size>>2 > most {
			return nil, errDamaged
		}
		m.Older = size&1 != 0
		t.modules = append(t.modules, m)
		t.spans = append(t.spans, span{end, end + size>>2, size&2 != 0})
		end += size >> 2
	}
	a.texts = weak.Make(t)
	return t, nil
}

// text returns the text of module i.
func (t *texts) text(i int) (string, error) {
	s := t.spans[i]
	text, err := appendText(make([]byte, 0, s.to-s.from), s.from, s.to-s.from, t.blockAt)
	if err != nil || s.exact {
		return string(text), err
	}
	return absolute(string(text)), nil
}

// blockAt returns the block of a place in the text.
func (t *texts) blockAt(at int) (*block, error) {
	groups := t.archive.groups
	i := sort.Search(len(groups), func(i int) bool { return at < groups[i].end })
	if i == len(groups) {
		return nil, errDamaged
	}
	if t.blocks[i] == nil {
		data, err := t.archive.read(fmt.Sprint(i, textEntry))
		if err != nil {
			return nil, err
		}
		if t.blocks[i], err = readBlock(data, groups[i].begin, groups[i].end); err != nil {
			return nil, err
		}
	}
	return t.blocks[i], nil
}
