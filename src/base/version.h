/* version.h - the version of the library
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERSION_H
#define VERSION_H

extern const char version_text[]; /* "0.2.0" */

#endif
