// Long: one index. Which lines there are, which of them a bin stands in and when that changes depend on each other.
import type { SetName } from "../../domain/ids.ts";
import type { Bin } from "./bin-columns.ts";
import type { BinTable } from "./bin-table.ts";
import { Line } from "./first-fit-line.ts";
import type { Kind } from "./node-kinds.ts";
import type { Shape } from "./shape.ts";

/** The lines in which a bin for a shape is searched. */
interface LinesToSearch {
  readonly lines: readonly Line[];
  /** A condition on the bins of these lines. Undefined if all of them qualify. */
  readonly accepts?: (bin: Bin) => boolean;
}

/** A line, and the shapes that search it: all of them take the same kinds of nodes. */
interface SharedLine {
  readonly line: Line;
  readonly shapes: Shape[];
}

/** A shape with at least this many jobs gets a line of its own bins. */
const LEAST_JOBS_OF_LINE = 16;
/** Maximum number of such lines. */
const MOST_LINES = 32;
/** A shape that takes more VM sizes and single kinds than this searches all bins. */
const MOST_PARTS = 80;

/**
 * Chooses the lines that a search for a shape of jobs walks over, so that it meets few bins that do not meet the shape's marks.
 *
 * - Shapes of many jobs get a line of exactly their bins. Shapes that take the same kinds share one.
 * - Other shapes search the lines of the few VM sizes and kinds that they take.
 * - Shapes without marks, shapes that test each node and shapes that take many kinds search all bins.
 *
 * More lines make searches cheaper and changes dearer: every change of a bin is a change in each of its lines.
 *
 * Bench row: distinct-jobs 10,000 takes 2.2 times as long if all shapes search all bins.
 */
export class LinesByShape {
  readonly #table: BinTable;
  readonly #byShape = new Map<Shape, LinesToSearch>();
  readonly #ofKind: (Line | undefined)[] = [];
  readonly #ofSize = new Map<string, Line>();
  /** By the kinds that they take. */
  readonly #shared = new Map<string, SharedLine>();
  #all: Line | undefined;
  readonly #ofHosts = new Map<SetName, Line>();
  /** By kind: the lines that have its bins. Worked out again when there is a new line. */
  #containing: (readonly Line[] | undefined)[] = [];

  constructor(table: BinTable) {
    this.#table = table;
  }

  /** Not for intricate jobs: they search {@link ofAll}. */
  of(shape: Shape): LinesToSearch {
    let lines = this.#byShape.get(shape);
    if (lines === undefined) {
      lines = this.#chooseFor(shape);
      this.#byShape.set(shape, lines);
    }
    return lines;
  }

  /**
   * The line of all bins, without hosts that only a scheduler reports. No set pays for it: all use it, and it is made once in each try. A small
   * set that comes first could not afford it.
   */
  ofAll(): Line {
    if (this.#all === undefined) {
      this.#all = new Line(this.#table, this.#open(), this.#table.planned);
      this.#containing = [];
    }
    return this.#all;
  }

