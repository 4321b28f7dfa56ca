/* test_report_view.c: what people see of a report at first sight: the answer, and figures that can be read. */
#include "shell.h"

#define ENVIRONMENT "{\"schema\":1,\"type\":\"environment\",\"cpu\":\"a cpu\",\"cores\":2}\n"

/* Each tree is drawn with as many terms as tell it from the others: of 32, par_64 adds in sequence. */
Test(report, orders_are_drawn_where_they_differ) {
  struct shell *s = shell_open();
  shell_put(s, "e.jsonl", ENVIRONMENT);
  shell_run(s, "$F report e.jsonl -o e.html; grep -o 'aria-label=\"Tree of [^\"]*' e.html | cut -d' ' -f3-5");
  cr_expect(strstr(s->out, "host/sequential, 128 terms,\n") && strstr(s->out, "rows/par_64, 128 terms,\n") &&
                strstr(s->out, "rows/par_256, 1024 terms,\n") && strstr(s->out, "host/numpy, 32 terms,\n"),
            "%s", s->out);
  cr_expect(shell_holds(s, "e.html", "<code>x[0..127] in turn</code>"), "a tree is told in words too");
  shell_close(s);
}
