import { setTimeout as pause } from "node:timers/promises";
import { putSet, sendSet } from "./doors.ts";
import type { Wanted } from "./judge-creates.ts";
import type { Parts } from "./parts.ts";

/** A set as it was last sent. */
export interface LastSent {
  readonly set: string;
  readonly revision: number;
}

/** Sets whose demand only rises. */
export interface RisingSets {
  /** What all sets together had been asked for, from each message on. */
  readonly wanted: readonly Wanted[];
  /** Every set asks for one node; resolves when all of that is acknowledged. */
  raiseAll(): Promise<void>;
  /** A set that is drawn asks for 1 to 4 nodes more, by PUT or through the queue. */
  raiseOne(): void;
  /** Resolves when every message is in the queue or acknowledged. Throws what the queue throws. */
  ended(): Promise<void>;
  last(): readonly LastSent[];
  messages(): number;
  /** How often a PUT got each status. "none": no answer. */
  puts(): Readonly<Record<string, number>>;
}

const DAY_SECONDS = 86_400;
const RETRY_MS = 300;
/** Nodes that one message adds at most. */
const MOST_MORE = 4;
/** "Older revision": the set has moved on. */
const SUPERSEDED = 409;

export function openRisingSets(parts: Parts, count: number, uniform: () => number): RisingSets {
  const nodes = Array.from({ length: count }, () => 0);
  const revisions = nodes.map(() => 0);
  const wanted: Wanted[] = [];
  const puts: Record<string, number> = {};
  const sending: Promise<void>[] = [];
  let messages = 0;
  const nameOf = (index: number) => `set-${index}`;

  const put = async (index: number, content: Parameters<typeof putSet>[3]): Promise<void> => {
    for (;;) {
      const host = parts.hosts[Math.floor(uniform() * parts.hosts.length)];
      const { status } = await putSet(parts, host?.url ?? "", nameOf(index), content);
      const how = String(status ?? "none");
      puts[how] = (puts[how] ?? 0) + 1;
      if (status === 202 || status === SUPERSEDED) return;
      await pause(RETRY_MS);
    }
  };

  const raise = (index: number, more: number, byPut: boolean): void => {
    const now = (nodes[index] ?? 0) + more;
    nodes[index] = now;
    // Two messages of a set in one millisecond would be one revision.
    const revision = Math.max(Date.now(), (revisions[index] ?? 0) + 1);
    revisions[index] = revision;
    wanted.push({ at: parts.clock.now(), nodes: nodes.reduce((a, b) => a + b, 0) });
    messages += 1;
    const content = {
      revision,
      expirationInterval: DAY_SECONDS,
      jobs: [{ name: nameOf(index), constraints: [{ ncpus: 4 }], iterations: now }],
    };
    sending.push(byPut ? put(index, content) : sendSet(parts, nameOf(index), content));
  };

  const ended = async () => void (await Promise.all(sending));
  return {
    wanted,
    async raiseAll() {
      nodes.forEach((_, index) => raise(index, 1, true));
      await ended();
    },
    raiseOne() {
      const index = Math.floor(uniform() * count);
      raise(index, 1 + Math.floor(uniform() * MOST_MORE), uniform() < 0.5);
    },
    ended,
    last: () => revisions.map((revision, index) => ({ set: nameOf(index), revision })),
    messages: () => messages,
    puts: () => puts,
  };
}
