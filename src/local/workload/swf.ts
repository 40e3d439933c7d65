/**
 * Reads recorded workloads in the Standard Workload Format (version 2.2, Parallel Workloads Archive). Lines that start with `;` are headers.
 * Every other line is one job with at least 18 fields, separated by blanks; -1 means unknown. Real logs have many unknown values. This
 * reader derives values where it can, and reports the lines and jobs that it leaves out.
 */
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { WorkloadJob } from "./workload-job.ts";
import type { Seconds } from "../../domain/units.ts";

interface SwfTrace {
  readonly kind: "trace";
  /** In order of submission; the first is submitted at 0. */
  readonly jobs: readonly WorkloadJob[];
  /** Number of jobs with neither requested nor allocated processors. They are left out. */
  readonly jobsWithoutProcessors: number;
  readonly badLines: readonly SwfBadLine[];
  /** The size of the machine, and where it comes from. If a job is wider than the header says, the widest job decides. */
  readonly maxProcessors: number;
  readonly maxProcessorsFrom: "MaxProcs" | "MaxNodes" | "widest job";
}

interface SwfBadLine {
  /** Counted from 1. */
  readonly line: number;
  readonly found: string;
  readonly expected: string;
}

type SwfReading = SwfTrace | { readonly kind: "unreadable"; readonly path: string; readonly reason: string };

/** Reads a trace file, plain or gzip (detected from its content, not its name). `jobs`: maximum number of jobs kept. */
export async function readSwfTrace(
  path: string,
  options: { readonly jobs?: number } = {},
): Promise<SwfReading> {
  try {
    const bytes = await readFile(path);
    const zipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return parseSwf((zipped ? await promisify(gunzip)(bytes) : bytes).toString("utf8"), options);
  } catch (error) {
    return { kind: "unreadable", path, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Parses the text of a trace. Lines that cannot be read are reported and left out. Never throws. */
function parseSwf(text: string, options: { readonly jobs?: number } = {}): SwfTrace {
  const headers = new Map<string, string>();
  const badLines: SwfBadLine[] = [];
  const records: SwfRecord[] = [];
  let jobsWithoutProcessors = 0;
  text.split("\n").forEach((line, index) => {
    const trimmed = line.trim();
    const [, name, content] = /^;\s*(\w+):\s*(.*)$/.exec(trimmed) ?? [];
    if (name !== undefined && content !== undefined) headers.set(name, content);
    if (trimmed === "" || trimmed.startsWith(";")) return;
    const record = parseLine(trimmed);
    if (record.kind === "bad")
      badLines.push({ line: index + 1, found: record.found, expected: record.expected });
    else if (record.kind === "no-processors") jobsWithoutProcessors += 1;
    else records.push(record);
  });
  const jobs = listJobs(records).slice(0, options.jobs);
  return { kind: "trace", jobs, jobsWithoutProcessors, badLines, ...sizeMachine(headers, jobs) };
}

interface SwfRecord {
  readonly kind: "record";
  readonly id: string;
  readonly submitSeconds: Seconds;
  readonly runSeconds: Seconds;
  readonly processors: number;
  readonly walltimeSeconds: Seconds | undefined;
}

type SwfLine =
  | SwfRecord
  | { readonly kind: "no-processors" }
  | { readonly kind: "bad"; readonly found: string; readonly expected: string };

/** The fields that a replay needs, with their number in the format. Other fields may contain anything, in some logs text. */
const neededFields = [
  { number: 2, means: "submit time" },
  { number: 4, means: "run time" },
  { number: 5, means: "allocated processors" },
  { number: 8, means: "requested processors" },
  { number: 9, means: "requested time" },
] as const;

function parseLine(line: string): SwfLine {
  const fields = line.split(/\s+/);
  if (fields.length < 18)
    return {
      kind: "bad",
      found: `${fields.length} fields: ${excerpt(line)}`,
      expected: "at least 18 fields",
    };
  for (const { number, means } of neededFields) {
    const text = fields[number - 1];
    if (!Number.isFinite(Number(text)))
      return {
        kind: "bad",
        found: excerpt(String(text)),
        expected: `a number in field ${number} (${means})`,
      };
  }
  const value = (number: number): number => Number(fields[number - 1]);
  if (value(2) < 0)
    return { kind: "bad", found: String(fields[1]), expected: "a submit time of at least 0 in field 2" };
  const processors = value(8) > 0 ? value(8) : value(5);
  if (processors <= 0) return { kind: "no-processors" };
  return {
    kind: "record",
    id: String(fields[0]),
    submitSeconds: value(2),
    // 0 or -1: cancelled in the queue, or shorter than the log's resolution. The job must start and end even so.
    runSeconds: Math.max(1, value(4)),
    processors: Math.ceil(processors),
    walltimeSeconds: value(9) > 0 ? value(9) : undefined,
  };
}

function excerpt(text: string): string {
  return text.length <= 60 ? text : `${text.slice(0, 57)}...`;
}

function listJobs(records: readonly SwfRecord[]): readonly WorkloadJob[] {
  const sorted = records.toSorted((a, b) => a.submitSeconds - b.submitSeconds);
  const origin = sorted[0]?.submitSeconds ?? 0;
  const timesSeen = new Map<string, number>();
  return sorted.map((record) => {
    const seen = (timesSeen.get(record.id) ?? 0) + 1;
    timesSeen.set(record.id, seen);
    return {
      // Joined logs repeat job numbers. Names in a demand message must be unique.
      name: seen === 1 ? `job-${record.id}` : `job-${record.id}.${seen}`,
      submitMs: (record.submitSeconds - origin) * 1000,
      processors: record.processors,
      runMs: record.runSeconds * 1000,
      walltimeMs: record.walltimeSeconds === undefined ? undefined : record.walltimeSeconds * 1000,
    };
  });
}

function sizeMachine(
  headers: ReadonlyMap<string, string>,
  jobs: readonly WorkloadJob[],
): Pick<SwfTrace, "maxProcessors" | "maxProcessorsFrom"> {
  const widest = jobs.reduce((most, job) => Math.max(most, job.processors), 0);
  for (const key of ["MaxProcs", "MaxNodes"] as const) {
    const size = Number.parseInt(headers.get(key) ?? "0", 10);
    if (size > 0 && size >= widest) return { maxProcessors: size, maxProcessorsFrom: key };
  }
  return { maxProcessors: widest, maxProcessorsFrom: "widest job" };
}
