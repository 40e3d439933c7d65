/** Jobs that others tried, with the sentences that they were answered. */
import { expect, test } from "vitest";
import { renderReason } from "../../src/domain/reason-text.ts";
import type { Fields } from "./clusters.ts";
import { CLUSTERS } from "./clusters.ts";
import { MODES } from "../support/modes.ts";
import { tryOut } from "./try-out.ts";

/** The reasons of a job on a cluster, by mode. */
function reasonsOf(name: string, job: Fields, config: Fields = {}): readonly (readonly string[])[] {
  const cluster = CLUSTERS.find((one) => one.name === name);
  if (cluster === undefined) throw new Error(`no cluster is called ${name}`);
  return MODES.map((mode) => {
    const tried = tryOut(cluster, mode, { jobs: [{ name: "j", ...job }] }, config);
    return tried.decision.plan.demands.flatMap(({ id, reasons }) =>
      id === "j" ? reasons.map(renderReason) : [],
    );
  });
}

test("memory for all slots that a node must take is told as a size in every mode", () => {
  const job = { iterations: 30, "node-count": 1, constraints: { mem: "memory::1g" } };
  const sentence = "execute/Standard_D4s_v5: mem 30.0 GiB asked of one node, 16.0 GiB offered";
  expect(reasonsOf("one size", job)).toEqual([[sentence], [sentence], [sentence], [sentence]]);
});

test("a cap that keeps a gang from nodes that are there is told, and what would help", () => {
  const job = { "node-count": 1, constraints: { "node.vm_size": "Standard_D4s_v5" } };
  const config = { caps: { requestSets: { tries: { cores: 3 } } } };
  const [reasons] = reasonsOf("nodes in use", job, config);
  expect(reasons).toEqual(["cap of request set tries: 0 of 3 cores used, 4 more needed, 3 left"]);
});

test("where the pool of an alternative runs out, the next alternative takes the rest", () => {
  const cluster = CLUSTERS.find(({ name }) => name === "one size");
  if (cluster === undefined) throw new Error("no such cluster");
  const constraints = [{ ncpus: 1 }, { or: [{ pool: { licence: 1 } }, { ncpus: 2 }] }];
  const message = {
    jobs: [{ name: "j", iterations: 5, constraints }],
    pools: [{ name: "licence", total: 4, used: 1 }],
  };
  for (const mode of MODES) {
    const [outcome] = tryOut(cluster, mode, message).decision.plan.demands;
    expect({ mode, placed: outcome?.placed, reasons: outcome?.reasons }).toEqual({
      mode,
      placed: 5,
      reasons: [],
    });
  }
});
