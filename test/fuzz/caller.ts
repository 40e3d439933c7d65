import { PortError } from "../../src/app/ports/port-error.ts";
import { drainMicrotasks } from "../../src/local/play/virtual-clock.ts";
import type { Fault } from "./input.ts";
import { headOf, judgeAnswer, judgeLog } from "./judge.ts";
import type { Stage } from "./stage.ts";
import { requestTo } from "./stage.ts";
import type { World } from "./world.ts";

/** Processor time that one call may take, with the plan that it causes; a dry run makes two plans. A queue message has 64 KiB. */
const MOST_MS = 5000;
const MOST_MS_OF_A_MESSAGE = 3000;
/** Rounds of the event loop without an end after which the clock may move on; with tables, which work in other threads too, milliseconds. */
const PATIENCE = { memory: 25, tables: 400 };
/** No wait within a call is as long; the host's time limit for a call is. It gets this much real time before the clock moves on to it. */
const FAR_MS = 120_000;
const GIVE_UP_MS = 30_000;

/** Calls functions as the host does, and judges each call by itself. */
export class Caller {
  readonly faults: Fault[] = [];
  /** Nothing is said of what this cluster's functions answer, nor of pages that show all clusters. */
  deaf: string | undefined;
  readonly #world: World;
  readonly #stage: Stage;

  constructor(world: World, stage: Stage) {
    this.#world = world;
    this.#stage = stage;
  }

  /** Runs the function of the demand queue, or the timer's; how it ended. */
  async deliver(name: "demand" | "snapshot", text: string): Promise<"well" | "failed" | "unparsed"> {
    const failed = await this.#timed(name, () => this.#stage.deliver(name, text));
    if (failed === undefined) return "well";
    // Storage that cannot be used is the one thing that sends a message back.
    if (this.deaf !== undefined && failed.error instanceof PortError) return "failed";
    if (isOfLibrary(failed.error)) return "unparsed";
    const what = failed.error instanceof Error ? (failed.error.stack ?? "") : String(failed.error);
    this.faults.push({ kind: `${name} throws (${headOf(failed.error)})`, what: what.slice(0, 800) });
    return "failed";
  }

  /** The answer, and what was begun for it is over; undefined: no client can send such a request. */
  async request(
    method: string,
    path: string,
    body?: Uint8Array<ArrayBuffer>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ readonly status: number; readonly text: string } | undefined> {
    const request = tryRequest(path, { method, headers, ...(body === undefined ? {} : { body }) });
    if (request === undefined) return undefined;
    const answered = await this.#timed(`${method} ${path.split("/")[1]}`, async () => {
      const answer = await this.#stage.call(request);
      await this.#stage.composed.background.ended();
      return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
    });
    if (this.deaf === undefined)
      this.faults.push(...judgeAnswer({ method, path: `/api${path}`, ...answered }));
    return answered;
  }

  /** The timer, a minute later each. */
  async minutes(count: number): Promise<void> {
    for (let left = count; left > 0; left -= 1) {
      this.#world.clock.moveTo(this.#world.clock.now() + 60_000);
      this.#world.simulator.advance();
      await this.deliver("snapshot", "{}");
    }
  }

  /** Judges what was logged since the last time. */
  readLog(): void {
    const { deaf } = this;
    const lines = this.#world.log.splice(0);
    this.faults.push(...judgeLog(deaf === undefined ? lines : lines.filter((line) => !line.includes(deaf))));
  }

  async #timed<T>(what: string, work: () => Promise<T>): Promise<T> {
    const before = process.threadCpuUsage();
    const result = await this.drive(work());
    const { user, system } = process.threadCpuUsage(before);
    const ms = Math.round((user + system) / 1000);
    const most = what === "demand" ? MOST_MS_OF_A_MESSAGE : what.startsWith("POST") ? 2 * MOST_MS : MOST_MS;
    if (ms > most)
      this.faults.push({ kind: `slow (${what})`, what: `${what} took ${ms} ms of processor time` });
    return result;
  }

  /** Waits for work. Lets the clock go on only where nothing else does. */
  async drive<T>(work: Promise<T>): Promise<T> {
    const { clock, simulator, table } = this.#world;
    const state = { isOver: false };
    const end = () => {
      state.isOver = true;
    };
    work.then(end, end);
    const patience = table === undefined ? PATIENCE.memory : PATIENCE.tables;
    const giveUp = performance.now() + GIVE_UP_MS;
    for (let round = 1; !state.isOver; round += 1) {
      await (table !== undefined && round > 5 ? aMillisecond() : drainMicrotasks());
      const at = clock.nextWakeAt();
      if (round % patience !== 0 || at === undefined) continue;
      // Reading a large message pauses in real time.
      if (at - clock.now() >= FAR_MS && performance.now() < giveUp) {
        await aMillisecond();
        continue;
      }
      clock.moveTo(at);
      simulator.advance();
    }
    return work;
  }
}

/** The Functions library parses a message by recursion before it calls the function: then nothing of ours has run. */
function isOfLibrary(error: unknown): boolean {
  return error instanceof RangeError && error.stack?.includes("at toCamelCaseValue") === true;
}

function aMillisecond(): Promise<void> {
  return new Promise((done) => setTimeout(done, 1));
}

function tryRequest(...given: Parameters<typeof requestTo>): Request | undefined {
  try {
    return requestTo(...given);
  } catch {
    return undefined;
  }
}
