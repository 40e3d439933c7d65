import type { StopAnswer } from "../../src/app/autostop/grant-stops.ts";
import { arrayName } from "../../src/domain/ids.ts";
import { instant } from "../../src/domain/units.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { Fronts } from "./fronts.ts";
import type { Instance } from "./instance.ts";
import type { Judge } from "./judge.ts";
import type { Schedule } from "./schedule.ts";
import { ScriptAgents } from "./scripts.ts";
import type { Scripts } from "./weather.ts";

/** A node that is up, as a scheduler and the node's own agent see it. */
export interface Machine {
  readonly nodeId: string;
  readonly name: string;
  readonly instanceId: string;
  readonly hostname: string;
  readonly array: string;
  readonly upSince: number;
  /** The job that runs there. Each job takes a whole node. */
  job: string | undefined;
  /** Closed to work since it asked to stop, until it is told to stay. */
  closed: boolean;
  idleSince: number;
  /** The earliest time at which the agent asks again. */
  askAt: number;
  asking: boolean;
}

type Booting = Pick<Machine, "nodeId" | "name" | "hostname" | "array">;

const LOOK_AROUND_MS = 5000;
const SCRIPTS_LOOK_MS = 1000;
/** The agent asks once the node has been idle for this long. */
const IDLE_MS = 30_000;
/** The node gives up on an answer after this time. */
const PATIENCE_MS = 60_000;

/** A node takes no more jobs from then on. */
const GOES: ReadonlySet<SimulatorEvent["kind"]> = new Set([
  "terminate-accepted",
  "deallocate-accepted",
  "node-gone",
  "node-failed",
]);

/** The nodes' own agents. An idle node asks whether it may stop, and asks again if the answer is unclear. Several may ask at once. */
export class Machines {
  readonly #schedule: Schedule;
  readonly #instance: () => Instance | undefined;
  readonly #judge: Judge;
  readonly #unfit: () => number;
  readonly #stormy: () => boolean;
  readonly #defect: (error: unknown) => void;
  readonly #up = new Map<string, Machine>();
  readonly #booting = new Map<string, Booting>();
  readonly #agents: ScriptAgents | undefined;
  #firstAsk: ((array: string) => number) | undefined;

  constructor(
    schedule: Schedule,
    instance: () => Instance | undefined,
    judge: Judge,
    unfit: () => number,
    stormy: () => boolean,
    defect: (error: unknown) => void,
    agents?: { readonly scripts: Scripts; readonly fronts: Fronts },
  ) {
    this.#schedule = schedule;
    this.#instance = instance;
    this.#judge = judge;
    this.#unfit = unfit;
    this.#stormy = stormy;
    this.#defect = defect;
    this.saysStates = agents?.scripts.states === true;
    const isUp = (machine: Machine): boolean => this.isUp(machine);
    this.#agents =
      agents === undefined
        ? undefined
        : new ScriptAgents({
            schedule,
            instance,
            judge: judge.answers,
            ...agents,
            unfit,
            stormy,
            defect,
            isUp,
          });
    this.#lookAround();
  }

  /** Whether reports say if each host is open. */
  readonly saysStates: boolean;

  /** Sets when a new node may ask first. */
  askFrom(firstAsk: (array: string) => number): void {
    this.#firstAsk = firstAsk;
  }

  isUp(machine: Machine): boolean {
    return this.#up.get(machine.nodeId) === machine;
  }

  get up(): Iterable<Machine> {
    return this.#up.values();
  }

