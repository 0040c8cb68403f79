# plan.py - a problem made runnable, once for all its calls
# SPDX-License-Identifier: Apache-2.0
"""Plans: a problem made runnable, once for all its calls."""
from __future__ import annotations

from typing import Any, Dict, Optional, Tuple, overload

from . import backward, checks, errors, forward, options
from ._native import ffi, lib
from .arguments import Arguments, GradientArguments, Literal, Stage, Unpack
from .one_call import attention, gather
from .backward import Gradients, attention_backward
from .handle import Handle
from .prepare import Prepared
from .run import Call

__all__ = ['Plan']

SIZE_MAX = (1 << 8 * ffi.sizeof('size_t')) - 1
INFO = {'origin': ('default', 'tuned', 'cached', 'set'), 'binary': ('none', 'miss', 'hit')}


def create(handle: Handle, prepared: Prepared, config: Optional[str] = None, max_workspace: int = 0) -> Any:
    """A clattn_plan for the problem of a call, which frees itself."""
    out, words = ffi.new('clattn_plan *'), ffi.new('char[]', errors.WORDS)
    text = ffi.NULL if config is None else ffi.new('char[]', checks.text(config, 'config').encode())
    max_workspace = checks.int_in(max_workspace, 0, SIZE_MAX, 'max_workspace')
    session = handle.session()
    status = lib.clattn_py_plan(out, session, prepared.problem(), text, max_workspace, words, errors.WORDS)
    plan = ffi.gc(out[0], lib.clattn_plan_release) if out[0] else out[0]
    errors.check(status, words)
    return plan


def kept_plan(call: Call, key: tuple) -> Any:
    """The plan of a call that needs one, made once for a handle."""
    handle = call.handle
    with handle._plans_lock: # pylint: disable=protected-access
        found = handle._plans.get(key) # pylint: disable=protected-access
        if found is None:
            found = handle._plans[key] = create(handle, call.prepared) # pylint: disable=protected-access
        return found


