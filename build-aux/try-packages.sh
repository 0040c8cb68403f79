#!/bin/sh
# try-packages.sh - installs the packages in this folder in a bare Debian and uses them as their users would
# SPDX-License-Identifier: Apache-2.0
#
# As root, in a root of its own (build-aux/bare.sh), beside try.sh and install.sh, bad-input.sh and tap.sh of tests/lib.
. ./try.sh
try_run() { (cd /usr/share/doc/clattn-tools/examples/data/decoder_causal_layer0 && clattn-run "$@" q.npy k.npy v.npy); }
shared() { ldd /usr/bin/clattn-run | grep -F libclattn.so.0; }
no_headers() { ! test -e /usr/include/clattn.h; }
all_there() { for f in "$@"; do test -s "$f" || { echo "$f" && return 1; }; done; }
bad_input() { sh bad-input.sh /usr/share/doc/clattn-tools/examples/data/decoder_causal_layer0 clattn-run; }
for_programs() { # man pages and completion of each
    for p in clattn-run clattn-tune clattn-bench clattn-report; do
        all_there /usr/share/man/man1/$p.1.gz /usr/share/bash-completion/completions/$p \
            /usr/share/fish/vendor_completions.d/$p.fish || return
        $p -V || return
    done
    all_there /usr/share/man/man5/clattn-cache.5.gz /usr/share/zsh/site-functions/_clattn
}
documented() { all_there /usr/share/man/man3/clattn.3.gz /usr/share/doc/libclattn-dev/README*; }
by_hand() {
    cc "$examples/first_call.c" -o first_call $(pkg-config --cflags --libs clattn) && ./first_call
}
# Every way of tests/lib/install.sh: pkg-config and CMake, shared and static, all examples, also in C++.
every_way() { CXX=g++ sh install.sh "$examples" '' /usr "$(pkg-config --variable=libdir clattn)" /usr/include; }
gone() { ! find /usr /etc/clattn -name '*clattn*' 2>/dev/null | grep .; }

examples=/usr/share/doc/libclattn-dev/examples
ok 'package lists' apt-get update
ok 'clattn-tools is installed with what it depends on' get ./libclattn0_*.deb ./clattn-tools_*.deb pocl-opencl-icd
ok 'headers are not among that' no_headers
ok 'programs use the shared library' shared
ok 'clattn-run is right on real data' try_run --causal --verify
ok 'damaged files and wrong arguments are refused in words' bad_input
ok 'programs have manual pages and completion, and say their version' for_programs
ok 'libclattn-dev is installed with what it depends on' get ./libclattn-dev_*.deb
ok 'make, pkg-config, cmake and g++ are installed' get make pkg-config cmake g++
ok 'clattn(3) and README are there' documented
ok "README's program by pkg-config" by_hand
ok 'all examples by pkg-config and CMake, shared and static' every_way
ok 'the packages are removed' apt-get purge -y libclattn0 libclattn-dev clattn-tools
ok 'nothing stays behind' gone
echo "1..$n"
