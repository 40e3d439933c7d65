import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { clusterPartition, RECORD_KEY } from "../../src/adapters/tables/keys.ts";
import { compress, decompress } from "../../src/adapters/tables/compress.ts";
import { chunkProperties, joinChunks } from "../../src/adapters/tables/rows.ts";
import { Caller } from "../fuzz/caller.ts";
import type { Stage } from "../fuzz/stage.ts";
import { openStage, requestTo } from "../fuzz/stage.ts";
import type { World } from "../fuzz/world.ts";
import { openWorld } from "../fuzz/world.ts";

/** The record of one of two clusters cannot be read: no release of the app writes such a record, so it was changed by hand. */

let world: World;
let stage: Stage;

/** An outage without the names of the sets that it waits for. */
async function withoutSets(row: Row): Promise<Buffer> {
  const { record, ...rest }: { record: object } = JSON.parse(await decompress(joinChunks(row.values)));
  const outage = { until: 9e12, awaiting: { "CANARY-ROW": null } };
  return compress(JSON.stringify({ ...rest, record: { ...record, outage } }));
}

/** 400 MiB of spaces in 400 KB. */
function thatUnpacks(): Promise<Buffer> {
  const piece = gzipSync(Buffer.alloc(4 * 1024 * 1024, " "), { level: 9 });
  return Promise.resolve(Buffer.concat(Array.from({ length: 100 }, () => piece)));
}

type Row = NonNullable<Awaited<ReturnType<NonNullable<World["table"]>["read"]>>>;

async function damage({ table, cluster }: World, change: (row: Row) => Promise<Buffer>): Promise<void> {
  const partition = clusterPartition(cluster);
  const row = await table?.read(partition, RECORD_KEY);
  if (row === undefined) throw new Error("the cluster has a record");
  const data = await change(row);
  await table?.put(partition, RECORD_KEY, { ...row.values, ...chunkProperties(data) });
}

/** The clock stands still: however long it takes to unpack a row, no time limit of the app is reached. */
async function get(path: string) {
  const answer = await stage.call(requestTo(path));
  return { status: answer.status, body: await answer.json() };
}

beforeAll(async () => {
  stage = await openStage(openWorld("tables"));
});

/** A world in which the record of one cluster has become this. */
async function openDamaged(change: (row: Row) => Promise<Buffer>): Promise<void> {
  world = openWorld("tables");
  stage.show(world);
  const caller = new Caller(world, stage);
  caller.deaf = world.cluster;
  await caller.minutes(1);
  await damage(world, change);
}

describe("a record without the sets of its outage: the other cluster is shown as ever", () => {
  beforeAll(() => openDamaged(withoutSets));

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

test("a record that unpacks to 400 MiB: 503 for its cluster, and the other one is shown as ever", async () => {
  await openDamaged(thatUnpacks);
  expect(await get(`/clusters/${world.cluster}`)).toMatchObject({ status: 503 });
  expect(await get(`/clusters/${world.calm}`)).toMatchObject({ status: 200 });
  expect(await get("/clusters")).toMatchObject({
    status: 200,
    body: {
      clusters: [
        { health: { ok: false, notes: [expect.stringContaining("ERR_BUFFER_TOO_LARGE")] } },
        { cluster: world.calm, health: { ok: true } },
      ],
    },
  });
});
