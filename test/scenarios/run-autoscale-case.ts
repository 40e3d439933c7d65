import { z } from "zod";
import type { NodeArrayOptions, Quirks, SimulatorOptions } from "../../src/simulator/options.ts";
import type { NodearrayMessage } from "../../src/wire/message/message.ts";
import type { ContractCase, ContractOutcome, ContractStep, ContractTemplate } from "./autoscale-case.ts";
import { mergingBy } from "../support/configuration-merge.ts";
import { AT_ONCE } from "./clusters.ts";
import type { ReadyNode } from "./ready-nodes.ts";
import { Stage } from "./stage.ts";
import type { ClusterState } from "./state.ts";

const CLUSTER = "contract";
/** By then the rest of a new record is over, and scale-down is allowed. */
const WARM_UP_SECONDS = 600;
/** The last step has this long to settle: three observations of the timer, of which one may be in doubt. */
const SETTLE_SECONDS = 200;
/** The template's own Configuration, to check that a request's Configuration is merged with it. */
const TEMPLATE_CONFIGURATION = {
  template_setting: "kept",
  nested: { template_member: 1 },
  cyclecloud: { mounts: { home: { mountpoint: "/home" } }, cluster: { autoscale: { stop_interval: 60 } } },
  autoscale: { resources: { scratch: 4 } },
};

/** The result of a step by array name, with the members of its expectation. */
export type Observed = Readonly<Record<string, ContractOutcome>>;

/** Plays a case through queue and functions against the simulator. Returns the result of each step. */
export async function runAutoscaleCase(
  { steps }: ContractCase,
  template: ContractTemplate,
  merge: Quirks["configurationMerge"],
): Promise<readonly Observed[]> {
  const stage = new Stage({ simulator: mergingBy(simulatorOf(template), merge) });
  await stage.pass(WARM_UP_SECONDS);
  const observed: Observed[] = [];
  let now = 0;
  for (const [index, step] of steps.entries()) {
    await stage.pass(step.at - now);
    const since = stage.simulator.log.length;
    const answers = await act(stage, step);
    const next = steps[index + 1];
    const end = next === undefined ? step.at + SETTLE_SECONDS : Math.min(next.at, step.at + SETTLE_SECONDS);
    now = end;
    await settle(stage, end - step.at);
    const state = await stage.state(CLUSTER);
    const seen: Seen = { stage, state, nodes: nodesOf(stage, state), since, answers };
    observed.push(
      Object.fromEntries(
        Object.entries(step.expect).map(([name, wanted]) => [name, observe(seen, name, wanted)]),
      ),
    );
  }
  return observed;
}

/** Lets time pass for `seconds`. A tick runs one second before the end. */
async function settle(stage: Stage, seconds: number): Promise<void> {
  const end = stage.clock.now() + seconds * 1000;
  await stage.pass(seconds - 1);
  await stage.during(stage.look());
  await stage.pass(Math.max(0, (end - stage.clock.now()) / 1000));
}

function simulatorOf(template: ContractTemplate): SimulatorOptions {
  const machineTypes: Record<string, SimulatorOptions["machineTypes"][string]> = {};
  const family: Record<string, number> = {};
  const arrays: NodeArrayOptions[] = [];
  let hasGroups = true;
  for (const [name, sizes] of Object.entries(template)) {
    for (const [type, { cores, max, placementGroups = true }] of Object.entries(sizes)) {
      machineTypes[type] = { vcpuCount: cores, memory: 4 * cores, family: `family of ${type}` };
      family[`family of ${type}`] = cores * max;
      hasGroups &&= placementGroups;
    }
    const types = Object.keys(sizes);
    arrays.push({
      name,
      region: "westeurope",
      machineTypes: types,
      maxCount: 1000,
      configuration: TEMPLATE_CONFIGURATION,
    });
  }
  return {
    clusters: [{ name: CLUSTER, maxCount: 1000, maxCoreCount: 10_000, arrays }],
    machineTypes,
    quotas: { family },
    timings: AT_ONCE,
    ...(hasGroups ? {} : { quirks: { omitBucketFields: ["maxPlacementGroupSize", "placementGroups"] } }),
  };
}

