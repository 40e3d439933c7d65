import type { StopSeries } from "../../src/client/stop-series.ts";
import { isOver, mayBegin, withAnswer, withQuestion, wordOf } from "../../src/client/stop-series.ts";
import type { Fronts } from "./fronts.ts";
import type { ScriptAnswer } from "./host.ts";
import { askInstance } from "./host.ts";
import type { Instance } from "./instance.ts";
import type { AnswerJudge } from "./judge-answers.ts";
import type { Machine } from "./machines.ts";
import type { Schedule } from "./schedule.ts";
import type { Scripts } from "./weather.ts";

/** A node is idle for this long before its script closes it and asks. */
const IDLE_MS = 30_000;
const BETWEEN_QUESTIONS_MS = 30_000;
const GIVES_UP_MS = 20_000;
/** After the answer "stop" it stays closed, and asks again at this interval until the node is gone. */
const AFTER_YES_MS = 60_000;

/** The questions of one node from closing it until a verdict. */
interface Series {
  readonly unhealthy: boolean;
  /** As the script keeps it. Undefined: nothing was asked yet. */
  kept: StopSeries | undefined;
}

interface Node {
  readonly unreached: boolean;
  readonly silent: boolean;
  /** How far its clock is ahead. */
  readonly aheadMs: number;
  series: Series | undefined;
}

export interface ScriptWorld {
  readonly schedule: Schedule;
  readonly instance: () => Instance | undefined;
  readonly judge: AnswerJudge;
  readonly scripts: Scripts;
  readonly fronts: Fronts;
  readonly unfit: () => number;
  readonly stormy: () => boolean;
  readonly defect: (error: unknown) => void;
  readonly isUp: (machine: Machine) => boolean;
}

/**
 * The script of docs/pbs.md on each node. It closes an idle node, asks, and opens the node if the answer says so, or by itself after a time
 * without an answer.
 */
export class ScriptAgents {
  readonly #world: ScriptWorld;
  readonly #nodes = new WeakMap<Machine, Node>();

  constructor(world: ScriptWorld) {
    this.#world = world;
  }

  /** Runs the script once, unless an earlier run goes on. `at`: the instance that its question reaches. */
  look(machine: Machine, at?: Instance): void {
    const { schedule, unfit, judge } = this.#world;
    const node = this.#nodeOf(machine);
    const now = schedule.now();
    if (node.series !== undefined) return this.#openAlone(machine, node, node.series);
    if (node.silent || machine.job !== undefined) return;
    if (at === undefined && (now - machine.idleSince < IDLE_MS || machine.askAt > now)) return;
    const unhealthy = schedule.dice.chance(unfit());
    machine.closed = true;
    judge.closed(machine.nodeId, unhealthy);
    const series: Series = { unhealthy, kept: undefined };
    node.series = series;
    this.#question(machine, series, at);
  }

