/** What a create asks for, read from the wire. */
export function readCreate(
  body: unknown,
): { readonly requestId: string; readonly array: string; readonly type: string } | undefined {
  if (typeof body !== "object" || body === null || !("requestId" in body) || !("sets" in body))
    return undefined;
  const set: unknown = Array.isArray(body.sets) ? body.sets[0] : undefined;
  if (typeof set !== "object" || set === null || !("nodearray" in set) || !("definition" in set))
    return undefined;
  const { definition, nodearray } = set;
  if (typeof definition !== "object" || definition === null || !("machineType" in definition))
    return undefined;
  return {
    requestId: String(body.requestId),
    array: String(nodearray),
    type: String(definition.machineType),
  };
}
