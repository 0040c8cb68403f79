#!/usr/bin/env python3
# table.py - programs compiled for GPUs that are not there: a table, and a gate
# SPDX-License-Identifier: Apache-2.0
"""table.py [--run CLATTN-RUN] [--rows FILE] [--only REGEX] [--target REGEX] [--jobs N] [--objects DIR] [--keep FILE]

Composes the program of every row in rows.txt with clattn-run, compiles it with check.sh and takes the loops apart with
isa-mix.py. --only chooses rows by what their line says, --target targets by vendor/device, --objects keeps what was
compiled.

Exit status: 0 all rows are as they should be, 1 some spill, fall below a share or do not compile, 2 usage, 3 nothing
could be compiled. A target without its compiler is skipped and fails nothing."""
import argparse, datetime, os, re, shlex, shutil, subprocess, sys, sysconfig, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LEGEND = """\
# regs: a work-item's (Intel: a hardware thread's); local, spill: bytes, of a work-group and of a work-item; occ: waves
# per SIMD (AMD), warps per SM (NVIDIA), hardware threads per EU (Intel); QK, PV, tile: % multiply-adds among the
# instructions of the two hot loops and of the whole loop over key tiles, all arms of branches counted; of gradients of
# scores and dP, of dV and dK or dQ, and of the loop over tiles of queries or of keys; ?: it does not add up; flight:
# bytes of global memory that a work-item waits for at a time, in the loops of Q K^T / P V, or of those products"""
FORMAT = '%-50s %-13s %7s %6s %3s %5s %3s %3s %4s %9s  %s'
WIDTH = 159
HEAD = FORMAT % ('problem', 'target', 'regs', 'local', 'occ', 'spill', 'QK', 'PV', 'tile', 'flight', '')


def fail(*words):
    print('table.py:', *words, file=sys.stderr)
    sys.exit(2)


# ---- rows ----

class Group:
    def __init__(self, words):
        try:
            self.name, self.targets, products, tile = words[:4]
            self.floors = [float(x) if x != '-' else None for x in (products.split('/') * 2)[:2] + [tile]]
        except ValueError:
            fail('group:', *words)
        self.options = words[4:]


class Row:
    def __init__(self, line, groups):
        try:
            self.problem, engine, names, spill = [f.strip() for f in line.split(';')]
            self.groups = [groups[n] for n in names.split()]
            self.engine, self.tile = (engine.split() + [None])[:2]
            self.spill = None if spill == '-' else int(spill)
        except (ValueError, KeyError):
            fail('row:', line)


def read_rows(path, only):
    groups, rows = {}, []
    with open(path) as f:
        for line in f:
            word, _, rest = line.strip().partition(' ')
            if word == 'group':
                g = Group(rest.split())
                groups[g.name] = g
            elif word == 'row' and re.search(only, rest):
                rows.append(Row(rest, groups))
            elif word not in ('row', '', '#'):
                fail('%s: %s' % (path, line.strip()))
    return rows


# ---- tools ----

def environment():
    """With the tools of pip's packages where there are no others."""
    env, site = dict(os.environ), sysconfig.get_paths()['purelib']
    places = ['/usr/local/cuda/bin', '/opt/cuda/bin'] + [
        os.path.join(site, p) for p in ('nvidia/cu13/bin', 'nvidia/cuda_nvcc/bin', 'triton/backends/nvidia/bin')]
    for variable, tool in (('PTXAS', 'ptxas'), ('NVDISASM', 'nvdisasm')):
        found = env.get(variable) or shutil.which(tool) or shutil.which(tool, path=os.pathsep.join(places))
        if found:
            env[variable] = found
    objdump = os.path.join(env.get('OFFLINE_ROOT') or os.path.join(
        env.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'clattn-offline', 'forky'), 'wrap/llvm-objdump-21')
    if 'OBJDUMP' not in env and os.path.exists(objdump):
        env['OBJDUMP'] = objdump
    return env


ENV = environment()


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, env=ENV, stdin=subprocess.DEVNULL)


def kernels(row):
    """Those that a row is compiled for."""
    words = row.problem.split()
    if 'scores' in words:
        return ['cla_scores_out']
    return ['cla_backward_keys', 'cla_backward_queries'] if 'bwd' in words else ['cla_forward']


