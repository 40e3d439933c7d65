import { describe, expect, test } from "vitest";
import { Pages } from "../../../src/app/describe/pages.ts";
import { describeSchedulerHosts } from "../../../src/app/describe/describe-nodes.ts";
import { explainJob } from "../../../src/decide/explain/explain-job.ts";
import { explainHost } from "../../../src/decide/explain/explain-host.ts";
import { storedHosts } from "../../../src/decide/need/stored-world.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { validatorOf } from "../../support/check-answer.ts";
import { clusterAnswer } from "../../../src/wire/api/cluster-answer.ts";
import { at, buildNode, buildSnapshot, D8, NOW } from "../../support/build-node.ts";
import { decideOn, push } from "../../support/push-message.ts";
import { explainNode } from "../../../src/decide/explain/explain-node.ts";

const node = buildNode("a", { machineType: D8 });
const seen = buildSnapshot([node]);
const amounts = { ncpus: 64, mem: "memory::256g", rack: "r7" };
const hosts = [
  {
    hostname: "rack7.site.example",
    jobs: ["run"],
    state: "open",
    resources: amounts,
    available: { ncpus: 60 },
  },
  { hostname: "rack8", jobs: ["x"], resources: { ncpus: 8 } },
  { hostname: "rack9", state: "down", resources: { ncpus: 8 } },
  { hostname: "execute-9", resources: { ncpus: 8 } },
  { hostname: "silent" },
  { hostname: "ip-a", jobs: [], available: { ncpus: 2 } },
];

/** The state after the plan on this report, with the job j of 8 cores. */
function planned() {
  const sent = push({
    pbs: { jobs: [{ name: "j", iterations: 2, constraints: [{ ncpus: 8 }] }], schedulerNodes: hosts },
  });
  const { record, ledger, plan } = decideOn(sent, seen);
  const bodies = { ...sent.bodies, seen, ledger, plan };
  return { record, bodies, ledger, plan, judged: storedHosts(record, bodies, DEFAULT_POLICY, NOW) };
}

describe("explained", () => {
  const { plan, ledger, judged } = planned();
  const of = (name: string) => explainHost(plan, name, judged.others);

  test("a host that only the scheduler knows: what it has, what runs there and what the plan has there", () => {
    const { text, ...told } = of("RACK7") ?? { text: "" };
    expect(told).toEqual({
      kind: "host",
      hostname: "rack7.site.example",
      requestSets: ["pbs"],
      standing: "capacity",
      resources: { mem: "memory::256g", ncpus: 64, rack: "r7" },
      available: { ncpus: 60 },
      jobs: ["run"],
      load: [{ set: "pbs", id: "j", slots: 2, bound: false }],
      moreJobs: 0,
    });
    expect(text.split("\n")).toEqual([
      "host rack7.site.example: no node of the cluster",
      "reported by pbs: capacity for the jobs of the request sets that report it, and never stopped by us",
      "its scheduler says that it has mem 256.00g, ncpus 64, rack r7, and left ncpus 60",
      "its scheduler runs there: run",
      "on it by the plan: 2 slots of pbs/j",
    ]);
    const answer = {
      cluster: "prod",
      plan: 7,
      planAt: "2025-11-20T11:00:00.000Z",
      mode: "act",
      text,
      ...told,
    };
    expect(validatorOf("Explanation", "closed")(answer)).toBe(true);
  });

  test("why a host is no capacity", () => {
    expect(["rack8", "rack9", "execute-9"].map((name) => of(name)?.text.split("\n")[1])).toEqual([
      "reported by pbs: no capacity, because neither its report nor the jobs say how much the jobs there take",
      "reported by pbs: no capacity, because its scheduler says that it takes no jobs",
      "reported by pbs: no capacity, because CycleCloud gives such names to its nodes",
    ]);
    expect([of("silent"), of("nobody")]).toEqual([undefined, undefined]);
  });

  test("a past plan shows what it had on the host", () => {
    expect(explainHost(plan, "rack7", [])?.text.split("\n")).toEqual([
      "host rack7.site.example: no node of the cluster",
      "no report in force gives it resources",
      "on it by the plan: 2 slots of pbs/j",
    ]);
  });

  test("a job on such a host, by the host's name", () => {
    const told = explainJob(plan, ledger, "j");
    expect(told.kind === "demand" ? told.text.split("\n")[2] : told).toBe("on rack7.site.example (2 slots)");
  });

  test("a node of ours with what its scheduler says of it", () => {
    const told = explainNode(plan, ledger, "ip-a", { reported: judged.nodes });
    expect(told.kind === "node" ? [told.reported, told.text.split("\n").at(-1)] : told).toEqual([
      { resources: {}, available: { ncpus: 2 } },
      "its scheduler says that it has left ncpus 2",
    ]);
  });
});

describe("the state", () => {
  test("shows what is reported and no node: whether it is capacity, and if not, why", () => {
    const { record, bodies } = planned();
    const shown = describeSchedulerHosts(
      record,
      bodies,
      DEFAULT_POLICY,
      NOW,
      new Pages(undefined, { rows: 2 }),
    );
    expect(shown).toEqual({
      count: 4,
      capacity: 1,
      list: [
        {
          hostname: "rack7.site.example",
          requestSets: ["pbs"],
          standing: "capacity",
          resources: { mem: "memory::256g", ncpus: 64, rack: "r7" },
          available: { ncpus: 60 },
          jobs: ["run"],
          moreJobs: 0,
          why: "capacity for the jobs of the request sets that report it, and never stopped by us",
        },
        expect.objectContaining({ hostname: "rack8", standing: "load-unknown", available: {} }),
      ],
    });
    expect(clusterAnswer.shape.schedulerHosts.safeParse(shown).error).toBeUndefined();
  });

  test("forgets them with the report", () => {
    const { record, bodies } = planned();
    expect(describeSchedulerHosts(record, bodies, DEFAULT_POLICY, at(601), new Pages())).toEqual({
      count: 0,
      capacity: 0,
      list: [],
    });
  });
});