/** Makes the calls of the step, and then what happens to nodes. Returns the answers of the stop URL by array. */
async function act(stage: Stage, step: ContractStep): Promise<ReadonlyMap<string, readonly number[]>> {
  const nodearrays = definitionsOf(step);
  if (nodearrays !== undefined) {
    const { requestSet, expirationInterval } = step;
    await stage.during(
      stage.push({
        version: 1,
        cluster: CLUSTER,
        nodearrays,
        ...(requestSet === undefined ? {} : { requestSet }),
        ...(expirationInterval === undefined ? {} : { expirationInterval }),
      }),
    );
  }
  const before = nodesOf(stage, await stage.state(CLUSTER));
  for (const [array, count] of Object.entries(step.loseNodes ?? {}))
    stage.simulator.faults.vanish(idsOf(before, array).slice(0, count));
  if (step.terminateCluster === true) {
    stage.simulator.faults.setClusterState(CLUSTER, "Terminating", "Terminated");
    const ids = before.map(({ id }) => id);
    request(stage, "POST", "nodes/terminate", { ids });
  }
  const answers = new Map<string, readonly number[]>();
  for (const array of [step.stopAll, step.allAskToStop]) {
    if (array === undefined) continue;
    const wanted = new Set(idsOf(before, array));
    const asking = stage.readyNodes.filter(({ nodeId }) => wanted.has(nodeId));
    answers.set(array, await stage.during(askAll(stage, asking)));
  }
  return answers;
}

/** The definitions of a step. `jetpack autoscale --name --corecount` names one existing array: the same as a list of one definition. */
function definitionsOf({
  set,
  update,
}: ContractStep): NodearrayMessage | readonly NodearrayMessage[] | undefined {
  if (set === undefined) return update;
  const { name, corecount, instancecount } = set;
  return {
    Name: name,
    ...(corecount === undefined ? {} : { TargetCoreCount: corecount }),
    ...(instancecount === undefined ? {} : { TargetCount: instancecount }),
  };
}

const askAll = (stage: Stage, nodes: readonly ReadyNode[]): Promise<readonly number[]> =>
  Promise.all(nodes.map((node) => stage.ask(node)));

const idsOf = (nodes: readonly ContractNode[], array: string): readonly string[] =>
  nodes.filter(({ countsFor }) => countsFor === array).map(({ id }) => id);

/** A node as CycleCloud has it, with the array that the state page counts it for. */
interface ContractNode {
  readonly id: string;
  readonly countsFor: string;
  readonly cores: number;
  readonly machineType: string;
  readonly placementGroup: string | undefined;
  readonly groupId: string | undefined;
  readonly configuration: Readonly<Record<string, unknown>>;
}

const nodeList = z.object({
  nodes: z.array(
    z.object({
      NodeId: z.string(),
      Template: z.string(),
      TargetState: z.string(),
      CoreCount: z.number(),
      MachineType: z.string(),
      PlacementGroupId: z.string().optional(),
      GroupId: z.string().optional(),
      Configuration: z.record(z.string(), z.unknown()),
    }),
  ),
});

/** The nodes that are wanted, from CycleCloud. A node that no observation has shown counts for "?". */
function nodesOf(stage: Stage, state: ClusterState): readonly ContractNode[] {
  const shown = new Map(state.nodes.list.map(({ nodeId, countsFor }) => [nodeId, countsFor]));
  return nodeList
    .parse(request(stage, "GET", "nodes"))
    .nodes.filter(({ TargetState }) => TargetState === "Started")
    .map((record) => ({
      id: record.NodeId,
      countsFor: shown.get(record.NodeId) ?? "?",
      cores: record.CoreCount,
      machineType: record.MachineType,
      placementGroup: record.PlacementGroupId,
      groupId: record.GroupId,
      configuration: record.Configuration,
    }));
}

function request(stage: Stage, method: string, path: string, body?: unknown): unknown {
  const answer = stage.simulator.request({
    method,
    path: `/clusters/${CLUSTER}/${path}`,
    query: {},
    ...(body === undefined ? {} : { body }),
  });
  if (answer.status >= 300) throw new Error(`${method} ${path} was answered ${answer.status}`);
  return answer.body;
}

interface Seen {
  readonly stage: Stage;
  readonly state: ClusterState;
  readonly nodes: readonly ContractNode[];
  /** The number of events of the simulator before the step. */
  readonly since: number;
  readonly answers: ReadonlyMap<string, readonly number[]>;
}

