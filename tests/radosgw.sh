#!/usr/bin/env bash
# A real S3 server for the tests: one Ceph node (monitor, storage daemon, gateway) on loopback, from Debian's packages,
# unpacked into a folder and run from there by whoever runs the tests.
#
#   radosgw.sh install DIR           fetch the packages and unpack them (70 MB to fetch, 280 MB on disk)
#   radosgw.sh up DIR DATA PORT      start it on PORT and PORT + 1000; a second time on the same DATA: with the same objects
#   radosgw.sh stop DATA [SIGNAL]    end what `up` started (TERM)
#
# For tests alone: one copy of every object, and the node's own parts trust each other.
set -euo pipefail

install_packages() {
    local root=$1
    [ -e "$root/complete" ] && return
    mkdir -p "$root/packages/partial" "$root/unpacked"
    apt-get -qq update
    apt-get -qq --yes --no-install-recommends --download-only -o Dir::Cache::archives="$root/packages" \
        install ceph-common ceph-mon ceph-osd radosgw
    for package in "$root"/packages/*.deb; do dpkg --extract "$package" "$root/unpacked"; done
    rm -r "$root/packages"
    touch "$root/complete"
}

use_packages() {
    local usr=$1/unpacked/usr
    lib=$usr/lib/$(uname -m)-linux-gnu
    export LD_LIBRARY_PATH=$lib:$lib/ceph:$1/unpacked/lib/$(uname -m)-linux-gnu:$usr/lib:$usr/lib/ceph
    export PATH=$usr/bin:$PATH PYTHONPATH=$usr/lib/python3/dist-packages
    ceph=$usr/bin/ceph
}

write_configuration() {
    local data=$1 port=$2
    cat >"$data/ceph.conf" <<CONFIGURATION
[global]
fsid = $(cat /proc/sys/kernel/random/uuid)
mon host = v1:127.0.0.1:$((port + 1000))
public addr = 127.0.0.1
ms bind msgr2 = false
auth cluster required = none
auth service required = none
auth client required = none
run dir = $data
log file = $data/\$name.log
admin socket = $data/\$name.socket
pid file =
mon data = $data/monitor
# The node stands on the disk of whoever runs the tests, however full that is.
mon data avail warn = 2
mon data avail crit = 1
mon allow pool size one = true
mon max pg per osd = 1000
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd data = $data/storage
osd objectstore = bluestore
osd memory target = 1073741824
bluestore block size = 20000000000
osd class dir = $lib/rados-classes
erasure code dir = $lib/ceph/erasure-code
plugin dir = $lib/ceph
[mon.a]
mon addr = v1:127.0.0.1:$((port + 1000))
[client]
rgw data = $data/gateway
rgw frontends = beast endpoint=127.0.0.1:$port
rgw dns name = localhost
rgw enable usage log = false
rgw run sync thread = false
CONFIGURATION
}

start() {
    local data=$1 name=$2
    shift 2
    "$@" -f >"$data/$name.out" 2>&1 </dev/null &
    echo $! >"$data/$name.process"
}

up() {
    local root=$1 data=$2 port=$3 is_new=
    use_packages "$root"
    mkdir -p "$data"
    cd "$data" # a core file, if any, lies with the data
    export CEPH_CONF=$data/ceph.conf
    if [ ! -e monitor ]; then
        is_new=yes
        write_configuration "$data" "$port"
        monmaptool --create --addv a "[v1:127.0.0.1:$((port + 1000))]" --fsid "$(sed -n 's/^fsid = //p' ceph.conf)" monmap >/dev/null
        ceph-mon --mkfs -i a --monmap monmap
    fi
    start "$data" monitor ceph-mon -i a
    if [ "$is_new" ]; then
        mkdir -p storage gateway
        local storage_id
        storage_id=$(cat /proc/sys/kernel/random/uuid)
        /usr/bin/python3 "$ceph" --connect-timeout 20 osd new "$storage_id" >/dev/null
        ceph-osd --mkfs -i 0 --osd-uuid "$storage_id" >storage.made 2>&1
    fi
    start "$data" storage ceph-osd -i 0
    start "$data" gateway radosgw -n client.rgw
    for _ in $(seq 600); do
        curl --silent --output /dev/null "http://127.0.0.1:$port/" && break
        sleep 0.1 # nothing tells when it listens
        # On a busy machine it greets the monitor too early now and then ("wrong fsid") and gives up.
        kill -0 "$(cat storage.process)" 2>/dev/null || start "$data" storage ceph-osd -i 0
    done
    curl --silent --output /dev/null "http://127.0.0.1:$port/"
    if [ "$is_new" ]; then
        radosgw-admin user create --uid test --display-name test --access-key test --secret-key testsecret123 \
            >/dev/null 2>user.out
    fi
}

stop() {
    local data=$1 signal=$2 name
    for name in gateway storage monitor; do
        [ -e "$data/$name.process" ] || continue
        kill "-$signal" "$(cat "$data/$name.process")" 2>/dev/null || true
        rm "$data/$name.process"
    done
}

case ${1:-} in
    install) install_packages "$(realpath -m "$2")" ;;
    up) up "$(realpath "$2")" "$(realpath -m "$3")" "$4" ;;
    stop) stop "$(realpath "$2")" "${3:-TERM}" ;;
    *) sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
