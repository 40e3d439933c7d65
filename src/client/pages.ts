import type { Answer } from "./answer.ts";
import { withoutAbsent } from "../domain/without-absent.ts";
import type { History, NodeHistory } from "./answers.ts";

/** The paging members of an answer whose lists are cut. */
export interface Paged {
  readonly pages?: readonly { readonly list: string }[] | undefined;
  readonly next?: string | undefined;
}

/** A cluster of the largest size has some hundred pages: 2,000 rows, or 1.5 MB, are on each. */
const MOST_PAGES = 1000;
/** Nodes in one answer of their history. */
const MOST_NODES = 2000;

/** The answer of a server whose list does not end. */
export const tooManyPages = (most: number): Answer<never> => ({
  kind: "unreachable",
  message: `one answer has more than ${most} pages: is this the right address?`,
});

/** Requests page after page, and joins the lists of all pages: the answer of the first page, with its lists complete. */
export async function readPages<T extends Paged>(
  ask: (page: string | undefined) => Promise<Answer<T>>,
): Promise<Answer<T>> {
  const first = await ask(undefined);
  if (first.kind !== "answered" || first.body.next === undefined) return first;
  const whole = structuredClone(first.body);
  let pages = 1;
  for (let next: string | undefined = first.body.next; next !== undefined;) {
    pages += 1;
    if (pages > MOST_PAGES) return tooManyPages(MOST_PAGES);
    const answer = await ask(next);
    if (answer.kind !== "answered") return answer;
    for (const { list } of answer.body.pages ?? [])
      listAt(whole, list)?.push(...(listAt(answer.body, list) ?? []));
    // An app that repeats its `next` would be asked without end.
    next = answer.body.next === next ? undefined : answer.body.next;
  }
  return { ...first, body: { ...whole, pages: undefined, next: undefined } };
}

/** Number of rows in the app's answer if no limit is given. */
const USUAL_ROWS = 1440;

/** Requests older rows until `limit` rows are read or no more exist. Each plan is listed once. */
export async function readHistories(
  query: HistoryQuery,
  ask: (part: HistoryQuery) => Promise<Answer<History>>,
): Promise<Answer<History>> {
  const first = await ask(query);
  if (first.kind !== "answered" || first.body.next === undefined) return first;
  const { cluster, next } = first.body;
  const rows = [...first.body.rows];
  const plans = new Map(first.body.planCounts.map((counts) => [counts.plan, counts]));
  const { limit = USUAL_ROWS } = query;
  let pages = 1;
  for (let to: string | undefined = next; to !== undefined && rows.length < limit;) {
    pages += 1;
    if (pages > MOST_PAGES) return tooManyPages(MOST_PAGES);
    const answer = await ask({ ...query, limit: limit - rows.length, to });
    if (answer.kind !== "answered") return answer;
    rows.push(...answer.body.rows);
    for (const counts of answer.body.planCounts) plans.set(counts.plan, counts);
    to = answer.body.next;
  }
  const planCounts = [...plans.values()].toSorted((a, b) => a.plan - b.plan);
  return { ...first, body: { cluster, rows, keptPlans: planCounts.map(({ plan }) => plan), planCounts } };
}

/** Requests further nodes until `limit` of them are read or no more exist. Without a limit: one answer. */
export async function readNodeHistories(
  query: HistoryQuery,
  ask: (part: NodeHistoryQuery) => Promise<Answer<NodeHistory>>,
): Promise<Answer<NodeHistory>> {
  const { limit, ...range } = query;
  const partOf = (left: number | undefined) =>
    left === undefined ? range : { ...range, limit: Math.min(left, MOST_NODES) };
  const first = await ask(partOf(limit));
  if (first.kind !== "answered" || limit === undefined) return first;
  const rows = [...first.body.rows];
  let pages = 1;
  let { next, ...body } = first.body;
  while (next !== undefined && rows.length < limit) {
    pages += 1;
    if (pages > MOST_PAGES) return tooManyPages(MOST_PAGES);
    const answer = await ask({ ...partOf(limit - rows.length), page: next });
    if (answer.kind !== "answered") return answer;
    rows.push(...answer.body.rows);
    next = answer.body.next;
  }
  return { ...first, body: { ...body, rows, ...withoutAbsent({ next }) } };
}

/** The list at a path such as "nodes.list". */
function listAt(body: object, path: string): unknown[] | undefined {
  let found: unknown = body;
  for (const name of path.split("."))
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  return Array.isArray(found) ? found : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}

export interface HistoryQuery {
  /** ISO-8601. */
  readonly from?: string;
  readonly to?: string;
  readonly limit?: number;
  /** In place of `limit`: the time is cut into so many equal steps, and the answer has the last row of each. At most 2,000. */
  readonly points?: number;
}

export interface NodeHistoryQuery extends HistoryQuery {
  /** `next` of the answer before. */
  readonly page?: string;
}
