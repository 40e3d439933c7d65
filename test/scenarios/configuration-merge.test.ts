import { describe, expect, test } from "vitest";
import type { NodearrayMessage } from "../../src/wire/message/message.ts";
import { MERGES, mergingBy } from "../support/configuration-merge.ts";
import { oneArray } from "./clusters.ts";
import { SENDER_RULE } from "../support/sender-rule.ts";
import { Stage } from "./stage.ts";

const CALLBACK = expect.stringContaining("http://autoscaler.invalid/api/autostop/demo/");

/** The template's Configuration. It also has an old stop URL, such as a scheduler's own integration writes. */
const TEMPLATE = {
  cyclecloud: {
    mounts: { shared: { mountpoint: "/shared", export_path: "/mnt/exports/shared" } },
    cluster: { autoscale: { idle_time_after_jobs: 300, stop_callback: "http://old.example/stop" } },
  },
  autoscale: { resources: { scratch: 400 }, stop_callback: "http://old.example/stop" },
  site: { rack: "r1" },
};

const UNCHANGED = {
  cyclecloud: {
    mounts: { shared: { mountpoint: "/shared", export_path: "/mnt/exports/shared" } },
    cluster: { autoscale: { idle_time_after_jobs: 300, stop_callback: CALLBACK } },
  },
  autoscale: { resources: { scratch: 400 }, stop_callback: CALLBACK },
  site: { rack: "r1" },
};

const cases: readonly { readonly name: string; readonly entry: NodearrayMessage; readonly node: object }[] = [
  { name: "a target", entry: { Name: "execute", TargetCount: 2 }, node: UNCHANGED },
  {
    name: "a target with a Configuration",
    entry: {
      Name: "execute",
      TargetCount: 2,
      Configuration: {
        cyclecloud: { cluster: { autoscale: { idle_time_after_jobs: 60, stop_callback: "http://mine" } } },
        autoscale: { queue: "q" },
        site: { row: 2 },
        own: { setting: true },
      },
    },
    node: {
      cyclecloud: {
        mounts: { shared: { mountpoint: "/shared", export_path: "/mnt/exports/shared" } },
        cluster: { autoscale: { idle_time_after_jobs: 60, stop_callback: CALLBACK } },
      },
      autoscale: { resources: { scratch: 400 }, queue: "q", stop_callback: CALLBACK },
      site: { rack: "r1", row: 2 },
      own: { setting: true },
    },
  },
  {
    name: "a target whose configuration is no object where the template's is",
    entry: { Name: "execute", TargetCount: 2, Configuration: { site: "none", autoscale: "off" } },
    node: { ...UNCHANGED, site: "none" },
  },
  {
    name: "a dynamic array",
    entry: {
      Name: "licensed",
      Extends: "execute",
      Dynamic: true,
      TargetCount: 2,
      Configuration: { cyclecloud: { licence: "x" } },
    },
    node: { ...UNCHANGED, cyclecloud: { ...UNCHANGED.cyclecloud, licence: "x" } },
  },
  {
    name: "a group",
    entry: { Name: "execute", TargetGroupCount: 1, GroupInstanceCount: 2 },
    node: {
      ...UNCHANGED,
      cyclecloud: { ...UNCHANGED.cyclecloud, node: { group_id: "group-execute-2n-1" } },
    },
  },
];

/** The Configuration that the two nodes read once they are Ready. */
async function configurationsOf(entry: NodearrayMessage, merge: (typeof MERGES)[number], template?: object) {
  const configuration = template === undefined ? {} : { configuration: { ...template } };
  const senders = [{ ...SENDER_RULE, attributes: ["Configuration"] }];
  const simulator = mergingBy(oneArray("demo", configuration), merge);
  const stage = new Stage({ simulator, policy: { senders } });
  await stage.during(stage.push({ version: 1, cluster: "demo", nodearrays: [entry] }));
  await stage.pass(300);
  return stage.eventsOf("node-ready").map((event) => event.configuration);
}

describe.each(cases)("the nodes of $name", ({ entry, node }) => {
  test.each(MERGES)(
    "have the template's Configuration and ours, where CycleCloud merges %s",
    async (merge) => {
      expect(await configurationsOf(entry, merge, TEMPLATE)).toEqual([node, node]);
    },
  );
});

test.each(MERGES)(
  "a template without Configuration: the nodes have the stop URL alone (%s)",
  async (merge) => {
    const only = { cyclecloud: { cluster: { autoscale: { stop_callback: CALLBACK } } } };
    const node = { ...only, autoscale: { stop_callback: CALLBACK } };
    expect(await configurationsOf({ Name: "execute", TargetCount: 2 }, merge)).toEqual([node, node]);
  },
);
