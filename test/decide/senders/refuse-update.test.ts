import { describe, expect, test } from "vitest";
import { refuseUpdate } from "../../../src/decide/senders/refuse-update.ts";
import type { SenderRule } from "../../../src/domain/sender-rules.ts";
import { emptyRequestSet, readDemandMessage } from "../../../src/wire/message/demand-message.ts";
import { clusterName, setName } from "../../../src/domain/ids.ts";
import { NOW } from "../../support/build-node.ts";
import { SENDER_RULE } from "../../support/sender-rule.ts";

const CANARY = "CANARY-7";

/** "path: found -> expected" of a message of the set pbs. */
function refusals(message: object, rules?: readonly Partial<SenderRule>[]): readonly string[] {
  const read = readDemandMessage(
    { version: 1, cluster: "prod", requestSet: "pbs", ...message },
    { insertedAt: NOW, now: NOW, messageId: "m", maxExpirationSeconds: 86_400 },
  );
  if (read.kind !== "update") throw new Error(JSON.stringify(read));
  const senders = rules?.map((rule) => ({ ...SENDER_RULE, ...rule }));
  return refuseUpdate(read.update, senders).map(
    ({ path, found, expected }) => `${path}: ${found} -> ${expected}`,
  );
}

const ATTRIBUTES =
  "one of Configuration, Interruptible, MachineType, Dynamic, Extends, targets and groups; or allow it: senders[].attributes";
const SETTINGS =
  "one of Configuration.autoscale.is_hpc, Configuration.autoscale.resources, Configuration.cyclecloud.cluster.autoscale.idle_time_after_jobs, Configuration.cyclecloud.cluster.autoscale.idle_time_before_jobs, Configuration.cyclecloud.cluster.autoscale.start_enabled, Configuration.cyclecloud.cluster.autoscale.stop_enabled, Configuration.cyclecloud.cluster.autoscale.stop_interval, Configuration.cyclecloud.cluster.autoscale.use_node_groups; or allow it: senders[].attributes";
const target = (more: object, Name = "htc") => ({ Name, TargetCount: 1, ...more });

describe("without a configuration", () => {
  test("each attribute is refused with its path and kind, and no value is shown", () => {
    const asked = target({
      CloudInit: `#!/bin/sh ${CANARY}`,
      KeepAlive: true,
      Credentials: { a: CANARY },
      SubnetId: [CANARY],
      BootDiskSize: 4095,
      ImageName: null,
    });
    expect(refusals({ nodearrays: [target({}), asked] })).toEqual([
      `nodearrays[1].BootDiskSize: a number -> ${ATTRIBUTES}`,
      `nodearrays[1].CloudInit: text of 18 characters -> ${ATTRIBUTES}`,
      `nodearrays[1].Credentials: an object -> ${ATTRIBUTES}`,
      `nodearrays[1].ImageName: null -> ${ATTRIBUTES}`,
      `nodearrays[1].KeepAlive: true or false -> ${ATTRIBUTES}`,
      `nodearrays[1].SubnetId: a list -> ${ATTRIBUTES}`,
    ]);
  });

  test("so is what is CycleCloud's own in Configuration", () => {
    const Configuration = { autoscale: { stop_callback: CANARY }, site: { row: 1 } };
    expect(refusals({ nodearrays: target({ Configuration }) })).toEqual([
      `nodearrays[0].Configuration.autoscale.stop_callback: text of 8 characters -> ${SETTINGS}`,
    ]);
  });

  test("everything else is as before", () => {
    const message = {
      nodearrays: [
        target({ Configuration: { site: 1 }, Interruptible: true, Dynamic: true, Extends: "hpc" }),
      ],
      jobs: [{ name: "j", priority: 1e9 }],
      schedulerNodes: [{ hostname: "a" }],
      pools: [{ name: "p", total: 1, used: 0 }],
    };
    expect(refusals(message)).toEqual([]);
  });

  test("ten thousand attributes are a hundred problems", () => {
    const many = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`A${i}`, 1]));
    expect(refusals({ nodearrays: [target(many), target(many)] })).toHaveLength(100);
  });
});

