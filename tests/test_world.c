/* test_world.c: real ranks that die, hang, stop, make other calls or never come; a launcher that is missing or wrong; a
 * harness that is interrupted or killed. Each ends in time, with the right exit code and a line that names rank and
 * call, and no process is left.
 *
 * Every process of a case has a mark in its environment, by which leftover processes are found, whatever their parents
 * are.
 *
 * No verdict depends on how busy the machine is. If a case has to wait for the time limit, that limit is five times the
 * time of the slowest case that need not wait, with as many running at once; and "in time" allows a minute more. All
 * other cases have a limit that is never reached.
 */
#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>

#include "ranks.h"
#include "ranks/world.h"
#include "shell.h"

#define CASE "--engine mpi --claims writes_output --fixtures 'normal/f32/sum/1000x3/*'"

static void skip_without_mpi(void) {
  ranks_environment();
  if (!fold_comm_engine_of(FOLD_MPI)) cr_skip_test("this build has no MPI");
  if (system("command -v mpirun >/dev/null")) cr_skip_test("there is no mpirun");
}

/* Processes that have the mark in their environment. */
static int marked(const char *mark, char names[400]) {
  DIR *all = opendir("/proc");
  int n = 0;
  names[0] = '\0';
  for (struct dirent *entry; all && (entry = readdir(all));) {
    static char text[1 << 18];
    char path[300];
    snprintf(path, sizeof path, "/proc/%s/environ", entry->d_name);
    int fd = atoi(entry->d_name) > 1 ? open(path, O_RDONLY) : -1;
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text) : 0;
    if (fd >= 0) close(fd);
    if (got <= 0 || !memmem(text, (size_t)got, mark, strlen(mark))) continue;
    snprintf(path, sizeof path, "/proc/%s/cmdline", entry->d_name);
    shell_slurp(path, text, sizeof text);
    snprintf(names + strlen(names), 400 - strlen(names), " %s (%.40s)", entry->d_name, text);
    n++;
  }
  if (all) closedir(all);
  return n;
}

/* A command line with `setting` in front and the time limit, after which it ends within a minute; before one that is never met.
 * It leaves no process behind for longer than `grace`. The world has four ranks, the case three. */
struct deed {
  const char *setting, *command;
  int limit; /* seconds; 0: the default, 20; WAITS: run_before_waiting says */
  double grace;
  int code;
  const char *words; /* separated by '|' */
};
/* What waits for a limit waits beside others: as many as do not take more than a few seconds to start. */
enum { NEVER_MET = 240, ROOM = 60, TOGETHER = 4, DEEDS = 40, WAITS = -1 };

struct doing {
  const struct deed *deed;
  struct shell *s;
  char mark[80];
  double start;
};

static void begin(struct doing *d, struct shell *s, const struct deed *deed) {
  static int count;
  char limit[40] = "";
  *d = (struct doing){.deed = deed, .s = s, .start = fold_now()};
  snprintf(d->mark, sizeof d->mark, "FOLD_MARK=%d.%d.", (int)getpid(), count++);
  if (deed->limit) snprintf(limit, sizeof limit, "FOLDPROOF_TIMEOUT=%d", deed->limit);
  shell_begin(s, "export %s FOLDPROOF_RANKS=4 %s %s; %s", d->mark, limit, deed->setting, deed->command);
}

static void check_end(const struct doing *d) {
  char names[400];
  double took = fold_now() - d->start, end = fold_now() + d->deed->grace;
  int limit = d->deed->limit ? d->deed->limit : 20;
  cr_expect(took < (limit == NEVER_MET ? limit : limit + ROOM), "%s: took %.1f s", d->s->ran, took);
  while (marked(d->mark, names) > 0 && fold_now() < end) usleep(20000);
  cr_expect(marked(d->mark, names) == 0, "%s: left behind:%s", d->s->ran, names);
}

