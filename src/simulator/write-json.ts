import { isObject } from "./json.ts";

const texts = new WeakMap<object, string>();

/**
 * JSON text of a body. A node's record is the same object until the node changes, so its text is made only once: the status of ten thousand
 * nodes takes little more time than joining strings.
 */
export function writeJson(body: unknown): string {
  if (!isObject(body) || !Array.isArray(body["nodes"])) return JSON.stringify(body);
  const { nodes, ...rest } = body;
  const records = nodes.map(writeRecord).join(",");
  const others = JSON.stringify(rest).slice(1, -1);
  return `{${others === "" ? "" : `${others},`}"nodes":[${records}]}`;
}

function writeRecord(record: unknown): string {
  if (!isObject(record)) return JSON.stringify(record);
  const known = texts.get(record);
  if (known !== undefined) return known;
  const text = JSON.stringify(record);
  texts.set(record, text);
  return text;
}
