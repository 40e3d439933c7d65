import { dirname, join, normalize } from "node:path";
import type { SourceFile } from "./imports.ts";
import { importsOf } from "./imports.ts";

/** The rooms of src/decide from the ground up. A room may import the rooms before it in this list, and no other. */
export const ROOMS = [
  "senders",
  "pace",
  "constraints",
  "intents",
  "nodes",
  "stops",
  "bins",
  "world",
  "draft",
  "place",
  "why",
  "bucket-order",
  "search",
  "need",
  "record",
  "reconcile",
  "autostop",
  "explain",
  "what-if",
  "virtual",
] as const;

/** The rooms of src/app from the ground up. The files that lie in src/app itself may import all of them. */
export const APP_ROOMS = [
  "ports",
  "process",
  "record",
  "effects",
  "demand",
  "reconcile",
  "autostop",
  "describe",
] as const;

/** The rooms of src/wire from the ground up. The files that lie in src/wire itself may import all of them. */
export const WIRE_ROOMS = ["json", "constraint", "message", "api", "policy"] as const;

/** A folder with rooms, from the ground up. */
export interface Storeys {
  readonly folder: string;
  readonly rooms: readonly string[];
}

export const DECIDE: Storeys = { folder: "src/decide", rooms: ROOMS };
export const APP: Storeys = { folder: "src/app", rooms: APP_ROOMS };
export const WIRE: Storeys = { folder: "src/wire", rooms: WIRE_ROOMS };
/** All folders with rooms. */
export const STOREYS = [DECIDE, APP, WIRE];

/** Maximum number of levels of rooms that stand on each other. */
export const MOST_LEVELS = 10;

/** Every import between rooms that does not run downwards, as sentences. */
export function findUpwardEdges(files: readonly SourceFile[], storeys: Storeys): readonly string[] {
  const order = [...storeys.rooms, LOOSE];
  return edgesBetweenRooms(files, storeys).flatMap(({ file, target, from, to }) => {
    if (!order.includes(from)) return [`${file}: the room ${from} is not in the list`];
    const isDown = order.indexOf(to) < order.indexOf(from);
    return isDown ? [] : [`${file}: ${from} may not import ${to} (${target})`];
  });
}

/** The files of src/decide that lie in no room. */
export function findLooseFiles(files: readonly SourceFile[]): readonly string[] {
  return files.map(({ path }) => path).filter((path) => roomIn(path, DECIDE) === LOOSE);
}

/** How many rooms of src/decide stand on each other at most. */
export function countLevels(files: readonly SourceFile[]): number {
  const below = new Map<string, Set<string>>();
  for (const { from, to } of edgesBetweenRooms(files, DECIDE))
    below.set(from, (below.get(from) ?? new Set()).add(to));
  const levels = new Map<string, number>();
  for (const room of ROOMS) {
    const deepest = [...(below.get(room) ?? [])].map((other) => levels.get(other) ?? 0);
    levels.set(room, 1 + Math.max(0, ...deepest));
  }
  return Math.max(...levels.values());
}

/** Every circle of imports between files: its files in the order in which they import each other. */
export function findCircles(files: readonly SourceFile[]): readonly string[] {
  const imports = new Map(files.map((file) => [file.path, targetsOf(file)]));
  const done = new Set<string>();
  const path: string[] = [];
  const circles: string[] = [];
  const visit = (file: string): void => {
    const start = path.indexOf(file);
    if (start >= 0) circles.push([...path.slice(start), file].join(" -> "));
    if (start >= 0 || done.has(file)) return;
    path.push(file);
    for (const target of imports.get(file) ?? []) visit(target);
    path.pop();
    done.add(file);
  };
  for (const file of imports.keys()) visit(file);
  return circles;
}

interface Edge {
  readonly file: string;
  readonly target: string;
  readonly from: string;
  readonly to: string;
}

/** Every import of a file of the folder from a file of another room. */
function edgesBetweenRooms(files: readonly SourceFile[], storeys: Storeys): readonly Edge[] {
  return files.flatMap((file) => {
    const from = roomIn(file.path, storeys);
    if (from === undefined) return [];
    return targetsOf(file).flatMap((target) => {
      const to = roomIn(target, storeys);
      return to === undefined || to === from ? [] : [{ file: file.path, target, from, to }];
    });
  });
}

/** Stands for the room of a file that lies in the folder itself. */
const LOOSE = "(none)";

function roomIn(path: string, { folder }: Storeys): string | undefined {
  if (!path.startsWith(`${folder}/`)) return undefined;
  const inside = path.slice(folder.length + 1);
  return inside.includes("/") ? inside.slice(0, inside.indexOf("/")) : LOOSE;
}

function targetsOf({ path, text }: SourceFile): readonly string[] {
  return importsOf(text)
    .filter((specifier) => specifier.startsWith("."))
    .map((specifier) => normalize(join(dirname(path), specifier)));
}
