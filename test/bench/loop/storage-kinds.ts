import type { Call } from "./proxy.ts";

/** What a call of the table service is about: "read record", "write body", "list", ... Row keys are those of src/adapters/tables/keys.ts. */
export function tableKind({ method, path }: Call): string {
  const decoded = decodeURIComponent(path);
  if (decoded.includes("/$batch")) return "transaction";
  const key = /RowKey='([^']*)'/.exec(decoded)?.[1];
  if (key === undefined) return method === "GET" ? `list ${listedPart(decoded)}` : "insert";
  return `${method === "GET" ? "read" : method === "DELETE" ? "remove" : "write"} ${rowKind(decoded, key)}`;
}

function listedPart(path: string): string {
  if (path.includes("RowKey ge 'b-'") || path.includes("RowKey+ge+'b-'")) return "bodies";
  return path.includes("history-") ? "history" : "rows";
}

function rowKind(path: string, key: string): string {
  if (path.includes("LocalFunctionsHost")) return "of the host";
  if (path.includes("PartitionKey='history-")) return key.startsWith("plan-") ? "plan" : "history";
  if (key === "record") return "record";
  if (key.startsWith("b-")) return "body";
  return key === "configuration" ? "configuration" : "other";
}

/** What a call of the queue service is about. */
export function queueKind({ method, path }: Call): string {
  if (!path.includes("/messages")) return "queue itself";
  switch (method) {
    case "GET":
      return "receive";
    case "POST":
      return "send";
    case "DELETE":
      return "delete message";
    default:
      return "renew message";
  }
}
