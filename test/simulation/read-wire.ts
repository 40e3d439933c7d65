/** Reads the requests that the product sends. */

/** The request id of a create or a stop. */
export function readRequestId(body: unknown): string {
  return typeof body === "object" && body !== null && "requestId" in body ? String(body.requestId) : "";
}

/** The array of each set of a create. */
export function readCreate(
  body: unknown,
): { readonly requestId: string; readonly arrays: readonly string[] } | undefined {
  if (typeof body !== "object" || body === null || !("requestId" in body) || !("sets" in body))
    return undefined;
  const sets: readonly unknown[] = Array.isArray(body.sets) ? body.sets : [];
  const arrays = sets.map((set) =>
    typeof set === "object" && set !== null && "nodearray" in set ? String(set.nodearray) : "",
  );
  return { requestId: String(body.requestId), arrays };
}