  /** Nodes that have a host name, and are not Ready yet. */
  get booting(): readonly Booting[] {
    return [...this.#booting.values()];
  }

  see(event: SimulatorEvent): void {
    if (event.kind === "node-ready") {
      const { nodeId, name, instanceId, hostname, array } = event;
      const now = this.#schedule.now();
      const askAt = this.#firstAsk?.(array) ?? now;
      const fresh = { job: undefined, closed: false, idleSince: now, askAt, asking: false };
      this.#up.set(nodeId, { nodeId, name, instanceId, hostname, array, upSince: now, ...fresh });
    }
    if (event.kind === "node-up") this.#booting.set(event.nodeId, event);
    if ((event.kind === "node-ready" || GOES.has(event.kind)) && "nodeId" in event)
      this.#booting.delete(event.nodeId);
    if (GOES.has(event.kind) && "nodeId" in event) this.#up.delete(event.nodeId);
  }

  /** An administrator switches an idle node off. Undefined if there is none. */
  switchOff(): string | undefined {
    const idle = [...this.#up.values()].filter(({ job, closed }) => job === undefined && !closed);
    const chosen = idle[this.#schedule.dice.whole(0, idle.length - 1)];
    if (chosen !== undefined) this.#up.delete(chosen.nodeId);
    return chosen?.nodeId;
  }

  /** An idle node runs its script now, if possible one of these. Its question reaches that instance. */
  askNow(at: Instance, preferred: readonly string[]): void {
    const idle = [...this.#up.values()].filter(({ job, closed }) => job === undefined && !closed);
    const chosen =
      idle.find(({ nodeId }) => preferred.includes(nodeId)) ??
      idle[this.#schedule.dice.whole(0, idle.length - 1)];
    if (chosen !== undefined) this.#agents?.look(chosen, at);
  }

  begin(machine: Machine, job: string): void {
    machine.job = job;
    this.#judge.busy(machine.nodeId);
  }

  /** Ends the job of a node. Returns false if the node has gone before. */
  end(machine: Machine): boolean {
    machine.job = undefined;
    machine.idleSince = this.#schedule.now();
    this.#judge.idle(machine.nodeId);
    return this.#up.has(machine.nodeId);
  }

  #lookAround(): void {
    const now = this.#schedule.now();
    for (const machine of this.#up.values()) {
      if (this.#agents !== undefined) {
        this.#agents.look(machine);
        continue;
      }
      const idle = machine.job === undefined && now - machine.idleSince >= IDLE_MS;
      if (idle && !machine.asking && machine.askAt <= now) this.#ask(machine);
    }
    const pause = this.#agents === undefined ? LOOK_AROUND_MS : SCRIPTS_LOOK_MS;
    this.#schedule.after(pause, () => this.#lookAround());
  }

  #ask(machine: Machine): void {
    const { dice } = this.#schedule;
    const instance = this.#instance();
    if (instance === undefined) return;
    const unhealthy = dice.chance(this.#unfit());
    machine.closed = true;
    machine.asking = true;
    this.#judge.asked(machine.nodeId, unhealthy);
    let open = true;
    const answered = (answer: StopAnswer): void => {
      if (!open) return;
      open = false;
      this.#heed(machine, answer);
    };
    this.#schedule.after(PATIENCE_MS, () =>
      answered({ kind: "cannot-tell", why: "no answer", undrain: false }),
    );
    const call = {
      instance: machine.instanceId,
      array: arrayName(machine.array),
      unhealthy,
      begin: true,
      arrivedAt: instant(this.#schedule.now()),
    };
    instance.invoke(
      `${machine.hostname} asks to stop${unhealthy ? " as unhealthy" : ""}`,
      () => instance.stopDesk.ask(instance.site, call),
      (how) => {
        if (how.kind === "threw") this.#defect(how.error);
        const answer: StopAnswer =
          how.kind === "returned" ? how.result : { kind: "cannot-tell", why: "no answer", undrain: false };
        if (this.#stormy() && dice.chance(0.03)) return;
        this.#schedule.after(dice.whole(1, 300), () => answered(answer));
      },
    );
  }

  #heed(machine: Machine, answer: StopAnswer): void {
    const { dice } = this.#schedule;
    machine.asking = false;
    const again = answer.kind === "stop" ? 150_000 : dice.whole(20_000, 60_000);
    machine.askAt = this.#schedule.now() + again;
    // A node that calls itself unhealthy and must stay is not told to open.
    if (answer.kind !== "stay" || !answer.undrain || !this.#up.has(machine.nodeId)) return;
    machine.closed = false;
    this.#judge.toldToStay(machine.nodeId);
  }
}
