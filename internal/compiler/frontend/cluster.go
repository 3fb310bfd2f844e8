package frontend

import (
	"fmt"
	"go/ast"
	"go/constant"
	"strings"

	"quern.dev/internal/compiler/ir"
)

func (c constants) cluster(text string) ([3]int, error) {
	cluster, shown, err := c.extent("cluster", text)
	if err != nil {
		return cluster, err
	}
	count := 1
	for _, n := range cluster {
		if count *= min(n, maxCluster+1); count > maxCluster {
			return cluster, fmt.Errorf("%s: a cluster has at most %d blocks", strings.TrimSuffix(shown, ","), maxCluster)
		}
	}
	return cluster, nil
}

// clusterMethod lowers the methods of kernel.Thread for clusters and grids.
func (fn *function) clusterMethod(e *ast.CallExpr, name string) []ir.Expr {
	o := &fn.l.kernel.Options
	switch name {
	case "SyncGrid":
		fn.barrier(e, ir.OfGrid)
		return nil
	case "SyncCluster":
		fn.needCluster(e, "t.SyncCluster")
		fn.barrier(e, ir.OfCluster)
		return nil
	case "ClusterSize":
		return []ir.Expr{ir.IntConst(ir.TInt, int64(o.Blocks()))}
	}
	var rank ir.Expr = ir.IntConst(ir.TInt, 0)
	for axis := 2; axis >= 0; axis-- {
		n := int64(max(o.Cluster[axis], 1))
		if n == 1 {
			continue
		}
		extent := ir.IntConst(ir.TInt, n)
		place := &ir.Binary{Op: ir.Rem, X: &ir.ThreadValue{Op: ir.BlockIdxX + ir.ThreadOp(axis)}, Y: extent}
		rank = &ir.Binary{Op: ir.Add, X: &ir.Binary{Op: ir.Mul, X: rank, Y: ir.CloneExpr(extent)}, Y: place}
	}
	return []ir.Expr{rank}
}

func (fn *function) barrier(e *ast.CallExpr, of ir.Reach) {
	fn.f.UsesThread = true
	fn.emit(&ir.Barrier{Of: of, Pos: fn.l.pos(e.Pos())})
}

func (fn *function) needCluster(e *ast.CallExpr, what string) {
	if fn.l.kernel.Options.Cluster == [3]int{} {
		fn.errorf(e.Pos(), "%s in a kernel without clusters; declare their size, as in //quern:kernel cluster=2", what)
	}
}

// clusterShared lowers kernel.ClusterShared(t, p, rank).
func (fn *function) clusterShared(e *ast.CallExpr) ir.Expr {
	fn.needCluster(e, "kernel.ClusterShared")
	fn.threadValue(e.Args[0])
	fn.f.UsesThread = true
	ptr := fn.stable(fn.expr(e.Args[1]), e.Pos())
	if v := fn.src.Info.Types[e.Args[2]].Value; v != nil {
		blocks := fn.l.kernel.Options.Blocks()
		if n, ok := constant.Int64Val(constant.ToInt(v)); !ok || n < 0 || n >= int64(blocks) {
			fn.errorf(e.Args[2].Pos(), "block %s is not in the cluster; its blocks have the ranks 0 to %d", v, blocks-1)
		}
	}
	rank := fn.exprAs(e.Args[2], ir.TInt)
	address := &ir.Intrinsic{Op: ir.ClusterAddress, T: ptr.Type(), Args: []ir.Expr{ptr, rank}, Pos: fn.l.pos(e.Pos())}
	return fn.stable(address, e.Pos())
}
