#!/usr/bin/env bash
# Tests the README's claim that on a Debian 12 with nothing installed its two
# commands need no other preparation.
#
#   sudo tools/fresh_debian_test.sh [--install-only] [FOLDER]
#
# Makes a minimal Debian 12 in FOLDER (default: a temporary one that is removed
# at the end), clones HEAD of this repository into it, makes it the root of a
# new mount namespace (pivot_root, because bubblewrap does not work in a
# chroot), and runs `tools/dev run` and `tools/dev test` there. Needs root,
# debootstrap, git, a Debian mirror (ESPALIER_MIRROR), 8 GB of disk; takes up to
# an hour on two cores.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

Die() {
  printf 'fresh_debian_test: %s\n  remedy: %s\n' "$1" "$2" >&2
  exit 1
}

install_only=0
if [[ "${1:-}" == --install-only ]]; then
  install_only=1
  shift
fi
((EUID == 0)) || Die "mounting needs root" "sudo tools/fresh_debian_test.sh"
command -v debootstrap >/dev/null ||
  Die "debootstrap is not installed" "apt-get install debootstrap"

if (($#)); then
  root=$1
  mkdir -p "$root"
else
  root=$(mktemp -d /var/tmp/fresh-debian.XXXXXX)
  trap 'rm -rf --one-file-system "$root"' EXIT
fi

if [[ ! -x $root/usr/bin/apt-get ]]; then
  echo "== debootstrap into $root"
  debootstrap --variant=minbase bookworm "$root" \
    "${ESPALIER_MIRROR:-http://deb.debian.org/debian}" >"$root.log" 2>&1 ||
    Die "debootstrap failed: $(tail -n 1 "$root.log")" \
      "check the network or set ESPALIER_MIRROR; all of it: $root.log"
  rm -f "$root.log"
fi
# Copies how this machine reaches its mirror: names, sources, proxies,
# certificates.
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
rm -rf "$root/espalier"
git -c safe.directory='*' clone -q --no-hardlinks . "$root/espalier"

unshare --mount --fork bash -euo pipefail -c '
  root=$1 install_only=$2
  mount --make-rprivate /
  mount --rbind "$root" "$root"
  cd "$root"
  mount -t proc proc proc
  mount --rbind /sys sys
  mount --rbind /dev dev
  mkdir -p old-root
  pivot_root . old-root
  cd /espalier
  umount -l /old-root
  export HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin
  Timed() {
    local start=$SECONDS
    "$@"
    echo "== $*: $((SECONDS - start)) s"
  }
  Timed tools/dev install
  Timed tools/dev install
  if ((install_only)); then exit; fi
  Timed tools/dev run
  Timed tools/dev test
' bash "$root" "$install_only"
echo "== done"
