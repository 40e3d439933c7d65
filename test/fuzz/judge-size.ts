import { beyondOf } from "./beyond.ts";
import { writeText } from "./edges.ts";
import type { Fault, Input } from "./input.ts";
import { memberOf } from "./judge.ts";

/** What became of an input. */
export type Became = "refused" | "taken in part" | "taken, at least in part" | "taken" | "unknown";

/** Of an answer: part of an input is left out where the answer names jobs that could not be read. */
export function becameOf(answer: { readonly status: number; readonly text: string } | undefined): Became {
  if (answer === undefined || answer.status >= 500) return "unknown";
  if (answer.status >= 300) return "refused";
  const rejected = memberOf(parse(answer.text), "rejectedJobs");
  return Array.isArray(rejected) && rejected.length > 0 ? "taken in part" : "taken";
}

/** An input beyond a bound is refused, or the job that is; one within all bounds that is otherwise valid is taken. */
export function judgeSize({ door, how, document }: Input, became: Became, cluster: string): readonly Fault[] {
  if (!DOORS.has(door) || !HOW.has(how) || became === "unknown") return [];
  const beyond = beyondOf(parse(writeText(document, cluster)), door !== "config" && how !== "config");
  if (beyond === undefined)
    return door === "bound" && (became === "refused" || became === "taken in part")
      ? [{ kind: `refused within all bounds (${how})`, what: `an input within all bounds is ${became}` }]
      : [];
  const isMet = became === "refused" || (beyond.isInJob && became !== "taken");
  if (isMet) return [];
  return [
    {
      kind: `beyond a bound (${how}: ${beyond.what})`,
      what: `more ${beyond.what} than is allowed is ${became}`,
    },
  ];
}

const DOORS: ReadonlySet<string> = new Set([
  "message",
  "put",
  "constraint",
  "plan",
  "config",
  "bound",
  "long",
]);
/** Ways of sending in which a document stays what it is. */
const HOW: ReadonlySet<string> = new Set(["json", "base64", "gzip", "put", "plan", "config", "message"]);

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
