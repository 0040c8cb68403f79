/**
 * clattn_tune.h - fused attention on any OpenCL device: what is measured, and what is kept
 * SPDX-License-Identifier: Apache-2.0
 *
 * Plans measure by themselves and keep what they found. This header is for programs that do more than use them: that
 * search ahead of time, try configurations, bring records from one machine to another, or look after the cache.
 * clattn-tune is such a program.
 */
#ifndef CLATTN_TUNE_H
#define CLATTN_TUNE_H

#include <clattn.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tuning ---- */

/**
 * Writes the class of a problem. What is measured and kept is the configuration of a class of problems, not of each
 * problem. A class is written as a problem string too, that of the problem which stands for it: widths, lengths, heads
 * and ratios are rounded to a few values, and features that cost alike are written alike. Of score_mods it has a digest
 * of their texts, "mod:#..". Classes never decide what is right, only what is fast.
 *
 * @param handle   the device
 * @param problem  not NULL
 * @param text     receives the class; at most 192 bytes
 * @param len      bytes of `text`
 * @param needed   receives the bytes that the whole text takes, NUL included; may be NULL
 * @return CL_SUCCESS, or a status as of clattn_supports()
 */
CLATTN_API cl_int clattn_class_of(clattn_handle handle, const clattn_problem *problem, char *text, size_t len,
                                  size_t *needed);

/**
 * Writes the index-th of the usual classes, which clattn-tune goes through by itself.
 *
 * @param handle  the device
 * @param index   from 0 on
 * @param text    receives the class
 * @param len     bytes of `text`
 * @return CL_SUCCESS
 *         CL_INVALID_VALUE   there are not that many
 */
CLATTN_API cl_int clattn_class_at(clattn_handle handle, size_t index, char *text, size_t len);

/**
 * Writes the index-th class that CLATTN_TUNE=record has noted on this device and that was not tuned since.
 *
 * @param handle  the device
 * @param index   from 0 on
 * @param text    receives the class
 * @param len     bytes of `text`
 * @return CL_SUCCESS
 *         CL_INVALID_VALUE   there are not that many
 */
CLATTN_API cl_int clattn_class_recorded(clattn_handle handle, size_t index, char *text, size_t len);

/** One configuration of a problem's class made ready to be measured, on buffers of its own. */
typedef struct clattn_trial_s *clattn_trial;

/**
 * Makes a trial: builds a configuration and checks it on ragged shapes against a float64 computation, with poisoned
 * outputs and guarded buffers.
 *
 * @param out      receives the trial, which the caller frees with clattn_trial_release(); NULL on failure. Not NULL
 *                 itself.
 * @param handle   the device. The trial keeps a reference to it.
 * @param problem  not NULL; copied
 * @param config   "ENGINE" or "ENGINE TILE"; not NULL
 * @return CL_SUCCESS
 *         CLATTN_ERROR_SYNTAX         config cannot be read
 *         CLATTN_ERROR_NOT_SUPPORTED  the configuration cannot run here, or the problem has captured buffers, which
 *                                     leave nothing to measure on
 *         CLATTN_ERROR_BUILD          the driver rejected the kernel
 *         CLATTN_ERROR_WRONG_RESULT   it computes something else
 *         CL_OUT_OF_HOST_MEMORY       no memory
 *         CLATTN_ERROR_INVALID_ARGUMENT, CLATTN_ERROR_UNKNOWN_FIELD   as clattn_plan_create()
 */
CLATTN_API cl_int clattn_trial_create(clattn_trial *out, clattn_handle handle, const clattn_problem *problem,
                                      const char *config) CLATTN_MUST_CHECK;

/**
 * Runs a trial once and waits for it.
 *
 * @param trial    not NULL. Runs at the same time disturb each other's times.
 * @param seconds  receives the seconds that one call of the class's sizes takes, computed from a call that may be
 *                 smaller; not NULL
 * @return CL_SUCCESS
 *         CLATTN_ERROR_INVALID_ARGUMENT   seconds is NULL
 */
CLATTN_API cl_int clattn_trial_run(clattn_trial trial, double *seconds) CLATTN_MUST_CHECK;

/**
 * Frees a trial.
 *
 * @param trial  may be NULL, and may be a parent's in a child of fork()
 * @return CL_SUCCESS
 */
CLATTN_API cl_int clattn_trial_release(clattn_trial trial);

/**
 * Who measures in place of the library's own process, e.g. in children that may hang or crash. All functions are called
 * on the thread that calls clattn_tune().
 */
typedef struct clattn_measure {
    size_t struct_size;
    /**< sizeof(clattn_measure) */
    cl_int (*open)(void *user, const char *config);
    /**< Called once for a configuration, "ENGINE TILE", before it is timed. Several are open at a time. Any status but
     *   CL_SUCCESS puts the configuration out; after CLATTN_ERROR_CRASHED it is left alone for a month with this
     *   driver. CLATTN_ERROR_CANCELLED says nothing about it and cancels the search. Not NULL. */
    cl_int (*run)(void *user, const char *config, double *seconds);
    /**< Called for each timed call, in rounds that interleave all configurations that are open. *seconds receives what
     *   the call took. The status means what it means for `open`. Not NULL. */
    void (*close)(void *user, const char *config);
    /**< Called once after each `open`, also after a failed one. May be NULL. */
    void *user;
    /**< Handed to all three. */
} clattn_measure;