  #nodeOf(machine: Machine): Node {
    const known = this.#nodes.get(machine);
    if (known !== undefined) return known;
    const { schedule, scripts, judge } = this.#world;
    const unreached = scripts.unreached > 0 && schedule.dice.chance(scripts.unreached);
    const silent = scripts.silent > 0 && schedule.dice.chance(scripts.silent);
    const [behind, ahead] = scripts.skewSeconds ?? [0, 0];
    const aheadMs = behind + ahead === 0 ? 0 : 1000 * schedule.dice.whole(-behind, ahead);
    const node: Node = { unreached, silent, aheadMs, series: undefined };
    this.#nodes.set(machine, node);
    judge.hasScript(machine.nodeId, !silent);
    return node;
  }

  #question(machine: Machine, series: Series, at?: Instance): void {
    const { schedule, instance } = this.#world;
    if (!this.#world.isUp(machine)) return;
    const now = schedule.now();
    const begins = series.unhealthy || mayBegin(series.kept, now);
    const isFirst = series.kept === undefined;
    series.kept = withQuestion(series.kept, { begins, now });
    let waits = true;
    const end = (answer: ScriptAnswer | undefined): void => {
      if (!waits) return;
      waits = false;
      if (this.#world.isUp(machine)) this.#heed(machine, series, { askedAt: now, isFirst }, answer);
    };
    schedule.after(GIVES_UP_MS, () => end(undefined));
    const delay = at === undefined ? this.#delay(machine) : 1;
    if (delay === undefined) return;
    const query = {
      instance: machine.instanceId,
      asked: String(now + this.#nodeOf(machine).aheadMs),
      ...(series.unhealthy ? { reason: "unhealthy" } : {}),
      ...(begins ? {} : { begin: "no" }),
    };
    schedule.after(delay, () => this.#reach(machine, query, at ?? instance(), end));
  }

  /** How long the question is on its way. Undefined if it is lost. */
  #delay(machine: Machine): number | undefined {
    const { schedule, stormy, fronts } = this.#world;
    const { dice } = schedule;
    if (!stormy()) return dice.whole(1, 50);
    const wait = fronts.waitOf(machine.nodeId);
    if (wait !== 0) return wait;
    if (this.#nodeOf(machine).unreached) return dice.chance(0.5) ? undefined : dice.whole(60_000, 300_000);
    if (dice.chance(0.04)) return undefined;
    return dice.chance(this.#world.scripts.delayed) ? dice.whole(1000, 60_000) : dice.whole(1, 50);
  }

  #reach(
    machine: Machine,
    query: Readonly<Record<string, string>>,
    at: Instance | undefined,
    end: (answer: ScriptAnswer | undefined) => void,
  ): void {
    const { schedule, judge, defect, stormy } = this.#world;
    const { dice } = schedule;
    if (at === undefined) return;
    at.invoke(
      `${machine.hostname} asks ${JSON.stringify(query)}`,
      () => askInstance(at, machine.array, query),
      (how) => {
        if (how.kind === "threw") defect(how.error);
        if (how.kind !== "returned") return;
        judge.answered(machine.nodeId, how.result);
        if (stormy() && dice.chance(0.03)) return;
        schedule.after(dice.whole(1, 300), () => end(how.result));
      },
    );
  }

  #heed(
    machine: Machine,
    series: Series,
    { askedAt, isFirst }: { readonly askedAt: number; readonly isFirst: boolean },
    answer: ScriptAnswer | undefined,
  ): void {
    const { schedule, judge } = this.#world;
    const { dice } = schedule;
    const node = this.#nodeOf(machine);
    const now = schedule.now();
    if (node.series !== series || series.kept === undefined) return;
    if (answer !== undefined) {
      judge.heard(machine.nodeId);
      series.kept = withAnswer(series.kept, { stopUnderWay: answer.stopUnderWay });
    }
    const word = answer === undefined ? "closed" : wordOf({ undrain: undefined, ...answer, isFirst });
    if (word === "open") {
      node.series = undefined;
      machine.askAt = now + dice.whole(20_000, 60_000);
      if (answer?.status === 409) machine.idleSince = now;
      if (series.unhealthy) return;
      judge.toldToOpen(machine.nodeId);
      return this.#open(machine);
    }
    if (word === "stop") series.kept = { ...series.kept, granted: true };
    const next = askedAt + (series.kept.granted ? AFTER_YES_MS : BETWEEN_QUESTIONS_MS);
    schedule.after(next - now, () => node.series === series && this.#question(machine, series));
  }

  /** Opens a closed node without a verdict, if no stop can be in progress by what its script knows. */
  #openAlone(machine: Machine, node: Node, { kept, unhealthy }: Series): void {
    const { schedule } = this.#world;
    if (kept === undefined || !isOver(kept, schedule.now())) return;
    node.series = undefined;
    // Not before its next run, which is a minute later.
    machine.askAt = schedule.now() + schedule.dice.whole(20_000, 60_000);
    if (!unhealthy) this.#open(machine);
  }

  #open(machine: Machine): void {
    machine.closed = false;
    this.#world.judge.opened(machine.nodeId);
  }
}