class Plan:
    """Kernels for one problem, whose configuration is chosen, built and checked when the plan is made.

        plan = clattn.Plan(q, k, v, causal=True)
        o = plan(q, k, v)

    attention() finds or makes plans by itself; this one is for programs that want to decide when kernels are compiled,
    or how. Calls may bring arrays of any sizes, but of the types, widths and options that the plan was made with; sizes
    like those of the plan are fastest.

    q, k, v, options   as for attention(); arrays among the options only say that calls bring such. Calls have the
                       plan's options; one that a call gives has to be the plan's, or a size or layout of the call,
                       or dropout_seed or dropout_offset
    return_scores      True: calls may ask for scores
    gradients          True: a plan for backward(), which has no other call. score_mod_grad and aux_grads as there
    config             an engine, or "ENGINE TILE"; None: the best that is known
    max_workspace      bytes that a call may need at most; 0: any number
    """

    def __init__(self, q: Any, k: Any, v: Any, *, gradients: bool = False, return_scores: bool = False,
                 config: Optional[str] = None, max_workspace: int = 0, handle: Optional[Handle] = None,
                 score_mod_grad: Any = None, aux_grads: Any = None, **more: Unpack[Arguments]) -> None:
        given: Dict[str, Any] = {'q': q, 'k': k, 'v': v}
        found = gather(given, more) if more else {}
        arrays = {name for name in given if name not in ('q', 'k', 'v')}
        call = Call(given, handle)
        self.handle, self._arrays, self._options = call.handle, arrays, found
        if not checks.flag(gradients, 'gradients') and (score_mod_grad is not None or aux_grads is not None):
            raise ValueError('score_mod_grad and aux_grads are for plans with gradients=True')
        found.update(options.convert({'score_mod_grad': score_mod_grad, 'aux_grads': aux_grads}, gradients=True))
        scores = 'products' if checks.flag(return_scores, 'return_scores') else None
        if gradients and scores:
            raise ValueError('return_scores is for plans without gradients')
        wanted = options.Options(scores=scores, **found)
        call.prepare(-1 - gradients, wanted, _prepare_backward if gradients else forward.prepare, ())
        self._key, self._scores = call.prepared.problem_key, scores is not None
        self._pointer = create(call.handle, call.prepared, config, max_workspace)

    def _open(self) -> Any:
        pointer = self._pointer
        if pointer == ffi.NULL:
            raise errors.failure(lib.CLATTN_ERROR_INVALID_ARGUMENT, ffi.new('char[]', b'the plan is closed'))
        return pointer

    def complete(self, found: Dict[str, Any], given: Dict[str, Any]) -> Dict[str, Any]:
        """The plan's options with those that a call gives; pointer_for() refuses others than the plan's."""
        missing = sorted(self._arrays - set(given))
        if missing:
            raise TypeError('the plan was made with %s, which is not given' % ', '.join(missing))
        return {**self._options, **found}

    def pointer_for(self, prepared: Prepared, scores: bool = False) -> Any:
        """The plan itself, for a call of its problem, which may ask for scores."""
        if scores and not self._scores:
            raise ValueError('return_scores is for plans that were made with it')
        if prepared.problem_key != self._key:
            raise ValueError('the types, widths or options of this call are not those of the plan')
        return self._open()

    @overload
    def __call__(self, q: Any, k: Any, v: Any, *, return_lse: Literal[False] = False, return_scores: None = None,
                 out: Any = None, handle: Optional[Handle] = None, **more: Unpack[Arguments]) -> Any: ...
    @overload
    def __call__(self, q: Any, k: Any, v: Any, *, return_lse: Literal[True], return_scores: None = None,
                 out: Any = None, handle: Optional[Handle] = None, **more: Unpack[Arguments]) -> Tuple[Any, Any]: ...
    @overload
    def __call__(self, q: Any, k: Any, v: Any, *, return_scores: Stage, return_lse: Literal[False] = False,
                 out: Any = None, handle: Optional[Handle] = None, **more: Unpack[Arguments]) -> Tuple[Any, Any]: ...
    @overload
    def __call__(self, q: Any, k: Any, v: Any, *, return_scores: Stage, return_lse: Literal[True], out: Any = None,
                 handle: Optional[Handle] = None, **more: Unpack[Arguments]) -> Tuple[Any, Any, Any]: ...

    def __call__(self, q: Any, k: Any, v: Any, **more: Any) -> Any:
        """attention() by this plan."""
        return attention(q, k, v, plan=self, **more)

    def backward(self, dout: Any, q: Any, k: Any, v: Any, out: Any, lse: Any, *,
                 handle: Optional[Handle] = None, **more: Unpack[GradientArguments]) -> Gradients:
        """attention_backward() by this plan."""
        return attention_backward(dout, q, k, v, out, lse, plan=self, handle=handle, **more)

    def close(self) -> None:
        """Gives the plan back; calls under way end as usual."""
        self._pointer = ffi.NULL

    @property
    def config(self) -> str:
        """The configuration, "ENGINE TILE"."""
        text = ffi.new('char[]', 256)
        errors.check(lib.clattn_plan_config(self._open(), text, 256, ffi.NULL))
        return ffi.string(text).decode()

    @property
    def info(self) -> Tuple[str, str]:
        """Where the configuration is from: 'default', 'tuned', 'cached' or 'set'; and the binary: 'none' (nothing is
        kept), 'miss' (compiled) or 'hit'."""
        info = ffi.new('clattn_plan_info *')
        info.struct_size = ffi.sizeof('clattn_plan_info')
        errors.check(lib.clattn_plan_get_info(self._open(), info))
        return INFO['origin'][info.origin], INFO['binary'][info.binary]


def _prepare_backward(specs: Dict[str, Any], o: options.Options) -> Prepared:
    """The problem of a backward call, whose other arrays are not there yet."""
    b = backward.Backward(specs, o)
    b.fill_inputs()
    return Prepared(b, lib.CLATTN_PY_BACKWARD)
