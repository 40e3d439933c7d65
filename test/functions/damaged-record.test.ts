import { beforeAll, describe, expect, test } from "vitest";
import { clusterPartition, RECORD_KEY } from "../../src/adapters/tables/keys.ts";
import { compress, decompress } from "../../src/adapters/tables/compress.ts";
import { chunkProperties, joinChunks } from "../../src/adapters/tables/rows.ts";
import { Caller } from "../fuzz/caller.ts";
import type { Stage } from "../fuzz/stage.ts";
import { openStage, requestTo } from "../fuzz/stage.ts";
import type { World } from "../fuzz/world.ts";
import { openWorld } from "../fuzz/world.ts";

/** The record of one of two clusters can be opened, but no release of the app writes such a record: it was changed by hand. */

let world: World;
let stage: Stage;
let caller: Caller;

beforeAll(async () => {
  world = openWorld("tables");
  stage = await openStage(world);
  caller = new Caller(world, stage);
  caller.deaf = world.cluster;
  await caller.minutes(1);
  await damage(world);
});

/** An outage without the names of the sets that it waits for. */
async function damage({ table, cluster }: World): Promise<void> {
  const partition = clusterPartition(cluster);
  const row = await table?.read(partition, RECORD_KEY);
  if (row === undefined) throw new Error("the cluster has a record");
  const { record, ...rest }: { record: object } = JSON.parse(await decompress(joinChunks(row.values)));
  const outage = { until: 9e12, awaiting: { "CANARY-ROW": null } };
  const data = await compress(JSON.stringify({ ...rest, record: { ...record, outage } }));
  await table?.put(partition, RECORD_KEY, { ...row.values, ...chunkProperties(data) });
}

async function get(path: string) {
  const answer = await caller.drive(stage.call(requestTo(path)));
  return { status: answer.status, body: await answer.json() };
}

describe("the other cluster is shown as ever", () => {
  test("to who has a key: the damaged one with its trouble, without what its row holds", async () => {
    const { status, body } = await get("/clusters");
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        clusters: [
          {
            cluster: world.cluster,
            health: {
              ok: false,
              notes: [
                "the app itself failed, and tries again at each tick: the record cannot be read (TypeError)",
              ],
              warnings: [],
              trouble: { kind: "failed", message: "the record cannot be read (TypeError)" },
            },
          },
          { cluster: world.calm, health: { ok: true } },
        ],
      },
    });
    expect(JSON.stringify(body)).not.toContain("CANARY-ROW");
  });

  test("to anyone: not ok, with both counted", async () => {
    expect(await get("/health")).toMatchObject({ status: 503, body: { ok: false, clusters: 2 } });
  });

  test("and the log names the one that is damaged", () => {
    expect(world.log.filter((line) => line.includes('"health-failed"'))).toContainEqual(
      expect.stringContaining(`"cluster":"${world.cluster}","kind":"defect"`),
    );
  });
});
