# embed.cmake - a C file with the text of every file of FILES, and the table of them by name that engine/source.h
# declares: cmake -DTO=FILE -DFILES=LIST -P embed.cmake. What build-aux/embed.sh makes where there is a shell
# SPDX-License-Identifier: Apache-2.0
set(named "")
foreach(file ${FILES})
    get_filename_component(name "${file}" NAME)
    list(APPEND named "${name}|${file}")
endforeach()
list(SORT named)
set(texts "")
set(table "")
foreach(one ${named})
    string(REGEX REPLACE "\\|.*" "" name "${one}")
    string(REGEX REPLACE ".*\\|" "" file "${one}")
    string(REGEX REPLACE "[^A-Za-z0-9]" "_" symbol "${name}")
    file(READ "${file}" bytes HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
    string(APPEND texts "\nstatic const unsigned char ${symbol}[] = {\n${bytes}0};\n")
    string(APPEND table "    { \"${name}\", (const char *)${symbol} },\n")
endforeach()
file(WRITE "${TO}" "#include \"config.h\"\n#include \"engine/source.h\"\n${texts}\n"
    "const struct fragment fragments[] = {\n${table}    { 0, 0 }\n};\n")
