#!/bin/sh
# Rendering without a display needs the EGL library and a driver: Mesa's software one where there is no GPU.
# Installs them where it may (root with apt-get), says what to install where it may not, and never fails: a machine whose
# GPU driver brings its own EGL needs nothing, and `smith doctor` is the judge of that.
set -u

packages="libegl1 libgl1 libgl1-mesa-dri libosmesa6"

have() { # is a shared library known to the loader?
    { ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null; } | grep -q "$1"
}

[ "$(uname -s)" = Linux ] || exit 0
if have libEGL.so.1 && have libGL.so.1; then
    exit 0
fi
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
    echo "Installing the rendering libraries: $packages"
    if apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $packages; then
        exit 0
    fi
    echo "apt-get could not install them." >&2
fi
cat >&2 <<TEXT
The rendering libraries are missing. Install them and run again:
  Debian, Ubuntu:  sudo apt-get install -y $packages
  Fedora:          sudo dnf install -y mesa-libEGL mesa-libGL mesa-dri-drivers mesa-libOSMesa
  Arch:            sudo pacman -S mesa libglvnd
TEXT
exit 0
