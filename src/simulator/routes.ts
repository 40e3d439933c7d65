import type { SimulatorRequest } from "./answer.ts";
import type { Action } from "./operations.ts";

/** The operation that a request asks for, with decoded names. */
export type Route =
  | { readonly kind: "status"; readonly cluster: string }
  | { readonly kind: "nodes"; readonly cluster: string }
  | { readonly kind: "create"; readonly cluster: string }
  | { readonly kind: "manage"; readonly cluster: string; readonly action: Exclude<Action, "create"> }
  | { readonly kind: "scale"; readonly cluster: string; readonly nodearray: string }
  | { readonly kind: "retry"; readonly cluster: string }
  | { readonly kind: "operations" }
  | { readonly kind: "operation"; readonly id: string };

const managementActions = [
  "terminate",
  "remove",
  "shutdown",
  "deallocate",
  "start",
  "restart",
  "reimage",
] as const;

/** The simulated endpoints of cyclecloud-wire.md A.2. Undefined for all others. The list of operations ends in a slash. */
export function findRoute(request: SimulatorRequest): Route | undefined {
  const [first, second, third, fourth, ...rest] = decodePath(request.path) ?? [];
  if (rest.length > 0 || second === undefined) return undefined;
  const call = `${request.method} ${first}`;
  if (call === "GET operations" && third === undefined) {
    return second === "" ? { kind: "operations" } : { kind: "operation", id: second };
  }
  if (call === "GET clusters" && fourth === undefined) {
    if (third === "status" || third === "nodes") return { kind: third, cluster: second };
  }
  if (call === "POST clusters" && third === "scale" && fourth !== undefined)
    return { kind: "scale", cluster: second, nodearray: fourth };
  if (call === "POST cloud" && second === "actions" && third === "retry" && fourth !== undefined)
    return { kind: "retry", cluster: fourth };
  if (call === "POST clusters" && third === "nodes") {
    if (fourth === "create") return { kind: "create", cluster: second };
    const action = managementActions.find((name) => name === fourth);
    if (action !== undefined) return { kind: "manage", cluster: second, action };
  }
  return undefined;
}

/** The segments after the leading slash, percent-decoded. Undefined if they cannot be decoded. */
function decodePath(path: string): readonly string[] | undefined {
  try {
    return path.split("/").slice(1).map(decodeURIComponent);
  } catch {
    return undefined;
  }
}
