import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { clusterName, setName } from "../../../src/domain/ids.ts";
import {
  readDemandMessage,
  readRequestSet,
  readRequestSetInSlices,
} from "../../../src/wire/message/demand-message.ts";
import { processorMs } from "../../support/processor-time.ts";
import { CONTEXT, updateOf } from "../context.ts";

/** Machines differ, so that only ratios within one run say something; the times themselves are printed. */
const TIMES_JSON_PARSE = 25;

function measure<T>(work: () => T): { readonly milliseconds: number; readonly result: T } {
  const start = processorMs();
  const result = work();
  return { milliseconds: processorMs() - start, result };
}

test("twenty thousand distinct jobs are read in a time that is a multiple of JSON.parse", () => {
  const jobs = Array.from({ length: 20_000 }, (_, index) => ({
    name: `job-${index}`,
    user: `user-${index % 100}`,
    iterations: 1 + (index % 5),
    priority: index % 10,
    constraints: [
      { ncpus: 1 + (index % 64) },
      { mem: `memory::${1 + (index % 200)}g` },
      { "node.nodearray": "execute" },
    ],
    placed: index % 2 === 0 ? [{ hostname: `host-${index}`, iterations: 1 }] : [],
  }));
  const text = JSON.stringify({ version: 1, cluster: "prod", jobs });
  const parse = measure((): unknown => JSON.parse(text));
  const read = measure(() =>
    readRequestSet(text, { ...CONTEXT, cluster: clusterName("prod"), set: setName("standard") }),
  );
  const { demands } = updateOf(read.result).demand;
  console.log(
    `20,000 jobs, ${text.length} characters: ${Math.round(read.milliseconds)} ms, of which JSON.parse ${Math.round(parse.milliseconds)} ms`,
  );
  expect(demands).toHaveLength(20_000);
  expect(demands.at(-1)).toEqual({
    kind: "job",
    id: "job-19999",
    name: "job-19999",
    user: "user-99",
    iterations: 5,
    priority: 9,
    position: 19_999,
    constraints: [
      { kind: "amount", resource: "mem", amount: { amount: 200, unit: "g" } },
      { kind: "amount", resource: "ncpus", amount: 32 },
      { kind: "property-choice", property: "nodearray", choices: ["execute"] },
    ],
    colocated: false,
    placed: [],
  });
  expect(read.milliseconds).toBeLessThan(TIMES_JSON_PARSE * parse.milliseconds);
});

test("a message of a virtual run, six thousand hosts and as many placed slots, takes milliseconds", () => {
  const hosts = Array.from({ length: 6000 }, (_, index) => `host-${index}`);
  const message = {
    version: 1,
    cluster: "prod",
    schedulerNodes: hosts.map((hostname, index) => ({ hostname, jobs: [`job-${index % 300}`] })),
    jobs: Array.from({ length: 300 }, (_, index) => ({
      name: `job-${index}`,
      iterations: 20,
      constraints: { ncpus: 1 },
      placed: hosts
        .filter((_, host) => host % 300 === index)
        .map((hostname) => ({ hostname, iterations: 1 })),
    })),
  };
  const rounds = 20;
  const text = JSON.stringify(message);
  const parse = measure(() => Array.from({ length: rounds }, (): unknown => JSON.parse(text)));
  const read = measure(() =>
    Array.from({ length: rounds }, () => updateOf(readDemandMessage(message, CONTEXT))),
  );
  console.log(`6,000 hosts and placed slots: ${(read.milliseconds / rounds).toFixed(1)} ms a message`);
  expect(read.result[0]?.schedulerNodes).toHaveLength(6000);
  expect(read.milliseconds).toBeLessThan(TIMES_JSON_PARSE * parse.milliseconds);
});

test("a large message is read in slices, a small one in one", () => {
  const slicesOf = (count: number): number => {
    const jobs = Array.from({ length: count }, (_, at) => ({ name: `j${at}`, constraints: { ncpus: 1 } }));
    const body = gzipSync(JSON.stringify({ version: 1, jobs }));
    const context = { ...CONTEXT, cluster: clusterName("prod"), set: setName("standard") };
    const reading = readRequestSetInSlices(body, context);
    for (let slices = 1; ; slices += 1) {
      const { done, value } = reading.next();
      if (done === true && updateOf(value).demand.demands.length === count) return slices;
    }
  };
  // One for each hundred jobs, each ten thousand values that are checked, and each 256 KiB of text of which the digest is made.
  expect([slicesOf(99), slicesOf(100_000) >= 1000 + 30 + 70]).toEqual([1, true]);
});