/* The exit code, and that the output, or the errors, hold each of the words. */
static void expect(struct shell *s, int code, const char *words) {
  char copy[400], *rest = NULL;
  cr_expect_eq(s->code, code, "%s: exit code %d, want %d: %s%s", s->ran, s->code, code, s->out, s->err);
  snprintf(copy, sizeof copy, "%s", words);
  for (char *word = strtok_r(copy, "|", &rest); word; word = strtok_r(NULL, "|", &rest))
    cr_expect(strstr(s->out, word) || strstr(s->err, word), "%s: no '%s' in: %s%s", s->ran, word, s->out, s->err);
  shell_close(s);
}

static void write_scripts(struct shell *s);

/* Each in a folder with the scripts, TOGETHER of them at once: where one has ended and was looked at, the next begins. Returns how
 * many seconds the slowest took. */
static double run_all(const struct deed *deeds, size_t n) {
  struct doing doing[TOGETHER] = {0};
  size_t begun = 0;
  double slowest = 0;
  for (size_t left = n; left > 0; usleep(10000))
    for (struct doing *d = doing; d < doing + TOGETHER; d++) {
      if (d->s && shell_ended(d->s, false)) {
        slowest = fmax(slowest, fold_now() - d->start);
        check_end(d);
        expect(d->s, d->deed->code, d->deed->words);
        d->s = NULL;
        left--;
      }
      if (d->s || begun == n) continue;
      struct shell *s = shell_open();
      write_scripts(s);
      begin(d, s, &deeds[begun++]);
    }
  return slowest;
}

static void run(const struct deed *deed) { run_all(deed, 1); }

/* Seconds after which a rank, or a world that does not start, hangs: not before `least`. */
static int limit_after(double slowest, int least) { return (int)fmax(ceil(5 * slowest), least); }

/* First those that end by themselves, whose limit is never met; then those that wait for theirs. */
static void run_before_waiting(struct deed *deeds, size_t n, int least) {
  struct deed sorted[DEEDS];
  size_t ends = 0, waits = n;
  cr_assert(n <= DEEDS, "room for %zu deeds", n);
  for (size_t i = 0; i < n; i++) sorted[deeds[i].limit != WAITS ? ends++ : --waits] = deeds[i];
  cr_assert(ends > 0, "nothing tells how long a world takes here");
  int limit = limit_after(run_all(sorted, ends), least);
  for (size_t i = ends; i < n; i++) sorted[i].limit = limit;
  run_all(sorted + ends, n - ends);
}

Test(world, a_rank_that_fails_is_named_with_its_call_and_none_is_left) {
  static const struct {
    const char *subject, *words;
  } faults[] = {
      {"rank_killed", "rank 1 of 3 (process |died in call 1 (allreduce of 1000 f32) of broken/rank_killed"},
      {"rank_exits", "rank 1 of 3 (process |died in broken/rank_exits"},
      {"rank_crashes", "rank 1 of 3 (process |died in broken/rank_crashes"},
      {"rank_fails", "rank 1 of 3 in broken/rank_fails: its device fell off the bus"},
      {"rank_hangs", "rank 1 of 3 hangs: no further than in broken/rank_hangs within "},
      {"rank_stops", "rank 1 of 3 (process |is stopped in broken/rank_stops"},
      {"rank_stops_in_call", "rank 1 of 3 (process |is stopped in call 1 (allreduce of 1000 f32)"},
      {"rank_other_count", "rank 1 called allreduce of 999 f32 where rank 0 called allreduce of 1000 f32"},
      {"rank_other_type", "rank 1 called allreduce of 500 f64 where rank 0 called allreduce of 500 f32"},
      {"rank_other_call", "rank 1 called gather of 4000 bytes where rank 0 called allreduce of 1000 f32"},
      {"rank_babbles", "rank 1 called nothing of 0 bytes where rank 0 called allreduce of 1000 f32"},
  };
  skip_without_mpi();
  enum { FAULTS = sizeof faults / sizeof *faults };
  char command[FAULTS][300];
  struct deed deeds[FAULTS];
  for (size_t i = 0; i < FAULTS; i++) {
    snprintf(command[i], sizeof *command, "$M verify --subjects broken/%s " CASE, faults[i].subject);
    bool waits = !strstr(faults[i].words, "died in") && !strstr(faults[i].words, "fell off");
    deeds[i] = (struct deed){"X=", command[i], waits ? WAITS : NEVER_MET, 0, 99, faults[i].words};
  }
  run_before_waiting(deeds, FAULTS, 2);
}

