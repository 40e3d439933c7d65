import { gzipSync } from "node:zlib";

/** An input that is small on the way and as expensive to read as any: a hostile or a broken sender may send it. */
export interface HostileInput {
  readonly name: string;
  readonly door: "queue" | "http";
  /** The text on the way: at most 64 KiB for the queue. */
  readonly body: string;
}

const MIB = 1024 * 1024;
const HEAD = '{"version":1,"cluster":"demo",';

/** Up to `count` units, separated by commas, in at most `bytes`. */
function fill(bytes: number, count: number, unit: (index: number) => string): string {
  const units: string[] = [];
  for (let size = 0; units.length < count;) {
    const next = unit(units.length);
    size += next.length + 1;
    if (size > bytes) break;
    units.push(next);
  }
  return units.join(",");
}

const times = (count: number, unit: string): string => Array.from({ length: count }, () => unit).join(",");

/** JSON texts for a door with these bounds. Most texts are just within them. */
function textsFor(bytes: number, values: number): Readonly<Record<string, () => string>> {
  const most = bytes - 200;
  const list = (key: string, count: number, unit: (index: number) => string): string =>
    `${HEAD}"${key}":[${fill(most, count, unit)}]}`;
  const job = (index: number, more: string): string => `{"name":"j${index}",${more}}`;
  return {
    "jobs that are nothing, as many as fit": () => list("jobs", Infinity, () => "{}"),
    "jobs that are nothing, as many as are allowed": () => list("jobs", 200_000, () => "{}"),
    "jobs of one name": () => list("jobs", Math.min(200_000, values / 3), () => '{"name":"j"}'),
    "arrays that are nothing": () => list("nodearrays", values / 2 - 10, () => "{}"),
    "lists in lists in attributes": () =>
      `${HEAD}"nodearrays":[{"Name":"execute","TargetCount":1,"A":[${fill(most, values / 4 - 10, () => "[[[]]]")}]}]}`,
    "constraints, a thousand a job": () =>
      list("jobs", values / 3010, (index) => job(index, `"constraints":[${times(1000, '{"a":1}')}]`)),
    "hosts with jobs": () =>
      list("schedulerNodes", values / 63, (index) => `{"hostname":"h${index}","jobs":[${times(60, '"a"')}]}`),
    "slots on a host, ten thousand a job": () =>
      list("jobs", values / 20_010, (index) => job(index, `"placed":[${times(10_000, '{"hostname":"h"}')}]`)),
    "levels of lists": () => {
      const levels = Math.min(values - 10, most / 2);
      return `${HEAD}"nodearrays":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    },
    "levels of objects": () => {
      const levels = Math.min(values - 10, Math.floor(most / 6));
      return `${HEAD}"nodearrays":${'{"a":'.repeat(levels)}0${"}".repeat(levels)}}`;
    },
    ...longSizes(Math.floor(most / 131_200), job),
    "white space": () => " ".repeat(most),
    "one text": () => `${HEAD}"jobs":"${"x".repeat(most)}"}`,
    "far more than is allowed": () => " ".repeat(11 * bytes),
  };
}

/** Texts that begin like sizes, as many as fit: each once held the process for 9 to 16 s. */
function longSizes(
  count: number,
  job: (index: number, more: string) => string,
): Readonly<Record<string, () => string>> {
  const jobsWith = (text: string) => () => {
    const jobs = Array.from({ length: count }, (_, index) =>
      job(index, `"constraints":[{"mem":"memory::${text}"}]`),
    );
    return `${HEAD}"jobs":[${jobs.join(",")}]}`;
  };
  return {
    "sizes of digits": jobsWith(`${"1".repeat(65_500)}.${"1".repeat(65_500)}!`),
    "sizes of letters": jobsWith(`${"a".repeat(131_000)}1`),
  };
}

const packed = (text: string): string => gzipSync(text, { level: 9 }).toString("base64");

/** Inputs for the queue, packed so that each fits into one message. `only`: their names. Default: all. */
export function hostileMessages(only?: ReadonlySet<string>): readonly HostileInput[] {
  return Object.entries(textsFor(4 * MIB, 600_000))
    .filter(([name]) => only?.has(name) ?? true)
    .map(([name, text]) => ({ name, door: "queue" as const, body: packed(text()) }));
}

/** Inputs for HTTP, as large as any, packed and unpacked. */
export function hostileBodies(): readonly HostileInput[] {
  const large = textsFor(32 * MIB, 4_000_000);
  const few: Readonly<Record<string, () => string>> = {
    ...large,
    "distinct jobs with eight constraints": () =>
      `${HEAD}"jobs":[${fill(32 * MIB - 200, 200_000, (index) => `{"name":"j${index}","constraints":[${times(8, '{"a":1}')}]}`)}]}`,
    "distinct jobs with notes": () =>
      `${HEAD}"jobs":[${fill(32 * MIB - 200, 200_000, (index) => `{"name":"j${index}","metadata":{"a":"${"x".repeat(120)}"}}`)}]}`,
  };
  return Object.entries(few).flatMap(([name, text]) => [
    { name, door: "http" as const, body: text() },
    { name: `${name}, packed`, door: "http" as const, body: packed(text()) },
  ]);
}
