# test_transformers.py - models of transformers by clattn beside transformers' own attention
# SPDX-License-Identifier: Apache-2.0
"""Tiny models with random weights. What they are compared with is transformers' attention of matrix products ("eager"),
in float32, where that is right: its masks of float64 make NaN of rows that see nothing."""
import copy
import os

import pytest

torch = pytest.importorskip('torch', reason='PyTorch is not installed')
os.environ.setdefault('HF_HUB_OFFLINE', '1')
transformers = pytest.importorskip('transformers', reason='transformers is not installed')
if not hasattr(transformers, 'AttentionMaskInterface'):
    pytest.skip('transformers before 4.53 has no interface of masks', allow_module_level=True)

import clattn.torch as ct # noqa: E402
from clattn.torch import transformers as interface # noqa: E402

NAME = ct.register_transformers()
TOKENS, WIDTH = 64, 32
IDS = dict(pad_token_id=0, bos_token_id=1, eos_token_id=2)
DECODER = dict(vocab_size=TOKENS, hidden_size=WIDTH, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
               num_key_value_heads=2, head_dim=16, max_position_embeddings=64, **IDS)
BOTH = dict(vocab_size=TOKENS, d_model=WIDTH, decoder_start_token_id=2, **IDS)
# Classes of the model and of its configuration, and what the latter has beside DECODER.
DECODERS = {
    'Llama': ('LlamaForCausalLM', 'LlamaConfig', {}),
    'Mistral': ('MistralForCausalLM', 'MistralConfig', dict(sliding_window=4)),
    'Qwen3': ('Qwen3ForCausalLM', 'Qwen3Config', dict(use_sliding_window=True, sliding_window=5, max_window_layers=1)),
    'Phi3': ('Phi3ForCausalLM', 'Phi3Config', dict(head_dim=None)),
    'Gemma2': ('Gemma2ForCausalLM', 'Gemma2Config', dict(sliding_window=4, attn_logit_softcapping=2.0)),
    'Gemma3': ('Gemma3ForCausalLM', 'Gemma3TextConfig', dict(sliding_window=4)),
    'Cohere2': ('Cohere2ForCausalLM', 'Cohere2Config', dict(sliding_window=4)),
    'GPT-OSS': ('GptOssForCausalLM', 'GptOssConfig', dict(sliding_window=4, num_local_experts=2,
                                                          num_experts_per_tok=1)),
    'Llama4': ('Llama4ForCausalLM', 'Llama4TextConfig', dict(attention_chunk_size=4, num_local_experts=2,
                                                             intermediate_size_mlp=48, no_rope_layers=[1, 0])),
    'DeepSeek-V3': ('DeepseekV3ForCausalLM', 'DeepseekV3Config', dict(
        num_key_value_heads=4, n_routed_experts=4, num_experts_per_tok=2, n_group=2, topk_group=1,
        first_k_dense_replace=1, kv_lora_rank=16, q_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=12,
        moe_intermediate_size=16, head_dim=None)),
}
OTHERS = {
    'GPT-2': ('GPT2LMHeadModel', 'GPT2Config', dict(vocab_size=TOKENS, n_positions=64, n_embd=WIDTH, n_layer=2,
                                                    n_head=4, attn_pdrop=0, resid_pdrop=0, embd_pdrop=0, **IDS)),
    'BERT': ('BertForMaskedLM', 'BertConfig', dict(
        vocab_size=TOKENS, hidden_size=WIDTH, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        max_position_embeddings=64, hidden_dropout_prob=0, attention_probs_dropout_prob=0)),
    'T5': ('T5ForConditionalGeneration', 'T5Config', dict(BOTH, d_kv=8, d_ff=48, num_layers=2, num_heads=4,
                                                          dropout_rate=0)),
    'BART': ('BartForConditionalGeneration', 'BartConfig', dict(
        BOTH, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=64, dropout=0, attention_dropout=0,
        forced_eos_token_id=None)),
}
MODELS = {**{name: (model, config, {**DECODER, **more}) for name, (model, config, more) in DECODERS.items()}, **OTHERS}
STATIC = ('Llama', 'Mistral', 'GPT-OSS') # also with caches of a fixed size