Test(world, what_all_ranks_refuse_alike_is_a_skip_and_the_world_goes_on) {
  static const struct deed deeds[] = {
      {"X=", "$M verify --subjects broken/ranks_fail " CASE, NEVER_MET, 0, 77, "not on Fridays|1 skipped"},
      {"X=",
       "$M verify --subjects broken/ranks_fail,mutant/own_first --engine mpi --claims writes_output "
       "--fixtures 'normal/f32/sum/1000x3/*'",
       NEVER_MET, 0, 0, "1 held, 0 refuted, 1 skipped"},
  };
  skip_without_mpi();
  run_all(deeds, 2);
}

#ifdef MPI_SHIM
/* What is left to send when a call of MPI returns may move within later calls only: a rank makes some while it waits. The same
 * with an MPI that would not move: so it did leave. */
Test(world, a_rank_that_has_left_a_call_helps_the_others_out_of_it) {
  skip_without_mpi();
  struct deed deeds[] = {
      {"LD_PRELOAD=" MPI_SHIM " SHIM=leaves ASAN_OPTIONS=verify_asan_link_order=0",
       "$F verify --subjects collective/exact " CASE, NEVER_MET, 0, 0, "1 held, 0 refuted, 0 skipped"},
      {"LD_PRELOAD=" MPI_SHIM " SHIM=leaves_for_good ASAN_OPTIONS=verify_asan_link_order=0",
       "$M verify --subjects mutant/last_rank_in_five " CASE, WAITS, 0, 99,
       "rank 0 of 3 hangs: no further than in call 1 (allreduce of 17000 int64) of mutant/last_rank_in_five"},
  };
  run_before_waiting(deeds, 2, 3);
}
#endif

Test(world, without_a_time_limit_given_a_stopped_rank_is_named) {
  static const struct deed deed = {"X=", "$M verify --subjects broken/rank_stops " CASE, 0, 0,
                                   99,   "rank 1 of 3|is stopped in broken/rank_stops"};
  skip_without_mpi();
  run(&deed);
}

/* Launchers and ranks as scripts; the ranks but one are right. */
#define ONE(does) "#!/bin/sh\n[ \"$OMPI_COMM_WORLD_RANK\" = 1 ] && " does "\nexec " FOLDPROOF_MUTANTS " \"$@\"\n"
/* Waits until the three others have connected, and have had time to say who they are: of several ranks that are not
 * there the first is named. */
#define AFTER_THE_OTHERS                                                           \
  "for a; do case $a in 127.0.0.1:*) port=$(printf %04X ${a##*:}) ;; esac; done; " \
  "until [ \"$(grep -c \":$port 01 \" /proc/net/tcp)\" = 3 ]; do sleep 0.1; done; sleep 3; "
/* What plugins of Open MPI print that can't be opened, on some machines in every run. */
#define NO_PLUGIN(which)                                                     \
  "echo \"    dlopen error: /usr/lib/x86_64-linux-gnu/pmix2/lib/pmix/" which \
  ".so: undefined symbol: pmix_output_inf\" >&2\n"
#define NOISE                                                                                     \
  "echo '[a:1] mca_base_component_repository_open: unable to open mca_b: c.so is missing' >&2\n"  \
  "echo '[a:1] plm:rsh: Warning: setpgid(2,2) failed' >&2\n" NO_PLUGIN("pmix_mca_pcompress_zlib") \
      NO_PLUGIN("pmix_mca_pcompress_zlib")
