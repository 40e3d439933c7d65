/** A create request as it is on the wire: each of its sets, in their order. */
export interface CreateRead {
  readonly requestId: string;
  readonly sets: readonly { readonly array: string; readonly type: string }[];
}

export function readCreate(body: unknown): CreateRead | undefined {
  if (typeof body !== "object" || body === null || !("requestId" in body) || !("sets" in body))
    return undefined;
  const sets: readonly unknown[] = Array.isArray(body.sets) ? body.sets : [];
  return { requestId: String(body.requestId), sets: sets.flatMap(readSet) };
}

function readSet(set: unknown): CreateRead["sets"] {
  if (typeof set !== "object" || set === null || !("nodearray" in set) || !("definition" in set)) return [];
  const { definition, nodearray } = set;
  if (typeof definition !== "object" || definition === null || !("machineType" in definition)) return [];
  return [{ array: String(nodearray), type: String(definition.machineType) }];
}
