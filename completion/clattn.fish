# clattn.fish - completion for fish: the options that a program lists, and values of some of them
# SPDX-License-Identifier: Apache-2.0

function __clattn_options # PROGRAM: a line for each option, a tab and what it does
    $argv[1] --help 2>/dev/null | string match -r -- '^  +-.*' | string replace -r -- \
        '^ +(--?[a-zA-Z-]+)(,? [^ ]+)? +(.*)$' '$1\t$3'
end

function __clattn_types # WHAT: the words behind it in the help of clattn-run
    clattn-run --help 2>/dev/null | string match -r -- $argv[1]': [^(;]*' | string replace -r '.*: ' '' | \
        string trim | string split ' '
end

for program in clattn-run clattn-tune clattn-bench clattn-report
    complete -c $program -n 'string match -q -- "-*" (commandline -ct)' -f -a "(__clattn_options $program)"
    complete -c $program -l device -x -a "($program --list-devices 2>/dev/null | string replace -r '  +' '\t')"
end
for option in type o-type
    complete -c clattn-run -l $option -x -a "(__clattn_types 'storage on the device')"
end
for option in k-type v-type
    complete -c clattn-run -l $option -x -a "(__clattn_types 'quantise K')"
end
complete -c clattn-run -l tune -x -a 'auto off readonly quick full record'
complete -c clattn-tune -l effort -x -a 'quick full exhaustive'
complete -c clattn-bench -l against -x -a 'clblast naive default plain'
complete -c clattn-bench -l suite -x -a 'prefill widths gqa small odd types decode'
complete -c clattn-bench -l memory -x
complete -c clattn-bench -l json-file -r
complete -c clattn-report -l parts -x -a 'device checks bench engines kernels tuning more-checks'
complete -c clattn-report -l output -r
