/** What is read of the requests that the product sends. */

/** The request id of a create or a stop. */
export function readRequestId(body: unknown): string {
  return typeof body === "object" && body !== null && "requestId" in body ? String(body.requestId) : "";
}

/** Which array a create is for, read from the wire. */
export function readCreate(
  body: unknown,
): { readonly requestId: string; readonly array: string } | undefined {
  if (typeof body !== "object" || body === null || !("requestId" in body) || !("sets" in body))
    return undefined;
  const set: unknown = Array.isArray(body.sets) ? body.sets[0] : undefined;
  if (typeof set !== "object" || set === null || !("nodearray" in set)) return undefined;
  return { requestId: String(body.requestId), array: String(set.nodearray) };
}
