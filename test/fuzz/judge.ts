import { findUndescribed } from "../support/check-answer.ts";
import { CANARY } from "./documents.ts";
import type { Fault } from "./input.ts";

/** An answer of a route. */
export interface Answered {
  readonly method: string;
  /** Below the host, with the query. */
  readonly path: string;
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
}

/** Longer than every problem that the readers describe: paths have 230 characters, excerpts 80. */
const LONGEST_PATH = 300;
const LONGEST_FOUND = 300;
const LONGEST_EXPECTED = 2000;

/** What is wrong with an answer, whatever was asked. */
export function judgeAnswer(answered: Answered): readonly Fault[] {
  const { method, path, status, type, text } = answered;
  const route = `${method} ${path.split("?")[0]?.split("/").slice(0, 3).join("/")}`;
  const fault = (kind: string, what: string): Fault => ({
    kind: `${kind} (${route})`,
    what: `${method} ${path.slice(0, 200)}: ${what}`,
  });
  if (status >= 500 && status !== 503) return [fault("500", `status ${status}`)];
  // Of the host itself: no route, or no key.
  if (text === "" && (status === 404 || status === 401)) return [];
  if (type?.includes("json") !== true) return [fault("not JSON", `status ${status}, type ${type}`)];
  const body = parse(text);
  if (body === undefined) return [fault("not JSON", text.slice(0, 200))];
  const undescribed = findUndescribed(method, path, { status, type, body });
  return [
    ...undescribed.slice(0, 1).map((flaw) => fault("undescribed", `status ${status}: ${flaw}`)),
    ...(status >= 400 ? judgeRefusal(status, body).map((what) => fault("refusal", what)) : []),
    ...(status >= 400 && text.includes(CANARY) ? [fault("secret", text.slice(0, 500))] : []),
  ];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A refusal says why, and a bad request also where. */
function judgeRefusal(status: number, body: unknown): readonly string[] {
  const detail = memberOf(body, "detail");
  if (typeof detail !== "string" || detail === "")
    return [`no detail: ${JSON.stringify(body).slice(0, 200)}`];
  if (status !== 400) return [];
  const problems = memberOf(body, "problems");
  if (problems === undefined)
    return /found .+, expected ./s.test(detail) ? [] : [`no problems: ${detail.slice(0, 200)}`];
  return judgeProblems(problems);
}

/** At least one problem, each with where, what was found and what is expected, none of them long. */
export function judgeProblems(problems: unknown): readonly string[] {
  if (!Array.isArray(problems) || problems.length === 0) return ["no problem is named"];
  if (problems.length > 101) return [`${problems.length} problems`];
  return problems.flatMap((one: unknown) => {
    const [path, found, expected] = ["path", "found", "expected"].map((name) => memberOf(one, name));
    if (typeof path !== "string" || typeof found !== "string" || typeof expected !== "string")
      return [`a problem lacks a part: ${JSON.stringify(one)}`];
    if (found === "" || expected === "") return [`a problem says nothing: ${JSON.stringify(one)}`];
    const isShort =
      path.length <= LONGEST_PATH && found.length <= LONGEST_FOUND && expected.length <= LONGEST_EXPECTED;
    return isShort ? [] : [`a problem is long: ${JSON.stringify(one).slice(0, 600)}`];
  });
}

/** Lines of the log that say of a defect, or show a secret. */
export function judgeLog(lines: readonly string[]): readonly Fault[] {
  return lines.flatMap((line): readonly Fault[] => {
    if (line.includes(CANARY)) return [{ kind: "secret (log)", what: line.slice(0, 500) }];
    if (!line.includes('"kind":"defect"')) return [];
    const said = parse(line);
    return [
      {
        kind: `defect (${String(memberOf(said, "event"))}: ${headOf(memberOf(said, "message"))})`,
        what: line.slice(0, 500),
      },
    ];
  });
}

/** The beginning of a message, without numbers and names: what stays the same while an input is cut down. */
export function headOf(message: unknown): string {
  return String(message)
    .replaceAll(/["'`].*?["'`]/g, "_")
    .replaceAll(/\d+/g, "0")
    .slice(0, 60);
}

export function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name)
    : undefined;
}
