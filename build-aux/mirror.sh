#!/bin/sh
# mirror.sh - where apt has Debian's packages from, as the system is set up: http://HOST/debian
# SPDX-License-Identifier: Apache-2.0
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' | grep -v security | head -n 1)
printf '%s\n' "${mirror%/}"
