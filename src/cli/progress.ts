import type { OutcomeAnswer, RequestSetAnswer } from "../client/state.ts";
import type { Seconds } from "../domain/units.ts";

/** The state of a request set's demand. */
export type Progress =
  | { readonly kind: "waiting"; readonly text: string }
  /** All of it is placed on nodes that are up. */
  | { readonly kind: "met"; readonly text: string }
  /** Some of it cannot be placed now. One line for each reason. */
  | { readonly kind: "unmet"; readonly text: string; readonly reasons: readonly string[] }
  /** The set now has another demand, or none. */
  | { readonly kind: "gone"; readonly text: string };

/** Judges the app's answer about a request set by the revision that was sent. */
export function judgeProgress(set: RequestSetAnswer, revision: number | undefined): Progress {
  const name = set.requestSet ?? "?";
  if (revision !== undefined && set.revision !== undefined && set.revision !== revision)
    return set.revision > revision
      ? { kind: "gone", text: `request set ${name} was replaced by a later message` }
      : { kind: "waiting", text: "the message has not been read yet" };
  if (set.state === "lapsed") return { kind: "gone", text: `request set ${name} has expired` };
  if (set.observed !== true) return { kind: "waiting", text: "no plan has seen the demand yet" };
  const { outcomes } = set;
  const short = outcomes.filter(({ asked = 0, placed = 0 }) => placed < asked);
  const text = countsOf(outcomes);
  if (short.length > 0)
    return { kind: "unmet", text, reasons: short.slice(0, SHOWN).map(reasonOf).concat(moreOf(short.length)) };
  if (outcomes.every(({ pending = 0 }) => pending === 0)) return { kind: "met", text };
  const left = timeLeft(set);
  return { kind: "waiting", text: left === undefined ? text : `${text}, ${left}` };
}

/** Demands that are listed. Of thousands of jobs, the others have the same reasons. */
const SHOWN = 20;

function moreOf(count: number): readonly string[] {
  return count > SHOWN ? [`and ${count - SHOWN} more`] : [];
}

type Outcome = OutcomeAnswer & { readonly reasons: readonly string[] };

function reasonOf({ id = "?", asked = 0, placed = 0, unit, reasons }: Outcome): string {
  const [why = "no reason is known"] = reasons;
  return `${id} has ${placed} of ${asked}${unit === undefined ? "" : ` ${unit}`}: ${why}`;
}

/** "2 of 4 nodes ready, 2 booting", for each unit in the demand. */
function countsOf(outcomes: readonly Outcome[]): string {
  const units = new Map<string, { asked: number; ready: number; pending: number }>();
  for (const { unit = "?", asked = 0, placed = 0, pending = 0 } of outcomes) {
    const sum = units.get(unit) ?? { asked: 0, ready: 0, pending: 0 };
    units.set(unit, {
      asked: sum.asked + asked,
      ready: sum.ready + placed - pending,
      pending: sum.pending + pending,
    });
  }
  const parts = [...units].map(([unit, { asked, ready, pending }]) => {
    const coming = pending === 0 ? "" : `, ${pending} ${unit === "nodes" ? "booting" : "waiting for nodes"}`;
    return `${ready} of ${asked} ${unit} ready${coming}`;
  });
  return parts.length === 0 ? "nothing is asked for" : parts.join("; ");
}

/** By the app's clock, which may differ from this machine's: the answer has the expiry of the set and the time left until then. */
function timeLeft({ expectedReadyAt, expiresAt, expiresInSeconds }: RequestSetAnswer): string | undefined {
  if (expectedReadyAt === undefined || expiresAt === undefined || expiresInSeconds === undefined)
    return undefined;
  const now = Date.parse(expiresAt) / 1000 - expiresInSeconds;
  return durationText(Date.parse(expectedReadyAt) / 1000 - now);
}

function durationText(seconds: Seconds): string {
  if (seconds <= 0) return "longer than usual";
  if (seconds < 90) return `about ${Math.ceil(seconds / 10) * 10} s left`;
  return `about ${Math.round(seconds / 60)} min left`;
}
