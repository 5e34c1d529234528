// Places the vertices of a graph without cycles in layers from left to right, with Sugiyama's method: every
// edge leads to the right, few edges cross, and no edge runs through a vertex. The layer of a vertex is the
// length of the longest path to the vertex. An edge has a bend in each layer between its ends. The vertices
// and bends of a layer are sorted by the mean position of their neighbours.

const sweeps = 8;
const bendHeight = 6;

// depths returns the layer of each of n vertices. The edges are { from, to }, in any order.
function depths(n, edges) {
  const depth = new Array(n).fill(0);
  const into = new Array(n).fill(0);
  const next = Array.from({ length: n }, () => []);
  for (const e of edges) {
    into[e.to]++;
    next[e.from].push(e.to);
  }
  const ready = into.flatMap((count, i) => (count === 0 ? [i] : []));
  for (let at = 0; at < ready.length; at++) {
    for (const to of next[ready[at]]) {
      depth[to] = Math.max(depth[to], depth[ready[at]] + 1);
      if (--into[to] === 0) ready.push(to);
    }
  }
  return depth;
}

function sumOf(list, value) {
  let sum = 0;
  for (const v of list) sum += value(v);
  return sum;
}

export const layered = {
  // depth returns the number of layers.
  depth: (n, edges) => Math.max(0, ...depths(n, edges)) + (n > 0 ? 1 : 0),

  // place returns { points, routes, height }: the upper left corner of each vertex, the points of each edge,
  // and the height of the drawing. A point is { x, y }, in the unit of heights and width.
  place(heights, edges, { width, gapX, gapY }) {
    const depth = depths(heights.length, edges);
    const vertices = heights.map((height, i) => ({
      height,
      layer: depth[i],
      left: [],
      right: [],
      y: 0,
      order: 0,
      wantedOrder: 0,
    }));
    const join = (a, b) => {
      vertices[a].right.push(b);
      vertices[b].left.push(a);
    };
    const ways = edges.map((e) => {
      const way = [e.from];
      for (let l = depth[e.from] + 1; l < depth[e.to]; l++) {
        vertices.push({ height: bendHeight, layer: l, left: [], right: [], y: 0, order: 0, wantedOrder: 0 });
        join(way.at(-1), vertices.length - 1);
        way.push(vertices.length - 1);
      }
      join(way.at(-1), e.to);
      way.push(e.to);
      return way;
    });
    const layers = Array.from({ length: Math.max(0, ...depth) + 1 }, () => []);
    vertices.forEach((v, i) => layers[v.layer].push(i));
    for (const l of layers)
      l.forEach((v, i) => {
        vertices[v].order = i;
      });

    for (let sweep = 0; sweep < sweeps; sweep++) {
      const forward = sweep % 2 === 0;
      for (const l of forward ? layers : [...layers].reverse()) {
        for (const v of l) {
          const beside = forward ? vertices[v].left : vertices[v].right;
          vertices[v].wantedOrder =
            beside.length > 0 ? sumOf(beside, (k) => vertices[k].order) / beside.length : vertices[v].order;
        }
        l.sort(
          (a, b) =>
            vertices[a].wantedOrder - vertices[b].wantedOrder || vertices[a].order - vertices[b].order,
        );
        l.forEach((v, i) => {
          vertices[v].order = i;
        });
      }
    }

    const middle = (v) => vertices[v].y + vertices[v].height / 2;
    for (const l of layers)
      stack(
        l.map(() => 0),
        l,
      );
    for (let sweep = 0; sweep < sweeps; sweep++) {
      for (const l of sweep % 2 === 0 ? layers : [...layers].reverse()) {
        stack(
          l.map((v) => {
            const { left, right, height } = vertices[v];
            const count = left.length + right.length;
            return (
              (count > 0 ? (sumOf(left, middle) + sumOf(right, middle)) / count : middle(v)) - height / 2
            );
          }),
          l,
        );
      }
    }
    // stack puts the vertices of a layer as near to the positions wantedY as their order and the gaps allow.
    // Vertices that would overlap form a group. A group moves to the mean of the positions that its members
    // want.
    function stack(wantedY, l) {
      const groups = [];
      const top = (g) => g.sum / g.count;
      l.forEach((v, i) => {
        let group = { first: i, count: 1, height: vertices[v].height, sum: wantedY[i] };
        while (groups.length > 0 && top(groups.at(-1)) + groups.at(-1).height + gapY > top(group)) {
          const before = groups.pop();
          const shift = before.height + gapY;
          group = {
            first: before.first,
            count: before.count + group.count,
            height: shift + group.height,
            sum: before.sum + group.sum - group.count * shift,
          };
        }
        groups.push(group);
      });
      for (const g of groups) {
        let y = top(g);
        for (let i = g.first; i < g.first + g.count; i++) {
          vertices[l[i]].y = y;
          y += vertices[l[i]].height + gapY;
        }
      }
    }
    const highest = vertices.reduce((y, v) => Math.min(y, v.y), Infinity);
    for (const v of vertices) v.y -= highest;

    const x = (v) => vertices[v].layer * (width + gapX);
    // port returns the y at which the edge between v and other meets vertex v. others are all neighbours on
    // this side of v. Their edges meet v at separate points, in the vertical order of the neighbours.
    const port = (v, others, other) => {
      const sorted = [...others].sort((a, b) => middle(a) - middle(b));
      const spread = Math.min(vertices[v].height * 0.6, 14 * (sorted.length - 1));
      const at = sorted.length > 1 ? sorted.indexOf(other) / (sorted.length - 1) - 0.5 : 0;
      return middle(v) + at * spread;
    };
    const routes = ways.map((way) =>
      way.flatMap((v, i) => {
        const points = [];
        if (i > 0)
          points.push({
            x: x(v),
            y: i === way.length - 1 ? port(v, vertices[v].left, way[i - 1]) : middle(v),
          });
        if (i < way.length - 1)
          points.push({ x: x(v) + width, y: i === 0 ? port(v, vertices[v].right, way[1]) : middle(v) });
        return points;
      }),
    );
    return {
      points: heights.map((_, i) => ({ x: x(i), y: vertices[i].y })),
      routes,
      height: Math.max(0, ...vertices.map((v) => v.y + v.height)),
    };
  },
};
