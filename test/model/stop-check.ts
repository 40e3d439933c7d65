import { arrayName } from "../../src/domain/ids.ts";
import { instant } from "../../src/domain/units.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { Books } from "./books.ts";
import { memoriesOf, resumesOf } from "./names.ts";
import type { BookedNode } from "./node-book.ts";
import { placeOf } from "./node-book.ts";
import { POLICY } from "./rig.ts";
import type { Deed } from "./steps.ts";
import type { Moment, Told } from "./stops.ts";
import { judgeStops } from "./stops.ts";
import type { Word } from "./unhealthy-book.ts";
import { arrayAt, wantsOf } from "./wants.ts";

type Ask = Extract<Deed, { kind: "ask" }>;

/** Lets nodes ask the app whether they may stop, and compares the answers with the model's. */
export class StopCheck {
  readonly #books: Books;

  constructor(books: Books) {
    this.#books = books;
  }

  async ask(deed: Ask): Promise<void> {
    const { rig, nodes, unhealthy, score } = this.#books;
    const askers = this.#askersOf(deed);
    if (askers.length === 0) return;
    const stopping = new Set(nodes.all.filter(({ phase }) => phase === "stopping").map(({ id }) => id));
    const from = rig.now;
    const known = askers.filter(({ id, seen, instance }) => !stopping.has(id) && seen?.instance === instance);
    // A node that asks without calling itself unhealthy no longer is, whatever the answer.
    if (!deed.unhealthy) for (const { id } of known) unhealthy.hear(id, false, "", from, from);
    const earlier = earlierIn(await rig.record());
    const moment = { ...this.#momentOf(stopping), earlier };
    unhealthy.awaitsAnswers = deed.unhealthy;
    const answers = await rig.ask(
      askers.map(({ instance = "", array: name }) => ({
        instance,
        array: arrayName(name),
        unhealthy: deed.unhealthy,
        begin: true,
        arrivedAt: instant(rig.now),
      })),
    );
    unhealthy.awaitsAnswers = false;
    const told = askers.map((node, index) => ({ node, answer: answers[index]?.kind ?? "none" }));
    const word = deed.unhealthy ? this.#noteUnhealthy(told, new Set(known), stopping, from) : undefined;
    score.count("answers", answers.length);
    score.count("stops", answers.filter(({ kind }) => kind === "stop").length);
    if (await this.#isBlurred()) return;
    // A plan that was made meanwhile may have found nodes of an earlier resume.
    const isSame = [...earlierIn(await rig.record())].join() === [...earlier].join();
    if (!isSame) return;
    const named = resumesOf(moment.wants);
    score.count("namedAskers", askers.filter(({ id, name }) => named.has(name) && !earlier.has(id)).length);
    for (const difference of judgeStops(moment, told, word)) score.differ(difference);
  }

  /** The nodes that ask: Ready ones of the array, as many as there are. */
  #askersOf({ array, count, from }: Ask): readonly BookedNode[] {
    const up = this.#books.nodes.readyIn(arrayAt(array));
    const start = from % Math.max(1, up.length);
    return [...up.slice(start), ...up.slice(0, start)].slice(0, count);
  }

  /** Notes that these nodes called themselves unhealthy since `from`. Returns the answer that all of them should get. */
  #noteUnhealthy(
    told: readonly Told[],
    known: ReadonlySet<BookedNode>,
    stopping: ReadonlySet<string>,
    from: number,
  ): Word {
    const { rig, nodes, unhealthy } = this.#books;
    const { now } = rig;
    for (const { node, answer } of told)
      if (known.has(node)) unhealthy.hear(node.id, true, answer, from, now);
    const counted = told.filter(({ node }) => !stopping.has(node.id));
    const word = unhealthy.wordFor(
      counted.map(({ node }) => node),
      nodes.believed,
      now,
    );
    for (const { node, answer } of counted) unhealthy.note(node.array, now, answer === "stop");
    for (const { node } of told) nodes.trouble(placeOf(node.array, node.type));
    return word;
  }

  async #isBlurred(): Promise<boolean> {
    const { rig, misfortune } = this.#books;
    const record = await rig.record();
    return (
      misfortune.isBlurred(rig.now) ||
      record?.targetStatesLackedSince !== undefined ||
      (record?.intents.length ?? 0) > 0
    );
  }

  #momentOf(stopping: ReadonlySet<string>): Omit<Moment, "earlier"> {
    const { shape, rig, sets, nodes, rest, unhealthy, keyOfGroup } = this.#books;
    const { now } = rig;
    const believed = nodes.believed.map((node) => ({ ...node }));
    const wants = wantsOf(shape, sets.inForce(now));
    const replaced = new Set(believed.filter((node) => this.#isUselessAsSeen(node)));
    return {
      shape,
      wants,
      believed: believed.filter(({ id }) => !stopping.has(id)),
      keyOfGroup,
      closed: unhealthy.closed(believed, replaced, resumesOf(wants), now),
      isBlind: rest.isBlind(now),
      isStale: rest.isStale(now),
      isResting: rest.isResting(sets.sets, now),
    };
  }

  /** The last observation showed it as failed, or as still booting after the boot timeout. */
  #isUselessAsSeen({ seen }: BookedNode): boolean {
    if (seen === undefined) return false;
    const isLate = this.#books.rig.now - seen.firstAt >= POLICY.bootTimeoutSeconds * 1000;
    return seen.phase === "failed" || (seen.phase === "coming" && !seen.wasReady && isLate);
  }
}

const earlierIn = (record: ClusterRecord | undefined): ReadonlySet<string> =>
  new Set([...memoriesOf(record).values()].flatMap(({ earlier }) => earlier ?? []));
