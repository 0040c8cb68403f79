#!/bin/sh
# bare.sh - a Debian 12 that has gcc, git and ca-certificates and nothing else, and commands in it
# SPDX-License-Identifier: Apache-2.0
#
#   build-aux/bare.sh make ROOT          makes ROOT, from bare.tar beside it where an earlier one has left that
#   build-aux/bare.sh run ROOT COMMAND   runs a shell command there, in /srv/clattn; the mounts end with it
#
# As root or with sudo, with debootstrap. Roots that lie beside one another share the packages that apt has fetched.
set -eu
usage() {
    echo 'usage: build-aux/bare.sh make ROOT | run ROOT COMMAND' >&2
    exit 2
}
sudo=
test "$(id -u)" -eq 0 || sudo=sudo

make_root() {
    tar=$(dirname "$root")/bare.tar
    if ! test -e "$tar"; then
        mirror=$(sh "$(dirname "$0")/mirror.sh")
        $sudo debootstrap --variant=minbase --include=ca-certificates,gcc,git bookworm "$root" "$mirror"
        # It lives for minutes: nothing has to survive a power cut, and questions are answered with yes.
        echo force-unsafe-io | $sudo tee "$root/etc/dpkg/dpkg.cfg.d/clattn" >/dev/null
        echo 'APT::Get::Assume-Yes "true";' | $sudo tee "$root/etc/apt/apt.conf.d/clattn" >/dev/null
        $sudo mkdir -p "$root/srv/clattn"
        $sudo tar -c -f "$tar.new" -C "$root" .
        $sudo mv "$tar.new" "$tar"
    else
        $sudo mkdir "$root"
        $sudo tar -x -p -f "$tar" -C "$root"
    fi
}

run_in_root() { # COMMAND
    mkdir -p "$(dirname "$root")/fetched/partial"
    $sudo unshare --mount --propagation private sh -c '
        root=$1 proxy=$2 fetched=$3
        for d in proc sys dev; do mount --rbind "/$d" "$root/$d" || exit; done
        mount --bind "$fetched" "$root/var/cache/apt/archives" || exit
        trusted=/etc/ssl/certs/ca-certificates.crt # the machine may reach registries that have a certificate of its own
        test ! -e $trusted || mount --bind $trusted "$root$trusted" || exit
        exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root http_proxy="$proxy" \
            DEBIAN_FRONTEND=noninteractive CLATTN_NEED_DEVICE=1 sh -c "cd /srv/clattn && $4"' \
        sh "$root" "${http_proxy-}" "$(dirname "$root")/fetched" "$1"
}

test $# -ge 2 || usage
root=$2
case $1:$# in
make:2) make_root ;;
run:3) run_in_root "$3" ;;
*) usage ;;
esac
