#!/bin/sh
# relative.sh FROM TO: prints the folder TO as seen from FROM, both absolute; TO itself where they share nothing
# SPDX-License-Identifier: Apache-2.0
awk -v from="$1" -v to="$2" 'BEGIN {
    n = split(from, f, "/+"); m = split(to, t, "/+")
    while (n && f[n] == "") n--
    while (m && t[m] == "") m--
    while (same < n && same < m && f[same + 1] == t[same + 1]) same++
    if (same < 2) { print to; exit }
    for (i = same + 1; i <= n; i++) path = path "/.."
    for (i = same + 1; i <= m; i++) path = path "/" t[i]
    print path == "" ? "." : substr(path, 2)
}'