def compose(run, row, kernel, folder):
    """The program in a file, its tile as words, its build options."""
    command = [run, '--emit-source', row.problem, '--kernel', kernel, '--engine', row.engine]
    done = output(*command, *(['--tile', row.tile] if row.tile else []))
    if done.returncode:
        fail(' '.join(command) + ':', done.stderr.strip())
    path = os.path.join(folder, 'kernel.cl')
    with open(path, 'w') as f:
        f.write(done.stdout)
    engine, tile, *options = done.stdout.partition('\n')[0].lstrip('/ ').split()
    return path, '%s %s' % (engine, tile), options


def compile_all(path, kernel, targets, options, folder, jobs):
    """What check.sh says: a list of fields per target."""
    done = output('bash', os.path.join(HERE, 'check.sh'), '-m', '-j', str(jobs), '-t', targets, '-o', folder, path,
                  kernel, *options)
    if done.returncode not in (0, 1, 3):
        fail('check.sh:', done.stderr.strip())
    return [line.split('\t') for line in done.stdout.splitlines()]


# ---- what is told of a program on a target ----

def defines(options):
    return dict(m.groups() for m in (re.match(r'-DCLA_(\w+)=(\w+)$', o) for o in options) if m)


SHARED = dict(sm_75=64, sm_80=164, sm_86=100, sm_89=100, sm_90=228, sm_90a=228, sm_100=228, sm_120=100)  # KiB per SM
WARPS = dict(sm_75=32, sm_86=48, sm_89=48, sm_120=48)


