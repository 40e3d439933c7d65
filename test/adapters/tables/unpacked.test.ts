import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { unpackRow } from "../../../src/adapters/tables/compress.ts";
import { tableDocuments } from "../../../src/adapters/tables/documents.ts";
import { clusterPartition, CONFIGURATION_KEY } from "../../../src/adapters/tables/keys.ts";
import { chunkProperties, ROW_BYTES } from "../../../src/adapters/tables/rows.ts";
import { clusterName } from "../../../src/domain/ids.ts";
import { memoryTable } from "../../support/memory-table.ts";

/** Who has a key of the storage account writes a row that no release writes. */
test("a row that unpacks to more than 128 MiB is a failure of the call, and not of the process", async () => {
  const prod = clusterName("prod");
  const table = memoryTable({ sleep: () => Promise.resolve() });
  const bomb = gzipSync(Buffer.alloc(128 * 1024 * 1024 + 1, " "), { level: 1 });
  expect(bomb.length).toBeLessThan(ROW_BYTES);
  await table.put(clusterPartition(prod), CONFIGURATION_KEY, chunkProperties(bomb));
  // Without what was read: a failure of this test would print 128 MiB.
  const read = tableDocuments(table)
    .read(prod)
    .then(() => "it was read");
  await expect(read).rejects.toMatchObject({
    kind: "unexpected",
    message: expect.stringContaining("ERR_BUFFER_TOO_LARGE"),
  });
});

test("of such rows one at a time is unpacked, however many read them", async () => {
  const bomb = gzipSync(Buffer.alloc(128 * 1024 * 1024 + 1, " "), { level: 1 });
  let [most, ended] = [0, 0];
  const before = process.memoryUsage().arrayBuffers;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage().arrayBuffers - before);
  }, 5);
  const read = (): Promise<void> =>
    unpackRow(bomb).then(
      () => undefined,
      () => {
        ended += 1;
      },
    );
  await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(read));
  clearInterval(watch);
  expect(ended).toBe(8);
  // All at once: about 900 MiB.
  expect(most).toBeLessThan(300 * 1024 * 1024);
  // What comes after them is read.
  expect(await unpackRow(gzipSync(Buffer.alloc(10_000_000, "a")))).toHaveLength(10_000_000);
});