/** Steps of a search, and of the making of a plan: clattn_progress.step. */
enum {
    CLATTN_STEP_BUILD = 1,   /**< a configuration is about to be built */
    CLATTN_STEP_REFUSED = 2, /**< it is out: see `words` */
    CLATTN_STEP_READY = 3,   /**< it can be timed */
    CLATTN_STEP_ROUND = 4,   /**< a round of timed calls is over */
    CLATTN_STEP_DONE = 5,    /**< the search is over */
    CLATTN_STEP_BEST = 6,    /**< `best` is another one now; `config` is it, or the default one when there is none */
    CLATTN_STEP_COMPILE = 7, /**< a kernel of a plan is about to be compiled; only to clattn_options.progress */
    CLATTN_STEP_PLAN = 8     /**< a plan is made, or could not be; only to clattn_options.progress */
};
/** What a search reports before and after each step, and the making of a plan, which has the first four members. */
typedef struct clattn_progress {
    size_t struct_size;
    /**< sizeof(clattn_progress) */
    const char *class_text, *config;
    /**< The class, and the configuration that the step is about. Valid during the call. */
    const char *words;
    /**< Why the configuration was refused; of CLATTN_STEP_COMPILE the kernel; else "". Valid during the call. */
    int32_t step;
    /**< CLATTN_STEP_* */
    int32_t opened, round;
    /**< Configurations tried and rounds run so far. */
    double seconds, limit;
    /**< Seconds since the search began, and its limit; 0: no limit. */
    double ratio;
    /**< The shortest time that was seen divided by that of the default configuration; 0: not known yet. It may be that
     *   of a configuration that fails later, or differs within noise only. */
    const char *best;
    /**< The configuration that is proven to be the fastest so far: 3 % faster than the default one in the median, and
     *   faster in eight of nine rounds. "" as long as there is none, and again when it fails. The end of the search
     *   decides what is recorded. Valid during the call. */
    double best_ratio;
    /**< Its time divided by that of the default configuration, in the same rounds; 0 where there is none. */
} clattn_progress;

/** Options of clattn_tune(). */
typedef struct clattn_tune_options {
    size_t struct_size;
    /**< sizeof(clattn_tune_options) */
    int32_t effort;
    /**< CLATTN_TUNE_QUICK, _FULL or _EXHAUSTIVE; 0: full. */
    int32_t reserved;
    /**< 0 */
    double seconds;
    /**< Limit in seconds, builds included. 0: 2 for quick, 60 for full, none for exhaustive. Negative values and NaN
     *   are refused. */
    int (*progress)(void *user, const clattn_progress *progress);
    /**< Called at each step; later versions may have more steps. A value other than 0 cancels the search. NULL: none.
     */
    void *progress_user;
    /**< Handed to `progress`. */
    const clattn_measure *measure;
    /**< Who measures; NULL: this process. */
    int32_t keep;
    /**< Not 0: a search that is cancelled keeps clattn_progress.best, if there is one, as a record of effort quick that
     *   is not settled, and succeeds. It is checked once more before, which may take seconds. */
} clattn_tune_options;
#define CLATTN_TUNE_OPTIONS_INIT { sizeof(clattn_tune_options), 0, 0, 0, 0, 0, 0, 0 }

/**
 * Searches for the fastest configuration of a problem's class, on buffers of the library's own, and keeps it as a
 * record.
 *
 * A challenger must be 3 % faster in the median and win eight of nine rounds against the default configuration (all
 * rounds, where time is up after five to eight of them); otherwise the default stays. Searches on one handle run one
 * after the other.
 *
 * @param handle   the device
 * @param problem  not NULL
 * @param options  may be NULL
 * @param config   receives the best configuration, "ENGINE TILE"; may be NULL
 * @param len      bytes of `config`
 * @return CL_SUCCESS
 *         CLATTN_ERROR_CANCELLED       `progress` or a clattn_measure asked to stop; nothing was kept
 *         CLATTN_ERROR_NOT_SUPPORTED   as clattn_supports(); every configuration was refused; or the problem has
 *                                      captured buffers, which leave nothing to measure on: its plans use the record of
 *                                      the class without its score_mods
 *         CLATTN_ERROR_INVALID_ARGUMENT, CLATTN_ERROR_UNKNOWN_FIELD   the problem or the options are wrong
 *         CLATTN_ERROR_BUILD, CLATTN_ERROR_WRONG_RESULT   the winner failed when it was checked once more
 *         CL_OUT_OF_HOST_MEMORY        no memory
 */
CLATTN_API cl_int clattn_tune(clattn_handle handle, const clattn_problem *problem, const clattn_tune_options *options,
                              char *config, size_t len);

