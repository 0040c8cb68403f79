#!/usr/bin/env python3
# cases.py - the tests' problems, compiled by NVIDIA's drivers
# SPDX-License-Identifier: Apache-2.0
"""cases.py [--run CLATTN-RUN] [--part N/M] [--jobs N] [--execute BUILD] LISTER...

A LISTER is a command that prints problem strings: tests/lib/print_cases, 'tests/kernel/pairs.t --list'. Each problem
becomes a program of engine simt and one of mma_nv where the engine takes it, composed by clattn-run; equal programs are
one. Each program has to compile by every driver's compiler that setup-nvidia-compilers.sh has unpacked: mma_nv for
sm_80 and, in f16, for sm_75; simt for sm_80. The compiler has to be silent, ptxas, if there is one, has to take its
PTX, and where that reads %ctaid.x or %ctaid.y it has to read %envreg0 or %envreg1 as well: a driver that runs a launch
in pieces says there where each begins.
--execute BUILD: then tests/kernel/forward.t of that directory runs the program's problems on the pretended device of
tests/nvidia/nvidia_machine.c: drivers, sm_80 and, where the driver knows it, sm_90, schedules and errors of what is
approximate by turns. The interpreter has to find nothing. A table of what compiled and what was executed ends it.
--part N/M takes every M-th program, the N-th first, in an order that does not change while the tables do not.

Exit status: 0 all are as they should be, 1 some are not, 2 usage, 3 no compiler."""
import argparse, concurrent.futures, hashlib, os, re, shlex, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
DRIVERS = os.environ.get('NV_COMPILERS') or os.path.join(
    os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'clattn-offline', 'nvidia')
REMARK = 'is a kernel, so overriding noinline attribute'  # the compilers', about any kernel


def fail(status, *words):
    print('cases.py:', *words, file=sys.stderr)
    sys.exit(status)


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def problems(listers):
    found = []
    for lister in listers:
        done = output(*shlex.split(lister))
        if done.returncode:
            fail(2, '%s: %s' % (lister, done.stderr.strip()))
        found += done.stdout.splitlines()
    return list(dict.fromkeys(re.sub(r' seed\d+', '', p) for p in found))


UNSUPPORTED = 3  # clattn-run's status


def compose(run, problem, engine):
    """The program, or None where the engine does not take the problem."""
    done = output(run, '--emit-source', problem, '--engine', engine)
    if done.returncode not in (0, UNSUPPORTED):
        fail(2, '%s, %s: %s' % (problem, engine, done.stderr.strip()))
    return done.stdout if done.returncode == 0 else None


class Program:
    def __init__(self, text, engine, problem, arch):
        self.text, self.engine, self.arch, self.problems = text, engine, arch, []
        self.kind = engine, problem.split()[0], arch

    def __str__(self):
        return '%s, %s, %s' % (self.arch, self.engine, self.problems[0])


def programs(args):
    """In the order of their digests, and how many problems they are of."""
    found = {}
    lines = problems(args.lister)
    for problem in lines:
        for engine in ('simt', 'mma_nv'):
            text = compose(args.run, problem, engine)
            if text is None:
                continue
            turing = text.replace('-DCLA_NV_CC=80', '-DCLA_NV_CC=75', 1)
            for t, arch in [(text, 'sm_80')] + [(turing, 'sm_75')] * (engine == 'mma_nv' and 'bf16' not in problem):
                key = hashlib.sha256((t + arch).encode()).hexdigest()
                found.setdefault(key, Program(t, engine, problem, arch)).problems.append(problem)
    return len(lines), [found[k] for k in sorted(found)]


def wrong_words(log, ptx):
    """What is wrong with PTX and the compiler's log, in words."""
    words = [w for w in log.splitlines() if w.strip() and REMARK not in w]
    for axis, piece in (('x', 0), ('y', 1)):
        if len(re.findall(r'%%ctaid\.%s\b' % axis, ptx)) != len(re.findall(r'%%envreg%d\b' % piece, ptx)):
            words.append('%%ctaid.%s without %%envreg%d' % (axis, piece))
    return words


