// SPDX-License-Identifier: Apache-2.0
// Keys that are dropped have no gradient, and the others have their own: ds stays as it is.