  /** The line of the hosts that only a scheduler reports to this set. Undefined if there are none. */
  ofHosts(set: SetName): Line | undefined {
    const { hosts } = this.#table;
    const own = hosts.size === 0 ? undefined : hosts.get(set);
    if (own === undefined) return undefined;
    let line = this.#ofHosts.get(set);
    if (line === undefined) {
      line = new Line(this.#table, own, []);
      this.#ofHosts.set(set, line);
      this.#containing = [];
    }
    return line;
  }

  /** A demand needs the bin from now on. */
  claim(bin: Bin): void {
    for (const line of this.#linesWith(this.#table.kindOf(bin))) line.claim(bin);
  }

  /** Puts a bin right behind another one. `at` and `atOfKind`: its positions among all planned bins and those of its kind, if it is planned. */
  insertAfter(bin: Bin, other: Bin, at: number | undefined, atOfKind: number | undefined): void {
    const kind = this.#table.kindOf(bin);
    const ofKind = this.#ofKind[kind.index];
    for (const line of this.#linesWith(kind)) line.insertAfter(bin, other, line === ofKind ? atOfKind : at);
  }

  /** There is a new kind of node. Shapes that share a line may disagree about it: then they choose their lines again. */
  noteNewKind(kind: Kind): void {
    this.#byShape.clear();
    this.#containing = [];
    for (const [key, { shapes }] of this.#shared) {
      const [first, ...others] = shapes;
      const answer = first?.takesKind(kind);
      if (others.some((shape) => shape.takesKind(kind) !== answer)) this.#shared.delete(key);
    }
  }

  #chooseFor(shape: Shape): LinesToSearch {
    if (shape.requirements.marks.length === 0) return { lines: [this.ofAll()] };
    const accepts = (bin: Bin): boolean => this.#table.meets(shape, bin);
    if (shape.judgesEachNode) return { lines: [this.ofAll()], accepts };
    if (shape.jobs >= LEAST_JOBS_OF_LINE && this.#shared.size < MOST_LINES)
      return { lines: [this.#lineOfShape(shape)] };
    const parts = this.#partsOf(shape);
    if (parts.length > MOST_PARTS) return { lines: [this.ofAll()], accepts };
    return {
      lines: parts.map((part) =>
        typeof part === "string" ? this.#lineOfSize(part) : this.#lineOfKind(part),
      ),
    };
  }

  /**
   * What the shape takes: VM sizes of which it takes every kind, and single kinds of other sizes. Bench row: distinct-jobs 100,000 takes 1.9
   * times as long without it.
   */
  #partsOf(shape: Shape): readonly (string | Kind)[] {
    const { budget, ground } = this.#table;
    budget.spend(ground.kinds.length);
    const parts: (string | Kind)[] = [];
    for (const [size, kinds] of Map.groupBy(shape.kindsIn(ground), sizeOf)) {
      const isWhole = size !== undefined && kinds.length === ground.kindsNamed("vm_size", [size]).length;
      if (isWhole) parts.push(size);
      else parts.push(...kinds);
    }
    return parts;
  }

  #lineOfSize(size: string): Line {
    let line = this.#ofSize.get(size);
    if (line === undefined) {
      line = this.#lineOf((bin) => sizeOf(this.#table.kindOf(bin)) === size);
      this.#ofSize.set(size, line);
      this.#containing = [];
    }
    return line;
  }

  #lineOfKind(kind: Kind): Line {
    let line = this.#ofKind[kind.index];
    if (line === undefined) {
      const table = this.#table;
      const { position } = table;
      const own = (table.ofKind[kind.index] ?? []).filter((bin) => !table.isClosed(bin));
      own.sort(
        (a, b) => table.tierOf(a) - table.tierOf(b) || (position[a] ?? 0) - (position[b] ?? 0) || a - b,
      );
      table.plannedOfKind[kind.index] ??= [];
      line = new Line(table, own, table.plannedOfKind[kind.index] ?? []);
      this.#ofKind[kind.index] = line;
      this.#containing = [];
    }
    return line;
  }

  #lineOfShape(shape: Shape): Line {
    const { budget, ground } = this.#table;
    budget.spend(ground.kinds.length);
    const key = ground.kinds.map((kind) => (shape.takesKind(kind) ? "1" : "0")).join("");
    let shared = this.#shared.get(key);
    if (shared === undefined) {
      shared = { line: this.#lineOf((bin) => this.#table.meets(shape, bin)), shapes: [] };
      this.#shared.set(key, shared);
      this.#containing = [];
    }
    if (!shared.shapes.includes(shape)) shared.shapes.push(shape);
    return shared.line;
  }

  #lineOf(belongs: (bin: Bin) => boolean): Line {
    const { budget, existing, inFlight, deallocated, planned } = this.#table;
    budget.spend(existing.length + inFlight.length + deallocated.length);
    return new Line(this.#table, this.#open().filter(belongs), planned, belongs);
  }

  /** The bins that may take a slot, in the order of use: without planned ones, and without hosts that only a scheduler reports. */
  #open(): readonly Bin[] {
    const { existing, inFlight, deallocated } = this.#table;
    return [...existing, ...inFlight, ...deallocated].filter((bin) => !this.#table.isClosed(bin));
  }

  /** The lines that have the bins of a kind. */
  #linesWith(kind: Kind): readonly Line[] {
    const known = this.#containing[kind.index];
    if (known !== undefined) return known;
    const lines = this.#findLinesWith(kind);
    this.#containing[kind.index] = lines;
    return lines;
  }

  #findLinesWith(kind: Kind): readonly Line[] {
    const { onlyFor } = kind.subject;
    if (onlyFor !== undefined) return onlyFor.flatMap((set) => this.#ofHosts.get(set) ?? []);
    const lines = this.#all === undefined ? [] : [this.#all];
    const ofKind = this.#ofKind[kind.index];
    if (ofKind !== undefined) lines.push(ofKind);
    const size = this.#ofSize.size === 0 ? undefined : sizeOf(kind);
    const ofSize = size === undefined ? undefined : this.#ofSize.get(size);
    if (ofSize !== undefined) lines.push(ofSize);
    for (const { line, shapes } of this.#shared.values())
      if (shapes[0]?.takesKind(kind) === true) lines.push(line);
    return lines;
  }
}

function sizeOf(kind: Kind): string | undefined {
  const size = kind.view().properties["vm_size"];
  return typeof size === "string" ? size : undefined;
}