class Compilers:
    def __init__(self, folder):
        self.folder, self.nvcl = folder, os.path.join(folder, 'nvcl')
        self.ptxas = (os.environ.get('PTXAS') or shutil.which('ptxas') or
                      shutil.which('ptxas', path='/usr/local/cuda/bin'))
        self.drivers = sorted(d for d in ('470', '535', '550')
                              if os.path.exists(os.path.join(DRIVERS, d, 'compiler.so')))
        if not self.drivers:
            fail(3, 'no compilers at %s: setup-nvidia-compilers.sh unpacks them' % DRIVERS)
        text = os.path.join(HERE, 'compilers', 'nvcl.c')
        done = output(os.environ.get('CC') or 'cc', '-O1', '-o', self.nvcl, text, '-ldl')
        if done.returncode:
            fail(3, 'nvcl.c does not compile:', done.stderr.strip())

    def __str__(self):
        return 'drivers %s, %s' % (', '.join(self.drivers), 'then by ptxas' if self.ptxas else
                                   'no ptxas (CUDA, or pip nvidia-cuda-nvcc)')

    def judge(self, number, program):
        """What is wrong with a program, a list of words for each driver that has something to say."""
        base, found = os.path.join(self.folder, str(number)), []
        options = [o for o in program.text.partition('\n')[0].split()[3:] if not o.startswith('-cl-std=')]
        with open(base + '.cl', 'w') as f:
            f.write(program.text)
        for driver in self.drivers:
            words = self.compile(driver, program.arch, base, options)
            if words:
                found.append('driver %s, %s: %s' % (driver, program, '; '.join(words[:4])))
        os.remove(base + '.cl')
        return found

    def compile(self, driver, arch, base, options):
        done = output(self.nvcl, os.path.join(DRIVERS, driver, 'compiler.so'), base + '.cl', base + '.ptx', '-nv-m64',
                      '-cl-nv-arch', arch, '-cl-nv-cstd=CL1.2', *options)
        if done.returncode:
            return [w for w in done.stderr.splitlines() if w.strip()] or ['status %d' % done.returncode]
        with open(base + '.ptx') as f:
            words = wrong_words(done.stderr, f.read())
        if not self.ptxas:
            return words
        done = output(self.ptxas, '-arch=' + arch, '-O0', base + '.ptx', '-o', base + '.cubin')
        for name in (base + '.ptx', base + '.cubin'):
            if os.path.exists(name):
                os.remove(name)
        return words + ['ptxas: ' + (done.stderr or done.stdout).strip()] * (done.returncode != 0)