#define MUCH_NOISE "for i in $(seq 15); do " NO_PLUGIN("pmix_mca_$i") NOISE "done\n"
static void write_scripts(struct shell *s) {
  static const char *const scripts[][2] = {
      {"prints", "#!/bin/sh\necho no partition called gpu >&2\nexit 1\n"},
      {"explains", "#!/bin/sh\necho a component is missing\necho ----\necho and this is why >&2\nexit 1\n"},
      {"mpirun_warns",
       "#!/bin/sh\n" NOISE "echo no way to node c >&2\necho ----\necho and so the job has been ended\nexit 1\n"},
      {"buries", "#!/bin/sh\n" MUCH_NOISE "echo '[a:1] plm:rsh: no way to node c' >&2\n" MUCH_NOISE "exit 1\n"},
      {"buries_deep",
       "#!/bin/sh\nseq -f 'line %.0f of a log' 3000\necho no way to node c >&2\nseq -f 'line %.0f of another' 5\nexit "
       "1\n"},
      {"babbles", "#!/bin/sh\nprintf 12345678x%.0s $(seq 100)\nexit 1\n"},
      {"hangs", "#!/bin/sh\nexec sleep 1000\n"},
      {"one_fails", ONE("{ " AFTER_THE_OTHERS "echo no such device >&2; exit 3; }")},
      {"one_hangs", ONE("exec sleep 1000")},
      {"one_stops", ONE("kill -STOP $$")},
      {"second_fails",
       "#!/bin/sh\n[ -e once ] && { echo the port is taken >&2; exit 1; }\n"
       "touch once\nexec mpirun --oversubscribe --bind-to none -n 4 \"$@\"\n"},
      {"stays", "#!/bin/sh\nmpirun --oversubscribe --bind-to none -n 4 \"$@\"\nexec sleep 1000\n"},
  };
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
    chmod(scratch_write(&s->scratch, scripts[i][0], scripts[i][1], strlen(scripts[i][1])), 0755);
}

Test(world, a_launcher_that_fails_is_told_with_what_it_printed) {
  static const struct {
    const char *setting;
    int code;
    const char *words;
  } launchers[] = {
      {"FOLDPROOF_LAUNCH=./hangs", 99, "rank 0 of 4 did not start: no word from it in time"},
      {"FOLDPROOF_PROGRAM=$PWD/one_fails", 99, "rank 1 of 4 did not start: |no such device"},
      {"FOLDPROOF_PROGRAM=$PWD/one_hangs", 99, "rank 1 of 4 did not start: no word from it in time"},
      {"FOLDPROOF_PROGRAM=$PWD/one_stops", 99, "rank 1 of 4 did not start: no word from it in time"},
      {"PATH=/nowhere", 77, "mpirun cannot be started: No such file"},
      {"FOLDPROOF_LAUNCH=no_such_launcher", 2, "--launch, FOLDPROOF_LAUNCH: no_such_launcher cannot be started"},
      {"FOLDPROOF_LAUNCH=threads", 2, "an MPI rank is a process"},
      {"FOLDPROOF_RANKS=0", 2, "FOLDPROOF_RANKS=0: at least 1"},
      {"FOLDPROOF_RANKS=1025", 2, "FOLDPROOF_RANKS=1025: at most 1024"},
      {"FOLDPROOF_TIMEOUT=soon", 2, "FOLDPROOF_TIMEOUT=soon"},
      {"FOLDPROOF_ADDRESS=localhost", 2, "FOLDPROOF_ADDRESS=localhost: not an IPv4 address"},
      {"FOLDPROOF_LAUNCH=/bin/false", 99, "rank 0 of 4 did not start: the launcher ended"},
      {"FOLDPROOF_LAUNCH=./prints", 99, "rank 0 of 4 did not start: the launcher ended: no partition called gpu"},
      {"FOLDPROOF_LAUNCH=./explains", 99,
       "rank 0 of 4 did not start: the launcher ended: a component is missing / and this is why\n"},
      {"FOLDPROOF_LAUNCH=./mpirun_warns", 99,
       "the launcher ended: [a:1] mca_base_component_| / no way to node c / and so the job has been ended\n"},
      {"FOLDPROOF_LAUNCH=./buries", 99, "the launcher ended: dlopen error: |plm:rsh: no way to node c|keeps all of it"},
      {"FOLDPROOF_LAUNCH=./buries_deep", 99, "no way to node c|keeps all of it"},
      {"FOLDPROOF_LAUNCH=./babbles", 99, ": 12345678x12345678x|x12345678 (FOLDPROOF_OUTPUT=FILE keeps all of it)"},
      {"FOLDPROOF_LAUNCH='mpirun --oversubscribe -n 2'", 99,
       "the launcher started rank |of 2 on |4 ranks were requested"},
      {"FOLDPROOF_LAUNCH='mpirun --oversubscribe -n 6'", 99,
       "the launcher started rank |of 6 on |4 ranks were requested"},
  };
  skip_without_mpi();
  enum { LAUNCHERS = sizeof launchers / sizeof *launchers };
  struct deed deeds[LAUNCHERS];
  for (size_t i = 0; i < LAUNCHERS; i++) {
    bool waits = strstr(launchers[i].words, "no word from it in time") != NULL;
    deeds[i] = (struct deed){launchers[i].setting,      "$M verify --subjects mutant/own_first " CASE,
                             waits ? WAITS : NEVER_MET, 0,
                             launchers[i].code,         launchers[i].words};
  }
  run_before_waiting(deeds, LAUNCHERS, 2);
}