/**
 * Makes every later plan of this handle for problems of that class use a configuration, once it has been checked as a
 * trial is.
 *
 * @param handle   the device
 * @param problem  names the class; not NULL
 * @param config   "ENGINE" or "ENGINE TILE"; NULL takes an earlier one back
 * @return CL_SUCCESS, or a status as of clattn_trial_create(). On failure what was set before stays.
 */
CLATTN_API cl_int clattn_set_config(clattn_handle handle, const clattn_problem *problem, const char *config);

/** What clattn_wisdom_import() did with the records of a text. */
typedef struct clattn_import_count {
    size_t struct_size;
    /**< sizeof(clattn_import_count) */
    int32_t taken, worse, foreign, refused;
    /**< Records that were kept; that are not better than what is there; of other devices; not runnable here, or not
     *   written. */
} clattn_import_count;

/**
 * Hands over the records of this device as text, one after another in no particular order; see clattn-cache(5).
 *
 * @param handle  the device
 * @param write   called with each record, on the calling thread; not NULL. Its first status that is not CL_SUCCESS ends
 *                the export.
 * @param user    handed to `write`
 * @return CL_SUCCESS, or the status of `write`
 *         CLATTN_ERROR_INVALID_ARGUMENT   write is NULL
 */
CLATTN_API cl_int clattn_wisdom_export(clattn_handle handle, cl_int (*write)(void *user, const char *text, size_t len),
                                       void *user);

/**
 * Keeps the records of a text that are sound, fit this device, and are not of less effort than what is there.
 *
 * @param handle  the device
 * @param text    records as clattn_wisdom_export() writes them; not NULL. Need not end with NUL.
 * @param len     bytes of `text`
 * @param count   is filled in; may be NULL, otherwise with struct_size set
 * @return CL_SUCCESS
 *         CLATTN_ERROR_SYNTAX             the text as a whole is not one of records; nothing was changed
 *         CLATTN_ERROR_INVALID_ARGUMENT   text is NULL, or the struct_size of count is wrong; nothing was changed
 */
CLATTN_API cl_int clattn_wisdom_import(clattn_handle handle, const char *text, size_t len, clattn_import_count *count);

/**
 * Removes the record of a problem's class, or all records of this device. There need not be any.
 *
 * @param handle   the device
 * @param problem  names the class; NULL: all
 * @return CL_SUCCESS, or a status as of clattn_supports()
 */
CLATTN_API cl_int clattn_wisdom_forget(clattn_handle handle, const clattn_problem *problem);

/* ---- What is kept ---- */

/** What happened on a handle so far. */
typedef struct clattn_counters {
    size_t struct_size;
    /**< sizeof(clattn_counters) */
    uint64_t compiles;
    /**< Programs built from text. */
    uint64_t binary_hits, binary_misses, binary_rejects, binary_saves;
    /**< Binaries loaded, not found, not used (damaged, foreign, or refused by the driver), and written. */
    uint64_t record_hits, record_misses, record_rejects, record_saves;
    /**< The same for records. */
    uint64_t searches, trials, trials_refused;
    /**< Searches, configurations that were built to be measured, and those of them that were refused. */
    uint64_t store_faults;
    /**< Reads and writes that failed otherwise. */
} clattn_counters;
#define CLATTN_COUNTERS_INIT { sizeof(clattn_counters), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Reads the counters of a handle.
 *
 * @param handle    not NULL
 * @param counters  is filled in; not NULL, with struct_size set
 * @return CL_SUCCESS
 *         CLATTN_ERROR_INVALID_ARGUMENT   counters is NULL, or its struct_size is wrong
 */
CLATTN_API cl_int clattn_stats(clattn_handle handle, clattn_counters *counters);

/** The directory that options and environment lead to, and what is in it. */
typedef struct clattn_cache_info {
    size_t struct_size;
    /**< sizeof(clattn_cache_info) */
    uint64_t binaries, binary_bytes, binary_max, records, record_bytes, skipped;
    /**< Binaries, their bytes, and the limit of these; records and their bytes; things that are skipped because they
     *   crashed a process. */
    char path[1024];
    /**< The directory; "": there is none. */
} clattn_cache_info;

/**
 * Tells which directory is used and what is in it. Needs no device.
 *
 * @param options  may be NULL
 * @param info     is filled in; not NULL, with struct_size set
 * @return CL_SUCCESS
 *         CLATTN_ERROR_INVALID_ARGUMENT   info is NULL, or a struct_size is wrong
 *         CLATTN_ERROR_UNKNOWN_FIELD      the options are of a newer header and not zero at the end
 *         options.why has the reason.
 */
CLATTN_API cl_int clattn_cache_stat(const clattn_options *options, clattn_cache_info *info);

/**
 * Removes what the library put into that directory, for all devices, and nothing else. Needs no device.
 *
 * @param options  may be NULL
 * @return CL_SUCCESS, also when files could not be removed
 *         CLATTN_ERROR_INVALID_ARGUMENT, CLATTN_ERROR_UNKNOWN_FIELD   as clattn_cache_stat()
 */
CLATTN_API cl_int clattn_cache_clear(const clattn_options *options);

#ifdef __cplusplus
}
#endif
#endif
