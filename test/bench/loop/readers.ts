import { CLUSTER, type Parts } from "./parts.ts";

/** The page asks so often. */
const REFRESH_MS = 15_000;
const HOUR_MS = 3_600_000;

/** What the views of the page ask that have the most to read (src/page): Now, Demand, Nodes. `now`: the app's clock. */
const VIEWS: readonly ((now: number) => readonly string[])[] = [
  () => [`clusters/${CLUSTER}`, `clusters/${CLUSTER}/history?limit=1`],
  () => [`clusters/${CLUSTER}`],
  (now) => {
    const from = new Date((Math.floor(now / HOUR_MS) - 1) * HOUR_MS).toISOString();
    const query = new URLSearchParams({ from, limit: "2000" });
    return [`clusters/${CLUSTER}`, `clusters/${CLUSTER}/history/nodes?${query.toString()}`];
  },
];

/** Reads of readers, by what the app answered. */
export interface Reads {
  answered: number;
  unchanged: number;
  failed: number;
}

/** This many people look at the page, each at a view, until the function that is returned is called. */
export function startReaders(parts: Parts, readers: number): () => Reads {
  const reads: Reads = { answered: 0, unchanged: 0, failed: 0 };
  const timers = Array.from({ length: readers }, (_, index) => {
    const tags = new Map<string, string>();
    const refresh = async (): Promise<void> => {
      await read(parts, "clusters", tags, reads);
      const asked = VIEWS[index % VIEWS.length]?.(parts.clock.now()) ?? [];
      await Promise.all(asked.map((path) => read(parts, path, tags, reads)));
    };
    return setInterval(() => void refresh(), REFRESH_MS).unref();
  });
  return () => {
    for (const timer of timers) clearInterval(timer);
    return reads;
  };
}

/** As src/page/api.ts asks: by ETag. */
async function read(parts: Parts, path: string, tags: Map<string, string>, reads: Reads): Promise<void> {
  const tag = tags.get(path);
  const headers = {
    "x-functions-key": parts.key,
    "cache-control": "max-age=5",
    ...(tag === undefined ? {} : { "if-none-match": tag }),
  };
  try {
    const answer = await fetch(`${parts.hosts[0]?.url}/api/${path}`, { headers });
    await answer.arrayBuffer();
    if (answer.status === 304) reads.unchanged += 1;
    else if (answer.ok) reads.answered += 1;
    else reads.failed += 1;
    const given = answer.headers.get("etag");
    if (given !== null) tags.set(path, given);
  } catch {
    reads.failed += 1;
  }
}
