import type { NodeClock } from "../../domain/ledger.ts";
import type { Milliseconds, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { Asking } from "../stops/questions.ts";

/**
 * How long a question was on its way, by the node's own clock (docs/protocol.md, Questions of nodes). A question may wait in front of a host
 * that starts or stands still. Its node has given up by then, and may have opened.
 */

/** Two questions that arrived this far apart did not wait in the same place. */
const APART_SECONDS: Seconds = 30;
/** Questions with differences this close were not held up. */
const AGREE_MS: Milliseconds = 20_000;
/** A smaller change of a known difference is not noted, because each note is a write. */
const DRIFT_MS: Milliseconds = 5_000;
/** `asked` need only rise. Only within a day of our time it is a time. */
const DAY_MS: Milliseconds = 86_400_000;

/** What is known of a node's clock after a question. The same object if nothing new is. */
export function clockAfter(clock: NodeClock | undefined, asking: Asking): NodeClock | undefined {
  const { arrivedAt } = asking;
  const behindMs = differenceOf(asking);
  if (behindMs === undefined) return clock;
  if (clock === undefined) return { arrivedAt, behindMs };
  const { knownMs } = clock;
  const apart = secondsBetween(clock.arrivedAt, arrivedAt);
  if (apart < APART_SECONDS) return clock;
  const known = knownMs === undefined ? {} : { knownMs };
  // Each may have waited in front of a host that stood still twice, for as long as the other.
  const inTurn = clock.behindMs > 1000 * APART_SECONDS && 1000 * apart >= clock.behindMs;
  if (inTurn || Math.abs(behindMs - clock.behindMs) > AGREE_MS) return { arrivedAt, behindMs, ...known };
  const isSame = knownMs !== undefined && Math.abs(behindMs - knownMs) <= DRIFT_MS;
  return isSame ? clock : { arrivedAt, behindMs, knownMs: behindMs };
}

/**
 * Whether a question was too long on its way to begin a stop, or may have been: its node's clock has been set. `clock`: what is known after it.
 */
export function isHeldUp(clock: NodeClock | undefined, asking: Asking): boolean {
  const behindMs = differenceOf(asking);
  if (behindMs === undefined) return false;
  // Until more is known of it, a clock that is right is believed.
  const { knownMs = 0 } = clock ?? {};
  return Math.abs(behindMs - knownMs) > AGREE_MS;
}

function differenceOf({ arrivedAt, asked, untimed }: Asking): Milliseconds | undefined {
  if (asked === undefined || untimed === true || Math.abs(arrivedAt - asked) > DAY_MS) return undefined;
  return arrivedAt - asked;
}
