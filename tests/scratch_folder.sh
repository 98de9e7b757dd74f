#!/bin/sh
# Prints a folder in memory for what tests write, if this machine has one with room in which programs may be started.
# They write thousands of small files, and products wait for each of them to be on disk.
folder=/dev/shm
[ -w $folder ] || exit 0
[ "$(df -Pm $folder | awk 'NR == 2 {print $4}')" -ge 6000 ] || exit 0
try=$(mktemp -d $folder/try.XXXXXX) || exit 0
printf '#!/bin/sh\necho %s\n' $folder >"$try/run"
chmod +x "$try/run"
"$try/run" 2>/dev/null
rm -rf "$try"
