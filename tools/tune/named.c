/* named.c - a problem string with the score_mods that it names
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/tune/named.h"

#include <string.h>

int named_open(struct named *p, const char *text, struct fault *f)
{
    static const clattn_workload fresh = CLATTN_WORKLOAD_INIT;
    const char *words = NULL;
    char why[1024] = "";
    memset(&p->x, 0, sizeof p->x);
    p->c = fresh;
    const cl_int e = clattn_workload_parse(text, &p->c, why, sizeof why);
    if (e != CL_SUCCESS)
        return fault_set(f, EXIT_USAGE, "'%s': %s", text, why[0] ? why : clattn_status_string(e));
    if (extras_mods(&p->c, &p->x, &words) != 0)
        return fault_set(f, EXIT_USAGE, "'%s': %s", text, words);
    return 0;
}

void named_close(struct named *p)
{
    extras_free(&p->x);
}