/* As with a launcher that can't serve two worlds at once: this process has one by then. */
Test(world, a_probe_that_could_try_nothing_is_no_success) {
  static const struct deed deed = {
      "PATH=/nowhere",           "$M verify --probe --subjects mutant/own_first " CASE, NEVER_MET, 0, 77,
      "mpirun cannot be started"};
  skip_without_mpi();
  run(&deed);
}

Test(world, a_new_process_whose_ranks_do_not_start_says_why) {
  static const struct deed deed = {
      "FOLDPROOF_LAUNCH=./second_fails",
      "$F verify --subjects collective/exact --engine mpi --claims fresh_process "
      "--fixtures 'normal/f32/sum/1x36000/ranks3/*'",
      NEVER_MET,
      0,
      99,
      "the new process gave no result: mpi: rank 0 of 4 did not start: the launcher ended: the port is taken"};
  skip_without_mpi();
  run(&deed);
}

Test(world, what_launcher_and_ranks_print_is_kept_where_the_user_says) {
  static const struct deed deeds[] = {
      {"FOLDPROOF_LAUNCH=./prints FOLDPROOF_OUTPUT=kept",
       "echo before >kept; $M verify --subjects mutant/own_first " CASE
       "; code=$?; tail -n 2 kept | tr '\n' '/'; exit $code",
       NEVER_MET, 0, 99, "before/no partition called gpu/|the launcher ended: no partition called gpu\n"},
      {"FOLDPROOF_OUTPUT=nowhere/kept", "$M verify --subjects mutant/own_first " CASE, NEVER_MET, 0, 2,
       "FOLDPROOF_OUTPUT=nowhere/kept: No such file"},
  };
  skip_without_mpi();
  run_all(deeds, 2);
}

struct fake {
  const char *mode;
  int code;
  const char *words;
};

/* Those that wait for the limit, and others; the first has all its ranks, in time for no limit. */
static void run_fakes(const struct fake *fakes, size_t n, bool all_wait) {
  char setting[16][600];
  struct deed deeds[16];
  char library[64];
  fold_comm_engine_of(FOLD_MPI)->version(library);
  for (size_t i = 0; i < n; i++) {
    bool waits = (all_wait && i > 0) || strstr(fakes[i].words, "in time");
    snprintf(setting[i], sizeof *setting,
             "FAKE_PROTOCOL=%d FAKE_DONE=%d FAKE_VERSION=" FOLD_VERSION " FAKE_LIBRARY='%s' FOLDPROOF_LAUNCH='" PYTHON
             " -IS %s %s'",
             FOLD_WIRE_PROTOCOL, WIRE_DONE, library, FAKE_RANKS, fakes[i].mode);
    deeds[i] = (struct deed){
        setting[i],    "$M verify --subjects mutant/own_last " CASE, waits ? WAITS : NEVER_MET, 0, fakes[i].code,
        fakes[i].words};
  }
  run_before_waiting(deeds, n, 3);
}