describe("by the first rule that names the set", () => {
  const message = {
    nodearrays: [target({ KeepAlive: true }), target({ Dynamic: true, Extends: "htc" }, "own")],
    schedulerNodes: [{ hostname: "a" }, { hostname: "b" }],
    pools: [{ name: "p", total: 1, used: 0 }],
  };
  const says = 'the configuration (senders) says so of request set "pbs"';
  test.each<{ name: string; rules: readonly Partial<SenderRule>[]; expected: readonly string[] }>([
    { name: "everything is allowed", rules: [{ attributes: ["KeepAlive"] }], expected: [] },
    {
      name: "nothing may be written",
      rules: [{ write: false }],
      expected: [`requestSet: "pbs" -> a request set that may write: ${says}`],
    },
    {
      name: "no hosts, pools and dynamic arrays",
      rules: [{ requestSets: ["p?s"], attributes: ["*"], hosts: false, pools: false, dynamicArrays: false }],
      expected: [
        `nodearrays[1].Dynamic: true -> no dynamic node array: ${says}`,
        `schedulerNodes: 2 hosts -> no report of hosts: ${says}`,
        `pools: 1 pool -> no pools: ${says}`,
      ],
    },
    {
      name: "pools and dynamic arrays that the rule does not list",
      rules: [{ attributes: ["*"], pools: ["q"], dynamicArrays: ["mine-*"] }],
      expected: [
        `nodearrays[1].Name: "own" -> a dynamic node array that it may define: ${says}`,
        `pools: 1 pool of others: p -> pools that it may own: ${says}`,
      ],
    },
    {
      name: "pools and dynamic arrays that another rule lists",
      rules: [{ requestSets: ["slurm"], pools: ["p"], dynamicArrays: ["o*"] }, { attributes: ["*"] }],
      expected: [
        `nodearrays[1].Name: "own" -> a dynamic node array that it may define: ${says}`,
        `pools: 1 pool of others: p -> pools that it may own: ${says}`,
      ],
    },
    {
      name: "those that its own rule lists, and others do too",
      rules: [
        { requestSets: ["slurm"], pools: ["p"], dynamicArrays: ["o*"] },
        { attributes: ["*"], pools: ["p*"], dynamicArrays: ["own"] },
      ],
      expected: [],
    },
    {
      name: "a rule for others, then one that allows, then one that does not",
      rules: [
        { requestSets: ["PBS"], write: false },
        { requestSets: ["x", "pbs"], attributes: ["keepalive"] },
        { write: false },
      ],
      expected: [],
    },
    {
      name: "no rule names it: as without a configuration",
      rules: [{ requestSets: ["slurm"], attributes: ["*"] }],
      expected: [`nodearrays[0].KeepAlive: true or false -> ${ATTRIBUTES}`],
    },
  ])("$name", ({ rules, expected }) => {
    expect(refusals(message, rules)).toEqual(expected);
  });

  test("keys of Configuration: those of the node array, or of the array that a dynamic one extends", () => {
    const version = { Configuration: { application_version: 7 } };
    const run = (expected: string) => `text of 12 characters -> ${expected}`;
    const roles = { Configuration: { run_list: "role[server]" } };
    expect(refusals({ nodearrays: [target(version), target(roles, "hpc")] })).toEqual([
      `nodearrays[1].Configuration.run_list: ${run(SETTINGS)}`,
    ]);
    const message = {
      nodearrays: [
        target(version),
        target(version, "hpc"),
        target({ Dynamic: true, Extends: "hpc", ...version }, "own"),
        target({ Dynamic: true, Extends: "own", ...version }, "more"),
        target({ Dynamic: true, Extends: "htc", ...version }, "other"),
      ],
    };
    const refused = (index: number) =>
      `nodearrays[${index}].Configuration.application_version: a number -> ${SETTINGS}`;
    expect(refusals(message, [{ configuration: { byArray: new Map([["hpc", []]]) } }])).toEqual([
      refused(1),
      refused(2),
      refused(3),
    ]);
    const named = new Map([["hpc", ["application_version"]]]);
    expect(refusals(message, [{ configuration: { every: [], byArray: named } }])).toEqual([
      refused(0),
      refused(4),
    ]);
  });

  test("parts that come without demand are judged too; a set can always be ended", () => {
    const rules = [{ hosts: false, pools: false }];
    expect(refusals({ schedulerNodes: [] }, rules)).toEqual([
      `schedulerNodes: 0 hosts -> no report of hosts: ${says}`,
    ]);
    expect(refusals({ pools: [{ name: "p", total: 1, used: 0 }] }, rules)).toHaveLength(1);
    expect(refusals({ pools: [] }, rules)).toEqual([]);
    const revision = { value: 1, tieBreak: "" };
    const end = emptyRequestSet(clusterName("prod"), setName("pbs"), revision, NOW, 60);
    expect(refuseUpdate(end, [{ ...SENDER_RULE, write: false }])).toEqual([]);
  });
});
