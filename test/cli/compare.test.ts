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
              text: "12 nodes idle for 5 h (60 node-hours) from 10:40 on that would have been stopped at 10:40: nobody needed them",
            },
          ],
        },
      ],
    },
  ],
};

async function compare(...options: readonly string[]) {
  const { url } = await stagedServer(() => ({ status: 200, body: BODY }));
  const { out } = await runCommand(["compare", "-c", "prod", "--url", url, "--key", "k", ...options]);
  return out;
}

test("the report, as an administrator reads it who decides whether to switch", async () => {
  expect((await compare()).trimEnd().split("\n")).toEqual([
    "observing only, nothing is created or stopped: execute since 2026-01-01T00:00:00.000Z (2 nodes now)",
    "real: the nodes that there were. autoscaler: the nodes that it would have had.",
    "",
    "DAY         ARRAY    FLEET       OBSERVED H  NODES  PEAK  NODE-H  IDLE-H  BOOTS  COST  CURRENCY  JOBS WAITED H",
    "2026-01-02  execute  real                24    6.5    12     156      72     12  31.2  EUR                   -",
    "2026-01-02  execute  autoscaler          24      4    12      96       6     15  19.2  EUR                   -",
    "2026-01-02  (all)    real                 -      -     -       -       -      -     -  -                   1.5",
    "2026-01-02  (all)    autoscaler           -      -     -       -       -      -     -  -                   1.2",
    "",
    "node-hours: 156 real, 96 with the autoscaler (60 less); 72 and 6 of them idle",
    "",
    "largest differences:",
    "  2026-01-02 execute: 12 nodes idle for 5 h (60 node-hours) from 10:40 on that would have been stopped at 10:40: nobody needed them",
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
