import type { Answer } from "../client/answer.ts";
import type {
  Cluster,
  Clusters,
  Comparison,
  Explanation,
  History,
  NodeHistory,
  Problem,
} from "../client/answers.ts";
import { readNodeHistories, readPages } from "../client/pages.ts";

/** Why there is no answer, in a sentence for people. */
export class NoAnswer extends Error {
  /** Whether another key is needed. */
  readonly needsKey: boolean;

  constructor(message: string, needsKey = false) {
    super(message);
    this.needsKey = needsKey;
  }
}

interface Kept {
  readonly tag: string;
  readonly body: ReturnType<Response["json"]>;
}

/** A cluster of 50,000 nodes has so many pages, with its history of nodes; others are what was looked at before. */
const MOST_KEPT = 50;
/** Nodes of a history that are read, the newest ones. */
export const MOST_LIVES = 10_000;

type Query = Readonly<Record<string, string | number | undefined>>;

/**
 * Reads the API of the app that served this page. What has not changed since is not sent again (docs/http.md, "Reading again and again").
 * Each function rejects with a {@link NoAnswer}.
 */
export class Api {
  readonly #key: string;
  readonly #kept = new Map<string, Kept>();
  /** The app's clock at the newest answer. It may be a simulated one. */
  now = "";

  constructor(key: string) {
    this.#key = key;
  }

  clusters = (): Promise<Clusters> => this.#read<Clusters>("clusters", {});

  /** With `whole` all pages of it as one: where there are thousands of nodes or jobs, the first page is not all. */
  async cluster(cluster: string, whole = false): Promise<Cluster> {
    const ask = (page: string | undefined) => this.#ask<Cluster>(below(cluster, ""), { page });
    return bodyOf(await (whole ? readPages<Cluster>(ask) : ask(undefined)));
  }

  history = (cluster: string, query: Query): Promise<History> =>
    this.#read<History>(below(cluster, "/history"), query);

  /** The nodes that were there at `from` or later: those that are there, and then those that have gone, the last first. */
  async nodeHistory(cluster: string, from: string): Promise<NodeHistory> {
    const query = { from, limit: MOST_LIVES };
    return bodyOf(
      await readNodeHistories(query, (part) =>
        this.#ask<NodeHistory>(below(cluster, "/history/nodes"), { ...part }),
      ),
    );
  }

  comparison = (cluster: string, since: string): Promise<Comparison> =>
    this.#read<Comparison>(below(cluster, "/comparison"), { since });

  explain = (cluster: string, query: Query): Promise<Explanation> =>
    this.#read<Explanation>(below(cluster, "/explain"), query);

  async #read<T>(path: string, query: Query): Promise<T> {
    return bodyOf(await this.#ask<T>(path, query));
  }

  async #ask<T>(path: string, query: Query): Promise<Answer<T>> {
    const given = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, String(value)]],
    );
    const url = `/api/${path}${given.length === 0 ? "" : `?${new URLSearchParams(given)}`}`;
    const kept = this.#kept.get(url);
    const headers = {
      "x-functions-key": this.#key,
      "cache-control": "max-age=5",
      ...(kept === undefined ? {} : { "if-none-match": kept.tag }),
    };
    const answer = await fetch(url, { headers, credentials: "same-origin", redirect: "error" }).catch(() => {
      throw new NoAnswer(
        "The app does not answer. This page asks again; if people sign in in front of the app, load the page again.",
      );
    });
    this.now = answer.headers.get("autoscaler-time") ?? this.now;
    if (answer.status === 304 && kept !== undefined)
      return { kind: "answered", status: 200, body: await kept.body };
    if (answer.status === 401) throw new NoAnswer("This is not a reader's key of this app.", true);
    if (!answer.ok) throw new NoAnswer(await refusalOf(answer));
    const tag = answer.headers.get("etag");
    const body = answer.json();
    if (tag !== null) this.#keep(url, { tag, body });
    return { kind: "answered", status: answer.status, body: await body };
  }

  #keep(url: string, answer: Kept): void {
    this.#kept.delete(url);
    this.#kept.set(url, answer);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > MOST_KEPT && oldest !== undefined) this.#kept.delete(oldest);
  }
}

async function refusalOf(answer: Response): Promise<string> {
  const problem: Partial<Problem> | undefined = await answer.json().catch(() => undefined);
  return `The app cannot answer (HTTP ${answer.status}): ${problem?.detail ?? "it gives no reason"}.`;
}

const below = (cluster: string, path: string): string => `clusters/${encodeURIComponent(cluster)}${path}`;

function bodyOf<T>(answer: Answer<T>): T {
  if (answer.kind === "answered") return answer.body;
  throw new NoAnswer("The answer of the app has no end: is this the right address?");
}
