"""Depths, ancestors and common subsumers in a directed acyclic graph whose edges lead from child to parent.

Lists per node are stored end to end: those of node u are `values[bounds[u]:bounds[u + 1]]`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Bounds = NDArray[np.int64]
NOBODY = np.int32(2**31 - 1)  # no common ancestor


class Ancestry(NamedTuple):
    """A graph whose nodes are numbered parents first, and the ancestors of every node, itself included."""

    parent_bounds: Bounds
    parents: Ints
    bounds: Bounds
    ancestors: Ints  # ascending per node
    steps: Ints  # edges of a shortest way to that ancestor


@njit(cache=True, nogil=True)
def measure_graph(
    parent_bounds: Bounds,
    parents: Ints,
    child_bounds: Bounds,
    children: Ints,
    order: Ints,
    shallow: Ints,
    deep: Ints,
    height: Ints,
) -> int:
    """Fill `order` (parents first), shortest and longest way from a root, longest way down to a leaf.

    Returns how many nodes were reached: fewer than all means that the others lie on or below a cycle.
    """
    waiting = np.empty(len(order), np.int32)
    reached = 0
    for u in range(len(order)):
        waiting[u] = parent_bounds[u + 1] - parent_bounds[u]
        if waiting[u] == 0:
            order[reached] = u
            reached += 1
    done = 0
    while done < reached:
        u = order[done]
        done += 1
        for i in range(child_bounds[u], child_bounds[u + 1]):
            child = children[i]
            deep[child] = max(deep[child], deep[u] + 1)
            waiting[child] -= 1
            if waiting[child] == 0:
                order[reached] = child
                reached += 1
    for i in range(done):
        u = order[i]
        for j in range(parent_bounds[u], parent_bounds[u + 1]):
            above = shallow[parents[j]] + 1
            shallow[u] = above if j == parent_bounds[u] else min(shallow[u], above)
    for i in range(done - 1, -1, -1):
        u = order[i]
        for j in range(parent_bounds[u], parent_bounds[u + 1]):
            height[parents[j]] = max(height[parents[j]], height[u] + 1)
    return done


@njit(cache=True, nogil=True)
def list_ancestors(parent_bounds: Bounds, parents: Ints) -> tuple[Bounds, Ints, Ints]:
    """(bounds, ancestors, steps) of an `Ancestry`; the nodes must be numbered parents first."""
    n = len(parent_bounds) - 1
    bounds = np.zeros(n + 1, np.int64)
    ancestors = np.empty(16 * n + 16, np.int32)
    steps = np.empty(16 * n + 16, np.int32)
    nearest = np.full(n, NOBODY, np.int32)
    found = np.empty(n, np.int32)
    for u in range(n):
        count = 0
        for i in range(parent_bounds[u], parent_bounds[u + 1]):
            for j in range(bounds[parents[i]], bounds[parents[i] + 1]):
                a = ancestors[j]
                if nearest[a] == NOBODY:
                    found[count] = a
                    count += 1
                nearest[a] = min(nearest[a], steps[j] + 1)
        if parent_bounds[u + 1] - parent_bounds[u] > 1:  # the list of one parent is ascending already
            found[:count] = np.sort(found[:count])
        start = bounds[u]
        if start + count + 1 > len(ancestors):
            ancestors = np.append(ancestors, np.empty(len(ancestors) + count, np.int32))
            steps = np.append(steps, np.empty(len(ancestors), np.int32))
        for i in range(count):
            ancestors[start + i] = found[i]
            steps[start + i] = nearest[found[i]]
            nearest[found[i]] = NOBODY
        ancestors[start + count] = u
        steps[start + count] = 0
        bounds[u + 1] = start + count + 1
    return bounds, ancestors[: bounds[n]].copy(), steps[: bounds[n]].copy()


@njit(cache=True, nogil=True)
def shortcut_steps(graph: Ancestry) -> Ints:
    """Edges of a shortest way from each node to each ancestor when it may also lead down again.

    min over c above the ancestor a of `steps(u, c) + steps(a, c)`: a way around over c can be shorter. Where no
    node above u has two parents, all ways up are one line and nothing is to be found.
    """
    around = graph.steps.copy()
    own = np.empty(len(graph.bounds), np.int32)
    forks = np.zeros(len(graph.bounds), np.bool_)
    for u in range(len(graph.bounds) - 1):
        forks[u] = graph.parent_bounds[u + 1] - graph.parent_bounds[u] > 1
        for i in range(graph.parent_bounds[u], graph.parent_bounds[u + 1]):
            forks[u] |= forks[graph.parents[i]]
        if not forks[u]:
            continue
        for i in range(graph.bounds[u], graph.bounds[u + 1]):
            own[graph.ancestors[i]] = graph.steps[i]
        for i in range(graph.bounds[u], graph.bounds[u + 1]):
            a = graph.ancestors[i]
            for j in range(graph.bounds[a], graph.bounds[a + 1]):
                around[i] = min(around[i], own[graph.ancestors[j]] + graph.steps[j])
    return around


@njit(cache=True, nogil=True)
def best_common(own: int, graph: Ancestry, keys: Ints, own_key: int, best: Ints) -> None:
    """best[u] = the smallest key among the common ancestors of `own` and u, `NOBODY` where there is none.

    One pass, parents first: what u has in common with `own` is itself, if it lies above `own`, or what a parent of u
    has. `own_key` replaces the key of `own` itself, for measures that prefer it among equals.
    """
    best[:] = NOBODY
    for i in range(graph.bounds[own], graph.bounds[own + 1]):
        best[graph.ancestors[i]] = keys[graph.ancestors[i]]
    best[own] = own_key
    for u in range(len(best)):
        for i in range(graph.parent_bounds[u], graph.parent_bounds[u + 1]):
            best[u] = min(best[u], best[graph.parents[i]])


@njit(cache=True, nogil=True)
def steps_to(node: int, ancestor: int, graph: Ancestry) -> int:
    """Entry of `graph.steps`, by bisection."""
    low = graph.bounds[node]
    high = graph.bounds[node + 1] - 1
    while low < high:
        middle = (low + high) // 2
        if graph.ancestors[middle] < ancestor:
            low = middle + 1
        else:
            high = middle
    return graph.steps[low]


@njit(cache=True, nogil=True)
def subsumer_rows(
    rows: Ints, columns: Ints, graph: Ancestry, keys: Ints, own_keys: Ints, by_key: Ints, out: Ints
) -> None:
    """out[i, j] = the common ancestor of rows[i] and columns[j] with the smallest key.

    Keys are odd, `by_key[key // 2]` is their node; an even key, from `own_keys`, stands for the row's own node.
    """
    best = np.empty(len(keys), np.int32)
    for i in range(len(rows)):
        best_common(rows[i], graph, keys, own_keys[rows[i]], best)
        for j in range(len(columns)):
            key = best[columns[j]]
            out[i, j] = rows[i] if key % 2 == 0 else by_key[key // 2]


@njit(cache=True, nogil=True)
def wu_palmer_rows(
    rows: Ints, columns: Ints, graph: Ancestry, depth: Ints, common: Ints, out: NDArray[np.float64]
) -> None:
    """out[i, j] = 2 D / (s_i + s_j + 2 D): D = depth of the common subsumer from 1, s = steps to it."""
    for i in range(len(rows)):
        for j in range(len(columns)):
            node = common[i, j]
            twice = 2.0 * depth[node]
            ways = steps_to(rows[i], node, graph) + steps_to(columns[j], node, graph)
            out[i, j] = twice / (ways + twice)
