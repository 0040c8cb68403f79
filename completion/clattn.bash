# clattn.bash - completion for bash: the options that a program lists, and values of some of them
# SPDX-License-Identifier: Apache-2.0

_clattn_words() { # PROGRAM BEFORE: what may stand behind the word BEFORE; nothing: a file or a problem string
    case $2 in
    --device) "$1" --list-devices 2>/dev/null | sed 's/ .*//' ;;
    --type | --o-type) "$1" --help 2>/dev/null | sed -n 's/.*storage on the device: \([^(]*\).*/\1/p' ;;
    --k-type | --v-type) "$1" --help 2>/dev/null | sed -n 's/.*quantise K: \([^;]*\).*/\1/p' ;;
    --layout) echo bhtd bthd ;;
    --align) echo bottom-right top-left ;;
    --tune) echo auto off readonly quick full record ;;
    --effort) echo quick full exhaustive ;;
    --against) "$1" --help 2>/dev/null | sed -n '/--against/,/--suite/s/^      \([a-z]*\) .*/\1/p' ;;
    --parts) "$1" --help 2>/dev/null | sed -n '/^Parts/,/^$/s/^  \([a-z-]*\) .*/\1/p' ;;
    --suite) "$1" --help 2>/dev/null | sed -n '/--suite/,/--plot/s/^      \([a-z]*\) .*/\1/p' ;;
    esac
}

_clattn() { # PROGRAM CURRENT BEFORE
    local words current=$2
    COMPREPLY=()
    words=$(_clattn_words "$1" "$3")
    if test -z "$words"; then
        case $current in
        -*) words=$("$1" --help 2>/dev/null | grep -o -- '^  *-[-a-zA-Z, ]*' | grep -o -- '-[-a-zA-Z]*') ;;
        *) return ;; # -o default: files
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}
complete -o default -F _clattn clattn-run clattn-tune clattn-bench clattn-report