def make(name):
    """A model by transformers' own attention, and the same by clattn."""
    cls, config, more = MODELS[name]
    if not hasattr(transformers, cls):
        pytest.skip('this transformers has no %s' % cls)
    more = {key: x for key, x in more.items() if x is not None}
    models = []
    for how in ('eager', NAME):
        torch.manual_seed(5)
        made = getattr(transformers, config)(**more)
        made._attn_implementation = how
        models.append(getattr(transformers, cls)(made).eval())
        assert models[-1].config._attn_implementation == how
    with torch.no_grad(): # random weights, but T5's, are so small that neither softcaps nor masks would matter
        for p in models[0].parameters():
            p.mul_(8 if p.dim() > 1 and name != 'T5' else 1)
    models[1].load_state_dict(models[0].state_dict())
    if getattr(models[0], '_supports_sdpa', True) is False and name == 'T5':
        pytest.skip('T5 of this transformers has no interface of attention')
    return models


def tokens():
    """Three sequences: whole, padded on the left and on the right; what there is of them, and what a loss counts."""
    g = torch.Generator().manual_seed(7)
    ids = torch.randint(3, TOKENS, (3, 11), generator=g)
    there = torch.ones_like(ids)
    there[1, :4] = there[2, -4:] = 0
    ids = ids * there
    counts = there.bool() & there.roll(1, 1).bool() # a row of padding predicts nothing that can be compared
    return ids, there, torch.where(counts, ids, -100)


def close(x, y):
    return (x - y).abs().max().item() <= 3e-5 * (1 + y.abs().max().item())


@pytest.mark.parametrize('name', MODELS)
def test_model(name):
    """Logits, loss and gradients of all parameters; greedy tokens with a cache, padded on the left."""
    models, (ids, there, labels) = make(name), tokens()
    found = []
    for model in models:
        o = model(input_ids=ids, attention_mask=there, labels=labels)
        o.loss.backward()
        found.append((o.logits.detach(), o.loss.detach(),
                      {key: p.grad for key, p in model.named_parameters() if p.grad is not None}))
    (logits, loss, grads), (got_logits, got_loss, got) = found
    rows = slice(None) if logits.shape[:2] != there.shape or name == 'T5' or name == 'BART' else there.bool()
    assert close(got_logits[rows], logits[rows]) and close(got_loss, loss)
    assert got.keys() == grads.keys() and len(got) > 10
    for key, right in grads.items():
        assert close(got[key], right), key
    if models[0].can_generate() and name != 'BERT':
        static = {'cache_implementation': 'static', 'disable_compile': True}
        for n, more in ((1, {}), (2, {})) + (((1, static), (2, static)) if name in STATIC else ()):
            made = [model.generate(input_ids=ids[:n], attention_mask=there[:n], max_new_tokens=6, do_sample=False,
                                   **more) for model in models]
            assert torch.equal(*made)


# ---- What masks are made of ----

def masks(monkeypatch, name):
    """The arguments that attention gets in a forward pass of a model."""
    seen = []
    call = interface.with_dropout

    def watch(given, *more):
        seen.append(given)
        return call(given, *more)
    monkeypatch.setattr(interface, 'with_dropout', watch)
    ids, there, labels = tokens()
    with torch.no_grad():
        make(name)[1](input_ids=ids, attention_mask=there, labels=labels)
    return seen


def test_windows_are_fused(monkeypatch):
    """Masks of causality, windows and padding become arguments of the kernel; softcaps and sinks are some."""
    for name, key in (('Gemma2', 'softcap'), ('GPT-OSS', 'sinks')):
        windowed, whole = masks(monkeypatch, name)
        assert windowed['window'] == (3, 0) and whole['window'] is None and windowed['offset'] == 0
        for given in (windowed, whole):
            assert given['causal'] and given['mask'].shape == (3, 1, 1, 11) and given[key] is not None
    assert masks(monkeypatch, 'T5')[0]['bias'].shape == (1, 4, 11, 11)


