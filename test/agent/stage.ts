import { readJobs } from "../../src/agent/slurm/read-jobs.ts";
import type { Mapping } from "../../src/agent/slurm/mapping.ts";
import { readMapping } from "../../src/agent/slurm/mapping.ts";
import { readNodes } from "../../src/agent/slurm/read-nodes.ts";
import type { SlurmSettings } from "../../src/agent/slurm/read-settings.ts";
import type { Reading } from "../../src/agent/slurm/cloud-node.ts";
import { DATA, readText } from "../support/data.ts";

/** What a real Slurm said in one scene, and what its JSON of each data parser says of the same. */
interface Scene {
  readonly nodes?: string;
  readonly squeue?: string;
  readonly json?: Readonly<Record<string, SceneJson>>;
}

interface SceneJson {
  readonly nodes: Readonly<Record<string, readonly string[]>>;
  readonly jobs?: Readonly<Record<string, { readonly state: readonly string[]; readonly nodes: string }>>;
}

const recorded: { readonly config: Readonly<Record<string, string>> } & Readonly<Record<string, Scene>> =
  JSON.parse(readText(`${DATA}slurm-scenes.json.gz`));

/** By version: what `scontrol show config` printed. */
export const CONFIGS = recorded.config;

/** By version and scene: what squeue and scontrol printed. */
export const SCENES: ReadonlyMap<string, Scene> = new Map(
  Object.entries(recorded).filter(([name]) => name !== "config"),
);

export const NOTHING_KEPT: SlurmSettings = {
  keptNodes: new Set(),
  keptPartitions: new Set(),
  keptStates: new Set(),
};

/** The file for the nodes of the scenes. */
export const MAPPING_TEXT = `# three partitions
cluster=prod
state=/var/spool/cyclecloud-autoscaler
nodes=htc-[1-4] nodearray=htc
nodes=hpc-[1-4] nodearray=hpc size=Standard_HB120rs_v3 group=hpc-1
nodes=gpu-[1-2] nodearray=gpu
`;

export function mappingOf(text: string): Mapping {
  const read = readMapping(text);
  if (read.kind === "wrong") throw new Error(read.problems.join("; "));
  return read.mapping;
}

/** One reading of a scene, which must be readable. */
export function readScene(name: string, settings = NOTHING_KEPT): Reading {
  const scene = SCENES.get(name);
  const [nodes, jobs] = [readNodes(scene?.nodes ?? ""), readJobs(scene?.squeue ?? "")];
  if (nodes === undefined || jobs === undefined) throw new Error(`the scene ${name} cannot be read`);
  return { nodes, jobs, settings };
}