def warps(device, registers, local, items):
    """Warps that fit on an SM: registers come in units of 8 per thread, a group takes 1 KiB besides its own."""
    group = -(-items // 32)
    by_registers = 65536 // (-(-registers // 8) * 8 * 32) // group * group
    by_local = SHARED[device] * 1024 // (local + 1024) * group
    return min(WARPS.get(device, 64), by_registers, by_local)


def occupancy(target, registers, local, told, values):
    vendor, device = target.split('/')
    if vendor.startswith('nv') and device in SHARED and ('TX' in values or 'NW' in values):
        items = int(values['TX']) * int(values['TY']) if 'TX' in values else 32 * int(values['NW'])
        return str(warps(device, int(registers), int(local), items))
    return told


def own(kernel):
    """What isa-mix.py is told of a pass of gradients."""
    return ',own=' + kernel.replace('cla_backward_', '') if kernel.startswith('cla_backward_') else ''


def matrix_share(path, values, kernel):
    """Of the matrix instructions in engine mma_nv's loop, as text."""
    numbers = ','.join('%s=%s' % (n.lower(), values[n]) for n in 'D DV NW RT BK'.split()) + own(kernel)
    done = output(sys.executable, os.path.join(HERE, 'loops', 'isa-mix.py'), '--mma', numbers, path)
    return done.stdout.split()[-1] if done.returncode == 0 else '-' if done.returncode == 3 else '?'


def shares(path, values, kernel):
    """Of Q K^T, of P V, of the tile, as text: - where there is nobody to tell, ? where it does not add up. Of gradients
    of the products over dims, and of those that are summed."""
    names = 'D DV TX TY TM TN CH CV'.split()
    if path.endswith('.cubin') and 'NW' in values:
        return ['-', '-', matrix_share(path, values, kernel)]
    if not path.endswith(('.o', '.cubin', '.asm')) or not all(n in values for n in names):
        return ['?' if path.endswith('.bin') else '-'] * 3  # Intel's without a listing
    numbers = ','.join('%s=%s' % (n.lower(), values[n]) for n in names) + own(kernel)
    done = output(sys.executable, os.path.join(HERE, 'loops', 'isa-mix.py'), '--tile', numbers, path)
    return done.stdout.split() if done.returncode == 0 else ['-' if done.returncode == 3 else '?'] * 3


def in_flight(path):
    """Bytes that a work-item waits for at a time, as text."""
    if not path.endswith(('.o', '.cubin')):
        return '-'
    done = output(sys.executable, os.path.join(HERE, 'loops', 'in-flight.py'), path)
    return done.stdout.strip() if done.returncode == 0 else '-' if done.returncode == 3 else '?'


def verdict(row, group, registers, spill, parts):
    """What is wrong with it, in words."""
    wrong = []
    if row.spill is None:
        return wrong
    if spill.isdigit() and int(spill) > row.spill:
        wrong.append('spill > %d' % row.spill)
    if row.engine == 'mfma' and '+' in registers:
        wrong.append('sums move between registers')  # AMD's accumulation registers
    if '?' in parts and group.floors[-1] is not None:
        return wrong + ['shares unknown']
    for name, part, floor in zip(('QK', 'PV', 'tile'), parts, group.floors):
        if floor is not None and part != '-' and float(part) < floor:
            wrong.append('%s < %g' % (name, floor))
    return wrong


def passed(row, group, parts):
    if row.spill is None:
        return ''
    return 'ok, but for shares: no disassembler' if parts[-1] == '-' and group.floors[-1] else 'ok'


class Table:
    def __init__(self, args):
        self.args, self.lines, self.known, self.count = args, [], {}, dict(ok=0, FAIL=0, skip=0)

    def say(self, line):
        print(line, flush=True)
        self.lines.append(line)

    def facts(self, group, path, kernel, options, folder):
        """Of each target what check.sh says, shares, bytes in flight: once for rows with the same program."""
        targets = '(%s)' % group.targets
        chosen = [t for t in known_targets() if re.fullmatch(targets, t) and re.search(self.args.target, t)]
        own = [o.partition('=')[0] for o in group.options]  # which replace those of the same name
        options = [o for o in options if o.partition('=')[0] not in own] + group.options
        with open(path) as f:
            key = f.read(), *options, *chosen
        if chosen and (key not in self.known or self.args.objects):
            values, self.known[key] = defines(options), []
            for fields in compile_all(path, kernel, '|'.join(chosen), options, folder, self.args.jobs):
                target, state, registers, local, _, told, _, made, _ = fields
                good = state == 'ok'
                fields[5] = occupancy(target, registers, local, told, values) if good else told
                self.known[key].append((fields, shares(made, values, kernel) if good else ['-'] * 3,
                                        in_flight(made) if good else '-'))
        return self.known.get(key, [])

    def tell(self, row, kernel, group, fields, parts, flight):
        target, state, registers, local, spill, told, _, _, note = fields
        if state == 'ok':
            wrong = verdict(row, group, registers, spill, parts)
            state, words = ('FAIL', 'FAIL: ' + ', '.join(wrong)) if wrong else ('ok', passed(row, group, parts))
        else:
            words = '%s: %s' % (state, note)
        self.count[state] += 1
        problem = row.problem + kernel.replace('cla_', ' ').replace('backward_', '').replace(' forward', '')
        columns = (problem, target, registers, local, told, spill) + tuple(
            p if p in '-?' else str(int(float(p))) for p in parts)  # rounded down: what is below a floor looks so
        self.say((FORMAT % (columns + (flight, words))).rstrip()[:WIDTH])

    def row(self, row, folder, last):
        for kernel in kernels(row):
            path, title, options = compose(self.args.run, row, kernel, folder)
            if title != last:
                self.say('# ' + title)
            last = title
            for g in row.groups:
                for fact in self.facts(g, path, kernel, options, os.path.join(folder, g.name)):
                    self.tell(row, kernel, g, *fact)
        return last


def known_targets(known=[]):
    if not known:
        known += output('bash', os.path.join(HERE, 'check.sh'), '-l').stdout.split()
    return known


def arguments():
    p = argparse.ArgumentParser(usage=__doc__.partition('\n')[0])
    p.add_argument('--run', default='./clattn-run')
    p.add_argument('--rows', default=os.path.join(HERE, 'rows.txt'))
    p.add_argument('--only', default='')
    p.add_argument('--target', default='')
    p.add_argument('--jobs', type=int, default=1)
    p.add_argument('--objects')
    p.add_argument('--keep')
    args = p.parse_args()
    args.run = shutil.which(args.run) or fail('no program', args.run)
    return args


def header(table):
    versions = output('bash', os.path.join(HERE, 'check.sh'), '-V').stdout.split('\n')
    words = [os.path.basename(sys.argv[0])] + [shlex.quote(a) for a in sys.argv[1:]]
    table.say('# %s, %s' % (datetime.date.today(), ' '.join(words)))
    table.say('# ' + ', '.join(v for v in versions if v))
    for line in LEGEND.split('\n') + [HEAD]:
        table.say(line)


def main():
    args = arguments()
    rows, table, last = read_rows(args.rows, args.only), Table(args), ''
    header(table)
    with tempfile.TemporaryDirectory() as folder:
        for n, row in enumerate(rows):
            place = os.path.join(args.objects or folder, str(n + 1))
            os.makedirs(place, exist_ok=True)
            last = table.row(row, place, last)
            if not args.objects:
                shutil.rmtree(place)
    table.say('# %(ok)d as they should be, %(FAIL)d failed, %(skip)d skipped' % table.count)
    if args.keep:
        with open(args.keep, 'w') as f:
            f.write('\n'.join(table.lines) + '\n')
    return 1 if table.count['FAIL'] else 0 if table.count['ok'] else 3


if __name__ == '__main__':
    sys.exit(main())