class Device:
    """The pretended one, as the tests of a build directory meet it."""
    SCHEDULES = 'lowest', 'highest', 'random'

    def __init__(self, folder, drivers, build):
        self.folder, self.drivers, build = folder, drivers, os.path.abspath(build)
        self.forward, nvcl = os.path.join(build, 'tests', 'kernel', 'forward.t'), os.path.join(build, 'offline', 'nvcl')
        layer = os.path.join(build, 'tests', 'nvidia', '.libs', 'nvidia_device.so')
        for name in (self.forward, nvcl, layer):
            if not os.path.exists(name):
                fail(2, 'there is no', name)
        self.words = 'nvcl=%s,compilers=%s' % (nvcl, DRIVERS)
        self.environment = dict(os.environ, OPENCL_LAYERS=layer, CLATTN_TEST_DEVICES='NVIDIA', CLATTN_TUNE='off',
                                CLATTN_CACHE_DIR='off', CLATTN_NEED_DEVICE='1')

    def judge(self, number, program):
        """What is wrong with a program's problems, a list of words for each that is."""
        place, found = os.path.join(self.folder, 'run-%d' % number), []
        os.mkdir(place)
        for i, problem in enumerate(program.problems):
            turn = number + i
            driver = self.drivers[turn % len(self.drivers)]
            words = 'driver=%s,cc=%s,schedule=%s,seed=%d,approximate=%d' % (
                driver, '75' if program.arch == 'sm_75' else '80' if driver == '470' or turn // 3 % 2 else '90',
                self.SCHEDULES[turn // 2 % 3], turn, (-1, 1)[turn % 2])
            wrong = self.run(words, place, problem, program.engine)
            if wrong:
                found.append('%s, %s, %s: %s' % (words, program.engine, problem, wrong))
        shutil.rmtree(place)
        return found

    def run(self, words, place, problem, engine):
        findings = os.path.join(place, 'findings')
        if os.path.exists(findings):
            os.remove(findings)
        words = ','.join((self.words, 'cache=' + place, 'findings=' + findings, words))
        done = subprocess.run([self.forward, problem, engine], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env=dict(self.environment, CLATTN_NVIDIA=words))
        if os.path.exists(findings):
            with open(findings) as f:
                return f.readline().strip() or 'a finding without words'
        if done.returncode or not re.search(r'^ok 1 - NVIDIA', done.stdout, re.M):
            return ' '.join((done.stdout + done.stderr).split('\n'))[-300:].strip() or 'status %d' % done.returncode


def part_of(words):
    m = re.fullmatch(r'(\d+)/(\d+)', words)
    if not m or not 0 <= int(m[1]) < int(m[2]):
        raise argparse.ArgumentTypeError('not N/M with N < M: ' + words)
    return int(m[1]), int(m[2])


def judge_all(jobs, judge, chosen, count):
    """Of each kind of program how many were good and how many there are, and how many were bad; tells of these."""
    kinds, bad = {}, 0
    with concurrent.futures.ThreadPoolExecutor(max(jobs, 1)) as pool:
        for program, words in zip(chosen, pool.map(judge, range(len(chosen)), chosen)):
            good, all = kinds.get(program.kind, (0, 0))
            kinds[program.kind] = good + count(program) - len(words), all + count(program)
            bad += len(words)
            for w in words:
                print(w, flush=True)
    return kinds, bad


def print_table(compiled, executed):
    """What is known of the kernels on NVIDIA, in three columns that are not the same; programs once for each driver."""
    print('# %-8s %-5s %-6s %-32s %-28s %s' % ('engine', 'type', '', "compiled by NVIDIA's compilers",
                                              'executed by an interpreter', 'run on a GPU'))
    for kind in sorted(compiled):
        told = ['%d of %d %s' % (table[kind] + (what,)) if kind in table else '-'
                for table, what in ((compiled, 'programs'), (executed, 'problems'))]
        print('# %-8s %-5s %-6s %-32s %-28s %s' % (kind + tuple(told) + ('none',)))


def main():
    p = argparse.ArgumentParser(usage=__doc__.partition('\n')[0])
    p.add_argument('--run', default='./clattn-run')
    p.add_argument('--part', type=part_of, default=(0, 1))
    p.add_argument('--jobs', type=int, default=1)
    p.add_argument('--execute', metavar='BUILD')
    p.add_argument('lister', nargs='+')
    args = p.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compilers = Compilers(folder)
        device = Device(folder, compilers.drivers, args.execute) if args.execute else None
        lines, found = programs(args)
        chosen = found[args.part[0]::args.part[1]]
        print('# %d problems, %d programs, of which this part compiles %d, by %s' %
              (lines, len(found), len(chosen), compilers), flush=True)
        compiled, bad = judge_all(args.jobs, compilers.judge, chosen, lambda p: len(compilers.drivers))
        executed, wrong = judge_all(args.jobs, device.judge, chosen, lambda p: len(p.problems)) if device else ({}, 0)
    print_table(compiled, executed)
    print('# %d compiled as they should be, %d not' % (sum(good for good, _ in compiled.values()), bad))
    if device:
        print('# %d executed as they should be, %d not' % (sum(good for good, _ in executed.values()), wrong))
    return 1 if bad or wrong else 0


if __name__ == '__main__':
    sys.exit(main())
