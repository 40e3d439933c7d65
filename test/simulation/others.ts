import type { ClusterName } from "../../src/domain/ids.ts";
import type { Simulator } from "../../src/simulator/engine.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { Machines } from "./machines.ts";
import type { Schedule } from "./schedule.ts";
import type { Lasting } from "./weather.ts";

const WAVES_APART_MS = 480_000;
/** This many nodes vanish one after the other behind each wave. */
const TRICKLE = 8;

interface Seen {
  ready: boolean;
}

/** Everything outside the autoscaler that removes nodes: Azure, an administrator, another autoscaler. */
export class Others {
  readonly #schedule: Schedule;
  readonly #simulator: Simulator;
  readonly #machines: Machines;
  readonly #cluster: ClusterName;
  readonly #wasShown: (nodeId: string) => boolean;
  readonly #lasting: Lasting;
  readonly #stormy: () => boolean;
  readonly #trace: (what: string) => void;
  /** Nodes that were not asked to stop. */
  readonly #alive = new Map<string, Seen>();

  constructor(
    world: {
      readonly schedule: Schedule;
      readonly simulator: Simulator;
      readonly machines: Machines;
      readonly cluster: ClusterName;
      /** Whether a status has shown the node as Ready. */
      readonly wasShown: (nodeId: string) => boolean;
    },
    lasting: Lasting,
    stormy: () => boolean,
    trace: (what: string) => void,
  ) {
    this.#schedule = world.schedule;
    this.#simulator = world.simulator;
    this.#machines = world.machines;
    this.#cluster = world.cluster;
    this.#wasShown = world.wasShown;
    this.#lasting = lasting;
    this.#stormy = stormy;
    this.#trace = trace;
  }

  start(): void {
    const { vanish, waves, deleters } = this.#lasting;
    if (vanish !== undefined) this.#often(vanish.everySeconds, () => this.#vanish(this.#pick(this.#ready())));
    if (deleters !== undefined) this.#often(deleters.everySeconds, () => this.#delete(deleters.onlyIdle));
    if (waves === undefined) return;
    for (let wave = 0; wave < waves.count; wave += 1) {
      this.#schedule.after(waves.firstAt * 1000 + wave * WAVES_APART_MS, () =>
        this.#wave(waves.trickleSeconds),
      );
    }
  }

  see(event: SimulatorEvent): void {
    switch (event.kind) {
      case "node-created":
        this.#alive.set(event.nodeId, { ready: false });
        return this.#maybeVanishEarly(event.nodeId);
      case "node-ready":
        this.#alive.set(event.nodeId, { ready: true });
        return;
      case "terminate-accepted":
      case "node-gone":
      case "node-failed":
        this.#alive.delete(event.nodeId);
        return;
      default:
        return;
    }
  }

  #often(seconds: number, run: () => void): void {
    this.#schedule.after(this.#schedule.dice.whole(500 * seconds, 1500 * seconds), () => {
      if (!this.#stormy()) return;
      run();
      this.#often(seconds, run);
    });
  }

  #maybeVanishEarly(node: string): void {
    const { dice } = this.#schedule;
    const share = this.#lasting.vanish?.beforeReady ?? 0;
    if (share === 0 || !this.#stormy() || !dice.chance(share)) return;
    // A node is Ready after 22 s at the earliest.
    this.#schedule.after(share === 1 ? dice.whole(15_000, 22_000) : dice.whole(1000, 40_000), () => {
      if (this.#alive.get(node)?.ready === false) this.#vanish(node);
    });
  }

  #wave(trickleSeconds: number): void {
    const ready = this.#shown();
    this.#trace(`a spot wave takes half of ${ready.length} nodes`);
    for (const node of ready.slice(0, Math.ceil(ready.length / 2))) this.#vanish(node);
    for (let drop = 1; drop <= TRICKLE; drop += 1)
      this.#schedule.after(drop * trickleSeconds * 1000, () => this.#vanish(this.#pick(this.#shown())));
  }

  #vanish(node: string | undefined): void {
    if (node === undefined || !this.#alive.delete(node)) return;
    this.#trace(`${node} vanishes`);
    this.#simulator.faults.vanish([node]);
  }

  #delete(onlyIdle: boolean): void {
    const idle = [...this.#machines.up].filter(({ job }) => job === undefined).map(({ nodeId }) => nodeId);
    const candidates = onlyIdle ? idle : [...this.#alive.keys()];
    const node = candidates[this.#schedule.dice.whole(0, candidates.length - 1)];
    if (node === undefined) return;
    this.#trace(`somebody else stops ${node}`);
    const path = `/clusters/${this.#cluster}/nodes/terminate`;
    this.#simulator.request({ method: "POST", path, query: {}, body: { ids: [node] } });
  }

  #ready(): readonly string[] {
    return [...this.#alive].filter(([, { ready }]) => ready).map(([node]) => node);
  }

  /**
   * Ready nodes that a status has shown as Ready. The others count as nodes that were never up, and a loss of those would make their bucket
   * rest.
   */
  #shown(): readonly string[] {
    return this.#ready().filter((node) => this.#wasShown(node));
  }

  #pick(nodes: readonly string[]): string | undefined {
    return nodes[this.#schedule.dice.whole(0, nodes.length - 1)];
  }
}
