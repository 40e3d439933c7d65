/** Which cluster is looked at, and what of it. */
export interface Place {
  readonly cluster: string;
  readonly view: string;
  /** What the view is asked to show: a job, a node, a length of time. */
  readonly query: URLSearchParams;
}

/** The address of a place on this page. */
export function addressOf(
  cluster: string,
  view: string,
  query: Readonly<Record<string, string>> = {},
): `#${string}` {
  const asked = new URLSearchParams(query).toString();
  return `#/${encodeURIComponent(cluster)}/${view}${asked === "" ? "" : `?${asked}`}`;
}

/** The place that an address names. Undefined: none. */
export function placeOf(hash: string): Place | undefined {
  const found = /^#\/([^/?]+)\/([a-z]+)(?:\?(.*))?$/.exec(hash);
  if (found === null) return undefined;
  const [, cluster = "", view = "", query = ""] = found;
  try {
    return { cluster: decodeURIComponent(cluster), view, query: new URLSearchParams(query) };
  } catch {
    return undefined;
  }
}
