import { expect, test } from "vitest";
import { createLanes } from "../../../src/app/process/lanes.ts";
import { createRecorder } from "../../../src/app/demand/record-demand.ts";
import { digest, setName } from "../../../src/domain/ids.ts";
import type { SetEntry } from "../../../src/domain/request-sets.ts";
import { instant, plusSeconds } from "../../../src/domain/units.ts";
import { appOnTable, DEMO, SleepersClock } from "../../support/app-on-table.ts";
import { buildUpdate, EMPTY_RECORD } from "../../support/build-record.ts";

/** The bounds of a cluster, where several processes take messages in at once. */

const now = instant(Date.UTC(2026, 0, 1));
const times = { intervalSeconds: 300, sentAt: now, expiresAt: plusSeconds(now, 300) };

test("of ten messages for the last three places three are taken, whichever process has them", async () => {
  const { app } = appOnTable(new SleepersClock(now));
  const held: SetEntry = {
    ...times,
    revision: { value: now, tieBreak: "" },
    acceptedAt: now,
    digest: digest("held"),
    live: true,
  };
  const sets = Array.from({ length: 4997 }, (_, index) => [setName(`held-${index}`), held] as const);
  const demands = new Map([[held.digest, { demands: [], pools: [], rejectedJobs: [] }]]);
  await app.ports.store.save({ ...EMPTY_RECORD, cluster: DEMO, sets: new Map(sets) }, { demands }, undefined);
  const [here, there] = [createRecorder(app), createRecorder({ ...app, lanes: createLanes() })];
  const message = (index: number) =>
    buildUpdate(1, {
      ...times,
      cluster: DEMO,
      set: setName(`new-${index}`),
      digest: digest(`new-${index}`),
      revisionValue: now,
    });
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? here : there).record(message(index))),
  );
  const kinds = outcomes.map(({ kind }) => kind);
  expect(kinds.filter((kind) => kind === "accepted")).toHaveLength(3);
  expect(kinds.filter((kind) => kind === "too-much")).toHaveLength(7);
  expect((await app.ports.store.load(DEMO))?.record.sets.size).toBe(5000);
});
