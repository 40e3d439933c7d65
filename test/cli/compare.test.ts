import { expect, test } from "vitest";
import { stagedServer } from "../support/staged-server.ts";
import { runCommand } from "./run-command.ts";

const fleet = (nodeHours: number, idleNodeHours: number, boots: number, cost: number) => ({
  peakNodes: 12,
  meanNodes: Number((nodeHours / 24).toFixed(2)),
  nodeHours,
  idleNodeHours,
  boots,
  cost,
});

const BODY = {
  cluster: "prod",
  observing: [{ nodearray: "execute", since: "2026-01-01T00:00:00.000Z", virtualNodes: 2 }],
  days: [
    {
      day: "2026-01-02",
      currency: "EUR",
      waitingJobHours: { real: 1.5, virtual: 1.2 },
      nodearrays: [
        {
          nodearray: "execute",
          observedHours: 24,
          real: fleet(156, 72, 12, 31.2),
          virtual: fleet(96, 6, 15, 19.2),
          differences: [
            {
              kind: "idle",
              since: "2026-01-02T10:40:00.000Z",
              until: "2026-01-02T15:40:00.000Z",
              hours: 5,
              nodes: 12,
              nodeHours: 60,
              stoppedAt: "2026-01-02T10:40:00.000Z",
              text: "12 nodes idle for 5 h from 10:40 (60 node-hours). They would have been stopped at 10:40: no job needed them",
            },
          ],
        },
      ],
    },
  ],
};

const compare = (...options: readonly string[]) => compareWith(BODY, ...options);

async function compareWith(body: object, ...options: readonly string[]) {
  const { url } = await stagedServer(() => ({ status: 200, body }));
  const { out } = await runCommand(["compare", "-c", "prod", "--url", url, "--key", "k", ...options]);
  return out;
}

test("the report, as an administrator reads it who decides whether to switch", async () => {
  expect((await compare()).trimEnd().split("\n")).toEqual([
    "observing only, nothing is created or stopped: execute since 2026-01-01T00:00:00.000Z (2 nodes now)",
    "",
    "verdict: the autoscaler would have been cheaper, and jobs would have waited less",
    "  cost        31.2 EUR real, 19.2 EUR with the autoscaler: 12 EUR less (38 %)",
    "  node-hours  156 real, 96 with the autoscaler: 60 less (38 %); idle: 72 and 6",
    "  jobs waited 1.5 h real, 1.2 h with the autoscaler: 0.3 h less (20 %)",
    "",
    "real: the nodes that existed. autoscaler: the nodes that it would have run.",
    "",
    "DAY         ARRAY    FLEET       OBSERVED H  NODES  PEAK  NODE-H  IDLE-H  BOOTS  COST  CURRENCY  JOBS WAITED H",
    "2026-01-02  execute  real                24    6.5    12     156      72     12  31.2  EUR                   -",
    "2026-01-02  execute  autoscaler          24      4    12      96       6     15  19.2  EUR                   -",
    "2026-01-02  (all)    real                 -      -     -       -       -      -     -  -                   1.5",
    "2026-01-02  (all)    autoscaler           -      -     -       -       -      -     -  -                   1.2",
    "",
    "largest differences:",
    "  2026-01-02 execute: 12 nodes idle for 5 h from 10:40 (60 node-hours). They would have been stopped at 10:40: no job needed them",
  ]);
});

test("as CSV", async () => {
  expect((await compare("--csv")).trimEnd().split("\n")).toEqual([
    "day,nodearray,fleet,observedHours,meanNodes,peakNodes,nodeHours,idleNodeHours,boots,cost,currency,waitingJobHours",
    "2026-01-02,execute,real,24,6.5,12,156,72,12,31.2,EUR,",
    "2026-01-02,execute,autoscaler,24,4,12,96,6,15,19.2,EUR,",
    "2026-01-02,(all),real,,,,,,,,,1.5",
    "2026-01-02,(all),autoscaler,,,,,,,,,1.2",
  ]);
});

test("as JSON it is the app's answer", async () => {
  expect(JSON.parse(await compare("--json"))).toEqual(BODY);
});

/** A day of one array, with these totals of both fleets. */
function bodyOf(
  real: object,
  virtual: object,
  more: { readonly waitingJobHours?: object; readonly hours?: number } = {},
) {
  const { waitingJobHours, hours = 24 } = more;
  const nodearrays = [{ nodearray: "execute", observedHours: hours, real, virtual, differences: [] }];
  return { cluster: "prod", observing: [], days: [{ day: "2026-01-02", waitingJobHours, nodearrays }] };
}

const counts = (nodeHours: number, cost?: number, unpricedNodeHours?: number) => ({
  nodeHours,
  idleNodeHours: 0,
  cost,
  unpricedNodeHours,
});

test.each([
  {
    body: bodyOf(counts(10, 5), counts(8, 4), { waitingJobHours: { real: 1, virtual: 2 } }),
    verdict: "the autoscaler would have been cheaper, but jobs would have waited longer",
  },
  {
    body: bodyOf(counts(10, 5), counts(11, 6), { waitingJobHours: { real: 2, virtual: 1 } }),
    verdict: "the autoscaler would have been more expensive, but jobs would have waited less",
  },
  {
    body: bodyOf(counts(10, 5), counts(11, 6), { waitingJobHours: { real: 2, virtual: 3 } }),
    verdict: "the autoscaler would have been more expensive, and jobs would have waited longer",
  },
  {
    body: bodyOf(counts(100), counts(99.5), { waitingJobHours: { real: 0, virtual: 0 } }),
    verdict: "the autoscaler would have used as many node-hours, and jobs would have waited as long",
  },
  {
    body: bodyOf(counts(10), counts(8)),
    verdict: "the autoscaler would have used fewer node-hours; how long jobs waited is not known",
  },
])("$verdict", async ({ body, verdict }) => {
  expect(await compareWith(body)).toContain(`\nverdict: ${verdict}\n`);
});

test("what the verdict does not know is said: prices, waiting jobs, and that a few hours are little", async () => {
  const lines = (await compareWith(bodyOf(counts(10), counts(8), { hours: 5 }))).split("\n");
  expect(lines.slice(2, 7)).toEqual([
    "verdict: the autoscaler would have used fewer node-hours; how long jobs waited is not known",
    "  cost        not known: the configuration has no prices",
    "  node-hours  10 real, 8 with the autoscaler: 2 less (20 %); idle: 0 and 0",
    "  jobs waited not known: no request set has jobs",
    "  observed for 5 h only: let a week pass before you decide",
  ]);
  expect(await compareWith(bodyOf(counts(10, 2, 6), counts(8, 1)))).toContain(
    "1 less (50 %); without the 6 and 0 node-hours whose price is not known",
  );
});
