import type { Simulator } from "../../src/simulator/engine.ts";
import type { Failure } from "../../src/simulator/faults.ts";
import type { NodeBook } from "./node-book.ts";
import { placeOf } from "./node-book.ts";
import type { ClusterShape, TypeName } from "./shape.ts";
import type { Deed } from "./steps.ts";
import { arrayAt } from "./wants.ts";

/** After a failure, nodes may be unclear for this long: a stop whose answer was lost is decided again after two minutes. */
const AFTER_EFFECTS_MS = 200_000;

/** Brings failures of CycleCloud and its nodes, and knows the ones that the model must know. */
export class Misfortune {
  readonly #shape: ClusterShape;
  readonly #simulator: Simulator;
  readonly #nodes: NodeBook;
  readonly #invalid = new Set<string>();
  #blurredUntil = 0;
  /** Whether the next status will show no node, and whether the last one did. */
  #looks = { nextIsEmpty: false, lastWasEmpty: false };

  constructor(shape: ClusterShape, simulator: Simulator, nodes: NodeBook) {
    this.#shape = shape;
    this.#simulator = simulator;
    this.#nodes = nodes;
  }

  isInvalid(place: string): boolean {
    return this.#invalid.has(place);
  }

  /** Whether a failure still has its after-effects. Nodes that two statuses lacked are gone for the app until it observes again. */
  isBlurred(now: number): boolean {
    return now < this.#blurredUntil || this.#looks.lastWasEmpty;
  }

  /** Something failed at this moment. */
  blur(now: number): void {
    this.#blurredUntil = Math.max(this.#blurredUntil, now + AFTER_EFFECTS_MS);
  }

  get lastLookWasEmpty(): boolean {
    return this.#looks.lastWasEmpty;
  }

  /** A status was read. Returns whether it showed no node although there may be some. */
  noteLook(): boolean {
    this.#looks = { nextIsEmpty: false, lastWasEmpty: this.#looks.nextIsEmpty };
    return this.#looks.lastWasEmpty;
  }

  bring(deed: Misdeed): void {
    const { faults } = this.#simulator;
    switch (deed.kind) {
      case "vanish": {
        const there = this.#nodes.all.filter(
          ({ array, seen }) => array === arrayAt(deed.array) && seen !== undefined,
        );
        return faults.vanish(there.slice(0, deed.count).map(({ id }) => id));
      }
      case "health": {
        const up = this.#nodes.readyIn(arrayAt(deed.array));
        const node = up[deed.from % Math.max(1, up.length)];
        if (node?.seen !== undefined) faults.failNode(node.id);
        return;
      }
      case "capacity": {
        const bucket = this.#bucketAt(deed.array, deed.type);
        if (bucket !== undefined) faults.setCapacity(bucket.array, bucket.type, deed.left);
        return;
      }
      case "validity":
        return this.#setValidity(deed);
      case "fault":
        return faults.failNext(MATCHES[deed.on], deed.times, FAILURES[deed.how]);
      case "false-empty":
        faults.falseEmptyStatus(1);
        this.#looks.nextIsEmpty = true;
    }
  }

  /** Ends all failures. */
  end(): void {
    const { faults } = this.#simulator;
    faults.clear();
    this.#looks.nextIsEmpty = false;
    this.#invalid.clear();
    for (const { name, types } of this.#shape.arrays) {
      for (const type of types) {
        faults.setCapacity(name, type, undefined);
        faults.setInvalid(name, type, undefined);
      }
    }
  }

  #setValidity({ array, type, valid }: Extract<Deed, { kind: "validity" }>): void {
    const bucket = this.#bucketAt(array, type);
    if (bucket === undefined) return;
    const { faults } = this.#simulator;
    faults.setInvalid(bucket.array, bucket.type, valid ? undefined : "DisabledMachineType");
    const place = placeOf(bucket.array, bucket.type);
    if (valid) this.#invalid.delete(place);
    else this.#invalid.add(place);
  }

  #bucketAt(array: number, type: number): { readonly array: string; readonly type: TypeName } | undefined {
    const shape = this.#shape.arrays[array];
    const name = shape?.types[type % shape.types.length];
    return shape === undefined || name === undefined ? undefined : { array: shape.name, type: name };
  }
}

type Misdeed = Extract<
  Deed,
  { kind: "vanish" | "health" | "capacity" | "validity" | "fault" | "false-empty" }
>;

const MATCHES = {
  status: { method: "GET", pathIncludes: "/status" },
  create: { pathIncludes: "/nodes/create" },
  terminate: { pathIncludes: "/nodes/terminate" },
  operations: { pathIncludes: "/operations" },
  nodes: { method: "GET", pathIncludes: "/nodes" },
} as const;

const FAILURES: Readonly<Record<Extract<Deed, { kind: "fault" }>["how"], Failure>> = {
  "drop-request": { dropRequest: true },
  "drop-answer": { dropAnswer: true },
  "500": { status: 500 },
  "500-after": { status: 500, afterEffect: true },
  "409": { status: 409 },
};
