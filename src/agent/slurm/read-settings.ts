import { expandHosts } from "./hosts.ts";

/** What the agent must know of slurm.conf, as `scontrol show config` shows it. */
export interface SlurmSettings {
  /** Nodes that an administrator keeps from being suspended. A count behind them ("htc-[1-9]:4") is not looked at: each of them is kept. */
  readonly keptNodes: ReadonlySet<string>;
  readonly keptPartitions: ReadonlySet<string>;
  /** Flags and bases of states: DRAIN, MAINTENANCE, ... */
  readonly keptStates: ReadonlySet<string>;
}

/** Reads the text of `scontrol show config`. Undefined if it is something else, or if a list in it cannot be read. */
export function readSettings(text: string): SlurmSettings | undefined {
  if (!/^SlurmctldPort\b|^ResumeTimeout\b/m.test(text)) return undefined;
  const nodes = new Set<string>();
  for (const part of splitCounts(/^SuspendExcNodes\s*=\s*(\S+)/m.exec(text)?.[1])) {
    const names = expandHosts(part);
    if (names === undefined) return undefined;
    for (const name of names) nodes.add(name);
  }
  const partitions = wordsOf(/^SuspendExcParts\s*=\s*(\S+)/m.exec(text)?.[1]);
  const states = wordsOf(/^SuspendExcStates\s*=\s*(\S+)/m.exec(text)?.[1]);
  return {
    keptNodes: nodes,
    keptPartitions: new Set(partitions.map((one) => one.replace(/:\d+$/, ""))),
    keptStates: new Set(states.map((one) => STATES.get(one.toUpperCase()) ?? one.toUpperCase())),
  };
}

/** Names that slurm.conf has for flags that scontrol shows otherwise. */
const STATES: ReadonlyMap<string, string> = new Map([
  ["MAINT", "MAINTENANCE"],
  ["DRAINED", "DRAIN"],
  ["DRAINING", "DRAIN"],
]);

const wordsOf = (value = "(null)"): readonly string[] =>
  value === "(null)" ? [] : value.split(",").filter((word) => word !== "");

/** "htc-[1-9]:4,hpc-1" without the counts. A colon is in no name of a host. */
const splitCounts = (value = "(null)"): readonly string[] =>
  value === "(null)" ? [] : [value.replaceAll(/:\d+(?=,|$)/g, "")];

/** The controllers that answer, as `scontrol ping` lists them: the first one acts. Undefined if the text is something else. */
export function readControllers(text: string): readonly string[] | undefined {
  const lines = text.split("\n").filter((line) => line.startsWith("Slurmctld"));
  if (lines.length === 0) return undefined;
  return lines.flatMap((line) => /^Slurmctld\([^)]*\) at (\S+) is UP\b/.exec(line)?.[1] ?? []);
}
