# clattn.fish - completion for fish: the options that a program lists, and values of some of them
# SPDX-License-Identifier: Apache-2.0

function __clattn_options # PROGRAM: a line for each option, a tab and what it does
    $argv[1] --help 2>/dev/null | string match -r -- '^  +-.*' | string replace -r -- \
        '^ +(--?[a-zA-Z-]+)(,? [^ ]+)? +(.*)$' '$1\t$3'
end

for program in clattn-run clattn-tune clattn-bench
    complete -c $program -n 'string match -q -- "-*" (commandline -ct)' -f -a "(__clattn_options $program)"
    complete -c $program -l device -x -a "($program --list-devices 2>/dev/null | string replace -r '  +' '\t')"
end
complete -c clattn-run -l type -x -a 'f32 f16 bf16 f64'
complete -c clattn-run -l o-type -x -a 'f32 f16 bf16 f64'
complete -c clattn-run -l k-type -x -a 'int8 int4 q8_0 q4_0'
complete -c clattn-run -l v-type -x -a 'int8 int4 q8_0 q4_0'
complete -c clattn-run -l tune -x -a 'auto off readonly quick full record'
complete -c clattn-tune -l effort -x -a 'quick full exhaustive'
complete -c clattn-bench -l against -x -a 'clblast naive default plain'
complete -c clattn-bench -l suite -x -a 'prefill widths gqa small odd types decode'
complete -c clattn-bench -l memory -x
complete -c clattn-bench -l json-file -r