/** The actual value of everything that is expected of an array. */
function observe(seen: Seen, key: string, wanted: ContractOutcome): ContractOutcome {
  const { state, answers } = seen;
  const name = nameOf(seen, key);
  const nodes = seen.nodes.filter(({ countsFor }) => countsFor === name);
  const shown = state.nodearrays.find((array) => array.name === name);
  const grouped = state.groups.find((array) => array.name === name);
  const stopped = answers.get(name) ?? [];
  const all: ContractOutcome = {
    nodes: nodes.length,
    cores: nodes.reduce((sum, { cores }) => sum + cores, 0),
    exists: nodes.length > 0 || (shown !== undefined && shown.exists !== false),
    target: shown?.target?.nodes,
    terminatedByUs: seen.stage.simulator.log
      .slice(seen.since)
      .filter(({ kind }) => kind === "terminate-accepted").length,
    granted: stopped.filter((status) => status === 200).length,
    refused: stopped.filter((status) => status === 409).length,
    machineTypes: [...new Set(nodes.map(({ machineType }) => machineType))].sort(),
    configuration: sharedMembers(nodes, wanted.configuration),
    templateConfigurationKept: nodes.every(({ configuration }) =>
      isWithin(TEMPLATE_CONFIGURATION, configuration),
    ),
    extends: (shown ?? grouped)?.extends,
    flaggedForRemoval: shown?.flaggedForRemoval,
    stateSaysUngrouped: grouped?.ungrouped !== undefined,
    ...observeGroups(nodes, wanted),
  };
  const asked = new Set(Object.keys(wanted));
  return Object.fromEntries(Object.entries(all).filter(([member]) => asked.has(member)));
}

/** "groupedOf:execute" stands for the name of the grouped array of "execute". */
function nameOf({ nodes }: Seen, key: string): string {
  if (!key.startsWith("groupedOf:")) return key;
  const prefix = `${key.slice("groupedOf:".length)}:`;
  return nodes.find(({ countsFor }) => countsFor.startsWith(prefix))?.countsFor ?? key;
}

function observeGroups(nodes: readonly ContractNode[], { groupIdInConfiguration: path }: ContractOutcome) {
  const groups = new Map<string, ContractNode[]>();
  for (const node of nodes) {
    const group = node.placementGroup ?? "none";
    groups.set(group, [...(groups.get(group) ?? []), node]);
  }
  const sizes = new Set([...groups.values()].map((members) => members.length));
  const types = new Map<string, number>();
  for (const members of groups.values()) {
    const type = [...new Set(members.map(({ machineType }) => machineType))].sort().join("+");
    types.set(type, (types.get(type) ?? 0) + 1);
  }
  const ids = [...groups.values()].map((members) => [
    ...new Set(members.map(({ groupId }) => groupId ?? "none")),
  ]);
  const agrees = (node: ContractNode): boolean =>
    node.groupId !== undefined && memberAt(node.configuration, path ?? "") === node.groupId;
  return {
    groups: groups.size,
    nodesPerGroup: sizes.size === 1 ? [...sizes][0] : Number.NaN,
    groupIdsDistinct:
      ids.every((own) => own.length === 1 && own[0] !== "none") && new Set(ids.flat()).size === groups.size,
    groupIdInConfiguration: nodes.length > 0 && nodes.every(agrees) ? path : undefined,
    groupsByMachineType: Object.fromEntries(types),
    ungrouped: nodes.length > 0 && nodes.every(({ placementGroup }) => placementGroup === undefined),
  };
}

/** The expected members of Configuration, as all nodes have them. Undefined if the nodes differ. */
function sharedMembers(
  nodes: readonly ContractNode[],
  expected: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> | undefined {
  const [first] = nodes;
  if (first === undefined || expected === undefined) return undefined;
  const shared = Object.fromEntries(Object.keys(expected).map((key) => [key, first.configuration[key]]));
  return nodes.every(({ configuration }) => isWithin(shared, configuration)) ? shared : undefined;
}

function isWithin(part: unknown, whole: unknown): boolean {
  if (typeof part !== "object" || part === null) return Object.is(part, whole);
  if (typeof whole !== "object" || whole === null) return false;
  return Object.entries(part).every(([key, value]) => isWithin(value, Reflect.get(whole, key)));
}

function memberAt(value: unknown, path: string): unknown {
  return path
    .split(".")
    .reduce<unknown>(
      (at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined),
      value,
    );
}
