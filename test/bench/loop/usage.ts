import { readFile } from "node:fs/promises";

/** What a process has used. */
export interface Usage {
  readonly cpuSeconds: number;
  readonly residentMiB: number;
}

/** Linux counts processor time in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Undefined where there is no /proc, or the process has ended. */
export async function usageOf(pid: number): Promise<Usage | undefined> {
  try {
    const [stat, status] = await Promise.all([
      readFile(`/proc/${pid}/stat`, "utf8"),
      readFile(`/proc/${pid}/status`, "utf8"),
    ]);
    // The second field is the command in brackets, which may hold blanks; user and system time are the 12th and 13th after it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const kibibytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]);
    return {
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
      residentMiB: Math.round(kibibytes / 1024),
    };
  } catch {
    return undefined;
  }
}