def test_changed_masks():
    """A mask counts as it is now; one that is not made of that alone has no parts; inference mode has none either."""
    mask = interface.mask_of(lambda **given: (torch.arange(5) <= torch.arange(5)[:, None])[None, None])
    made = mask(q_offset=0)
    assert interface.parts_of(made, 5) is not None and interface.parts_of(made, 4) is None
    made[..., 0, 0] = False
    assert interface.parts_of(made, 5) is None
    odd = interface.mask_of(lambda **given: (torch.arange(5) * torch.arange(5)[:, None])[None, None] % 3 == 0)
    assert interface.parts_of(odd(q_offset=0), 5) is None
    with torch.inference_mode():
        assert interface.parts_of(mask(q_offset=0), 5) is None


@pytest.mark.parametrize('given,want', [
    (dict(q_offset=3), (True, 3, None)), (dict(q_offset=3, local_size=2), (True, 3, (1, 0))),
    (dict(q_offset=5, kv_offset=2, local_size=4), (True, 3, (3, 0))),
    (dict(q_offset=3, local_size=2), (False, 3, (2, 2)))])
def test_parts(given, want):
    """Offsets and windows of caches, and padding that is shorter than them."""
    causal, offset, window = want
    at = torch.arange(9) - torch.arange(4)[:, None] - offset
    kept = at <= 0 if window is None else (at <= window[1]) & (at >= -window[0])
    there = torch.ones(2, 8 + given.get('kv_offset', 0), dtype=torch.long)
    there[1, :given.get('kv_offset', 0) + 2] = 0
    padding = torch.nn.functional.pad(there[:, given.get('kv_offset', 0):], (0, 1)).bool()
    mask = interface.mask_of(lambda **_: kept & padding[:, None, None])(attention_mask=there, **given)
    found = interface.parts_of(mask, 9)
    assert (found.causal, found.offset, found.window) == want and torch.equal(found.padding[:, 0, 0], padding)


# ---- What else there is to the interface ----

@pytest.mark.filterwarnings('ignore')
def test_compile():
    """A model is one graph."""
    model, (ids, _, _) = make('Gemma2')[1], tokens()
    torch._dynamo.reset()
    with torch.no_grad():
        assert close(torch.compile(model, fullgraph=True, backend='eager')(ids, use_cache=False).logits,
                     model(ids, use_cache=False).logits)


def test_bfloat16():
    """As near to what the model computes in float32 as transformers' own attention is in bfloat16."""
    eager, ours = make('Llama')
    ids, there, _ = tokens()
    with torch.no_grad():
        right = eager(input_ids=ids, attention_mask=there).logits
        x, y = (copy.deepcopy(m).bfloat16()(input_ids=ids, attention_mask=there).logits for m in (eager, ours))
    theirs, mine = ((z - right)[there.bool()].square().mean().item() for z in (x, y))
    assert x.dtype is y.dtype is torch.bfloat16 and mine <= 2 * theirs


def test_refused():
    q = torch.ones(1, 2, 3, 16)
    for more, error in ((dict(output_attentions=True), ValueError), (dict(head_mask=q), ValueError)):
        with pytest.raises(error, match='never has the weights of attention'):
            interface.attention_forward(torch.nn.Module(), q, q, q, None, **more)


def test_dropout():
    """A module's dropout counts, and can be repeated."""
    q = torch.rand(1, 2, 3, 16)
    found = []
    for p in (0.5, 0.5, 0.0):
        torch.manual_seed(3)
        found.append(interface.attention_forward(torch.nn.Module(), q, q, q, None, dropout=p)[0])
    assert torch.equal(found[0], found[1]) and not torch.equal(found[0], found[2])


def test_registered():
    """Under any name."""
    assert ct.register_transformers('another') == 'another'
    assert 'another' in transformers.AttentionInterface().valid_keys()
