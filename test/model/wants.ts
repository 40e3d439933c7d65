import type { Held } from "./set-book.ts";
import type { ClusterShape, TypeName } from "./shape.ts";
import { CORES } from "./shape.ts";
import type { Entry } from "./steps.ts";
import { NAMES } from "./steps.ts";

/** One demand in force, read from an entry of a message. */
export type Want = {
  /** "set/id": its name in the product. */
  readonly by: string;
  readonly set: string;
  readonly id: string;
  readonly position: number;
  readonly array: string;
  /** Sizes that count and may be created, preferred first. */
  readonly types: readonly TypeName[];
  /** Whether the message named sizes. */
  readonly picky: boolean;
} & Amount;

export type Amount =
  | { readonly kind: "target"; readonly unit: "nodes" | "cores"; readonly count: number }
  | {
      readonly kind: "groups";
      readonly unit: "nodes" | "cores";
      readonly count: number;
      readonly size: number;
      readonly key: string;
    }
  /** Slots of one core each. */
  | { readonly kind: "job"; readonly count: number }
  | {
      readonly kind: "names";
      readonly count: number;
      readonly names: readonly string[];
      readonly since: number | undefined;
      readonly together: boolean;
    };

/** The nodes that an entry names, and the moment of the resume that they are for. */
export const namesAt = (positions: readonly number[]): readonly string[] =>
  positions.map((position) => NAMES[position] ?? "");
export const sinceOf = (resume: number | undefined): number | undefined =>
  resume === undefined ? undefined : Date.UTC(2025, 0, resume);

/** An array's name, also for an array that the cluster does not have. */
export const arrayAt = (index: number): string => `array${index}`;

/** The sizes at these positions in the array's list, each once. */
export function typesAt(
  shape: ClusterShape,
  array: number,
  positions: readonly number[],
): readonly TypeName[] {
  const own = shape.arrays[array]?.types ?? [];
  if (own.length === 0) return [];
  return [...new Set(positions.map((position) => own[position % own.length] ?? own[0] ?? "Small"))];
}

/** All wants of the sets in order of rank: by position in the message, then by set and id. */
export function wantsOf(shape: ClusterShape, sets: readonly Held[]): readonly Want[] {
  return sets
    .flatMap((held) => wantsOfSet(shape, held))
    .toSorted((a, b) => a.position - b.position || compare(a.set, b.set) || compare(a.id, b.id));
}

function wantsOfSet(shape: ClusterShape, { set, entries }: Held): readonly Want[] {
  const ids = new Map<string, number>();
  // Targets come before jobs in a message, in whichever order its entries were drawn.
  const ordered = [
    ...entries.filter(({ kind }) => kind !== "job"),
    ...entries.filter(({ kind }) => kind === "job"),
  ];
  return ordered.map((entry, position): Want => {
    const base = idOf(entry, position);
    const times = (ids.get(base) ?? 0) + 1;
    ids.set(base, times);
    const id = times === 1 ? base : `${base}#${times}`;
    const array = arrayAt(entry.array);
    const all = shape.arrays[entry.array]?.types ?? [];
    const named = entry.kind === "job" ? all.slice(0, 1) : typesAt(shape, entry.array, entry.types);
    const types = named.length === 0 ? all : named;
    const common = { by: `${set}/${id}`, set, id, position, array, types, picky: named.length > 0 };
    switch (entry.kind) {
      case "target":
        return { ...common, kind: "target", unit: entry.unit, count: entry.count };
      case "groups": {
        const key = `${array}:${entry.size}${entry.unit === "nodes" ? "n" : ""}`;
        return { ...common, kind: "groups", unit: entry.unit, count: entry.groups, size: entry.size, key };
      }
      case "job":
        return { ...common, kind: "job", count: entry.slots };
      case "names": {
        const { names, resume, together } = entry;
        const since = sinceOf(resume);
        return { ...common, kind: "names", count: names.length, names: namesAt(names), since, together };
      }
    }
  });
}

/** The product's id of a demand: by its array and group size, or the name of the job. */
function idOf(entry: Entry, position: number): string {
  const array = arrayAt(entry.array);
  if (entry.kind === "job") return jobName(position);
  if (entry.kind === "target") return `nodearray:${array}`;
  if (entry.kind === "names") return `nodearray:${array}:names`;
  return `nodearray:${array}:${entry.size}${entry.unit === "nodes" ? "n" : ""}`;
}

export const jobName = (position: number): string => `job-${position}`;

/** The number of nodes of a whole group in a size. */
export const groupNodes = (want: Extract<Want, { kind: "groups" }>, type: TypeName): number =>
  want.unit === "nodes" ? want.size : Math.ceil(want.size / CORES[type]);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
