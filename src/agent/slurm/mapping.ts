import { nearest } from "../../domain/nearest.ts";
import { showJson } from "../../domain/shown.ts";
import { expandHosts } from "./hosts.ts";

/** Where the nodes of a host range are created. */
export interface Place {
  readonly nodearray: string;
  readonly size?: string;
  readonly group?: string;
}

/** The agent's file. The shims read the same file with awk (`cyclecloud-slurm`). */
export interface Mapping {
  readonly cluster: string;
  readonly requestSet: string;
  /** Folder of the spool, and of what agent and shims keep. With two controllers it lies on their shared storage. */
  readonly state: string;
  /** Folder in memory (tmpfs), for calls that the disk refuses. */
  readonly memory: string;
  /** Programs that were there before, which get the names that are not ours. */
  readonly previousResume?: string;
  readonly previousSuspend?: string;
  readonly ranges: readonly HostRange[];
}

/** One line `nodes=htc-[1-100] nodearray=htc`. */
interface HostRange {
  readonly hosts: string;
  readonly names: ReadonlySet<string>;
  readonly place: Place;
}

/** A mapping, or every mistake in its text, each with its line. */
type MappingRead =
  | { readonly kind: "mapping"; readonly mapping: Mapping }
  | { readonly kind: "wrong"; readonly problems: readonly string[] };

const SETTINGS = [
  "cluster",
  "request_set",
  "state",
  "memory",
  "url",
  "curl",
  "previous_resume",
  "previous_suspend",
  "previous_resume_fail",
] as const;
const RANGE_KEYS = ["nodes", "nodearray", "size", "group"] as const;
/** Settings that must be there. */
const NEEDED = ["cluster", "state"] as const;
const PATHS: readonly string[] = [
  "state",
  "memory",
  "curl",
  "previous_resume",
  "previous_suspend",
  "previous_resume_fail",
];

/** Reads the agent's file: a line is a setting, a host range, a comment (#), or empty. */
export function readMapping(text: string): MappingRead {
  const problems: string[] = [];
  const settings = new Map<string, string>();
  const ranges: HostRange[] = [];
  for (const [index, raw] of text.split("\n").entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const tell = (problem: string): void => void problems.push(`line ${index + 1}: ${problem}`);
    const range = line.startsWith("nodes=") ? readRange(line, tell) : undefined;
    if (range !== undefined) ranges.push(range);
    else if (!line.startsWith("nodes=")) readSetting(line, settings, tell);
  }
  for (const key of NEEDED) if (!settings.has(key)) problems.push(`${key}= is missing`);
  if (ranges.length === 0) problems.push("no host range: expected a line as nodes=htc-[1-100] nodearray=htc");
  problems.push(...twiceNamed(ranges));
  if (problems.length > 0) return { kind: "wrong", problems };
  const [previousResume, previousSuspend] = [
    settings.get("previous_resume"),
    settings.get("previous_suspend"),
  ];
  return {
    kind: "mapping",
    mapping: {
      cluster: settings.get("cluster") ?? "",
      requestSet: settings.get("request_set") ?? "slurm",
      state: settings.get("state") ?? "",
      memory: settings.get("memory") ?? "/run/cyclecloud-autoscaler",
      ...(previousResume === undefined ? {} : { previousResume }),
      ...(previousSuspend === undefined ? {} : { previousSuspend }),
      ranges,
    },
  };
}

/** A shim writes these names into a message and an address as they are. */
const isPlain = (text: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/.test(text);
const PLAIN = "1 to 64 letters, digits, dots, dashes and underscores, no dot or dash first";

type TellProblem = (problem: string) => void;

function readSetting(line: string, settings: Map<string, string>, tell: TellProblem): void {
  const [key = "", ...rest] = line.split("=");
  const [name, value] = [key.trim(), rest.join("=").trim()];
  if (!SETTINGS.some((one) => one === name)) return tell(unknownKey(name, [...SETTINGS, "nodes"]));
  if (value === "") return tell(`${name} has no value`);
  if (settings.has(name)) return tell(`${name} is there twice`);
  if (PATHS.includes(name) && !/^\/[^\s"'`$\\;&|<>]*$/.test(value))
    return tell(`${name}: found ${showJson(value)}, expected an absolute path without spaces and quotes`);
  if ((name === "cluster" || name === "request_set") && !isPlain(value))
    return tell(`${name}: found ${showJson(value)}, expected ${PLAIN}`);
  settings.set(name, value);
}

function readRange(line: string, tell: TellProblem): HostRange | undefined {
  const words = line.split(/\s+/);
  const members = new Map(
    words.map((word) => [word.split("=", 1).join(""), word.slice(word.indexOf("=") + 1)]),
  );
  for (const key of members.keys())
    if (!RANGE_KEYS.some((one) => one === key)) tell(unknownKey(key, RANGE_KEYS));
  const [hosts = "", nodearray = ""] = [members.get("nodes"), members.get("nodearray")];
  const names = expandHosts(hosts);
  if (
    names === undefined ||
    names.length === 0 ||
    (hosts.match(/\[/g) ?? []).length > 1 ||
    /\]./.test(hosts)
  ) {
    tell(`nodes: found ${showJson(hosts)}, expected one host range as htc-[1-100], or a name`);
    return undefined;
  }
  if (!isPlain(nodearray)) {
    tell(`nodearray: found ${showJson(nodearray)}, expected ${PLAIN}`);
    return undefined;
  }
  const [size, group] = [members.get("size"), members.get("group")];
  for (const [key, value] of [
    ["size", size],
    ["group", group],
  ] as const)
    if (value !== undefined && !/^[A-Za-z0-9_.-]{1,64}$/.test(value))
      tell(`${key}: found ${showJson(value)}`);
  const place = {
    nodearray,
    ...(size === undefined ? {} : { size }),
    ...(group === undefined ? {} : { group }),
  };
  return { hosts, names: new Set(names), place };
}

function unknownKey(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  return `unknown key ${showJson(key)}${meant === undefined ? `: expected one of ${known.join(", ")}` : `: did you mean ${meant}?`}`;
}

function twiceNamed(ranges: readonly HostRange[]): readonly string[] {
  const first = new Map<string, string>();
  const problems: string[] = [];
  for (const { hosts, names } of ranges)
    for (const name of names) {
      const other = first.get(name);
      if (other === undefined) first.set(name, hosts);
      else {
        problems.push(`${name} is in ${other} and in ${hosts}`);
        break;
      }
    }
  return problems;
}

/** Where a node of this name is created. Undefined: the name is not ours. */
export function placeOf(mapping: Mapping, name: string): Place | undefined {
  return mapping.ranges.find(({ names }) => names.has(name))?.place;
}

/** Why a name is not ours, with the range that it was probably meant for. */
export function whyUnmapped(mapping: Mapping, name: string): string {
  const stems = mapping.ranges.map(({ hosts }) => stemOf(hosts.split("[", 1).join("")));
  const meant = nearest(stemOf(name), stems);
  const range = mapping.ranges[meant === undefined ? 0 : stems.indexOf(meant)];
  return `in no host range of the agent's file; the nearest is ${range?.hosts ?? "none"}`;
}

/** A name without the number at its end. */
function stemOf(name: string): string {
  const last = name.search(/\D\d*$/);
  return name.slice(0, last + 1);
}