/* As in a container that is paused: no process moves for longer than a rank may take, and no rank is late. Then rank 0 dies. */
Test(world, a_harness_that_was_stopped_itself_blames_no_rank) {
  static const struct fake fakes[] = {
      {"strangers", 0, "1 held, 0 refuted"},
      {"frozen", 99, "rank 0 of |died in making a communicator"},
      {"frozen_in_answer", 99, "rank 0 of |died in making a communicator"},
      {"frozen_in_hello", 99, " died in starting"},
  };
  skip_without_mpi();
  run_fakes(fakes, sizeof fakes / sizeof *fakes, true);
}

Test(world, false_ranks_and_strangers_that_connect_are_told_apart) {
  static const struct fake fakes[] = {
      {"halves", 99, "rank 0 of 4 did not start: no word from it in time"},
      {"nobody", 99, "rank 0 of 4 did not start: no word from it in time"},
      {"version", 99, "rank 1 on |is foldproof 9.9.9, this is " FOLD_VERSION},
      {"protocol", 99, "a rank runs a different version of foldproof"},
      {"library", 99, "rank 2 on |has Fake 2, rank 0 on |has Open MPI"},
      {"another", 99, "the ranks have Fake 2 (rank 0 on |this process has Open MPI"},
      {"twice", 99, "two processes say that they are rank 1"},
      {"world", 99, "the launcher started rank 0 of 5 on |4 ranks were requested"},
      {"babble", 99, "rank 0 of |answered out of turn"},
      {"orphans", 99, "did not start: the launcher ended"},
      {"strangers", 0, "1 held, 0 refuted"},
  };
  skip_without_mpi();
  run_fakes(fakes, sizeof fakes / sizeof *fakes, false);
}

/* To load MPI takes longer than all else before main. */
Test(world, who_needs_no_ranks_does_not_load_mpi) {
  static const struct deed deeds[] = {
      {"LOADED='env LD_DEBUG=files LD_DEBUG_OUTPUT=loaded'",
       "$LOADED $F verify --subjects host/pairwise --fixtures normal/f32/sum/1x17/seed1; cat loaded.* | grep -c "
       "file=libmpi",
       NEVER_MET, 0, 1, "\n0\n"},
      {"LOADED='env LD_DEBUG=files LD_DEBUG_OUTPUT=loaded'", "$LOADED $F env; cat loaded.* | grep -m1 file=libmpi",
       NEVER_MET, 0, 0, "file=libmpi"},
  };
  skip_without_mpi();
  run_all(deeds, 2);
}

/* The harness gets the signal while a rank hangs in a call; then only they themselves and their launcher
 * can end the ranks. */
Test(world, a_harness_that_is_interrupted_or_killed_leaves_no_process) {
  static const struct {
    const char *subject, *options, *signals;
    int code;
  } ends[] = {
      {"rank_hangs", "", "kill -INT $p", 99},
      {"rank_hangs", "", "kill -TERM $p; kill -TERM $p", 99}, /* as timeout(1) does */
      {"rank_hangs", "", "kill -KILL $p", 137},
      {"rank_stops", "", "kill -KILL $p", 137},
      {"rank_hangs", "--probe --claims fresh_process", "kill -KILL $p", 137},
      {"rank_hangs", "--launch ./stays", "kill -KILL $p", 137}, /* as an mpirun that waits for itself */
      {"rank_hangs", "--launch ./stays", "kill -INT $p", 99},
  };
  enum { ENDS = sizeof ends / sizeof *ends };
  char command[ENDS][500];
  struct deed deeds[ENDS];
  skip_without_mpi();
  for (size_t i = 0; i < ENDS; i++) {
    snprintf(command[i], sizeof *command,
             "export FOLD_SEEN=$PWD/seen; env --default-signal=INT $M verify --subjects broken/%s " CASE
             " %s & p=$!; "
             "until [ -e seen ]; do sleep 0.05; done; %s; wait $p",
             ends[i].subject, ends[i].options, ends[i].signals);
    deeds[i] = (struct deed){"X=", command[i], NEVER_MET, ROOM, ends[i].code, ""};
  }
  run_all(deeds, ENDS);
}
