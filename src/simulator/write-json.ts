import { isObject } from "./json.ts";

const texts = new WeakMap<object, string>();

/**
 * JSON text of a body. Node records keep their identity while they do not change, so their text is written once each:
 * the status of ten thousand nodes costs little more than joining strings.
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
