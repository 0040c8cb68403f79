# reference.py - attention and its gradients in float64, written apart from the library
# SPDX-License-Identifier: Apache-2.0
"""Attention and its gradients in float64 with numpy, written apart from the library. doc/semantics says what they are.

q [B,Hq,Tq,D], k [B,Hk,Tk,D], v [B,Hk,Tk,Dv]; query head h reads key/value head h // (Hq // Hk). One (b,h) at a time:

  off   align='bottom_right' (default): nk - nq with nk = kv_len[b] or Tk, nq = q_len[b] or Tq
        align='top_left': 0                align='explicit': offset, a number or one per batch entry
  s0    scale <q_i, k_j>                   scale is 1/sqrt(D) by default
  s1    softcap tanh(s0 / softcap)         if softcap > 0
  s2    score_mod(s1, b, h, i, j)          if given; i and j are absolute, without off
  s3    s2 - slope[h] |i + off - j|        if ALiBi
  s4    s3 + bias[b,h,i,j]                 if given, broadcast; -inf drops the element
  keep  kv_start[b] <= j < nk and i < nq and bool_mask[b,h,i,j] (True keeps),
        causal: j <= i + off, window: i + off - left <= j <= i + off + right (negative: unbounded)
  lse_i = ln(sum_j exp(s_ij) [+ exp(sink[h])])      over the elements that are kept
  o_i   = sum_j exp(s_ij - lse_i) v_j

A row that keeps nothing has o = 0, lse = -inf (with a sink: lse = sink[h]) and no gradient.
"""
import math

import numpy as np

NEG = -np.inf


# ---- score_mods ----
# Each: f(s, b, h, i, j, buffers) -> (new s, its derivative by s); i is [Tq,1], j is [1,Tk].

def ones(s):
    return np.ones_like(s)


def kept(keep, s, d):
    keep = np.broadcast_to(keep, s.shape)
    return np.where(keep, s, NEG), np.where(keep, d, 0.0)


