import { isHost } from "./hosts.ts";

/** A node as `scontrol show nodes` shows it. */
export interface SlurmNode {
  readonly name: string;
  /** IDLE, MIXED, ALLOCATED, DOWN, ... */
  readonly base: string;
  /** CLOUD, POWERED_DOWN, POWERING_UP, DRAIN, ... */
  readonly flags: ReadonlySet<string>;
  /** Without the user and the time that Slurm adds. It may be left over from an earlier state. */
  readonly reason?: string;
  readonly partitions: readonly string[];
}

/**
 * Reads the text of `scontrol show nodes`, which is the same in Slurm 22.05 to 26.05. Undefined if the text is something else: what cannot be
 * read is unknown, and never an empty cluster. A controller without nodes says so in words.
 */
export function readNodes(text: string): readonly SlurmNode[] | undefined {
  if (/^No nodes in the system\s*$/.test(text)) return [];
  const nodes: SlurmNode[] = [];
  for (const record of text.split(/\n\s*\n/)) {
    if (record.trim() === "") continue;
    const node = readNode(record);
    if (node === undefined) return undefined;
    nodes.push(node);
  }
  return nodes.length === 0 ? undefined : nodes;
}

function readNode(record: string): SlurmNode | undefined {
  const name = /^NodeName=(\S+)/.exec(record.trimStart())?.[1];
  const [base, ...flags] = (/^ *State=(\S+)/m.exec(record)?.[1] ?? "").split("+");
  if (name === undefined || !isHost(name) || base === undefined || base === "") return undefined;
  const reason = readReason(record);
  const partitions = /^ *Partitions=(\S+)/m.exec(record)?.[1]?.split(",") ?? [];
  return {
    name,
    // A star is the older sign of NOT_RESPONDING.
    base: base.replace(/\*$/, ""),
    flags: new Set(base.endsWith("*") ? [...flags, "NOT_RESPONDING"] : flags),
    partitions,
    ...(reason === undefined ? {} : { reason }),
  };
}

/** The reason has a line of its own, because it is a text of people: it may say "State=IDLE". At its end Slurm adds "[user@time]". */
function readReason(record: string): string | undefined {
  const line = record.split("\n").find((one) => one.trimStart().startsWith("Reason="));
  const reason = line?.trim().slice("Reason=".length);
  if (reason === undefined || !reason.endsWith("]")) return reason;
  const added = reason.lastIndexOf(" [");
  return added >= 0 && reason.includes("@", added) ? reason.slice(0, added) : reason;
}
