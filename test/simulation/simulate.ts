import type { Answer, TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import { memoryCredentialBreaker } from "../../src/adapters/memory/credential-breaker.ts";
import { memoryHistory } from "../../src/adapters/memory/history.ts";
import type { RecordStore } from "../../src/app/ports/record-store.ts";
import { PortError } from "../../src/app/ports/port-error.ts";
import { tickAll } from "../../src/app/tick.ts";
import { clusterName } from "../../src/domain/ids.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import { MACHINE_TYPE, mostNodes, simulatorOptions } from "./cluster-options.ts";
import { drawConfiguration, policyOf } from "./configuration.ts";
import { Dice } from "./dice.ts";
import { clockText, Instance } from "./instance.ts";
import type { Shared } from "./instance.ts";
import { distortStatus, nodesShown } from "./distort.ts";
import type { Told } from "./needs.ts";
import type { Verdict } from "./verdict.ts";
import { Judge } from "./judge.ts";
import { startJobWriter } from "./job-writer.ts";
import type { Kind } from "./kinds.ts";
import { drawKind } from "./kinds.ts";
import { Contended, Line } from "./line.ts";
import { Machines } from "./machines.ts";
import { Others } from "./others.ts";
import { startMoments } from "./moments.ts";
import { Races } from "./races.ts";
import { readCreate, readRequestId } from "./read-wire.ts";
import { ORIGIN, Schedule, drainMicrotasks } from "./schedule.ts";
import { Storage } from "./storage.ts";
import { endpointOf } from "./trip.ts";
import type { Weather } from "./weather.ts";
import { calm, drawWeather } from "./weather.ts";
import { startLastingWriters } from "./lasting-writers.ts";
import type { Outlet, Writer } from "./writers.ts";
import { startRenewer, startTargetWriter } from "./writers.ts";

export interface Outcome {
  readonly seed: number;
  readonly kind?: Kind;
  readonly weather: Weather;
  readonly verdict: Verdict;
  /** Errors that no fault explains: a use case threw something that is no PortError. */
  readonly defects: readonly string[];
  readonly crashes: number;
  readonly simulatedSeconds: number;
}

const CLUSTER = clusterName("demo");
const TICK_MS = 60_000;
/** Quiet for so long at least, and until the longest pause of a bucket must have ended at most. */
const QUIET_SECONDS = 300;
const LONGEST_QUIET_SECONDS = 2700;
/** A crowd keeps renewing in the quiet time; it needs no longer than this to be served all the same. */
const LONGEST_CROWDED_SECONDS = 600;

export interface SimulateOptions {
  /** Takes the trace, line by line. */
  readonly write?: (line: string) => void;
  /** A kind of weather that lasts, drawn by the seed; absent: a storm. */
  readonly kind?: Kind;
  /** Parts of the weather that are not left to the seed. */
  readonly weather?: Partial<Weather>;
}

/** Plays one seed: a storm of faults over the whole product on a virtual clock, then quiet, then the verdict. */
export async function simulate(seed: number, options: SimulateOptions = {}): Promise<Outcome> {
  const run = new Run(seed, options);
  await run.play();
  return run.outcome();
}

class Run {
  readonly #seed: number;
  readonly #kind: Kind | undefined;
  readonly #storage: Storage;
  readonly #others: Others | undefined;
  readonly #races: Races;
  readonly #weather: Weather;
  readonly #configuration: ReturnType<typeof drawConfiguration>;
  readonly #schedule: Schedule;
  readonly #write: ((line: string) => void) | undefined;
  readonly #judge: Judge;
  readonly #simulator: Simulator;
  readonly #trouble: { bootFailureShare: number; neverBootShare: number; terminationFailureShare: number };
  readonly #shared: Shared;
  readonly #machines: Machines;
  readonly #line: Line;
  readonly #instances: (Instance | undefined)[] = [];
  readonly #writers: Writer[] = [];
  readonly #defects: string[] = [];
  #storm = true;
  #emptyNext = false;
  #crashes = 0;

  constructor(seed: number, { write, kind, weather: given }: SimulateOptions) {
    const dice = new Dice(seed);
    this.#seed = seed;
    this.#kind = kind;
    this.#write = write;
    this.#weather = {
      ...drawWeather(dice),
      ...(kind === undefined ? {} : drawKind(kind, seed)),
      ...given,
    };
    this.#schedule = new Schedule(dice);
    const weather = this.#weather;
    const configuration = drawConfiguration(seed, weather.arrays);
    const policy = policyOf(configuration);
    this.#configuration = configuration;
    const trace: Shared["trace"] = (who, what) => this.#trace(who, what);
    const now = (): number => this.#schedule.now();
    const { lasting } = weather;
    const limits = {
      ...weather,
      nodesPerArray: mostNodes(weather),
      bucketOrder: policy.preference === "bucket-order",
    };
    this.#judge = new Judge(limits, now, (what) => trace("JUDGE", () => what));
    this.#trouble = {
      bootFailureShare: weather.bootFailureShare,
      neverBootShare: weather.neverBootShare,
      terminationFailureShare: weather.terminationFailureShare,
    };
    // The simulator reads the shares when it needs them: in the quiet time they are 0.
    const options = Object.assign(this.#trouble, simulatorOptions(CLUSTER, weather, seed));
    this.#simulator = new Simulator(options, this.#schedule);
    this.#shared = {
      schedule: this.#schedule,
      cluster: CLUSTER,
      policy,
      openStore: () => this.#watched(this.#storage.open()),
      queue: {
        wake: (cluster, at, id) => this.#line.wake(cluster, at, id),
        reject: () => Promise.resolve(),
        resend: () => Promise.resolve(),
        rejected: () => Promise.resolve({ count: 0, oldest: [] }),
        poison: () => Promise.resolve({ count: 0 }),
        takePoison: () => Promise.resolve([]),
        dropPoison: () => Promise.resolve(),
      },
      breaker: memoryCredentialBreaker(),
      history: memoryHistory(),
      answer: (request) => this.#answer(request),
      noteRequest: (request) => this.#noteRequest(request),
      weather: () => (this.#storm ? weather : calm(weather)),
      trace,
      noteCrash: (instance) => this.#restart(instance),
      atAwait: (at, stopping) => this.#races.meet(at, stopping),
    };
    this.#storage = new Storage(this.#schedule, CLUSTER, lasting?.storage !== undefined);
    const instance = (): Instance | undefined => this.#anyInstance();
    const stormy = (): boolean => this.#storm;
    const unfit = (): number => (this.#storm ? weather.unfit : 0);
    const defect = (error: unknown): void => this.#noteError(error);
    this.#line = new Line(this.#schedule, instance, stormy, defect);
    this.#machines = new Machines(
      this.#schedule,
      instance,
      this.#judge,
      unfit,
      stormy,
      defect,
      lasting?.scripts,
    );
    this.#races = new Races(
      {
        schedule: this.#schedule,
        instances: this.#instances,
        writers: this.#writers,
        machines: this.#machines,
      },
      lasting?.races ?? 0,
    );
    const world = {
      schedule: this.#schedule,
      simulator: this.#simulator,
      machines: this.#machines,
      cluster: CLUSTER,
      wasShown: (nodeId: string) => this.#judge.wasShown(nodeId),
    };
    this.#others =
      lasting === undefined
        ? undefined
        : new Others(world, lasting, stormy, (what) => trace("WEATHER", () => what));
    this.#simulator.onEvent((event) => {
      if (event.kind !== "status-read") trace("CycleCloud", () => describeEvent(event));
      this.#judge.see(event);
      this.#machines.see(event);
      this.#others?.see(event);
    });
    for (let index = 0; index < weather.instances; index += 1) this.#start(index, 1);
  }

  async play(): Promise<void> {
    this.#trace("WEATHER", () => JSON.stringify(this.#weather));
    this.#trace("CONFIGURATION", () => JSON.stringify(this.#configuration));
    this.#startWriters();
    this.#tick(ORIGIN + this.#schedule.dice.whole(1000, TICK_MS));
    if (this.#weather.falseEmpty) this.#later(() => (this.#emptyNext = true));
    if (this.#weather.scarce) this.#later(() => this.#runShort());
    if (this.#weather.switchOff === true) this.#switchOff();
    this.#startLasting();
    const stormEnds = ORIGIN + this.#weather.stormSeconds * 1000;
    await this.#playUntil(stormEnds);
    this.#calmDown();
    await this.#playUntil(stormEnds + QUIET_SECONDS * 1000);
    const longest = this.#weather.crowd ? LONGEST_CROWDED_SECONDS : LONGEST_QUIET_SECONDS;
    while (this.#judge.missing(this.#lastTold()) > 0 && this.#schedule.now() < stormEnds + longest * 1000) {
      await this.#playUntil(this.#schedule.now() + TICK_MS);
    }
  }

  outcome(): Outcome {
    return {
      seed: this.#seed,
      ...(this.#kind === undefined ? {} : { kind: this.#kind }),
      weather: this.#weather,
      verdict: this.#judge.conclude(this.#lastTold()),
      defects: this.#defects,
      crashes: this.#crashes,
      simulatedSeconds: (this.#schedule.now() - ORIGIN) / 1000,
    };
  }

  async #playUntil(end: number): Promise<void> {
    for (;;) {
      const next = Math.min(
        this.#schedule.nextAt(),
        this.#simulator.nextEventAt() ?? Number.POSITIVE_INFINITY,
      );
      if (next > end) break;
      if (next < this.#schedule.nextAt()) {
        this.#schedule.moveTo(next);
        this.#simulator.advance();
        continue;
      }
      this.#simulator.advance();
      this.#schedule.step();
      await drainMicrotasks();
      await this.#storage.settle();
    }
    this.#schedule.moveTo(end);
  }

  #calmDown(): void {
    this.#trace("WEATHER", () => "the storm is over");
    this.#storm = false;
    Object.assign(this.#trouble, { bootFailureShare: 0, neverBootShare: 0, terminationFailureShare: 0 });
    this.#emptyNext = false;
    for (const array of this.#weather.arrays)
      this.#simulator.faults.setCapacity(array, MACHINE_TYPE, undefined);
    for (const writer of this.#writers) writer.calmDown();
  }

  #lastTold(): readonly Told[] {
    return this.#writers.flatMap(({ last }) => (last === undefined ? [] : [last]));
  }

  // ------------------------------------------------------------ demand and faults

  #startWriters(): void {
    const { sets, arrays, nodesPerArray, reports, crowd } = this.#weather;
    const { dice } = this.#schedule;
    const outlet: Outlet = {
      schedule: this.#schedule,
      cluster: CLUSTER,
      reportsApart: this.#weather.reportsApart === true,
      noticesGone: this.#weather.lasting !== undefined,
      send: (update, told) => {
        this.#trace("WRITER", () => JSON.stringify(told));
        this.#judge.sent(told);
        this.#line.send(update, this.#races.rushTo);
      },
    };
    const { lasting } = this.#weather;
    if (lasting !== undefined) {
      const found = startLastingWriters(outlet, this.#weather, lasting, this.#machines);
      this.#writers.push(...found.writers);
      if (found.sets) return;
    }
    for (let index = 0; index < sets; index += 1) {
      const set = `set-${index}`;
      const array = arrays[index % arrays.length] ?? "alpha";
      this.#writers.push(
        dice.chance(reports ? 0.8 : 0.4)
          ? startJobWriter(outlet, set, array, nodesPerArray, this.#machines, reports)
          : startTargetWriter(outlet, set, array, nodesPerArray + 1),
      );
    }
    if (!crowd) return;
    for (let index = 0; index < 12; index += 1) {
      this.#writers.push(startRenewer(outlet, `crowd-${index}`, arrays[0] ?? "alpha", 3000));
    }
  }

  #later(run: () => void): void {
    this.#schedule.after(this.#schedule.dice.whole(60_000, this.#weather.stormSeconds * 1000), run);
  }

  /** Azure has only a few VMs more for a while. */
  #runShort(): void {
    const { dice } = this.#schedule;
    const array = this.#weather.arrays[dice.whole(0, this.#weather.arrays.length - 1)] ?? "alpha";
    this.#simulator.faults.setCapacity(array, MACHINE_TYPE, dice.whole(0, 2));
    this.#schedule.after(dice.whole(30_000, 180_000), () =>
      this.#simulator.faults.setCapacity(array, MACHINE_TYPE, undefined),
    );
  }

  #switchOff(): void {
    this.#schedule.after(this.#schedule.dice.whole(10_000, 60_000), () => {
      if (!this.#storm) return;
      const node = this.#machines.switchOff();
      if (node !== undefined) {
        this.#trace("WEATHER", () => `somebody switches ${node} off`);
        this.#judge.switchedOff(node);
        const path = `/clusters/${CLUSTER}/nodes/deallocate`;
        this.#simulator.request({ method: "POST", path, query: {}, body: { ids: [node] } });
      }
      this.#switchOff();
    });
  }

  #startLasting(): void {
    const { lasting } = this.#weather;
    if (lasting === undefined) return;
    this.#others?.start();
    const crashAll = (): void => this.#instances.forEach((one) => one?.crash());
    startMoments({
      schedule: this.#schedule,
      weather: this.#weather,
      lasting,
      judge: this.#judge,
      storage: this.#storage,
      crashAll,
      trace: (what) => this.#trace("WEATHER", () => what),
    });
  }

  // ------------------------------------------------------------ processes

  #start(slot: number, life: number): void {
    this.#instances[slot] = new Instance(`host${slot}.${life}`, this.#shared);
  }

  #restart(ended: Instance): void {
    this.#crashes += 1;
    const slot = this.#instances.indexOf(ended);
    const life = Number(ended.name.split(".")[1]) + 1;
    this.#instances[slot] = undefined;
    this.#schedule.after(this.#schedule.dice.whole(500, 20_000), () => this.#start(slot, life));
  }

  #anyInstance(): Instance | undefined {
    const running = this.#instances.filter((instance) => instance !== undefined);
    return running[this.#schedule.dice.whole(0, running.length - 1)];
  }

  /** The timer: one process, now and then two at once. */
  #tick(at: number): void {
    this.#schedule.at(at, () => {
      const copies = this.#schedule.dice.chance(0.3) ? 2 : 1;
      for (let copy = 0; copy < copies; copy += 1) this.#tickOn(this.#anyInstance());
      this.#tick(at + TICK_MS);
    });
  }

  #tickOn(instance: Instance | undefined): void {
    instance?.invoke(
      "tick",
      () => tickAll(instance.app),
      (how) => {
        if (how.kind === "threw") this.#noteError(how.error);
        if (how.kind !== "returned") return;
        for (const { outcome } of how.result) {
          if (outcome.kind === "failed" && !/no answer|missing from storage/.test(outcome.message))
            this.#noteError(outcome.message);
        }
      },
    );
  }

  #noteError(error: unknown): void {
    if (error instanceof PortError || error instanceof Contended) return;
    this.#trace("DEFECT", () => (error instanceof Error ? (error.stack ?? error.message) : String(error)));
    this.#defects.push(String(error));
  }

  // ------------------------------------------------------------ the shared world

  #watched(store: RecordStore): RecordStore {
    return {
      ...store,
      save: async (record, changes, previous) => {
        const saved = await store.save(record, changes, previous);
        if (saved.kind === "saved") this.#judge.saved(record, changes.ledger);
        return saved;
      },
    };
  }

  #noteRequest(request: TransportRequest): void {
    const endpoint = endpointOf(request);
    if (endpoint === "status") this.#judge.pace.statusSent();
    if (endpoint === "terminate") this.#judge.stopSent(readRequestId(request.body));
    if (endpoint !== "create") return;
    const create = readCreate(request.body);
    if (create !== undefined) this.#judge.createSent(create.requestId, create.arrays);
  }

  #answer({ method, path, query, body }: TransportRequest): Answer {
    if (this.#emptyNext && path.endsWith("/status")) {
      this.#emptyNext = false;
      this.#simulator.faults.falseEmptyStatus(1);
      this.#judge.falselyEmpty();
    }
    const answer = this.#simulator.request({ method, path, query, ...(body === undefined ? {} : { body }) });
    const { lasting } = this.#weather;
    if (lasting === undefined || !path.endsWith("/status") || answer.status !== 200) return answer;
    const at = (this.#schedule.now() - ORIGIN) / 1000;
    const shown = distortStatus(answer.body, lasting, at);
    for (const { nodeId, ready } of nodesShown(shown)) this.#judge.shown(nodeId, ready);
    return { ...answer, body: shown };
  }

  #trace(who: string, what: () => string): void {
    this.#write?.(`${clockText(this.#schedule.now())}  ${who.padEnd(10)}  ${what()}`);
  }
}

function describeEvent(event: SimulatorEvent): string {
  return JSON.stringify({ ...event, at: undefined, cluster: undefined, configuration: undefined });
}