SCORE_MODS = {
    'identity': lambda s, b, h, i, j, a: (s, ones(s)),
    'times_two': lambda s, b, h, i, j, a: (2 * s, 2 * ones(s)),
    'squared': lambda s, b, h, i, j, a: (s * s, 2 * s),
    'causal': lambda s, b, h, i, j, a: kept(i >= j, s, ones(s)),
    'inverse_causal': lambda s, b, h, i, j, a: kept(i <= j, s, ones(s)),
    'rel_bias': lambda s, b, h, i, j, a: (s + (i - j), ones(s)),
    'rel_bias_abs': lambda s, b, h, i, j, a: (s + np.abs(i - j), ones(s)),
    'rel_bias_clamped': lambda s, b, h, i, j, a: (s + np.minimum(np.abs(i - j), 256), ones(s)),
    'rel_causal': lambda s, b, h, i, j, a: kept(i >= j, s + (i - j), ones(s)),
    'alibi_flex': lambda s, b, h, i, j, a: (s + (j - i) * 2.0 ** (-(h + 1) * 8.0 / a['H']), ones(s)),
    'alibi_abs8': lambda s, b, h, i, j, a: (s - 2.0 ** (-(h + 1.0)) * np.abs(i - j), ones(s)),
    'head_offset': lambda s, b, h, i, j, a: (s * a['head'][h], a['head'][h] * ones(s)),
    'trig': lambda s, b, h, i, j, a: (np.sin(np.cos(s)) + math.tan(b), -np.sin(s) * np.cos(np.cos(s))),
    'trig2': lambda s, b, h, i, j, a: (np.cos(s) * np.sin(s) + math.tan(b), np.cos(2 * s)),
    'sliding256': lambda s, b, h, i, j, a: kept(np.abs(i - j) <= 256, s, ones(s)),
    'block_diag64': lambda s, b, h, i, j, a: kept(i // 64 == j // 64, s, ones(s)),
    'batch_bias': lambda s, b, h, i, j, a: (s + a['batch'][b], ones(s)),
    'dual_buffer': lambda s, b, h, i, j, a: (s + a['head'][h] + a['pos'][i], ones(s)),
    'tanh_softcap': lambda s, b, h, i, j, a: (a['cap'] * np.tanh(s / a['cap']), 1 - np.tanh(s / a['cap']) ** 2),
    'doc_mask': lambda s, b, h, i, j, a: kept(a['doc'][i] == a['doc'][j], s, ones(s)),
    'prefix_lm': lambda s, b, h, i, j, a: kept((i >= j) | (j < a['prefix']), s, ones(s)),
    'skip_odd_keys': lambda s, b, h, i, j, a: kept(j % 2 == 0, s, ones(s)),
    'silu': lambda s, b, h, i, j, a: (s / (1 + np.exp(-s)), (1 + np.exp(-s) * (1 + s)) / (1 + np.exp(-s)) ** 2),
    'all_bias': lambda s, b, h, i, j, a: (s + a['pos'][i] + a['batch'][b] + a['head'][h], ones(s)),
    'rel_table': lambda s, b, h, i, j, a: (s + a['rel'][(i - j) + len(a['rel']) // 2], ones(s)),
    'floor_div': lambda s, b, h, i, j, a: (s - i // (1 + j), ones(s)),
    'natten2d': lambda s, b, h, i, j, a: kept((np.abs(i // a['W'] - j // a['W']) <= a['win'])
                                              | (np.abs(i % a['W'] - j % a['W']) <= a['win']), s, ones(s)),
    'prefix_per_batch': lambda s, b, h, i, j, a: kept((i >= j) | ((i <= a['nbi'][b]) & (j <= a['nbi'][b])), s, ones(s)),
    'dilated': lambda s, b, h, i, j, a: kept((i >= j) & (i - j < a['win']) & ((i - j) % 2 == 0), s, ones(s)),
}


# ---- one problem ----

def f64(x):
    return None if x is None else np.asarray(x).astype(np.float64)


def broadcast(x, shape):
    """An array of rank 1 to 4 as one of `shape`, aligned at the last axis."""
    x = np.asarray(x)
    return np.broadcast_to(x.reshape((1,) * (4 - x.ndim) + x.shape), shape)


def reduced(g, shape):
    """g, of rank 4, summed down to the shape that was broadcast."""
    full = (1,) * (4 - len(shape)) + tuple(shape)
    for axis in range(4):
        if full[axis] == 1 and g.shape[axis] != 1:
            g = g.sum(axis=axis, keepdims=True)
    return g.reshape(shape)


def per_entry(x, b, default):
    if x is None:
        return np.full(b, default, dtype=np.int64)
    return np.broadcast_to(np.asarray(x, dtype=np.int64).reshape(-1), (b,))


def philox(x0, x1, x2, x3, seed, rounds=7):
    """Philox4x32: the four words of the blocks with these counters, which are broadcast."""
    x = [np.array(a, np.uint64) for a in np.broadcast_arrays(x0, x1, x2, x3)]
    low, keys = np.uint64(0xFFFFFFFF), [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(rounds):
        first, third = x[0] * np.uint64(0xD2511F53), x[2] * np.uint64(0xCD9E8D57)
        x = [(third >> np.uint64(32)) ^ x[1] ^ np.uint64(keys[0]), third & low,
             (first >> np.uint64(32)) ^ x[3] ^ np.uint64(keys[1]), first & low]
        keys = [(keys[0] + 0x9E3779B9) & 0xFFFFFFFF, (keys[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return np.stack(x)


class Problem:
    """Inputs with defaults filled in; see the text at the top for the meaning of each."""

    def __init__(self, q, k, v, scale=None, causal=False, align='bottom_right', offset=None, window=(-1, -1),
                 softcap=0.0, bias=None, bool_mask=None, alibi_slopes=None, sink=None, score_mod=None, score_aux=None,
                 kv_len=None, q_len=None, kv_start=None, dropout=None, b0=0):
        self.b0 = b0 # the batch entry that score_mod sees for entry 0: varlen
        self.q, self.k, self.v = (np.array(f64(x)) for x in (q, k, v))
        self.B, self.Hq, self.Tq, self.D = self.q.shape
        self.Hk, self.Tk = self.k.shape[1:3]
        assert self.k.shape[3] == self.D and self.v.shape[:3] == self.k.shape[:3], 'shape mismatch'
        assert self.Hq % self.Hk == 0
        self.G = self.Hq // self.Hk
        self.scale = 1.0 / math.sqrt(self.D) if scale is None else float(scale)
        self.causal, self.softcap = bool(causal), float(softcap or 0.0)
        self.left, self.right = (-1, -1) if window is None else (int(window[0]), int(window[1]))
        full = (self.B, self.Hq, self.Tq, self.Tk)
        self.bias_shape = None if bias is None else np.asarray(bias).shape
        self.bias = None if bias is None else broadcast(f64(bias), full)
        self.mask = None if bool_mask is None else broadcast(np.asarray(bool_mask, bool), full)
        self.slopes_shape = None if alibi_slopes is None else np.asarray(alibi_slopes).shape
        self.slopes = None if alibi_slopes is None else np.broadcast_to(f64(alibi_slopes), (self.B, self.Hq))
        self.sink = None if sink is None else np.broadcast_to(f64(sink), (self.Hq,))
        self.mod = SCORE_MODS[score_mod] if isinstance(score_mod, str) else score_mod
        self.aux = score_aux or {}
        self.dropout = dropout # (p, seed, offset)
        self.nk, self.nq = per_entry(kv_len, self.B, self.Tk), per_entry(q_len, self.B, self.Tq)
        self.ks = per_entry(kv_start, self.B, 0)
        if align == 'bottom_right':
            self.off = self.nk - self.nq
        elif align == 'top_left':
            self.off = np.zeros(self.B, np.int64)
        else:
            self.off = per_entry(offset, self.B, 0)
        for b in range(self.B): # padding may hold anything and takes no part
            for x in (self.k, self.v):
                x[b, :, self.nk[b]:] = 0.0
                x[b, :, :self.ks[b]] = 0.0
            self.q[b, :, self.nq[b]:] = 0.0
        self.i = np.arange(self.Tq)[:, None]
        self.j = np.arange(self.Tk)[None, :]

    def distance(self, b):
        return np.abs(self.i + int(self.off[b]) - self.j)

    def keep(self, b, h):
        i, j, off = self.i, self.j, int(self.off[b])
        keep = (j < self.nk[b]) & (j >= self.ks[b]) & (i < self.nq[b])
        if self.causal:
            keep = keep & (j <= i + off)
        if self.left >= 0:
            keep = keep & (j >= i + off - self.left)
        if self.right >= 0:
            keep = keep & (j <= i + off + self.right)
        if self.mask is not None:
            keep = keep & self.mask[b, h]
        if self.bias is not None: # drops a score of NaN or inf, too
            keep = keep & ~np.isneginf(self.bias[b, h])
        return keep

    def kept_weights(self, b, h):
        """What weights are multiplied with: 0 where they are dropped."""
        if self.dropout is None:
            return 1.0
        p, seed, offset = self.dropout
        head = np.full(self.i.shape, (b + self.b0) * self.Hq + h)
        words = philox(self.j // 4, self.i, head, np.full(self.i.shape, offset), seed)
        return np.where(words[self.j % 4, self.i, self.j] < math.ceil(p * 2 ** 32), 0.0, 1 / (1 - p))

    def scores(self, b, h):
        """-> (s [Tq,Tk], -inf where dropped; its derivative by the scaled product)."""
        with np.errstate(invalid='ignore', over='ignore'):
            s = self.scale * (self.q[b, h] @ self.k[b, h // self.G].T)
            d = np.ones_like(s)
            if self.softcap > 0:
                t = np.tanh(s / self.softcap)
                s, d = self.softcap * t, d * (1 - t * t)
            if self.mod is not None:
                s, by_mod = self.mod(s, b + self.b0, h, self.i, self.j, self.aux)
                d = d * by_mod
            if self.slopes is not None:
                s = s - self.slopes[b, h] * self.distance(b)
            if self.bias is not None:
                s = s + self.bias[b, h]
        keep = self.keep(b, h)
        return np.where(keep, s, NEG), np.where(keep, d, 0.0)

    def at_stage(self, b, h, stage):
        """Scores, or weights as values are multiplied with them: -inf, or 0, where a row has none."""
        if stage == 'weights':
            return self.softmax(b, h)[0] * self.kept_weights(b, h)
        if stage == 'masked':
            return self.scores(b, h)[0]
        s = self.scale * (self.q[b, h] @ self.k[b, h // self.G].T)
        if stage == 'changed':
            if self.softcap > 0:
                s = self.softcap * np.tanh(s / self.softcap)
            if self.mod is not None:
                s = self.mod(s, b + self.b0, h, self.i, self.j, self.aux)[0]
            if self.slopes is not None:
                s = s - self.slopes[b, h] * self.distance(b)
        has = (self.j < self.nk[b]) & (self.j >= self.ks[b]) & (self.i < self.nq[b])
        return np.where(has, s, NEG)

    def softmax(self, b, h):
        """-> (weights, lse, the derivative of scores)."""
        s, d = self.scores(b, h)
        m = s.max(axis=1, initial=NEG)
        if self.sink is not None:
            m = np.maximum(m, self.sink[h])
        top = np.where(np.isneginf(m), 0.0, m)
        p = np.exp(s - top[:, None])
        z = p.sum(axis=1)
        if self.sink is not None:
            z = z + np.exp(self.sink[h] - top)
        with np.errstate(divide='ignore'):
            lse = np.where(z > 0, top + np.log(z), NEG)
        return p / np.where(z > 0, z, 1.0)[:, None], lse, d


def attention_forward(q, k, v, **kw):
    """-> (o [B,Hq,Tq,Dv], lse [B,Hq,Tq])."""
    P = Problem(q, k, v, **kw)
    o = np.zeros((P.B, P.Hq, P.Tq, P.v.shape[3]))
    lse = np.full((P.B, P.Hq, P.Tq), NEG)
    for b in range(P.B):
        for h in range(P.Hq):
            p, lse[b, h], _ = P.softmax(b, h)
            p = p * P.kept_weights(b, h)
            v = P.v[b, h // P.G]
            if not np.isfinite(v).all(): # 0 times inf of a key that every row drops
                v = np.where(np.isfinite(v) | (p.max(axis=0, initial=0) > 0)[:, None], v, 0.0)
            o[b, h] = p @ v
    return o, lse


def attention_scores(q, k, v, stage, **kw):
    """-> [B,Hq,Tq,Tk]: scores at one of the stages 'products', 'changed', 'masked', or 'weights'."""
    P = Problem(q, k, v, **kw)
    return np.array([[P.at_stage(b, h, stage) for h in range(P.Hq)] for b in range(P.B)])


def attention_backward(q, k, v, do, dlse=None, **kw):
    """-> dq, dk, dv, and dbias, dsink, dslope where there is such an input."""
    P = Problem(q, k, v, **kw)
    do, dlse = np.array(f64(do)), f64(dlse)
    for b in range(P.B):
        do[b, :, P.nq[b]:] = 0.0
    dq, dk, dv = np.zeros_like(P.q), np.zeros_like(P.k), np.zeros_like(P.v)
    dbias = None if P.bias is None else np.zeros(P.bias.shape)
    dsink = None if P.sink is None else np.zeros(P.Hq)
    dslope = None if P.slopes is None else np.zeros((P.B, P.Hq))
    for b in range(P.B):
        for h in range(P.Hq):
            g = h // P.G
            p, lse, d = P.softmax(b, h)
            z = P.kept_weights(b, h)
            o = (p * z) @ P.v[b, g]
            delta = (do[b, h] * o).sum(axis=1)
            if dlse is not None:
                delta = delta - np.where(np.isneginf(lse), 0.0, dlse[b, h])
            dv[b, g] += (p * z).T @ do[b, h]
            ds = p * (z * (do[b, h] @ P.v[b, g].T) - delta[:, None]) # of the loss by s
            if dbias is not None:
                dbias[b, h] = ds
            if dslope is not None:
                dslope[b, h] = -(ds * P.distance(b)).sum()
            if dsink is not None:
                with np.errstate(invalid='ignore'):
                    of_sink = np.where(np.isneginf(lse), 0.0, np.exp(P.sink[h] - lse))
                dsink[h] += -(of_sink * delta).sum()
            ds0 = ds * d * P.scale
            dq[b, h] = ds0 @ P.k[b, g]
            dk[b, g] += ds0.T @ P.q[b, h]
    out = dict(dq=dq, dk=dk, dv=dv)
    if dbias is not None:
        out['dbias'] = reduced(dbias, P.bias_shape)
    if dsink is not None:
        out['dsink'] = dsink
    if dslope is not None:
        out['dslope'] = dslope if P.slopes_shape == (P.B, P.Hq) else dslope.sum(0).reshape(P.slopes_shape)
    return out


# ---- partial results, varlen sequences, pages, quantised keys ----

def merge_splits(o_parts, lse_parts):
    """Parts o_parts [S,...,Dv], lse_parts [S,...] -> (o, lse). One with lse = -inf adds nothing, whatever its o."""
    o_parts, lse_parts = f64(o_parts), f64(lse_parts)
    m = lse_parts.max(axis=0)
    top = np.where(np.isneginf(m), 0.0, m)
    w = np.exp(lse_parts - top)
    z = w.sum(axis=0)
    with np.errstate(divide='ignore'):
        lse = np.where(z > 0, top + np.log(z), NEG)
    w = w / np.where(z > 0, z, 1.0)
    return np.where(w[..., None] > 0, w[..., None] * np.nan_to_num(o_parts), 0.0).sum(axis=0), lse


def sequences(cu_q, cu_k, kw):
    """For each varlen sequence with a query: rows of q, rows of k, and its keyword arguments."""
    kw = dict(kw)
    slopes = kw.pop('alibi_slopes', None)
    for n in range(len(cu_q) - 1):
        if cu_q[n + 1] > cu_q[n]:
            own = dict(kw, b0=n)
            if slopes is not None:
                own['alibi_slopes'] = slopes[n] if np.ndim(slopes) == 2 else slopes
            yield slice(cu_q[n], cu_q[n + 1]), slice(cu_k[n], cu_k[n + 1]), own


def unpacked(x):
    """[T,H,D] -> [1,H,T,D]"""
    return x.transpose(1, 0, 2)[None]


def varlen_forward(q, k, v, cu_q, cu_k, **kw):
    """Packed q [total_q,Hq,D], k and v [total_k,Hk,*] -> o [total_q,Hq,Dv], lse [Hq,total_q]."""
    q, k, v = f64(q), f64(k), f64(v)
    o, lse = np.zeros(q.shape[:2] + v.shape[2:]), np.full((q.shape[1], q.shape[0]), NEG)
    for rows, keys, own in sequences(cu_q, cu_k, kw):
        x, l = attention_forward(unpacked(q[rows]), unpacked(k[keys]), unpacked(v[keys]), **own)
        o[rows], lse[:, rows] = x[0].transpose(1, 0, 2), l[0]
    return o, lse


def varlen_backward(q, k, v, do, cu_q, cu_k, **kw):
    q, k, v, do = map(f64, (q, k, v, do))
    out = dict(dq=np.zeros_like(q), dk=np.zeros_like(k), dv=np.zeros_like(v))
    for rows, keys, own in sequences(cu_q, cu_k, kw):
        if keys.stop > keys.start:
            g = attention_backward(unpacked(q[rows]), unpacked(k[keys]), unpacked(v[keys]), unpacked(do[rows]), **own)
            for name, at in (('dq', rows), ('dk', keys), ('dv', keys)):
                out[name][at] = g[name][0].transpose(1, 0, 2)
    return out


def gather_pages(pages, block_table, tk):
    """pages [P,page,Hk,D], block_table [B,n] -> [B,Hk,tk,D]; entries below 0 are never used."""
    x = np.asarray(pages)[np.maximum(np.asarray(block_table, dtype=np.int64), 0)] # [B,n,page,Hk,D]
    B, n, page, H, D = x.shape
    return x.reshape(B, n * page, H, D)[:, :tk].transpose(0, 2, 1, 3)


def dequant(x, scale, zero=None, group=None):
    """int8 [B,Hk,T,D] as (x - zero) scale; scale and zero are broadcast, with `group` they are [B,Hk,T,D / group]."""
    x, s, z = f64(x), f64(scale), f64(zero)
    if group:
        s, z = np.repeat(s, group, axis=-1), None if z is None else np.repeat(z, group, axis=-1)
    return (x if z is None else x - z) * s


# ---- stored cases ----

def case_kwargs(case, arrays):
    """Keyword arguments of attention_forward and attention_backward for a stored case."""
    a = case['attrs']
    numbers = ('scale', 'causal', 'align', 'offset', 'window', 'softcap', 'kv_len', 'q_len', 'kv_start')
    kw = {n: a[n] for n in numbers if n in a}
    kw.update({n: arrays[n] for n in ('bias', 'alibi_slopes', 'sink') if n in arrays})
    if 'bool_mask' in arrays:
        kw['bool_mask'] = arrays['bool_mask'].astype(bool)
    if a.get('score_mod'):
        buffers = {n[len('aux_'):]: x for n, x in arrays.items() if n.startswith('aux_')}
        kw.update(score_mod=a['score_mod'], score_aux=dict(a.get('score_aux', {}), **buffers))
    return kw


def case_qkv(case, arrays):
    """q, k, v of a stored case as [B,H,T,D]: pages gathered, int8 dequantised, what the batch shares repeated."""
    a, q, k, v = case['attrs'], arrays['q'], arrays.get('k'), arrays.get('v')
    if k is not None and k.shape[0] == 1 < q.shape[0]:
        k, v = (np.broadcast_to(x, (q.shape[0],) + x.shape[1:]) for x in (k, v))
    if 'k_pages' in arrays:
        k, v = (gather_pages(arrays[n], arrays['block_table'], a['tk']) for n in ('k_pages', 'v_pages'))
    if 'k_scale_pages' in arrays: # a scale per token and head
        k, v = (dequant(x, gather_pages(arrays[n], arrays['block_table'], a['tk']))
                for x, n in ((k, 'k_scale_pages'), (v, 'v_scale_pages')))
    elif 'k_scale' in arrays:
        k = dequant(k, arrays['k_scale'], arrays.get('k_zero'), a.get('group'))
        v = dequant(v, arrays['v_scale'], arrays.get('v_zero'), a.get('group'))
    if 'k_past' in arrays:
        k, v = np.concatenate([arrays['k_past'], k], 2), np.concatenate([arrays['v_past'], v], 2)
    return q, k, v


def run_case(case, arrays):
    """Outputs of a stored case: o, lse, scores where it asks for them and, where there is a do, gradients."""
    if case.get('kind') == 'merge':
        o, lse = merge_splits(arrays['o_parts'], arrays['lse_parts'])
        return dict(o=o, lse=lse)
    kw = case_kwargs(case, arrays)
    if case.get('kind') == 'varlen':
        q, k, v = arrays['q'], arrays['k'], arrays['v']
        cu = case['attrs']['cu_q'], case['attrs']['cu_k']
        backward = lambda: varlen_backward(q, k, v, arrays['do'], *cu, **kw)
        o, lse = varlen_forward(q, k, v, *cu, **kw)
    else:
        q, k, v = case_qkv(case, arrays)
        backward = lambda: attention_backward(q, k, v, arrays['do'], dlse=arrays.get('dlse'), **kw)
        o, lse = attention_forward(q, k, v, **kw)
    out = dict(o=o, lse=lse)
    if case['attrs'].get('scores'):
        out['scores'] = attention_scores(q, k, v, case['attrs']['scores'], **kw)
    if 'do' in arrays:
        out.update(backward())
    return out
