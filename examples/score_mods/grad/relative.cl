// SPDX-License-Identifier: Apache-2.0
// What is subtracted does not depend on s: ds stays as it is.
