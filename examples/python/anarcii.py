#!/usr/bin/env python3
# anarcii.py - a real model on clattn: the transformer of ANARCII, which numbers the residues of antibodies
# SPDX-License-Identifier: Apache-2.0
"""Numbers antibodies with the encoder and decoder of the package `anarcii`, whose weights are in the package, twice:
with PyTorch's attention, and with all attention done by clattn: the encoder, the decoder's own, with a cache that
grows by a token at a time, and the decoder's on the encoder's output. The output tokens must be the same.

  anarcii.py [--sequences N] [--scale-by X]

Needs `pip install anarcii`. --scale-by multiplies clattn's scale: the tokens then differ, and the exit status is 1.
"""
import argparse
import os
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [p for p in sys.path if os.path.abspath(p or '.') != HERE] # this file has the package's name

import torch # noqa: E402
from anarcii.inference.model_loader import Loader # noqa: E402
from anarcii.input_data_processing.tokeniser import NumberingTokeniser # noqa: E402

import clattn.torch # noqa: E402

# Variable domains of a heavy and a light chain; others are made of them.
DOMAINS = ('EVQLVESGGGLVQPGGSLRLSCAASGFNIKDTYIHWVRQAPGKGLEWVARIYPTNGYTRY'
           'ADSVKGRFTISADTSKNTAYLQMNSLRAEDTAVYYCSRWGGDGFYAMDYWGQGTLVTVSS',
           'DIQMTQSPSSLSASVGDRVTITCRASQDVNTAVAWYQQKPGKAPKLLIYSASFLYSGVPS'
           'RFSGSRSGTDFTLTISSLQPEDFATYYCQQHYTTPPTFGQGTKVEIK')
RESIDUES = 'ACDEFGHIKLMNPQRSTVWY'


def sequences(n):
    """n domains that differ in up to eight residues."""
    g = torch.Generator().manual_seed(1)
    made = []
    for i in range(n):
        residues = list(DOMAINS[i % len(DOMAINS)])
        for _ in range(i // len(DOMAINS) % 9):
            at = int(torch.randint(len(residues), (1,), generator=g))
            residues[at] = RESIDUES[int(torch.randint(len(RESIDUES), (1,), generator=g))]
        made.append(''.join(residues))
    return made


def tokens(texts):
    t = NumberingTokeniser('protein_antibody')
    rows = [torch.tensor(t.encode([t.start, *text, t.end]), dtype=torch.long) for text in texts]
    return torch.nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=0)


class Attention(torch.nn.Module):
    """Takes the place of a torch.nn.MultiheadAttention, whose weights it uses."""

    def __init__(self, of, scale_by):
        super().__init__()
        self.of, self.scale = of, scale_by * of.head_dim ** -0.5
        self.calls = 0

    def forward(self, query, key, value, key_padding_mask=None, attn_mask=None, is_causal=False):
        """[b,n,width] each; the last query is aligned with the last key."""
        of, heads = self.of, self.of.num_heads
        weights, biases = of.in_proj_weight.chunk(3), of.in_proj_bias.chunk(3)
        q, k, v = (torch.nn.functional.linear(x, w, b).unflatten(-1, (heads, of.head_dim))
                   for x, w, b in zip((query, key, value), weights, biases))
        more = {}
        if key_padding_mask is not None: # [b,nk], True where there is nothing
            more['mask'] = ~key_padding_mask[:, None, None, :]
        o = clattn.torch.attention(q, k, v, layout='bnhd', causal=attn_mask is not None, scale=self.scale, **more)
        self.calls += 1
        return of.out_proj(o.flatten(2)), None


def with_clattn(model, scale_by):
    """Replaces every attention of the model; returns them."""
    found = [(m, m.multihead_attn) for m in model.modules() if hasattr(m, 'multihead_attn')]
    for module, attention in found:
        module.multihead_attn = Attention(attention, scale_by)
    return [module.multihead_attn for module, _ in found]


@torch.no_grad()
def numbered(model, src):
    """The output tokens [b,n+1], found one after the other as the package's ModelRunner does."""
    src_mask = model.make_src_mask(src)
    encoded = model.encoder(src, src_mask)
    found = torch.zeros(src.shape[0], src.shape[1] + 1, dtype=torch.long)
    found[:, 0] = src[:, 0]
    last, cache = src[:, :1], None
    for t in range(1, found.shape[1]):
        pad, causal = model.make_trg_mask(found[:, :t])
        output, cache = model.decoder(last, encoded, pad, causal, src_mask, cache)
        last = output.argmax(2)[:, -1:]
        found[:, t] = last[:, 0]
    return found


def timed(model, src):
    numbered(model, src) # the first run makes plans, which are kept
    began = time.perf_counter()
    found = numbered(model, src)
    return found, time.perf_counter() - began


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--sequences', type=int, default=100)
    p.add_argument('--scale-by', type=float, default=1.0)
    o = p.parse_args()
    torch.backends.mha.set_fastpath_enabled(False)
    model = Loader('antibody', 'accuracy', torch.device('cpu')).model
    src = tokens(sequences(o.sequences))
    want, by_torch = timed(model, src)
    replaced = with_clattn(model, o.scale_by)
    got, by_clattn = timed(model, src)
    differ = int((got != want).any(1).sum())
    print('%d sequences of up to %d residues, %d layers of attention, %d calls' %
          (len(src), src.shape[1] - 2, len(replaced), sum(a.calls for a in replaced)))
    print('PyTorch %.2f s, clattn %.2f s; %d sequences have other tokens' % (by_torch, by_clattn, differ))
    return 1 if differ else 0


if __name__ == '__main__':
    sys.exit(main())
