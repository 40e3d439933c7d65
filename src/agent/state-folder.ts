import { mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Bytes, Instant } from "../domain/units.ts";
import { instant } from "../domain/units.ts";
import type { Mode } from "./slurm/app-view.ts";
import type { Kept } from "./slurm/kept.ts";
import { keptText, readKept } from "./kept-file.ts";
import type { ShimCall } from "./slurm/resumes.ts";
import { readShimCall } from "./slurm/resumes.ts";

/** A call of a shim, and the file that holds it. */
export interface SpooledCall extends ShimCall {
  readonly file: string;
}

/** What agent and shims share: the spool, the modes, heartbeats, and what the agent keeps. */
export interface StateFolder {
  /** The calls that wait, oldest first. */
  readonly calls: () => Promise<readonly SpooledCall[]>;
  /** Removes what is in the spool and is no call. */
  readonly sweep: () => Promise<void>;
  /** The names of the request sets that shims have sent while there was no agent. */
  readonly sentSets: () => Promise<readonly { readonly set: string; readonly file: string }[]>;
  readonly remove: (files: readonly string[]) => Promise<void>;
  readonly kept: () => Promise<Kept>;
  /** Writes what is kept, and the modes for the shims. Rejects with the system's error, as on a full disk. */
  readonly keep: (kept: Kept) => Promise<void>;
  readonly beat: (host: string, now: Instant) => Promise<void>;
  /** The last heartbeat of an agent on another host. */
  readonly lastBeatOfOthers: (host: string) => Promise<Instant | undefined>;
}

/** Files that one reading takes. What is left waits for the next one. */
const MOST_FILES = 1000;
/** Only the first line is read: the host list. */
const MOST_LINE: Bytes = 1024 * 1024;

/** Opens the folder of the agent's file. `memory` is where shims write when the disk refuses. */
export function openStateFolder(folder: string, memory: string): StateFolder {
  const spools = [join(folder, "spool"), join(memory, "spool")];
  return {
    calls: async () => {
      const calls = await Promise.all((await callFiles(spools)).map(readCall));
      return calls.filter((call) => call !== undefined).toSorted((a, b) => a.at - b.at);
    },
    sweep: async () => {
      for (const file of await callFiles(spools))
        if ((await readCall(file)) === undefined) await rm(file, { force: true });
    },
    sentSets: async () => {
      const files = (await Promise.all(spools.map((spool) => filesIn(spool, ".sent")))).flat();
      return files.map((file) => ({ file, set: `slurm-resume-${basename(file, ".sent")}` }));
    },
    remove: async (files) => void (await Promise.all(files.map((file) => rm(file, { force: true })))),
    kept: async () => readKept(await readIfThere(join(folder, "agent.json"))),
    keep: async (kept) => {
      await makeFolder(folder);
      await makeFolder(join(folder, "spool"));
      await replace(join(folder, "agent.json"), keptText(kept));
      await replace(join(folder, "modes"), modesText(kept.modes));
    },
    beat: (host, now) => replace(join(folder, `heartbeat-${host}`), `${now}\n`),
    lastBeatOfOthers: async (host) => {
      const beats = (await filesIn(folder, "")).filter((file) => basename(file).startsWith("heartbeat-"));
      const others = beats.filter((file) => !file.endsWith(`/heartbeat-${host}`));
      const texts = await Promise.all(others.map(readIfThere));
      const moments = texts.map((text) => Number(text)).filter((moment) => moment > 0);
      return moments.length === 0 ? undefined : instant(Math.max(...moments));
    },
  };
}

/** One level: where its parent cannot be, Node's mkdir of several levels does not come back (as in /proc). */
async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o750 });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

/** For the shims: "htc act". */
function modesText(modes: ReadonlyMap<string, Mode>): string {
  return [...modes].map(([nodearray, mode]) => `${nodearray} ${mode}\n`).join("");
}

async function callFiles(spools: readonly string[]): Promise<readonly string[]> {
  const files = await Promise.all(spools.map((spool) => filesIn(spool, ".call")));
  return files.flat().slice(0, MOST_FILES);
}

async function filesIn(folder: string, end: string): Promise<readonly string[]> {
  try {
    const names = await readdir(folder);
    return names
      .filter((name) => name.endsWith(end) && !name.startsWith("."))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

/** Shims write under a hidden name and rename, so a file with the name of a call is whole. */
async function readCall(file: string): Promise<SpooledCall | undefined> {
  try {
    const opened = await open(file);
    try {
      const { size } = await opened.stat();
      const { buffer, bytesRead } = await opened.read(Buffer.alloc(Math.min(size, MOST_LINE)));
      const call = readShimCall(buffer.toString("utf8", 0, bytesRead));
      return call === undefined ? undefined : { ...call, file };
    } finally {
      await opened.close();
    }
  } catch {
    return undefined;
  }
}

async function readIfThere(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch {
    return "";
  }
}

async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o640 });
  await rename(`${path}.new`, path);
}
